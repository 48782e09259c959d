"""The UJF and UJFB references on hand-worked instances and against their laws."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_examples import examples
from reference.conservative import simulate_conservative
from reference.instances import job_lists
from reference.jobs import Job
from reference.laws import shifted, stretched
from reference.urgent import Piece, Urgent, simulate_ujf, simulate_ujfb

M = 5
URGENT = st.sampled_from([False, False, True])


def spans(outcome: Urgent) -> list[tuple[int, int]]:
    return [(r.start, r.end) for r in outcome.results]


# R1 (2 procs, w 10, swap 1) at 0, R2 (2, w 20, swap 2) at 1, urgent U (3, w 5) at 4, R3 (1, w 3) at 5, urgent
# V (1, w 2) at 7, on 4 processors.
TSUNAMI = [
    Job(1, 0, 2, 10, 10, swap=1),
    Job(2, 1, 2, 20, 20, swap=2),
    Job(3, 4, 3, 5, 5, urgent=True),
    Job(4, 5, 1, 3, 3),
    Job(5, 7, 1, 2, 2, urgent=True),
]


def test_suspend_and_resume() -> None:
    # U needs 3 of 4 busy processors: R2 (latest) gives 2, R1 too; both are needed.  PD = max(1, 2) = 2: U
    # runs 6-11 on 0, 1, 2.  R1 has done 4 of 10, R2 3 of 20.  R3 may not use processor 3, which R2 owns: R1
    # is expected back at 11, to swap in until 12 and to end at 18: R3 at 18.  V may: it runs 7-9 on 3.  At 11
    # both resume: R1 12-18, R2 13-30.
    outcome = simulate_ujfb(TSUNAMI, 4)
    assert spans(outcome) == [(0, 18), (1, 30), (6, 11), (18, 21), (7, 9)]
    assert [r.why for r in outcome.results] == [
        "resumed",
        "resumed",
        "urgent_preempt",
        "reservation",
        "urgent",
    ]
    assert outcome.results[3].promise == 18
    assert (outcome.suspensions, outcome.preempting, outcome.waste) == (2, 1, 0)
    assert [p for p in outcome.pieces if p.job == 1] == [
        Piece(1, "running", 1, 4, (2, 3)),
        Piece(1, "swap_out", 4, 6, (2, 3)),
        Piece(1, "suspended", 6, 11, (2, 3)),
        Piece(1, "swap_in", 11, 13, (2, 3)),
        Piece(1, "running", 13, 30, (2, 3)),
    ]


def test_kill_and_restart() -> None:
    # U starts at 4 on 0, 1, 2; R1 and R2 wait for 9.  R3 takes processor 3 at 5 (5 + 3 <= 9).  V kills it at
    # 7 and runs 7-9.  At 9 R1 and R2 restart (9-19, 9-29); R3, behind them, at 19.  Lost: 2*4 + 2*3 + 1*2 =
    # 16.
    outcome = simulate_ujfb(TSUNAMI, 4, preempt="kill")
    assert spans(outcome) == [(9, 19), (9, 29), (4, 9), (19, 22), (7, 9)]
    assert (outcome.suspensions, outcome.preempting, outcome.waste) == (3, 2, 16)


def test_a_second_urgent_job_on_suspended_processors_delays_the_resume() -> None:
    # 2 processors.  R (2, w 10, swap 1) 0-.  U (1, w 4) at 2 runs 3-7 on 0.  V (1, w 6) at 4 uses processor 1
    # at once, 4-10.  R cannot resume at 7; at 10 it swaps in and runs its other 8: 11-19.
    jobs = [
        Job(1, 0, 2, 10, 10, swap=1),
        Job(2, 2, 1, 4, 4, urgent=True),
        Job(3, 4, 1, 6, 6, urgent=True),
    ]
    assert spans(simulate_ujfb(jobs, 2)) == [(0, 19), (3, 7), (4, 10)]


def test_preempted_again_during_swap_in() -> None:
    # 1 processor.  R (w 10, swap 3) has done 2 when U (w 1) comes at 2: U runs 5-6.  R swaps in from 6; V (w
    # 1) comes at 7, R is swapped out again, V runs 10-11.  R swaps in 11-14 and runs its 8: 22.
    jobs = [
        Job(1, 0, 1, 10, 10, swap=3),
        Job(2, 2, 1, 1, 1, urgent=True),
        Job(3, 7, 1, 1, 1, urgent=True),
    ]
    outcome = simulate_ujfb(jobs, 1)
    assert spans(outcome) == [(0, 22), (5, 6), (10, 11)]
    assert outcome.suspensions == 2


def test_urgent_jobs_wait_only_for_urgent_jobs_and_may_pass_each_other() -> None:
    # 4 processors.  U (3) runs 0-10.  V (2) cannot go, nothing to preempt: waits.  W (1), later, goes at
    # once. At 10 V starts.  R (1), sent at 3, finds W on the last processor until 22; V's place (10-15)
    # leaves room for it at 10.
    jobs = [
        Job(1, 0, 3, 10, 10, urgent=True),
        Job(2, 1, 2, 5, 5, urgent=True),
        Job(3, 2, 1, 20, 20, urgent=True),
        Job(4, 3, 1, 4, 4),
    ]
    assert spans(simulate_ujfb(jobs, 4)) == [(0, 10), (10, 15), (2, 22), (10, 14)]


def test_a_waiting_urgent_job_holds_regular_jobs_back() -> None:
    # 4 processors.  U (3) runs 0-10, V (4) waits with a place at 10-15.  R (1, w 20) at 3 would run into it:
    # R at 15.
    jobs = [
        Job(1, 0, 3, 10, 10, urgent=True),
        Job(2, 1, 4, 5, 5, urgent=True),
        Job(3, 3, 1, 20, 20),
    ]
    outcome = simulate_ujfb(jobs, 4)
    assert spans(outcome) == [(0, 10), (10, 15), (15, 35)] and outcome.preempting == 0


def test_backfill_or_precede() -> None:
    # 4 processors.  A (3) 0-10, B (4) reserved at 10.  U (1, w 3) at 2 ends before 10: a backfill.  V (1, w
    # 9) at 5 runs to 14 and pushes B there: it precedes.
    jobs = [
        Job(1, 0, 3, 10, 10),
        Job(2, 1, 4, 2, 2),
        Job(3, 2, 1, 3, 3, urgent=True),
        Job(4, 5, 1, 9, 9, urgent=True),
    ]
    outcome = simulate_ujfb(jobs, 4)
    assert spans(outcome) == [(0, 10), (14, 16), (2, 5), (5, 14)]
    assert [r.why for r in outcome.results[2:]] == ["urgent_backfill", "urgent"]
    assert outcome.results[1].promise == 10


@pytest.mark.parametrize(
    ("victims", "needed", "stopped"),
    [
        # R1 (1 proc), R2 (2), R3 (3) start at 0, 1, 2 on 6 processors.
        ("latest", 3, {2}),
        ("smallest", 3, {0, 1}),
        ("largest", 3, {2}),
        ("latest", 4, {1, 2}),
        # R1 + R2 = 3, so R3 joins; without R1 there are still 5: it is let go; without R2 only 3.
        ("smallest", 4, {1, 2}),
        ("largest", 6, {0, 1, 2}),
    ],
)
def test_victims(victims: str, needed: int, stopped: set[int]) -> None:
    jobs = [Job(i, i, i + 1, 50, 50) for i in range(3)] + [Job(3, 5, needed, 1, 1, urgent=True)]
    outcome = simulate_ujfb(jobs, 6, victims=victims, swap=1)
    assert {j for j in range(3) if outcome.results[j].why == "resumed"} == stopped


def test_a_full_host_is_passed_over() -> None:
    # 2 hosts of 2 processors and 10 GB.  A (2 procs, 6 GB each) on host 0 does not fit in its host; B (2, 5
    # GB each) on host 1 does.  Both started at 0, so A would come first, but it is passed over.  V then finds
    # nobody and waits.
    jobs = [
        Job(1, 0, 2, 20, 20, memory_gb=Fraction(6)),
        Job(2, 0, 2, 20, 20, memory_gb=Fraction(5)),
        Job(3, 1, 2, 4, 4, urgent=True),
        Job(4, 2, 2, 4, 4, urgent=True),
    ]
    outcome = simulate_ujfb(jobs, 4, swap=1, host_memory=Fraction(10), host_size=2)
    # U runs 2-6 on host 1; V waits until 6 and takes B's processors there, 6-10; B swaps in, 11-30.
    assert spans(outcome) == [(0, 20), (0, 30), (2, 6), (6, 10)]


def test_ujf_is_strict() -> None:
    # 2 processors.  A (1) 0-10.  B (2) waits; urgent U (1) at 2 goes beside A.  C (1) stays behind B.
    jobs = [Job(1, 0, 1, 10, 10), Job(2, 1, 2, 5, 5), Job(3, 2, 1, 3, 3, urgent=True), Job(4, 3, 1, 1, 1)]
    assert [r.start for r in simulate_ujf(jobs, 2)] == [0, 10, 2, 15]


# ---- laws ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preempt", ["suspend", "kill"])
@pytest.mark.parametrize("victims", ["latest", "smallest", "largest"])
@examples(60)
@given(jobs=job_lists(M, urgent=URGENT, swap=st.integers(0, 3)))
def test_laws(preempt: str, victims: str, jobs: list[Job]) -> None:
    outcome = simulate_ujfb(jobs, M, preempt, victims)
    pieces: dict[int, list[Piece]] = defaultdict(list)
    for piece in outcome.pieces:
        pieces[piece.job].append(piece)
    worst = max(job.swap for job in jobs)
    for j, (job, result) in enumerate(zip(jobs, outcome.results, strict=True)):
        states = {p.state for p in pieces[j]}
        final = [p for p in pieces[j] if p.state != "lost"]
        assert result.start >= job.submit and all(len(p.processors) == job.procs for p in pieces[j])
        assert sum(p.end - p.start for p in final if p.state == "running") == job.length
        assert final[0].start == result.start and final[-1].end == result.end
        assert all(a.end == b.start for a, b in pairwise(final))  # J5
        assert len({p.processors for p in final}) == 1  # J4
        if job.urgent:
            assert states == {"running"} and len(pieces[j]) == 1  # J1
            others = [r for k, r in enumerate(outcome.results) if jobs[k].urgent and k != j]
            alone = all(r.end < job.submit or r.start > result.end + worst for r in others)
            if alone:  # J2
                assert result.start <= job.submit + (worst if preempt == "suspend" else 0)
        assert (preempt == "suspend") or states <= {"running", "lost"}  # J7
    # U3: one processor runs one thing at a time
    running = [p for p in outcome.pieces if p.state in ("running", "swap_in", "lost") and p.start < p.end]
    for a in running:
        for b in running:
            if a is not b and set(a.processors) & set(b.processors):
                assert a.end <= b.start or b.end <= a.start


@pytest.mark.parametrize("preempt", ["suspend", "kill"])
@given(jobs=job_lists(M, urgent=st.just(False)))
def test_without_urgent_jobs_it_is_conservative_from_scratch(preempt: str, jobs: list[Job]) -> None:
    plain = simulate_conservative(jobs, M, "scratch")
    assert spans(simulate_ujfb(jobs, M, preempt)) == [(r.start, r.end) for r in plain]


@pytest.mark.parametrize("preempt", ["suspend", "kill"])
@given(jobs=job_lists(M, urgent=st.booleans(), zero=False))
def test_urgent_jobs_that_fit_beside_each_other_never_wait(preempt: str, jobs: list[Job]) -> None:
    # J6: with no swap time, if the urgent jobs together never need more than m.
    claims = [(j.submit, j.submit + max(j.length, 1), j.procs) for j in jobs if j.urgent]
    if all(sum(q for s, e, q in claims if s <= x < e) <= M for x, _, _ in claims):
        outcome = simulate_ujfb(jobs, M, preempt, swap=0)
        assert all(r.start == j.submit for j, r in zip(jobs, outcome.results, strict=True) if j.urgent)


@given(jobs=job_lists(M, urgent=URGENT, swap=st.integers(0, 3)))
def test_scaling_and_shifting(jobs: list[Job]) -> None:
    plain = spans(simulate_ujfb(jobs, M))
    assert spans(simulate_ujfb(stretched(jobs, 3), M)) == [(3 * s, 3 * e) for s, e in plain]
    assert spans(simulate_ujfb(shifted(jobs, 7), M)) == [(s + 7, e + 7) for s, e in plain]


@given(jobs=job_lists(M, urgent=st.just(True)))
def test_urgent_jobs_never_preempt_each_other(jobs: list[Job]) -> None:
    outcome = simulate_ujfb(jobs, M)
    assert outcome.preempting == outcome.suspensions == 0
