"""DBF by hand: displacement, promotion, late tasks, the literal text, the safety net; audit and metrics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import headway
from dbf_reference import check, made
from headway import Schedule
from headway.audit import audit
from headway.errors import UsageError
from headway.explain import explain
from headway.schedule import WHY
from headway.units import SECOND
from headway.workload.transform import apply
from reference.jobs import Job
from reference.laws import stretched
from test_reference_dbf import NET as NET_IN_SECONDS
from traces import opening

# m = 2, all jobs 2 wide. A 0-10. N (w 5, deadline 30): provisionally 10-15. P (w 10) at 2 goes before it: P
# 10-20, N 20-25. Q (w 10) at 3: Q 20-30 would push N to 35: late. N is promoted to 20-25, Q follows at 25.
# When P starts, N stands before it in the definitive list: P is backfilled.
MAKES_ROOM = stretched(
    [Job(1, 0, 2, 10, 10), Job(2, 1, 2, 5, 5, deadline=30), Job(3, 2, 2, 10, 10), Job(4, 3, 2, 10, 10)],
    SECOND,
)
# m = 2. A 0-10; N (w 5, deadline 12) could end at 15: late on arrival. P (w 10) at 2.
TOO_LATE = stretched([Job(1, 0, 2, 10, 10), Job(2, 1, 2, 5, 5, deadline=12), Job(3, 2, 2, 10, 10)], SECOND)
# m = 3, all 2 wide, sent at 0. N1 (w 2, deadline 3): 0-2. N2 (w 1, deadline 3): 2-3. P (w 1): behind P (0-1)
# N1 has 1-3, N2 has 3-4, late: L_TMP = {N2}. N2 0-1, P 1-2, and N1 2-4: late, against its deadline 3.
LITERAL_MISSES = stretched(
    [Job(1, 0, 2, 2, 2, deadline=3), Job(2, 0, 2, 1, 1, deadline=3), Job(3, 0, 2, 1, 1)], SECOND
)
NET = stretched(NET_IN_SECONDS, SECOND)


def starts(schedule: Schedule) -> list[int]:
    return [int(start) // SECOND for start in schedule.start]


def test_a_task_that_does_not_fit_beside_others_goes_before_them_also_where_one_has_no_length() -> None:
    """m = 4. N1, 2 wide: provisionally 0-10. N2, 4 wide and of no length: at 10. P, 3 wide: 0-4, so N1 is
    moved to 4-14 and N2 to 14, both before their deadlines."""
    jobs = [Job(1, 0, 2, 10, 10, deadline=32), Job(2, 0, 4, 0, 0, deadline=18), Job(3, 0, 3, 4, 4)]
    schedule, _ = check(stretched(jobs, SECOND), 4, "dbf")
    assert starts(schedule) == [4, 14, 0]


def test_a_task_makes_room_until_it_cannot() -> None:
    schedule, _ = check(MAKES_ROOM, 2, "dbf")
    assert starts(schedule) == [0, 20, 10, 25]
    assert [WHY[code] for code in schedule.why] == ["immediate", "promoted", "backfill", "reservation"]
    assert schedule.promise is not None and (schedule.promise // SECOND).tolist() == [10, 30, 20, 35]
    assert schedule.own["displacements"] == 1 and schedule.own["promotions"] == 1


def test_literal_misses_a_deadline_that_strict_keeps() -> None:
    literal, _ = check(LITERAL_MISSES, 3, "dbf(mode=literal)")
    assert starts(literal) == [2, 0, 1]
    assert literal.summary()["deadlines_met"] == 1 and literal.summary()["promises_kept"] == pytest.approx(
        2 / 3
    )
    assert audit(literal).ok  # literal warrants only what has no deadline
    literal.policy = str(literal.policy).replace("literal", "strict")
    assert [fault.law for fault in audit(literal).faults] == ["latest end"]
    strict, _ = check(LITERAL_MISSES, 3, "dbf")
    assert starts(strict) == [0, 2, 3] and strict.summary()["deadlines_met"] == 2 and audit(strict).ok


def test_the_safety_net() -> None:
    schedule, _ = check(NET, 3, "dbf")
    assert starts(schedule) == [4, 0, 0, 0, 2, 3, 5]
    assert schedule.own["safety_net"] == 1 and schedule.own["promotions"] == 0
    assert audit(schedule).ok


def test_late_on_arrival() -> None:
    schedule, _ = check(TOO_LATE, 2, "dbf")
    assert starts(schedule) == [0, 10, 15] and schedule.own["late_on_arrival"] == 1
    assert "too late for its deadline" in str(explain(schedule, 2, simulate_again=False))


def test_refused_jobs_are_in_the_ledger(tmp_path: Path) -> None:
    schedule, _ = check(TOO_LATE, 2, "dbf(late=refuse)")
    ledger = schedule.workload.ledger
    assert (ledger.total, ledger.kept, ledger.dropped) == (3, 2, 1)
    assert ledger.dropped_jobs().tolist() == [2] and "refused" in ledger.rows()[0]["action"]  # type: ignore[operator]
    assert schedule.workload.job.tolist() == [1, 3] and audit(schedule).ok
    with pytest.raises(UsageError, match="job 2 was not scheduled: late, refused"):
        explain(schedule, 2)
    again = Schedule.load(schedule.save(tmp_path / "out"))
    assert again.workload.job.tolist() == [1, 3] and audit(again).ok


def test_no_deadlines_is_said_in_one_line() -> None:
    told: list[str] = []
    plain = made(stretched([Job(1, 0, 2, 10, 10)], SECOND), 2, "dbf").workload
    headway.simulate(plain, 2, "dbf", notify=told.append)
    assert [line for line in told if "compiling" not in line] == [
        "no job has a deadline, so dbf is conservative backfilling"
    ]
    told.clear()
    headway.simulate(made(MAKES_ROOM, 2, "dbf").workload, 2, "dbf", notify=told.append)
    assert not [line for line in told if "compiling" not in line]


def test_everything_refused() -> None:
    jobs = stretched([Job(1, 0, 2, 10, 10, deadline=5)], SECOND)
    schedule = made(jobs, 2, "dbf(late=refuse)")
    assert len(schedule) == 0 and schedule.summary()["dropped"] == 1


def test_what_a_job_is_told() -> None:
    text = str(explain(made(MAKES_ROOM, 2, "dbf"), 2, simulate_again=False))
    for part in (
        "accepted with a provisional reservation at 10 s",
        "displaced it once, to a later start: job 3 at 2 s to 20 s.",
        "became definitive at 3 s",
        "met its deadline with 5 s to spare",
    ):
        assert part in " ".join(text.split())


def test_a_saved_run_is_told_the_same(tmp_path: Path) -> None:
    schedule = made(MAKES_ROOM, 2, "dbf")
    again = Schedule.load(schedule.save(tmp_path / "out"))
    assert not again.notes
    assert str(explain(again, 2, simulate_again=False)) == str(explain(schedule, 2, simulate_again=False))


def test_metrics_by_label() -> None:
    # Waits 0, 19, 8, 22; walltimes 10, 5, 10, 10.
    found = made(MAKES_ROOM, 2, "dbf").summary()
    assert (found["priority_jobs"], found["flexible_jobs"]) == (3, 1)
    assert (found["priority_mean_wait"], found["flexible_mean_wait"]) == (10.0, 19.0)
    assert found["priority_mean_walltime_slowdown"] == pytest.approx((1 + 1.8 + 3.2) / 3)
    assert found["flexible_mean_slowdown"] == pytest.approx(24 / 5)
    assert (found["deadlines"], found["deadlines_met"], found["promises_kept"]) == (1, 1, 1.0)
    assert found["mean_before_promise"] == pytest.approx(5 / 4)
    plain = headway.simulate(made(MAKES_ROOM, 2, "dbf").workload, 2, "conservative").summary()
    assert plain["flexible_mean_wait"] == 9.0 and "promises_kept" not in plain


def test_the_audit_sees_a_broken_promise() -> None:
    schedule = made(MAKES_ROOM, 2, "dbf")
    schedule.promise = np.array([10, 24, 20, 35]) * SECOND
    messages = [str(fault) for fault in audit(schedule).faults]
    assert any("job 2 may run until 25, it was told to end by 24" in text for text in messages)
    assert any("no deadline of its was accepted" in text for text in messages)
    schedule.promise = np.array([9, 30, 20, 35]) * SECOND
    assert any("which its walltime does not allow" in str(fault) for fault in audit(schedule).faults)


@pytest.mark.parametrize("times", ["requested", "exact"])
@pytest.mark.parametrize("log", ["KTH-SP2", "SDSC-SP2", "HPC2N", "SDSC-BLUE"])
def test_strict_keeps_every_deadline_on_a_part_of_a_log(log: str, times: str) -> None:
    workload = opening(log, 3000)
    steps = ["first(3000)", *(["exact"] if times == "exact" else []), "deadlines(horizon=3600)"]
    procs = workload.header.max_procs
    assert procs is not None
    schedule = headway.simulate(apply(workload, *steps), procs, "dbf")
    assert schedule.promise is not None and (schedule.end <= schedule.promise).all()
    assert int(str(schedule.own["accepted_deadlines"])) > 500
    assert audit(schedule).ok
