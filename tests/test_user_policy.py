"""A user's own policy: one meaning in every form, and only what a scheduler may know."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headway
import own_compiled
import own_policies
from headway import SECOND, Decision
from headway.policies.catalogue import offered
from headway.workload.models import generate
from small_schedules import easy_starts, workload

EXAMPLES = Path(__file__).parents[1] / "examples"

THREE_FORMS = (
    f"{EXAMPLES}/easy_in_python.py:easy",
    f"{EXAMPLES}/easy_in_python.py:Easy",
    f"{EXAMPLES}/easy_compiled.py:easy",
    f"easy(order={EXAMPLES}/../tests/own_keys.py:arrival)",
)


def random_jobs(seed: int, jobs: int = 30) -> list[tuple[float, int, float, float]]:
    random = np.random.default_rng(seed)
    walltime = random.choice([0.5, 1, 4, 9], jobs)
    part = random.choice([0.0, 0.5, 1.0, 1.25], jobs)
    submit = random.integers(0, 40, jobs) / 2
    return [
        (float(s), int(q), float(w * p), float(w))
        for s, q, w, p in zip(submit, random.integers(1, 6, jobs), walltime, part, strict=True)
    ]


@pytest.mark.parametrize("policy", THREE_FORMS)
def test_easy_in_every_form_is_the_textbook_easy(policy: str) -> None:
    for seed in range(12):
        jobs = random_jobs(seed)
        schedule = headway.simulate(workload(jobs), 6, policy)
        assert (schedule.start / SECOND).tolist() == easy_starts(jobs, 6), seed


def test_every_form_gives_the_built_in_schedule_with_its_reasons() -> None:
    log = generate("lublin(jobs=1500, procs=64, load=0.9, estimates=tsafrir, seed=5)")
    ours = headway.simulate(log, 64, "easy")
    assert set(ours.why.tolist()) == {0, 1, 2}
    for policy in THREE_FORMS:
        theirs = headway.simulate(log, 64, policy)
        assert np.array_equal(theirs.start, ours.start), policy
        assert np.array_equal(theirs.end, ours.end)
        assert np.array_equal(theirs.why, ours.why)
        assert np.array_equal(theirs.killed, ours.killed)


def test_the_plain_python_easy_fits_on_a_screen() -> None:
    text = (EXAMPLES / "easy_in_python.py").read_text("utf-8")
    body = text[text.index("def easy") : text.index("class Easy")]
    assert len(body.splitlines()) <= 40


def test_from_python_from_a_file_and_by_entry_point_it_is_one_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "own_scheduling.py"
    package.write_text(Path(own_policies.__file__).read_text("utf-8"), "utf-8")
    offer = tmp_path / "own_scheduling-1.0.dist-info"
    offer.mkdir()
    (offer / "METADATA").write_text("Metadata-Version: 2.1\nName: own-scheduling\nVersion: 1.0\n")
    (offer / "entry_points.txt").write_text("[headway.policies]\nlimited = own_scheduling:Limited\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "limited" in offered()
    log = workload(random_jobs(1))
    schedules = [
        headway.simulate(log, 6, policy)
        for policy in (
            own_policies.Limited(most=3),
            f"{package}:Limited(most=3)",
            "own_scheduling:Limited(most=3)",
            "limited(most=3)",
            headway.policy("limited", most=3),
        )
    ]
    for schedule in schedules[1:]:
        assert np.array_equal(schedule.start, schedules[0].start)
    assert schedules[3].policy == schedules[4].policy == "limited(most=3)"
    assert str(headway.policy("limited", most=3)) == "limited(most=3)"
    others = headway.simulate(log, 6, "limited")
    assert not np.array_equal(others.start, schedules[0].start), "the parameter must matter"
    del sys.modules["own_scheduling"]


def test_an_object_keeps_its_state_to_itself_from_run_to_run() -> None:
    policy = own_policies.Limited()
    log = workload(random_jobs(2))
    first = headway.simulate(log, 6, policy)
    second = headway.simulate(log, 6, policy)
    assert np.array_equal(first.start, second.start)
    assert policy.queue == []


def test_provenance_carries_the_digest_of_the_file() -> None:
    file = Path(own_policies.__file__)
    schedule = headway.simulate(workload(random_jobs(3)), 6, own_policies.fcfs)
    source = schedule.provenance["policy_source"]
    assert source["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert source["name"] == "fcfs"
    assert "policy_source" not in headway.simulate(workload(random_jobs(3)), 6, "fcfs").provenance


# ---- what a policy sees ----------------------------------------------------------------------------


def seen_by(look: Any, jobs: list[tuple[float, int, float, float]], procs: int, **columns: Any) -> list[Any]:
    """What `look` gives at each pass of FCFS."""
    found = []

    def watching(view: Any) -> Any:
        found.append(look(view))
        return own_policies.fcfs(view)

    headway.simulate(workload(jobs, **columns), procs, watching)
    return found


JOBS = [(0.0, 2, 5.0, 8.0), (1.0, 2, 5.0, 6.0), (1.0, 1, 3.0, 3.0)]


def test_the_view_tells_the_instant_the_queue_and_who_runs_until_when() -> None:
    found = seen_by(
        lambda view: (
            view.now // SECOND,
            view.free,
            [job.id for job in view.waiting],
            [(job.id, job.start // SECOND, job.expected_end // SECOND) for job in view.running],
            [job.id for job in view.new],
            [job.id for job in view.ended],
        ),
        JOBS,
        3,
        job=[11, 12, 13],
    )
    assert found == [
        (0, 3, [11], [], [11], []),
        (1, 1, [12, 13], [(11, 0, 8)], [12, 13], []),
        (5, 3, [12, 13], [], [], [11]),
        (8, 1, [], [(12, 5, 11)], [], [13]),
        (10, 3, [], [], [], [12]),
    ]


def test_columns_come_as_arrays_of_who_waits_and_who_runs() -> None:
    found = seen_by(
        lambda view: (
            view.waiting.procs.tolist(),
            view.waiting.walltime.tolist(),
            view.waiting.user.tolist(),
            view.running.expected_end.tolist(),
            len(view.waiting),
        ),
        JOBS,
        3,
        user=[5, 6, 7],
    )
    assert found[1] == ([2, 1], [6 * SECOND, 3 * SECOND], [6, 7], [8 * SECOND], 2)


@pytest.mark.parametrize("column", ["runtime", "status", "wait", "cpu_time"])
def test_what_only_the_end_of_a_job_tells_is_not_in_the_view(column: str) -> None:
    columns = {} if column == "runtime" else {column: [1, 1, 1]}
    for look in (lambda view: view.column(column), lambda view: getattr(view.waiting, column)):
        with pytest.raises(headway.PolicyError, match=f"no column '{column}'"):
            seen_by(look, JOBS, 3, **columns)


def test_jobs_of_the_future_are_not_in_the_view() -> None:
    assert seen_by(lambda view: len(view.column("submit")), JOBS, 3) == [1, 3, 3, 3, 3]


def test_the_view_cannot_be_written_to() -> None:
    def writes(view: Any) -> None:
        view.column("walltime")[0] = 0

    with pytest.raises(headway.PolicyError, match="read-only"):
        seen_by(writes, JOBS, 3)


# ---- what a policy decides -------------------------------------------------------------------------


class Impatient:
    """Stops a running job of more than one processor when a serial one has waited for two seconds."""

    def decide(self, view: Any) -> Any:
        serial = [job for job in view.waiting if job.procs == 1]
        if not serial:
            return own_policies.fcfs(view)
        due = serial[0].submit + 2 * SECOND
        if view.now < due:
            return Decision(wake=due)
        return Decision(kill=[job for job in view.running if job.procs > 1][:1], start=serial[:1])


def test_a_policy_can_stop_jobs_and_be_woken() -> None:
    log = workload([(0.0, 2, 10.0, 10.0), (1.0, 1, 4.0, 4.0)])
    schedule = headway.simulate(log, 2, Impatient())
    assert (schedule.start / SECOND).tolist() == [7.0, 3.0]
    assert (schedule.end / SECOND).tolist() == [17.0, 7.0]
    runs = schedule.runs()
    assert runs.filter(runs["job"] == 1).select("start", "end", "ended").rows() == [
        (0, 3, "preempted"),
        (7, 17, "done"),
    ]
    assert headway.audit(schedule).ok


def test_a_stopped_job_waits_where_it_had_waited() -> None:
    """The view has waiting jobs in order of arrival: job 1, stopped at 1 s, comes before job 3 at 3 s."""

    def short_first(view: Any) -> Any:
        if view.new and view.new[0].walltime == 2 * SECOND:
            return Decision(kill=view.running, start=view.new)
        return own_policies.fcfs(view)

    log = workload([(0.0, 1, 10.0, 10.0), (1.0, 1, 2.0, 2.0), (2.0, 1, 5.0, 5.0)])
    schedule = headway.simulate(log, 1, short_first)
    assert (schedule.start / SECOND).tolist() == [3.0, 1.0, 13.0]


def impatient(view: Any) -> Decision:
    """The same as own_compiled.impatient."""
    waiting, free, kill, start = list(view.waiting), view.free, list[Any](), list[Any]()
    stops = view.now < own_compiled.LAST_STOP
    if stops and view.now % own_compiled.PERIOD == 0 and waiting and waiting[0].procs > free:
        longest = max(view.running, key=lambda job: job.expected_end)
        if longest.procs + free >= waiting[0].procs:
            kill, start, free = [longest], waiting[:1], free + longest.procs - waiting[0].procs
            waiting = sorted([*waiting[1:], longest], key=lambda job: job.number)
    while waiting and waiting[0].procs <= free:
        free -= waiting[0].procs
        start.append(waiting.pop(0))
    wake = view.now - view.now % own_compiled.PERIOD + own_compiled.PERIOD if stops and waiting else None
    return Decision(start=start, kill=kill, wake=wake)


def test_a_compiled_policy_stops_jobs_and_is_woken_as_one_in_python() -> None:
    compiled, stopped = f"{own_compiled.__file__}:impatient", 0
    for seed in range(12):
        log = workload(random_jobs(seed, 20))
        one, other = headway.simulate(log, 6, compiled), headway.simulate(log, 6, impatient)
        assert np.array_equal(one.start, other.start) and np.array_equal(one.end, other.end), seed
        assert one.runs().rows() == other.runs().rows() and headway.audit(one).ok
        stopped += one.runs()["ended"].to_list().count("preempted")
    assert stopped > 12


def test_jobs_are_started_by_number_too() -> None:
    ours = headway.simulate(workload(JOBS), 3, "fcfs")
    theirs = headway.simulate(workload(JOBS), 3, lambda view: [job.number for job in own_policies.fcfs(view)])
    assert np.array_equal(ours.start, theirs.start)


def test_the_tables_grow_under_a_policy_in_python() -> None:
    jobs = [(0.0, 1, 1.0, 1.0)] * 5000
    schedule = headway.simulate(workload(jobs), 2000, own_policies.fcfs)
    assert sorted(set((schedule.start / SECOND).tolist())) == [0.0, 1.0, 2.0]
