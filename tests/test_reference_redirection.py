"""The redirection reference on hand-worked instances and against its laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_examples import examples
from reference.conservative import Conservative
from reference.easy import Easy, simulate_easy
from reference.instances import job_lists
from reference.jobs import Job
from reference.loop import Machine, Policy
from reference.redirection import (
    CONFLICTS,
    FILTERS,
    Redirected,
    Redirection,
    group_sizes,
    simulate_redirection,
)
from reference.strict import Strict

BASES: dict[str, Callable[[Machine], Policy]] = {
    "easy": Easy,
    "sjbf": partial(Easy, backfill="sjf"),
    "fcfs": Strict,
    "conservative": Conservative,
}
# A (2 procs, w 100), B (4, 10), C (2, 50), D (1, 5), sent at 0, 1, 2, 3.
HELD_UP = [Job(1, 0, 2, 100, 100), Job(2, 1, 4, 10, 10), Job(3, 2, 2, 50, 50), Job(4, 3, 1, 5, 5)]


def starts(outcome: Redirected) -> list[int | None]:
    return [None if r is None else r.start for r in outcome.results]


def test_sizes() -> None:
    assert group_sizes(100, 0.15, None, "added") == (100, 15)
    assert group_sizes(99, 0.25, None, "added") == (99, 24)
    assert group_sizes(99, 0.25, None, "share") == (99, 33)
    assert group_sizes(100, 0.15, None, "split") == (85, 15)
    assert group_sizes(100, 0.15, 7, "added") == (100, 7)
    assert group_sizes(10, 0.7, None, "added") == (10, 7)  # 0.7 * 10 in binary is below 7


def test_the_third_newcomer_redirects() -> None:
    # m = 4, m' = 2, theta 1.  A starts at 0.  B (4 > 2) does not count against A.  C counts: A 1; then it is
    # backfilled (2 + 50 <= 100).  D counts against A (2 > theta) and C (1): A is killed at 3 and restarts in
    # the second group at 3.  B needs all 4: shadow 52 (C's end); D (3 + 5 <= 52) starts at 3.  B 52.
    outcome = simulate_redirection(HELD_UP, 4, theta=1, group=2)
    assert starts(outcome) == [3, 52, 2, 3]
    assert outcome.redirections == [Redirection(0, 0, 3)]
    first = outcome.results[0]
    assert first is not None and (first.end, first.why) == (103, "redirected")


def test_all_counters_are_reset() -> None:
    # As above; C had counted 1 when A was redirected.  E (1) at 4 waits behind B and counts against C again:
    # 1, not 2.
    outcome = simulate_redirection([*HELD_UP, Job(5, 4, 1, 99, 99)], 4, theta=1, group=2)
    assert outcome.redirections == [Redirection(0, 0, 3)]


def test_the_second_group_keeps_the_order_of_redirection() -> None:
    # m = 3, one processor to redirect to, theta 0, all 1 wide.  Y (w 100), X (w 200), Z (w 300) start at 0,
    # 1, 2. N1 (w 50) at 3 waits: the longest, Z, is redirected and runs 3-303.  N2 at 5: X goes to the queue.
    #  N3 at 6: Y too. X was redirected before Y although submitted after it: X 303-503, Y 503.
    walls = [(0, 100), (1, 200), (2, 300), (3, 50), (5, 50), (6, 50)]
    jobs = [Job(i, submit, 1, w, w) for i, (submit, w) in enumerate(walls)]
    outcome = simulate_redirection(jobs, 3, theta=0, group=1)
    assert [r.job for r in outcome.redirections] == [2, 1, 0]
    assert starts(outcome) == [503, 303, 3, 3, 5, 6]


def test_reservations_of_the_principal_group_use_what_a_redirection_frees() -> None:
    # m = 4.  A (4, w 100) runs; B (4, w 10) at 1 is promised 100, counts 1 > 0, A is redirected, B starts at
    # 1.
    jobs = [Job(1, 0, 4, 100, 100), Job(2, 1, 4, 10, 10)]
    outcome = simulate_redirection(jobs, 4, theta=0, group=4, principal=Conservative)
    assert starts(outcome) == [1, 1]


def test_without_filter_wide_newcomers_count() -> None:
    # B counts: A 1.  C counts: A 2 > 1: killed at 2, B starts on the 4 free ones, 2-12; C and D wait for 12.
    outcome = simulate_redirection(HELD_UP, 4, theta=1, group=2, filter="none")
    assert starts(outcome) == [2, 2, 12, 12]
    assert outcome.redirections == [Redirection(0, 0, 2)]


def test_filters_on_walltime() -> None:
    # walltime (w_k >= w_j): B 10, C 50 and D 5 are all shorter than A's 100, so A is killed at 2, as without
    # filter.
    assert starts(simulate_redirection(HELD_UP, 4, theta=1, group=2, filter="walltime")) == [2, 2, 12, 12]
    # pseudo (w_j >= w_k): no newcomer is as long as A: no redirection.  B is head with shadow 100; C is
    # backfilled at 2 (free 0), D when C ends at 52.
    outcome = simulate_redirection(HELD_UP, 4, theta=1, group=2, filter="pseudo")
    assert outcome.redirections == [] and starts(outcome) == [0, 100, 2, 52]


def test_too_wide_for_the_second_group() -> None:
    outcome = simulate_redirection(HELD_UP, 4, theta=1, group=1)  # A has 2 procs
    assert outcome.redirections == []


def test_a_job_that_starts_at_once_does_not_count() -> None:
    # m = 4: A (2), then B (1) and C (1) start at once: no counter moves.  D (1) is the first to wait: A 1, B
    # 1, C 1. theta 0: all are over.  B has the longest walltime (20) and the largest area (20 against 18 and
    # 8); B and C are the latest starts, B the longer of them; the counters tie, and B is the longest.
    jobs = [Job(1, 0, 2, 9, 9), Job(2, 1, 1, 20, 20), Job(3, 1, 1, 8, 8), Job(4, 2, 1, 1, 1)]
    for conflict in CONFLICTS:
        outcome = simulate_redirection(jobs, 4, theta=0, group=2, conflict=conflict)
        assert [(r.job, r.killed) for r in outcome.redirections] == [(1, 2)]


@pytest.mark.parametrize(
    ("conflict", "victim"),
    [
        # A (2 procs, w 30, from 0), B (1, w 50, from 1), C (1, w 20, from 2), all running when D (1) and E
        # (2) arrive at 3.  Counters: D counts against all (1 each), E (2) against A only: A 2, B 1, C 1.
        # theta 0.
        ("walltime", 1),  # 30, 50, 20
        ("counter", 0),  # 2, 1, 1
        ("area", 0),  # 60, 50, 20
        ("latest", 2),  # 0, 1, 2
    ],
)
def test_conflicts(conflict: str, victim: int) -> None:
    jobs = [
        Job(1, 0, 2, 30, 30),
        Job(2, 1, 1, 50, 50),
        Job(3, 2, 1, 20, 20),
        Job(4, 3, 1, 1, 1),
        Job(5, 3, 2, 1, 1),
    ]
    outcome = simulate_redirection(jobs, 4, theta=0, group=2, conflict=conflict)
    assert [(r.job, r.killed) for r in outcome.redirections] == [(victim, 3)]


def test_a_job_started_in_this_instant_may_be_the_one_redirected() -> None:
    # m = 1.  A starts at 0 on arrival; B and C of the same instant count against it: 2 > 1.  It is killed at
    # 0 with nothing lost and restarts in the second group at 0; B takes the processor, C follows.
    jobs = [Job(1, 0, 1, 9, 9), Job(2, 0, 1, 3, 3), Job(3, 0, 1, 3, 3)]
    outcome = simulate_redirection(jobs, 1, theta=1, group=1)
    assert starts(outcome) == [0, 0, 3]
    assert outcome.redirections == [Redirection(0, 0, 0)]


def test_split_refuses_what_is_too_wide() -> None:
    # 4 processors, half for redirection: the principal group has 2, job B (4) is refused.
    outcome = simulate_redirection(HELD_UP, 4, alpha=0.5, size="split")
    assert outcome.sizes == (2, 2)
    assert outcome.results[1] is None and starts(outcome) == [0, None, 100, 150]


@pytest.mark.parametrize("base", BASES)
@examples(80)
@given(
    jobs=job_lists(4),
    conflict=st.sampled_from(sorted(CONFLICTS)),
    theta=st.integers(0, 3),
    group=st.integers(0, 4),
    filter=st.sampled_from(sorted(FILTERS)),
)
def test_laws(base: str, jobs: list[Job], conflict: str, theta: int, group: int, filter: str) -> None:
    policy = BASES[base]
    outcome = simulate_redirection(
        jobs, 4, theta, group=group, filter=filter, conflict=conflict, principal=policy, redirected=policy
    )
    lost = {r.job: r for r in outcome.redirections}
    # R2: one kill each, and the job fits the second group; R3: kill times distinct; R4: only at arrivals
    assert len(lost) == len(outcome.redirections)
    assert all(jobs[j].procs <= group for j in lost)
    assert len({r.killed for r in outcome.redirections}) == len(lost)
    assert {r.killed for r in outcome.redirections} <= {job.submit for job in jobs}
    # R1: each group within its size, lost runs included
    pieces: tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]] = ([], [])
    for j, (job, result) in enumerate(zip(jobs, outcome.results, strict=True)):
        assert result is not None and result.end - result.start == job.length
        pieces[j in lost].append((result.start, result.end, job.procs))
        if j in lost:
            assert job.submit <= lost[j].start <= lost[j].killed <= result.start
            assert lost[j].killed <= lost[j].start + job.length
            pieces[0].append((lost[j].start, lost[j].killed, job.procs))
    for held, size in zip(pieces, (4, group), strict=True):
        for x, _, _ in held:
            assert sum(q for s, e, q in held if s <= x < e) <= size


@given(jobs=job_lists(4))
def test_no_redirection_is_plain_easy(jobs: list[Job]) -> None:
    # R5.  The reasons may differ in the words, the times not.
    easy = [(r.start, r.end) for r in simulate_easy(jobs, 4)]
    for outcome in (
        simulate_redirection(jobs, 4, theta=math.inf, group=4),
        simulate_redirection(jobs, 4, theta=0, group=0),
    ):
        assert [(r.start, r.end) for r in outcome.results if r is not None] == easy
