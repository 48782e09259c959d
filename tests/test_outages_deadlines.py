"""DBF on a machine whose processors come and go: by hand, against conservative backfilling, and by what it
tells jobs.
"""

from __future__ import annotations

import random

import pytest

import headway
from headway.platform import Platform
from outages_reference import Job, Loss
from small_schedules import workload
from test_outages import attempts, instance, outages


def run(
    jobs: list[Job], size: int, losses: list[Loss], deadline: list[float], policy: str = "dbf"
) -> headway.Schedule:
    platform = Platform.procs(size).with_outages(outages(losses))
    return headway.simulate(workload(jobs, deadline=deadline), platform, policy)


def told(found: headway.Schedule) -> list[float]:
    """By when each job is to end, in seconds; -1 where nobody told it."""
    assert found.promise is not None and found.promise_kind == "end"
    return [float(end) / 1e6 if end >= 0 else -1 for end in found.promise]


def test_a_deadline_behind_a_maintenance_is_kept() -> None:
    """All 4 processors are away from 10 to 20. Job 1 (8 s, deadline 30) fits before or behind. Job 2 comes at
    1 with 9 s and no deadline, and goes first, until 10; so job 1 waits for 20."""
    jobs = [(1, 4, 8, 8), (1, 4, 9, 9)]
    found = run(jobs, 4, [Loss("maintenance", 10, 20, 4)], [30, -1])
    assert [row[:3] for row in attempts(found)] == [(2, 1, 10), (1, 20, 28)]
    assert told(found) == [30, 10]
    assert found.summary()["broken_promises"] == 0
    assert headway.audit(found).ok


def test_what_a_failure_breaks_is_counted() -> None:
    """Job 1 runs from 0 to 20 on all 4 processors, one of which fails at 5 and is back at 12: it begins anew
    and ends at 32, told 20. Job 2 with the deadline 40 becomes definitive at 5: nothing is known of the
    processor's return, so that it gets a place that does not need it."""
    jobs = [(0, 4, 20, 20), (1, 2, 10, 10)]
    found = run(jobs, 4, [Loss("down", 5, 12, names=frozenset({3}))], [-1, 40])
    assert attempts(found) == [
        (1, 0, 5, "0-3", "failed"),
        (2, 5, 15, "0-1", "done"),
        (1, 15, 35, "0-3", "done"),
    ]
    assert told(found) == [20, 40]
    assert found.summary()["broken_promises"] == 1
    assert headway.audit(found).ok


def test_a_deadline_that_a_failure_breaks() -> None:
    """Jobs 1 and 2 have the machine until 10; job 2 is to end by 22, and would at 20. Three of 4 processors
    are lost from 4 to 30, so that it begins at 30: behind its deadline, but not lost."""
    jobs = [(0, 4, 10, 10), (0, 4, 10, 10)]
    found = run(jobs, 4, [Loss("down", 4, 30, names=frozenset({1, 2, 3}))], [-1, 22])
    assert [row[:3] for row in attempts(found)] == [(1, 0, 4), (1, 30, 40), (2, 40, 50)]
    assert found.summary()["broken_promises"] == 2 and len(found) == 2
    assert headway.audit(found).ok


def test_who_wants_more_than_is_left_is_told_nothing() -> None:
    """Processor 3 is down from 0 to 9; job 2 wants all four and comes at 2, job 3 passes it."""
    jobs = [(0, 1, 3, 3), (2, 4, 5, 5), (3, 3, 4, 4)]
    found = run(jobs, 4, [Loss("down", 0, 9, names=frozenset({3}))], [-1, -1, -1])
    assert [row[:3] for row in attempts(found)] == [(1, 0, 3), (3, 3, 7), (2, 9, 14)]
    assert told(found)[1] == -1


@pytest.mark.parametrize(("late", "runs"), [("priority", [1, 3, 2]), ("refuse", [1, 3])])
def test_a_deadline_that_nothing_says_can_be_kept(late: str, runs: list[int]) -> None:
    """Processor 3 is down from 0 to 9. Job 2 comes at 2, wants all four and is to end by 100; nobody knows of
    the return: it is late. It waits and others pass it, as in conservative backfilling, or it is refused.
    """
    jobs = [(0, 1, 3, 3), (2, 4, 5, 5), (3, 3, 4, 4)]
    losses = [Loss("down", 0, 9, names=frozenset({3}))]
    found = run(jobs, 4, losses, [-1, 100, -1], f"dbf(late={late})")
    assert [row[0] for row in attempts(found)] == runs
    assert found.summary()["late_on_arrival"] == 1
    if late == "priority":
        plain = run(jobs, 4, losses, [-1, -1, -1], "conservative")
        assert attempts(found) == attempts(plain)


def test_without_deadlines_it_is_conservative_backfilling() -> None:
    """Job for job, attempt for attempt."""
    random_ = random.Random("dbf")
    for _ in range(40):
        jobs, size, losses = instance(random_)
        if not losses:
            continue
        found = run(jobs, size, losses, [-1.0] * len(jobs))
        plain = run(jobs, size, losses, [-1.0] * len(jobs), "conservative")
        assert attempts(found) == attempts(plain), (jobs, size, losses)
        assert headway.audit(found).ok


def test_around_known_maintenance_everyone_ends_when_told() -> None:
    """Nothing fails and all is known from the beginning, so no promise is broken, of whichever kind."""
    random_ = random.Random("maintenance")
    kept = 0
    for _ in range(60):
        jobs, size, losses = instance(random_)
        known = [Loss("maintenance", one.start, one.end, one.procs or len(one.names)) for one in losses]
        deadline = [job[0] + random_.randint(5, 90) if random_.random() < 0.5 else -1.0 for job in jobs]
        found = run(jobs, size, known[:1], deadline)
        assert found.summary()["broken_promises"] == 0, (jobs, size, known, deadline)
        assert headway.audit(found).ok
        kept += sum(by == end for by, end in zip(deadline, told(found), strict=True))
    assert kept > 30  # jobs that were told no more than their deadline


def test_with_failures_no_job_is_lost_and_every_law_holds() -> None:
    random_ = random.Random("failures")
    broken = 0
    for _ in range(60):
        jobs, size, losses = instance(random_)
        if not losses:
            continue
        deadline = [job[0] + random_.randint(5, 90) if random_.random() < 0.5 else -1.0 for job in jobs]
        for policy in ("dbf", "dbf(mode=literal)", "dbf(late=refuse)", "dbf(compress=every)"):
            found = run(jobs, size, losses, deadline, policy)
            verdict = headway.audit(found)
            assert verdict.ok, (verdict.faults, jobs, size, losses, deadline)
            assert len(found) + found.workload.ledger.dropped == len(jobs)
            broken += found.summary()["broken_promises"]
    assert broken > 0
