"""Tables of a compiled policy of the user's: what it remembers, run after run the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headway
from headway.audit import audit
from headway.errors import PolicyError
from headway.units import SECOND
from instances import busy
from surroundings import ROOT

PAGE = (ROOT / "docs" / "how-to" / "own-policy.md").read_text("utf-8")
FAIR = PAGE.partition('title="fair.py"\n')[2].partition("```")[0]


def by_hand(log: headway.Workload, procs: int) -> list[int]:
    """The least user first, in plain Python, one event after the other."""
    used: dict[int, float] = {}
    start, end, waiting, ended = [-1] * len(log), [-1] * len(log), list[int](), set[int]()
    order = np.argsort(log.submit, kind="stable").tolist()
    length = np.minimum(log.runtime, log.walltime)
    instants = set(log.submit.tolist())
    while instants:
        t = min(instants)
        instants.remove(t)
        for row in [row for row in order if start[row] >= 0 and end[row] == t and row not in ended]:
            ended.add(row)
            user = max(int(log.columns["user"][row]), 0)
            used[user] = used.get(user, 0.0) + int(log.procs[row]) * (t - start[row]) / 1_000_000
        waiting += [row for row in order if log.submit[row] == t and start[row] < 0 and row not in waiting]
        running = [row for row in order if start[row] >= 0 and row not in ended]
        free = procs - sum(int(log.procs[row]) for row in running)
        while fits := [row for row in waiting if log.procs[row] <= free]:
            chosen = min(fits, key=lambda row: used.get(max(int(log.columns["user"][row]), 0), 0.0))
            start[chosen], end[chosen] = t, t + int(length[chosen])
            free -= int(log.procs[chosen])
            waiting.remove(chosen)
            instants.add(end[chosen])
    return start


def test_the_least_user_goes_first(tmp_path: Path) -> None:
    (tmp_path / "fair.py").write_text(FAIR)
    log = busy(80, 16, load=1.4, seed=8)
    log = log.with_columns(user=np.arange(len(log)) * 7 % 5)
    schedule = headway.simulate(log, 16, f"{tmp_path}/fair.py:fair")
    assert audit(schedule).ok
    assert schedule.start.tolist() == by_hand(log, 16)
    again = headway.simulate(log, 16, f"{tmp_path}/fair.py:fair")  # nothing is left of the first run
    assert (again.start == schedule.start).all()


@pytest.mark.parametrize(
    ("given", "words"),
    [("[1.5], [1.0]", "must hold whole numbers"), ("[1]", "tables gives two tables"), ("None", "two tables")],
)
def test_wrong_tables_are_told(tmp_path: Path, given: str, words: str) -> None:
    text = FAIR.partition("def tables")[0] + f"def tables(jobs, procs):\n    return {given}\n\n\n"
    (tmp_path / "wrong.py").write_text(
        text + "@compiled(tables=tables)" + FAIR.partition("@compiled(tables=tables)")[2]
    )
    with pytest.raises(PolicyError, match=words):
        headway.simulate(busy(5, 16, load=1.0, seed=8), 16, f"{tmp_path}/wrong.py:fair")


class InPython:
    """The policy of examples/partitions.py as its docstring says it, with dictionaries."""

    def __init__(self, share: int, half_life: int) -> None:
        self.share, self.half_life = share, half_life
        self.used: dict[int, float] = {}
        self.when, self.running = 0, dict[int, tuple[Any, int]]()  # job and start

    def decide(self, view: Any) -> list[Any]:
        fade = 0.5 ** ((view.now - self.when) / SECOND / self.half_life)
        self.used, self.when = {user: use * fade for user, use in self.used.items()}, view.now
        still = {job.id for job in view.running}
        for job, start in [self.running.pop(number) for number in list(self.running) if number not in still]:
            self.used[job.user] = self.used.get(job.user, 0.0) + job.procs * (view.now - start) / SECOND
        held: dict[int, int] = {}
        for job, _ in self.running.values():
            held[job.queue] = held.get(job.queue, 0) + job.procs
        free, started, shut = view.free, list[Any](), set[int]()
        waiting = list(view.waiting)
        while rest := [job for job in waiting if job.queue not in shut]:
            job = min(rest, key=lambda job: self.used.get(job.user, 0.0))
            inside = held.get(job.queue, 0)
            if job.procs > free or (inside and inside + job.procs > self.share * view.capacity // 100):
                shut.add(job.queue)
                continue
            waiting.remove(job)
            started.append(job)
            free -= job.procs
            held[job.queue] = inside + job.procs
        self.running |= {job.id: (job, view.now) for job in started}
        return started


@pytest.mark.parametrize(("share", "half_life"), [(50, 604_800), (30, 600), (100, 3600)])
def test_partitions_with_fair_share(share: int, half_life: int) -> None:
    log = busy(150, 16, load=1.4, seed=3)
    numbers = np.arange(len(log))
    log = log.with_columns(user=numbers * 7 % 5, queue=numbers * 5 % 3)
    example = f"{ROOT}/examples/partitions.py:partitions(share={share}, half_life={half_life})"
    compiled = headway.simulate(log, 16, example)
    assert audit(compiled).ok
    assert (compiled.start == headway.simulate(log, 16, InPython(share, half_life)).start).all()
    for queue in range(3):  # no partition holds more than its part, but for a job that is alone there
        inside = log.columns["queue"] == queue
        for t in compiled.start[inside]:
            runs = inside & (compiled.start <= t) & (t < compiled.end)
            assert log.procs[runs].sum() <= share * 16 // 100 or runs.sum() == 1
