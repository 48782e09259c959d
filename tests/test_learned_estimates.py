"""EASY that plans with the users' last runs: job for job as its definition, written the slow way."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

import headway
from headway.errors import UsageError
from headway.units import SECOND
from headway.workload import Workload

STEPS = [60, 300, 900, 1800, 3600, 7200, 18000, 36000, 72000, 180000, 360000]
Row = tuple[int, int, int, int, int]
"""submit, procs, walltime, runtime, user; in seconds."""


@dataclass
class Run:
    """A running job as the reference sees it."""

    job: int
    start: int
    end: int
    expected: int
    limit: int
    steps: int = 0


@dataclass
class Reference:
    """EASY with estimates from the last two runs of a user, one instant after the other."""

    rows: list[Row]
    procs: int
    way: str
    backfill: str
    free: int = 0
    running: list[Run] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    plan: dict[int, int] = field(default_factory=dict)
    ended: dict[int, list[int]] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)

    def run(self) -> list[int]:
        self.free = self.procs
        order = sorted(range(len(self.rows)), key=lambda j: (self.rows[j][0], j))
        while order or self.waiting or self.running:
            times = [run.end for run in self.running] + ([self.rows[order[0]][0]] if order else [])
            t = min(times)
            for run in sorted((run for run in self.running if run.end == t), key=lambda run: run.start):
                self.running.remove(run)
                self.free += self.rows[run.job][1]
                self.ended.setdefault(self.rows[run.job][4], []).append(run.end - run.start)
            for run in self.running:
                while run.expected <= t and run.expected < run.limit:
                    run.expected = min(run.expected + STEPS[min(run.steps, 10)], run.limit)
                    run.steps += 1
            while order and self.rows[order[0]][0] == t:
                job = order.pop(0)
                self.plan[job] = self.estimate(job)
                self.waiting.append(job)
            self.decide(t)
        return [self.starts[job] for job in range(len(self.rows))]

    def estimate(self, job: int) -> int:
        walltime, user = self.rows[job][2], self.rows[job][4]
        past = self.ended.get(user, [])[-2:]
        if len(past) < 2:
            return walltime
        took = max(past) if self.way == "last2" else sum(past) / 2
        return min(max(took, 1), walltime)  # type: ignore[return-value]

    def begin(self, job: int, t: int) -> None:
        _, procs, walltime, runtime, _ = self.rows[job]
        self.waiting.remove(job)
        self.free -= procs
        self.starts[job] = t
        self.running.append(Run(job, t, t + min(runtime, walltime), t + self.plan[job], t + walltime))

    def decide(self, t: int) -> None:
        while self.waiting and self.rows[self.waiting[0]][1] <= self.free:
            self.begin(self.waiting[0], t)
        if not self.waiting:
            return
        head = self.waiting[0]
        shadow, free = t, self.free
        for run in sorted(self.running, key=lambda run: run.expected):
            if free >= self.rows[head][1] and max(run.expected, t) > shadow:
                break
            free += self.rows[run.job][1]
            shadow = max(run.expected, t)
        extra = free - self.rows[head][1]
        others = self.waiting[1:]
        if self.backfill == "sjf":
            others = sorted(others, key=lambda j: (self.plan[j], self.rows[j][0], j))
        for job in others:
            procs = self.rows[job][1]
            if procs > self.free:
                continue
            if t + self.plan[job] <= shadow:
                self.begin(job, t)
            elif procs <= extra:
                extra -= procs
                self.begin(job, t)


def jobs(seed: int, count: int = 70) -> list[Row]:
    rng = np.random.default_rng(seed)
    rows = []
    t = 0
    for _ in range(count):
        t += int(rng.integers(0, 400))
        walltime = int(rng.choice([600, 1800, 7200]))
        rows.append(
            (
                t,
                int(rng.integers(1, 9)),
                walltime,
                int(rng.integers(1, walltime + 300)),
                int(rng.integers(0, 4)),
            )
        )
    return rows


def schedule(rows: list[Row], spec: str) -> headway.Schedule:
    submit, procs, walltime, runtime, user = (list(column) for column in zip(*rows, strict=True))
    work = Workload.from_arrays(
        unit="s", submit=submit, procs=procs, walltime=walltime, runtime=runtime, user=user
    )
    return headway.simulate(work, 10, spec)


@pytest.mark.parametrize("way", ["average2", "last2"])
@pytest.mark.parametrize("backfill", ["fcfs", "sjf"])
def test_as_the_definition(way: str, backfill: str) -> None:
    differ = 0
    for seed in range(12):
        rows = jobs(seed)
        found = schedule(rows, f"easy(estimate={way}, backfill={backfill})")
        assert (found.start // SECOND).tolist() == Reference(rows, 10, way, backfill).run()
        differ += found.start.tolist() != schedule(rows, f"easy(backfill={backfill})").start.tolist()
        assert headway.audit(found).ok
    assert differ > 6


def test_by_hand_a_user_whose_runs_are_short_passes() -> None:
    # The user's two runs took 10 s, so its third job is planned with 10 s although it asks for 1,000: it ends
    # before the head (8 processors) can start at 100, and may pass. With its request it may not.
    rows = [
        (0, 1, 1000, 10, 7), (0, 1, 1000, 10, 7), (0, 6, 100, 100, 1), (20, 8, 50, 50, 2),
        (21, 3, 1000, 30, 7),
    ]  # fmt: skip
    assert (schedule(rows, "easy").start // SECOND).tolist() == [0, 0, 0, 100, 150]
    assert (schedule(rows, "easy(estimate=average2)").start // SECOND).tolist() == [0, 0, 0, 100, 21]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("easy(estimate=average2, depth=2)", "depth=1"),
        ("redirection(principal=easy(estimate=average2))", "average2"),
        ("easy(estimate=average3)", "average2"),
    ],
)
def test_where_it_is_not_offered_is_said(spec: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        schedule(jobs(1), spec)
