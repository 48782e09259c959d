"""A machine whose processors come and go: by hand, against a plain reference, and against the audit."""

from __future__ import annotations

import random
from typing import Any

import pytest

import headway
from headway.platform import Outage, Outages, Platform
from headway.units import SECOND
from outages_reference import Job, Loss, Reference
from small_schedules import workload


def outages(losses: list[Loss], on_failure: str = "requeue") -> Outages:
    return Outages(
        tuple(
            Outage(
                loss.kind,
                loss.start * SECOND,
                loss.end * SECOND,
                loss.procs or len(loss.names),
                tuple((p, p + 1) for p in sorted(loss.names)),
                loss.announced * SECOND if loss.kind == "maintenance" else None,
            )
            for loss in losses
        ),
        on_failure,
    )


def run(
    jobs: list[Job], size: int, losses: list[Loss], policy: Any, on_failure: str = "requeue"
) -> headway.Schedule:
    platform = Platform.procs(size).with_outages(outages(losses, on_failure))
    return headway.simulate(workload(jobs), platform, policy)


def attempts(schedule: headway.Schedule) -> list[tuple[int, float, float, str, str]]:
    """job, start, end, processors, ended of every run."""
    rows = schedule.runs()
    columns = [rows[name].to_list() for name in ("job", "start", "end", "processors", "ended")]
    return sorted(zip(*columns, strict=True), key=lambda row: (row[1], row[0]))


