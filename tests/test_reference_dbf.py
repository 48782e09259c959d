"""The DBF reference on hand-worked instances and against its laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_examples import examples
from reference.conservative import simulate_conservative
from reference.dbf import Deadlines, simulate_dbf
from reference.instances import job_lists
from reference.jobs import Job, Result
from reference.laws import check_schedule, shifted, stretched

M = 4
DEADLINES = st.one_of(st.none(), st.integers(0, 50))


def starts(outcome: Deadlines) -> list[int | None]:
    return [None if r is None else r.start for r in outcome.results]


def scheduled(outcome: Deadlines) -> list[Result]:
    return [r for r in outcome.results if r is not None]


def test_a_task_with_a_deadline_makes_room_until_it_cannot() -> None:
    # m = 2, all jobs 2 wide.  A 0-10.  N (w 5, deadline 30): provisionally 10-15.  P (w 10) at 2 goes before
    # it: P 10-20, N 20-25.  Q (w 10) at 3: Q 20-30 would push N to 35: late.  N is promoted to 20-25, Q
    # follows at 25.
    jobs = [
        Job(1, 0, 2, 10, 10),
        Job(2, 1, 2, 5, 5, deadline=30),
        Job(3, 2, 2, 10, 10),
        Job(4, 3, 2, 10, 10),
    ]
    outcome = simulate_dbf(jobs, 2)
    assert starts(outcome) == [0, 20, 10, 25]
    assert (outcome.accepted, outcome.promoted, outcome.late_on_arrival) == ([1], [1], [])
    assert [r.promise for r in scheduled(outcome)] == [10, 30, 20, 35]
    assert [r.why for r in scheduled(outcome)] == ["immediate", "promoted", "reservation", "reservation"]


def test_a_provisional_task_due_now_is_still_displaced() -> None:
    # m = 2.  A 0-10; N (deadline 99) due at 10.  P arrives at 10, before starts: P 10-20, N 20.
    jobs = [Job(1, 0, 2, 10, 10), Job(2, 1, 2, 5, 5, deadline=99), Job(3, 10, 2, 10, 10)]
    assert starts(simulate_dbf(jobs, 2)) == [0, 20, 10]


def test_late_on_arrival() -> None:
    # m = 2.  A 0-10; N (w 5, deadline 12) could end at 15: it is a priority task, and P cannot pass it.
    jobs = [Job(1, 0, 2, 10, 10), Job(2, 1, 2, 5, 5, deadline=12), Job(3, 2, 2, 10, 10)]
    outcome = simulate_dbf(jobs, 2)
    assert starts(outcome) == [0, 10, 15]
    assert (outcome.accepted, outcome.late_on_arrival) == ([], [1])
    refused = simulate_dbf(jobs, 2, late="refuse")
    assert starts(refused) == [0, None, 10]


def test_the_literal_text_misses_a_deadline_that_the_loop_keeps() -> None:
    # m = 3, all 2 wide, sent at 0.  N1 (w 2, deadline 3): 0-2.  N2 (w 1, deadline 3): 2-3.  P (w 1):
    # behind P (0-1) N1 has 1-3, N2 has 3-4, late: L_TMP = {N2}.  N2 0-1, P 1-2, and N1 2-4: late.
    # The loop then adds N1: N1 0-2, N2 2-3, P 3-4.
    jobs = [Job(1, 0, 2, 2, 2, deadline=3), Job(2, 0, 2, 1, 1, deadline=3), Job(3, 0, 2, 1, 1)]
    literal = simulate_dbf(jobs, 3, "literal")
    assert starts(literal) == [2, 0, 1] and literal.promoted == [1]
    strict = simulate_dbf(jobs, 3)
    assert starts(strict) == [0, 2, 3] and sorted(strict.promoted) == [0, 1]


def test_earlier_tasks_join_when_a_late_one_needs_them() -> None:
    # m = 2.  R (2) 0-10.  X (1, w 10, deadline 100): 10-20.  A (2, w 5, deadline 25): 20-25.  B (1, w 10,
    # deadline 20): 10-20 beside X.  P (2, w 5) at 10-15 would give X 15-25, A 25-30 (late), B 15-25 (late):
    # TMP = {A, B}.  But A takes 10-15 now, and B is late at 15-25.  So X, submitted before B, joins: X, A, B
    # keep their old places; P 25-30.
    jobs = [
        Job(1, 0, 2, 10, 10),
        Job(2, 1, 1, 10, 10, deadline=100),
        Job(3, 2, 2, 5, 5, deadline=25),
        Job(4, 3, 1, 10, 10, deadline=20),
        Job(5, 4, 2, 5, 5),
    ]
    for mode in ("strict", "literal"):
        outcome = simulate_dbf(jobs, 2, mode)
        assert starts(outcome) == [0, 10, 20, 10, 25]
        assert sorted(outcome.promoted) == [1, 2, 3] and outcome.safety_net == 0


NET = [
    Job(1, 0, 3, 1, 1, deadline=5),
    Job(2, 0, 1, 1, 0),
    Job(3, 0, 1, 1, 0),
    Job(4, 0, 2, 3, 3),
    Job(5, 2, 1, 2, 0),
    Job(6, 2, 2, 1, 1, deadline=4),
    Job(7, 3, 2, 1, 1),
]
"""Some cannot find their places again: worked below."""


def test_the_safety_net() -> None:
    # m = 3.  At 0: N (3 procs, w 1, deadline 5); A, B (1, w 1, run 0); C (2, w 3).  N makes room: A, B at 0,
    # C 1-4, N 4. A and B end at 0: C moves to 0-3, N to 3-4.  At 2: D (1, w 2, run 0) 2-4, so N at 4; E (2, w
    # 1, deadline 4) at 3-4 beside D, in LN.  D ends at 2; N (first in the sweep) cannot pass E: it stays at
    # 4. At 3: P (2, w 1).  P 3-4 makes E late; E 3-4, P 4-5 makes N late (5-6 > 5); N 3-4 and then E 4-5:
    # late, and nothing is left to add.  So LN stays as it was, E 3, N 4, and P takes 5.
    outcome = simulate_dbf(NET, 3)
    assert starts(outcome) == [4, 0, 0, 0, 2, 3, 5]
    assert outcome.safety_net == 1 and outcome.promoted == []


@pytest.mark.parametrize("compress", ["early", "every", "fixpoint", "none", "scratch"])
@pytest.mark.parametrize("mode", ["strict", "literal"])
@examples(30)
@given(jobs=job_lists(M, deadline=DEADLINES))
def test_every_schedule_is_legal(mode: str, compress: str, jobs: list[Job]) -> None:
    check_schedule(jobs, M, scheduled(simulate_dbf(jobs, M, mode, compress=compress)))
    refusing = simulate_dbf(jobs, M, mode, "refuse", compress)
    kept = [j for j, r in zip(jobs, refusing.results, strict=True) if r is not None]
    check_schedule(kept, M, scheduled(refusing))
    assert all(j.deadline is not None for j, r in zip(jobs, refusing.results, strict=True) if r is None)


@pytest.mark.parametrize("compress", ["early", "every", "fixpoint", "none"])
@given(jobs=job_lists(M, max_jobs=16, deadline=DEADLINES))
def test_promises_are_kept(compress: str, jobs: list[Job]) -> None:
    # D1 and D3: what was told at arrival holds, a deadline or the reservation's end.
    outcome = simulate_dbf(jobs, M, compress=compress)
    for j, (job, result) in enumerate(zip(jobs, scheduled(outcome), strict=True)):
        assert result.promise is not None
        assert result.start + job.walltime <= result.promise
        if j in outcome.accepted:
            assert result.promise == job.deadline
    assert set(outcome.promoted) <= set(outcome.accepted)
    assert len(set(outcome.promoted)) == len(outcome.promoted)


@pytest.mark.parametrize("mode", ["strict", "literal"])
@pytest.mark.parametrize("compress", ["early", "every", "fixpoint", "none", "scratch"])
@examples(40)
@given(jobs=job_lists(M))
def test_without_deadlines_it_is_conservative(mode: str, compress: str, jobs: list[Job]) -> None:
    plain = simulate_conservative(jobs, M, compress)
    assert starts(simulate_dbf(jobs, M, mode, compress=compress)) == [r.start for r in plain]


@given(jobs=job_lists(M, deadline=DEADLINES))
def test_scaling_and_shifting(jobs: list[Job]) -> None:
    plain = [r.start for r in scheduled(simulate_dbf(jobs, M))]
    assert starts(simulate_dbf(stretched(jobs, 3), M)) == [3 * s for s in plain]
    assert starts(simulate_dbf(shifted(jobs, 7), M)) == [s + 7 for s in plain]