def starts(schedule: headway.Schedule) -> list[int]:
    return [int(start) // SECOND for start in schedule.start]


WINDOW = [Loss("maintenance", 10, 20, 4)]


@pytest.mark.parametrize(
    "policy", ["fcfs", "easy", "easy(depth=2)", "easy(depth=all)", "conservative", "sjf"]
)
def test_a_job_that_would_run_into_maintenance_waits_for_its_end(policy: str) -> None:
    # 4 processors, all of them away from 10 to 20. Job 1 asks for 11 s at 0: it would run until 11.
    assert starts(run([(0, 1, 3, 11)], 4, WINDOW, policy)) == [20]
    # A job that asks for 10 s is over in time.
    assert starts(run([(0, 1, 3, 10)], 4, WINDOW, policy)) == [0]


def test_backfilling_before_maintenance() -> None:
    # Job 1 (2 of 4 processors, 12 s) must wait for 20; EASY lets job 2 (8 s) pass, FCFS does not; job 3 (9 s,
    # submitted at 2) would run until 11.
    jobs = [(0, 2, 12, 12), (1, 2, 8, 8), (2, 1, 9, 9)]
    assert starts(run(jobs, 4, WINDOW, "fcfs")) == [20, 20, 28]
    assert starts(run(jobs, 4, WINDOW, "easy")) == [20, 1, 20]
    assert starts(run(jobs, 4, WINDOW, "conservative")) == [20, 1, 20]


def test_part_of_the_machine() -> None:
    # 3 of 4 processors are away from 10 to 20: one long job fits beside it, the second one does not.
    jobs = [(0, 1, 30, 30), (0, 1, 15, 15), (0, 1, 10, 10)]
    found = run(jobs, 4, [Loss("maintenance", 10, 20, 3)], "easy")
    assert starts(found) == [0, 20, 0]
    assert found.platform.outages is not None
    assert found.platform.outages.outages[0].processors == ((1, 4),)


def test_maintenance_that_is_announced_too_late_stops_the_latest_run() -> None:
    # Announced at 5, when jobs 1 (started at 0) and 2 (started at 1) run until 12: one of two processors is
    # needed, so the later one is stopped; it begins anew on the other side.
    found = run([(0, 1, 12, 12), (1, 1, 11, 11)], 2, [Loss("maintenance", 10, 20, 1, announced=5)], "easy")
    assert attempts(found) == [
        (1, 0, 12, "0", "done"),
        (2, 1, 10, "1", "failed"),
        (2, 12, 23, "0", "done"),
    ]


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative"])
def test_nobody_runs_while_the_whole_machine_is_maintained(policy: str) -> None:
    # 2 of 5 processors are away from 5 to 19, all 5 from 11 to 30: at 11 only 3 are not away yet. Job 1 (1
    # processor, 11 s) comes at 6 and cannot end by 11. At 19 two processors are through with the first
    # maintenance, but not with the second.
    losses = [Loss("maintenance", 5, 19, 2), Loss("maintenance", 11, 30, 5)]
    found = run([(6, 1, 7, 11)], 5, losses, policy)
    assert starts(found) == [30]
    assert headway.audit(found).ok
    # Nor where the first one is the longer.
    losses = [Loss("maintenance", 5, 30, 2), Loss("maintenance", 11, 19, 5)]
    assert starts(run([(6, 4, 7, 11), (7, 3, 7, 11)], 5, losses, policy)) == (
        [30, 19] if policy != "fcfs" else [30, 37]
    )


def test_a_failure_stops_who_runs_there_and_the_job_keeps_its_place() -> None:
    # Jobs 1 to 3 on processors 0, 1 and 2-3; processor 1 fails at 4 and is back at 9. Job 2 begins anew,
    # before job 4 which came at 3: at 6 job 1 frees processor 0.
    jobs = [(0, 1, 6, 6), (0, 1, 5, 5), (0, 2, 20, 20), (3, 1, 2, 2)]
    found = run(jobs, 4, [Loss("down", 4, 9, names=frozenset({1}))], "easy")
    assert attempts(found) == [
        (1, 0, 6, "0", "done"),
        (2, 0, 4, "1", "failed"),
        (3, 0, 20, "2-3", "done"),
        (2, 6, 11, "0", "done"),
        (4, 9, 11, "1", "done"),
    ]
    assert found.summary()["jobs"] == 4


@pytest.mark.parametrize("age", [0, 6, 100])
def test_a_job_that_failed_comes_of_age_by_its_first_submission(age: int) -> None:
    # Jobs 1 to 3, one after the other; job 1 fails at 5. Whether it has waited for longer than the age limit
    # at 8 or not, it came first. With sjf it is the last of those who are not of age.
    jobs = [(0, 1, 10, 12), (1, 1, 10, 11), (2, 1, 10, 10)]
    losses = [Loss("down", 5, 8, names=frozenset({0}))]
    assert starts(run(jobs, 1, losses, f"easy(age={age})")) == [8, 18, 28]
    expected = {0: [8, 18, 28], 6: [8, 18, 28], 100: [28, 18, 8]}
    assert starts(run(jobs, 1, losses, f"easy(age={age}, order=sjf)")) == expected[age]


def test_a_job_that_failed_comes_of_age_while_it_waits_again() -> None:
    # At 8 nobody has waited for 15 s: the shortest starts. At 18 the oldest has, which failed at 5.
    jobs = [(0, 1, 10, 12), (1, 1, 10, 11), (2, 1, 10, 10), (6, 1, 10, 11)]
    losses = [Loss("down", 5, 8, names=frozenset({0}))]
    assert starts(run(jobs, 1, losses, "easy(age=15, order=sjf)")) == [18, 28, 8, 38]


def test_a_failure_takes_the_draining_processors_of_the_job_that_it_stops() -> None:
    # Job 1 has processors 0-2, of which 2 drains from 1 on. At 4 processor 0 fails and the job ends there: 2
    # is gone from then on, so that job 2 gets 1 and job 3, which wants two, waits for processor 0.
    jobs = [(0, 3, 20, 20), (2, 1, 5, 5), (2, 2, 5, 5)]
    losses = [Loss("drain", 1, 30, names=frozenset({2})), Loss("down", 4, 8, names=frozenset({0}))]
    found = run(jobs, 3, losses, "fcfs", "lost")
    assert attempts(found) == [(1, 0, 4, "0-2", "failed"), (2, 4, 9, "1", "done"), (3, 9, 14, "0-1", "done")]
    assert headway.audit(found).ok


def test_a_lost_job_ends_with_its_processors_and_stands_in_the_ledger() -> None:
    found = run([(0, 1, 10, 10), (0, 1, 3, 3)], 2, [Loss("down", 4, 9, names=frozenset({0}))], "easy", "lost")
    assert attempts(found) == [(1, 0, 4, "0", "failed"), (2, 0, 3, "1", "done")]
    (entry,) = found.workload.ledger
    assert (entry.rule, entry.count, entry.jobs, entry.dropped) == ("on_failure=lost", 1, (1,), False)
    assert found.runtime.tolist() == [4 * SECOND, 3 * SECOND]
    assert found.workload.ledger.total == len(found) + found.workload.ledger.dropped


def test_draining_processors_finish_what_they_do() -> None:
    # Processor 0 drains from 2 to 30: job 1 goes on to 10; then only processor 1 is there, and job 3, which
    # wants both, waits until 30. Job 4 is not held back by it: nobody knows when job 3 could start.
    jobs = [(0, 1, 10, 10), (0, 1, 6, 6), (3, 2, 5, 5), (4, 1, 5, 5)]
    found = run(jobs, 2, [Loss("drain", 2, 30, names=frozenset({0}))], "easy")
    assert attempts(found) == [
        (1, 0, 10, "0", "done"),
        (2, 0, 6, "1", "done"),
        (4, 6, 11, "1", "done"),
        (3, 30, 35, "0-1", "done"),
    ]
    # In strict order it holds everybody back.
    assert starts(run(jobs, 2, [Loss("drain", 2, 30, names=frozenset({0}))], "fcfs")) == [0, 0, 30, 35]


@pytest.mark.parametrize("depth", ["", ", depth=2"])
def test_a_job_that_outlives_its_estimate_on_a_draining_processor(depth: str) -> None:
    # Job 1 is planned until 10 and goes on to 20, on processor 0, which drains from 5 on. After 10 nobody
    # gets one processor, not two: job 2 has the other one when it comes.
    jobs = [(0, 1, 20, 20), (12, 1, 4, 4)]
    policy = f"easy(estimate=0.5{depth})"
    drain = Loss("drain", 5, 40, names=frozenset({0}))
    assert starts(run(jobs, 2, [drain], policy)) == [0, 12]
    # The drain begins in the very instant in which the job outlives its estimate.
    assert starts(run(jobs, 2, [Loss("drain", 10, 40, names=frozenset({0}))], policy)) == [0, 12]
    # It ends before the job does: then job 2, which wants both, is planned to start at 20. Job 3 is over by
    # then, as far as is known, job 4 is not.
    jobs = [(0, 1, 20, 20), (16, 2, 4, 4), (16, 1, 1, 8), (16, 1, 1, 10)]
    assert starts(run(jobs, 2, [Loss("drain", 5, 14, names=frozenset({0}))], policy)) == [0, 20, 16, 24]
    # It stops before its request: the rest of what was planned for it is not there either.
    jobs = [(0, 1, 14, 20), (15, 2, 4, 4), (16, 1, 30, 30)]
    assert starts(run(jobs, 2, [drain], policy)) == [0, 46, 16]


def instance(random_: random.Random) -> tuple[list[Job], int, list[Loss]]:
    size = random_.randint(2, 8)
    jobs = []
    t = 0
    for _ in range(random_.randint(2, 14)):
        t += random_.choice([0, 0, 1, 2, 5, 9])
        wall = random_.randint(1, 20)
        jobs.append((t, random_.randint(1, size), random_.randint(1, wall + 2), wall))
    losses = []
    for _ in range(random_.randint(0, 5)):
        kind = random_.choice(["maintenance", "down", "drain"])
        start = random_.randint(0, 50)
        end = start + random_.randint(1, 25)
        names = frozenset(random_.sample(range(size), random_.randint(1, size)))
        if kind == "maintenance":
            known = random_.choice([0, 0, random_.randint(0, start)])
            losses.append(Loss(kind, start, end, len(names), announced=known))
        else:
            losses.append(Loss(kind, start, end, names=names, announced=start))
    return jobs, size, losses


CASES: dict[str, dict[str, Any]] = {
    "fcfs": {"policy": "strict"},
    "sjf": {"policy": "strict", "order": lambda job: job[3]},
    "easy": {},
    "easy(backfill=sjf)": {"backfill": lambda job: job[3]},
    "easy(order=sqf, depth=2)": {"order": lambda job: job[1], "depth": 2},
    "easy(depth=all)": {"depth": 0},
    "conservative": {"policy": "conservative"},
    "conservative(compress=none)": {"policy": "conservative", "compress": False},
}


@pytest.mark.parametrize("on_failure", ["requeue", "lost"])
@pytest.mark.parametrize("policy", CASES)
def test_random_instances_as_the_reference_has_them(policy: str, on_failure: str) -> None:
    random_ = random.Random(f"{policy} {on_failure}")
    for _ in range(25):
        jobs, size, losses = instance(random_)
        if not losses:
            continue
        reference = Reference(jobs, size, losses, lost=on_failure == "lost", **CASES[policy])
        expected = sorted(
            (run.job + 1, run.start, run.end, run.failed, frozenset(run.procs)) for run in reference.run()
        )
        found = run(jobs, size, losses, policy, on_failure)
        rows = [(j, s, e, how == "failed", numbers(p)) for j, s, e, p, how in attempts(found)]
        assert sorted(rows) == expected, (jobs, size, losses)
        verdict = headway.audit(found)
        assert verdict.ok, (verdict.faults, jobs, size, losses)
        assert len(found) + found.workload.ledger.dropped == len(jobs)


def numbers(text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        low, _, high = part.partition("-")
        found |= set(range(int(low), int(high or low) + 1))
    return frozenset(found)


@pytest.mark.parametrize("policy", [*CASES, "easy(estimate=0.5, order=lxf)", "easy(age=5, order=sjf)"])
def test_outages_that_never_matter_change_nothing(policy: str) -> None:
    random_ = random.Random(policy)
    for _ in range(10):
        jobs, size, _ = instance(random_)
        found = run(jobs, size, [Loss("maintenance", 10_000, 10_001, 1)], policy)
        plain = headway.simulate(workload(jobs), size, policy)
        assert starts(found) == starts(plain), (jobs, size)
        assert found.why.tolist() == plain.why.tolist()


def test_ujf_is_first_come_first_served_with_urgent_jobs_first_here_too() -> None:
    random_ = random.Random("ujf")
    for _ in range(15):
        jobs, size, losses = instance(random_)
        log = workload(jobs, urgent=[random_.random() < 0.3 for _ in jobs])
        platform = Platform.procs(size).with_outages(outages(losses))
        made, plain = (headway.simulate(log, platform, policy) for policy in ("ujf", "fcfs(urgent=first)"))
        assert attempts(made) == attempts(plain) and headway.audit(made).ok
        # Urgent jobs that may finish run into maintenance, and are stopped there.
        assert headway.audit(headway.simulate(log, platform, "ujf(overrun=finish)")).ok


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ("ujfb", "where its memory was swapped out"),
        ("redirection", "two groups of processors"),
        ("reallocation", "several clusters"),
        ("easy(dialect=pyss)", "the simulator does not whose rules it has"),
        ("easy(estimate=average2)", "says nothing"),
    ],
)
def test_who_cannot_take_outages_says_why(policy: str, why: str) -> None:
    with pytest.raises(headway.UsageError, match=why):
        run([(0, 1, 3, 11)], 4, WINDOW, policy)
