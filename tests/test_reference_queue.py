"""The queue references (strict orders, EASY, conservative) on instances worked by hand and against laws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_examples import examples
from reference.conservative import simulate_conservative
from reference.depth import DeepEasy
from reference.easy import Easy, planned_time, simulate_easy
from reference.instances import job_lists
from reference.jobs import Job, Result
from reference.laws import check_schedule, shifted, stretched, times, widened
from reference.loop import simulate
from reference.orders import KEYS
from reference.profile import Profile
from reference.strict import simulate_strict

M = 5
MODES = ("early", "every", "fixpoint", "scratch", "none")
POLICIES: dict[str, Callable[[list[Job], int], list[Result]]] = {
    **{name: partial(simulate_strict, order=name, second=1) for name in KEYS},
    "easy": simulate_easy,
    "easy-sjbf": partial(simulate_easy, backfill="sjf"),
    "easy-lxf-age": partial(simulate_easy, order="lxf", age=6, second=1),
    "easy-exact": partial(simulate_easy, estimate="exact"),
    "easy-half": partial(simulate_easy, estimate=0.5),
    "easy-2": partial(simulate_easy, depth=2, backfill="sjf"),
    "easy-all": partial(simulate_easy, depth="all"),
    **{f"cbf-{mode}": partial(simulate_conservative, compress=mode) for mode in MODES},
    "cbf-open": partial(simulate_conservative, hole="open"),
}


def starts(results: list[Result]) -> list[int]:
    return [result.start for result in results]


def jobs_of(*rows: tuple[int, int, int, int]) -> list[Job]:
    """Rows (submit, procs, walltime, runtime)."""
    return [Job(i + 1, *row) for i, row in enumerate(rows)]


# ---- hand-worked instances -------------------------------------------------------------------------------


def test_fcfs_stops_at_the_first_misfit() -> None:
    # 4 processors.  t=0: A (3 procs) runs to 10.  B (2) does not fit, so C (1), which would, waits behind it.
    # t=10: B and C start together; D (4) waits for both: B ends at 15.
    jobs = jobs_of((0, 3, 10, 10), (1, 2, 5, 5), (2, 1, 3, 3), (3, 4, 1, 1))
    assert starts(simulate_strict(jobs, 4)) == [0, 10, 10, 15]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        # A holds all 4 to 10.  B (4 procs, w 4, sent at 1), C (2, w 6, at 2), D (1, w 9, at 3) wait for it.
        # B, then C and D together at 14.
        ("fcfs", [0, 10, 14, 14]),
        # w: B 4, C 6, D 9, the same.  Longest first: D at 10, C beside it at 10, B when D ends at 19.
        ("sjf", [0, 10, 14, 14]),
        ("ljf", [0, 19, 10, 10]),
        # q: D 1, C 2, B 4: D and C at 10, B at 19.  Widest first: B, then C, D.
        ("sqf", [0, 19, 10, 10]),
        ("lqf", [0, 10, 14, 14]),
        # w*q: D 9, C 12, B 16: D and C at 10, B at 19.  Largest first: B, then C, D.
        ("saf", [0, 19, 10, 10]),
        ("laf", [0, 10, 14, 14]),
        # At t=10, (t-r+w)/w: B 13/4, C 14/6, D 16/9: B first, then C and D.
        ("lxf", [0, 10, 14, 14]),
        # ((t-r)/w)^3 q: B (9/4)^3*4 = 45.6, C (8/6)^3*2 = 4.7, D (7/9)^3 = 0.47: B first.
        ("wfp3", [0, 10, 14, 14]),
        # (t-r)/(max(log2 q, 1) w): B 9/(2*4) = 1.125, C 8/6 = 1.33, D 7/9 = 0.78: C starts, B (4) does not
        # fit: stop. C ends at 16.  Then B (15/8 = 1.9) before D (13/9 = 1.4): B 16-20, D 20.
        ("unicef", [0, 16, 10, 20]),
    ],
)
def test_strict_orders(order: str, expected: list[int]) -> None:
    jobs = jobs_of((0, 4, 10, 10), (1, 4, 4, 4), (2, 2, 6, 6), (3, 1, 9, 9))
    assert starts(simulate_strict(jobs, 4, order, second=1)) == expected


@pytest.mark.parametrize(
    ("order", "first"),
    [
        # r = 100 s on 10 procs sent at 1 s (log10 s = 0), against r = 10000 s on 1 proc sent at 10 s (log10 s
        # = 1). F1: 2*10 + 0 = 20 < 4*1 + 870.  F2: 10*10 = 100 < 100 + 25600.  F3: 1000 < 10000 + 6860000.
        # F4: 100*3.16 = 316 < 10000 + 530000.
        ("f1", 0),
        ("f2", 0),
        ("f3", 0),
        ("f4", 0),
    ],
)
def test_learned_orders_prefer_the_earlier_submission(order: str, first: int) -> None:
    a, b = Job(1, 1, 10, 100, 100), Job(2, 10, 1, 10000, 10000)
    keys = [KEYS[order](job, job.walltime, 50, 1) for job in (a, b)]
    assert keys.index(min(keys)) == first


def test_learned_orders_by_hand() -> None:
    job = Job(1, 100, 4, 10000, 1)  # n = 4, r = 10^4, s = 10^2
    expected = {"f1": 16 + 870 * 2, "f2": 400 + 25600 * 2, "f3": 40000 + 13720000, "f4": 20000 + 1060000}
    for order, value in expected.items():
        assert KEYS[order](job, 10000, 200, 1) == value
        micro = replace(job, submit=100_000_000, walltime=10_000_000_000)
        assert KEYS[order](micro, micro.walltime, 0, 1_000_000) == value


def test_urgent_jobs_first() -> None:
    # A holds all 4 to 10.  B sent at 1, urgent C at 2: C at 10, B after it at 15.
    jobs = [Job(1, 0, 4, 10, 10), Job(2, 1, 4, 5, 5), Job(3, 2, 4, 5, 5, urgent=True)]
    assert starts(simulate_strict(jobs, 4, urgent="first")) == [0, 15, 10]
    assert starts(simulate_strict(jobs, 4, urgent="ignore")) == [0, 10, 15]
    assert starts(simulate_easy(jobs, 4, urgent="first")) == [0, 15, 10]


def test_easy_backfills_by_time_and_by_extra() -> None:
    # m = 10.  A (6 procs) 0-10.  B (8) is head from t=1: shadow 10, extra = 10 - 8 = 2.
    # C (3, w 9) at 1: 1 + 9 = 10 <= 10, starts: free 1.  D (1, w 50) at 2: too long, but 1 <= extra 2:
    # starts, extra 1. E (1, w 50) at 3: no processor free (6+3+1 = 10) until 10.  At 10: A and C end, free 9;
    # B (8) starts, free 1, E.
    jobs = jobs_of((0, 6, 10, 10), (1, 8, 5, 5), (1, 3, 9, 9), (2, 1, 50, 50), (3, 1, 50, 50))
    results = simulate_easy(jobs, 10)
    assert starts(results) == [0, 10, 1, 2, 10]
    assert [r.why for r in results] == ["immediate", "head", "backfill", "backfill", "head"]
    assert [r.promise for r in results] == [None, 10, None, None, None]


def test_easy_extra_is_used_up() -> None:
    # m = 10.  A (5) 0-10.  B (9) at 1: shadow 10, extra 1.  C (1, w 50) takes it at 2.  D (1, w 50), in the
    # same pass, finds 4 free but no extra left; B runs 10-15, D starts at 15.
    jobs = jobs_of((0, 5, 10, 10), (1, 9, 5, 5), (2, 1, 50, 50), (2, 1, 50, 50))
    assert starts(simulate_easy(jobs, 10)) == [0, 10, 2, 15]


def test_easy_exact_estimate_of_a_job_of_no_length() -> None:
    # m = 5, exact.  A (2) 0-10.  B (2, asks 99, needs 0) starts and ends at 0.  Head C (5): shadow 10.  D (1,
    # w 50) must not believe that B stays to 99: it would delay C.  C 10-11, D 11.
    jobs = jobs_of((0, 2, 10, 10), (0, 2, 99, 0), (0, 5, 1, 1), (0, 1, 50, 50))
    assert starts(simulate_easy(jobs, 5, estimate="exact")) == [0, 0, 10, 11]


def test_easy_counts_every_end_at_the_shadow_time() -> None:
    # m = 4.  A (1) and B (2) both end at 10; one is free.  Head C (2): A's end alone would do, with nothing
    # to spare; but B's counts too, so the shadow is 10 and extra = 1 + 3 - 2 = 2: D (1, w 99) starts at 2.
    jobs = jobs_of((0, 1, 10, 10), (0, 2, 10, 10), (1, 2, 5, 5), (2, 1, 99, 99))
    assert starts(simulate_easy(jobs, 4)) == [0, 0, 10, 2]


def test_easy_promise_moves_forward_with_early_ends() -> None:
    # m = 4.  A (2, w 20, runs 5), B (2, w 10, runs 10).  C (4) sent at 1: shadow 20.  A ends at 5: shadow 10.
    jobs = jobs_of((0, 2, 20, 5), (0, 2, 10, 10), (1, 4, 1, 1))
    results = simulate_easy(jobs, 4)
    assert (results[2].start, results[2].promise) == (10, 10)


def test_easy_exact_estimate_lets_a_short_run_backfill() -> None:
    # m = 4.  A (3) 0-10.  Head B (4), shadow 10.  C (1) asks 30 but needs 5: refused by request, accepted if
    # known.
    jobs = jobs_of((0, 3, 10, 10), (1, 4, 5, 5), (2, 1, 30, 5))
    assert starts(simulate_easy(jobs, 4)) == [0, 10, 15]
    assert starts(simulate_easy(jobs, 4, estimate="exact")) == [0, 10, 2]
    # Factor 2: A is planned to 20, C as 60: refused.  Factor 0.3: A to 3, C as 9: refused.  Factor 0.2: A has
    # outlived its 2 when C comes, so it is planned to 10, and C, planned as 6, fits before.
    assert starts(simulate_easy(jobs, 4, estimate=2)) == [0, 10, 15]
    assert starts(simulate_easy(jobs, 4, estimate=0.3)) == [0, 10, 15]
    assert starts(simulate_easy(jobs, 4, estimate=0.2)) == [0, 10, 2]


def test_easy_plans_the_request_once_the_estimate_is_outlived() -> None:
    # Factor 0.5, m = 4.  A (3, w 12) is planned to 6.  Head B (4, w 2) sent at 1: shadow 6.  C (1, w 12,
    # planned 6) sent at 2 would end at 8: waits.  D (1, w 4, planned 2) sent at 7: A has outlived 6 and is
    # planned to 12, and so is the shadow: C (7 + 6 = 13) still waits, D (9) starts.  A ends at 12: B 12-14, C
    # 14.
    jobs = jobs_of((0, 3, 12, 12), (1, 4, 2, 2), (2, 1, 12, 12), (7, 1, 4, 4))
    assert starts(simulate_easy(jobs, 4, estimate=0.5)) == [0, 12, 14, 7]


def test_planned_times() -> None:
    job = Job(1, 0, 1, 100, 10)
    assert planned_time(job, "requested") == 100
    assert planned_time(job, "exact") == 10
    assert planned_time(job, 0.25) == 25
    assert planned_time(job, 0.333) == 34  # rounded up
    assert planned_time(job, 50) == 5000
    assert planned_time(Job(1, 0, 1, 10, 10), 1.1) == 11  # the decimal as written, not its binary neighbour
    assert planned_time(Job(1, 0, 1, 0, 0), 3) == 0


def test_easy_age_threshold_lets_the_old_job_pass() -> None:
    # SJF, one processor.  A 0-4; long L (w 9) sent at 1; shorts (w 4) sent at 2, 5, 9.  Without age L is last
    # (16). With age 8: at 4 the short of 2 goes; at 8 L has waited 7: the short of 5 goes; at 12 it has
    # waited 11 > 8: L.
    jobs = jobs_of((0, 1, 4, 4), (1, 1, 9, 9), (2, 1, 4, 4), (5, 1, 4, 4), (9, 1, 4, 4))
    assert starts(simulate_easy(jobs, 1, order="sjf")) == [0, 16, 4, 8, 12]
    assert starts(simulate_easy(jobs, 1, order="sjf", age=8)) == [0, 12, 4, 8, 21]
    # Exactly as long as the threshold is not longer: 11 at 12 is too little for an age of 11.
    assert starts(simulate_easy(jobs, 1, order="sjf", age=10)) == [0, 12, 4, 8, 21]
    assert starts(simulate_easy(jobs, 1, order="sjf", age=11)) == [0, 16, 4, 8, 12]


def test_easy_depth_two_protects_the_second_job() -> None:
    # m = 5.  A (2) 0-10.  B (4, w 5) is reserved at 10, and leaves 1 extra.  C (5, w 5) comes after it, at
    # 15. D (1, w 16) sent at 1: with one reservation it takes the extra processor, runs to 17 and holds C up
    # to 17. With two, C is reserved at 15, D (1 + 16 = 17) would be in the way, and waits until C is done at
    # 20.
    jobs = jobs_of((0, 2, 10, 10), (0, 4, 5, 5), (0, 5, 5, 5), (1, 1, 16, 16))
    assert starts(simulate_easy(jobs, 5)) == [0, 10, 17, 1]
    assert starts(simulate_easy(jobs, 5, depth=2)) == [0, 10, 15, 20]
    assert starts(simulate_easy(jobs, 5, depth="all")) == [0, 10, 15, 20]


def test_conservative_reserves_and_compresses() -> None:
    # m = 4.  A (3, w 10, runs 6).  B (4, w 5): reserved 10.  C (2, w 5): beside A? 3 + 2 > 4; after B: 15.
    # D (1, w 9) sent at 1: 1-10 beside A.  A ends at 6, early: sweep.  B: D runs to 10: stays.  C (2): 6-11
    # beside D until 10, but B holds 4 from 10: no; it stays at 15.  D runs its full 9.  B 10-15, C 15.
    jobs = jobs_of((0, 3, 10, 6), (0, 4, 5, 5), (0, 2, 5, 5), (1, 1, 9, 9))
    results = simulate_conservative(jobs, 4)
    assert starts(results) == [0, 10, 15, 1]
    assert [r.promise for r in results] == [0, 10, 15, 1]
    assert [r.why for r in results] == ["immediate", "reservation", "reservation", "immediate"]
    # If D ends at 3 as well, A's end at 6 frees all: B 6, C 11.
    jobs[3] = replace(jobs[3], runtime=2)
    assert starts(simulate_conservative(jobs, 4)) == [0, 6, 11, 1]
    assert starts(simulate_conservative(jobs, 4, compress="none")) == [0, 10, 15, 1]


def test_conservative_open_hole_refuses_an_exact_fit() -> None:
    # m = 4.  A (3) 0-10, B (4) reserved 10-15.  C (1, w 10) sent at 0 fits the hole 0-10 exactly.
    jobs = jobs_of((0, 3, 10, 10), (0, 4, 5, 5), (0, 1, 10, 10))
    assert starts(simulate_conservative(jobs, 4)) == [0, 10, 0]
    assert starts(simulate_conservative(jobs, 4, hole="open")) == [0, 10, 15]
    jobs[2] = replace(jobs[2], walltime=9, runtime=9)  # strictly shorter: accepted
    assert starts(simulate_conservative(jobs, 4, hole="open")) == [0, 10, 0]


def test_scratch_can_break_a_promise() -> None:
    # m = 3.  A (1, w 3, runs 2) 0.  B (3, w 1): reserved 3.  At 1: C (2, w 1) 1-2 beside A; D (1, w 1): 2,
    # promised. At 2 A and C end, A early.  One sweep: B cannot pass D's 2-3, so it stays at 3, and D starts
    # at 2. From scratch, B is placed first, at 2, and D behind it at 3: later than promised.
    jobs = jobs_of((0, 1, 3, 2), (0, 3, 1, 1), (1, 2, 1, 1), (1, 1, 1, 1))
    for mode in ("early", "every", "fixpoint", "none"):
        assert starts(simulate_conservative(jobs, 3, mode)) == [0, 3, 1, 2]
    results = simulate_conservative(jobs, 3, "scratch")
    assert starts(results) == [0, 2, 1, 3]
    assert results[3].promise == 2


def test_one_sweep_leaves_something_over() -> None:
    # m = 3.  A (3) 0-1; C (1, w 1, runs 0): 1; D (2, w 2, runs 0): 1; E (3, w 2, runs 0): 3; B (1, w 1) sent
    # at 1: beside D at 2.  At 1 C and D start and end at once, early.  Sweep: E (1-3) would meet B at 2:
    # stays at 3; B moves to 1.  Now E could have 2, but its turn has passed.  A second sweep (fixpoint), or
    # the one after B's end at 2 (every), moves it there; `early` does not, because B ended when expected.
    jobs = jobs_of((0, 3, 1, 1), (0, 1, 1, 0), (0, 2, 2, 0), (0, 3, 2, 0), (1, 1, 1, 1))
    assert starts(simulate_conservative(jobs, 3, "early")) == [0, 1, 1, 3, 1]
    assert starts(simulate_conservative(jobs, 3, "every")) == [0, 1, 1, 2, 1]
    assert starts(simulate_conservative(jobs, 3, "fixpoint")) == [0, 1, 1, 2, 1]


def test_zero_length_jobs_take_turns_in_one_instant() -> None:
    # m = 4.  Three jobs of 4 processors and no length, then a real one: all start at 0, in four turns.
    jobs = jobs_of((0, 4, 0, 0), (0, 4, 0, 0), (0, 4, 3, 0), (0, 4, 5, 5))
    for policy in (simulate_strict, simulate_easy, simulate_conservative):
        assert starts(policy(jobs, 4)) == [0, 0, 0, 0]


def test_zero_length_reservation_is_not_overrun() -> None:
    # m = 4.  A (2) 0-10.  Z (4, no length) sent at 1: promised 10.  J (2, w 20) sent at 2 fits beside A, but
    # it would run across 10 and leave Z only 2: it starts at 10, in the turn after Z.
    jobs = jobs_of((0, 2, 10, 10), (1, 4, 0, 0), (2, 2, 20, 20))
    assert starts(simulate_conservative(jobs, 4)) == [0, 10, 10]
    assert starts(simulate_easy(jobs, 4)) == [0, 10, 10]
    assert starts(simulate_easy(jobs, 4, depth="all")) == [0, 10, 10]


def test_profile_by_hand() -> None:
    # m = 4: 3 used over [0, 10), 4 over [10, 15).
    profile = Profile(4, [(0, 10, 3), (10, 15, 4)])
    assert profile.fits(0, 10, 1) and not profile.fits(0, 11, 1) and not profile.fits(0, 1, 2)
    assert profile.earliest(0, 1, 10) == 0
    assert profile.earliest(0, 1, 10, hole="open") == 15
    assert profile.earliest(1, 1, 10) == 15
    assert profile.earliest(0, 2, 1) == 15
    assert profile.earliest(12, 4, 0) == 15


# ---- laws ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", POLICIES)
@examples(25)
@given(jobs=job_lists(M, urgent=st.booleans()))
def test_every_schedule_is_legal(name: str, jobs: list[Job]) -> None:
    check_schedule(jobs, M, POLICIES[name](jobs, M))


@pytest.mark.parametrize("name", [n for n in POLICIES if n not in ("f1", "f2", "f3", "f4", "unicef")])
@examples(20)
@given(jobs=job_lists(M))
def test_scaling_and_shifting(name: str, jobs: list[Job]) -> None:
    policy = POLICIES[name]
    plain = times(policy(jobs, M))
    # guards of one second, thresholds and roundings do not scale
    if name not in ("lxf", "wfp3", "easy-half", "easy-lxf-age"):
        assert times(policy(stretched(jobs, 3), M)) == [(3 * s, 3 * e) for s, e in plain]
    assert times(policy(shifted(jobs, 7), M)) == [(s + 7, e + 7) for s, e in plain]
    assert times(policy(widened(jobs, 3), 3 * M)) == plain


@given(jobs=job_lists(M))
def test_fcfs_starts_in_queue_order(jobs: list[Job]) -> None:
    results = simulate_strict(jobs, M)
    queue = sorted(range(len(jobs)), key=lambda j: (jobs[j].submit, j))
    in_queue = [results[j].start for j in queue]
    assert in_queue == sorted(in_queue)


@pytest.mark.parametrize("backfill", ["fcfs", "sjf", "laf"])
@given(jobs=job_lists(M))
def test_easy_head_starts_by_every_shadow(backfill: str, jobs: list[Job]) -> None:
    for result in simulate_easy(jobs, M, backfill=backfill):
        assert result.promise is None or result.start <= result.promise


@given(jobs=job_lists(M, exact=True))
def test_easy_head_starts_at_its_shadow_when_estimates_are_exact(jobs: list[Job]) -> None:
    for result in simulate_easy(jobs, M):
        assert result.promise is None or result.start == result.promise


@pytest.mark.parametrize("order", ["fcfs", "sjf", "lxf"])
@given(jobs=job_lists(M))
def test_exact_estimate_is_the_exact_transformation(order: str, jobs: list[Job]) -> None:
    known = [replace(j, walltime=j.length, runtime=j.length) for j in jobs]
    assert times(simulate_easy(jobs, M, order, estimate="exact", second=1)) == times(
        simulate_easy(known, M, order, second=1)
    )


@examples(300)
@given(
    jobs=job_lists(M, urgent=st.booleans()),
    orders=st.sampled_from([("fcfs", "fcfs"), ("fcfs", "sjf"), ("lxf", "saf")]),
    estimate=st.sampled_from(["requested", "exact", 0.5, 1.5]),
    age=st.sampled_from([None, 5]),
    urgent=st.sampled_from(["ignore", "first"]),
)
def test_depth_one_is_easy(
    jobs: list[Job], orders: tuple[str, str], estimate: str | float, age: int | None, urgent: str
) -> None:
    options = (*orders, estimate, age, urgent, 1)
    shadow = simulate(jobs, M, lambda machine: Easy(machine, *options))
    assert simulate(jobs, M, lambda machine: DeepEasy(machine, *options, depth=1)) == shadow


@given(jobs=job_lists(M, zero=False))
def test_all_reservations_at_each_pass_is_conservative_from_scratch(jobs: list[Job]) -> None:
    assert times(simulate_easy(jobs, M, depth="all")) == times(simulate_conservative(jobs, M, "scratch"))


@given(jobs=job_lists(M, zero=False))
def test_full_width_jobs_make_all_policies_fcfs(jobs: list[Job]) -> None:
    wide = [replace(j, procs=M) for j in jobs]
    fcfs = times(simulate_strict(wide, M))
    assert times(simulate_easy(wide, M)) == fcfs
    for mode in ("early", "every", "fixpoint", "scratch"):
        assert times(simulate_conservative(wide, M, mode)) == fcfs


@pytest.mark.parametrize("mode", ["early", "every", "fixpoint", "none"])
@pytest.mark.parametrize("hole", ["closed", "open"])
@examples(50)
@given(jobs=job_lists(M, urgent=st.booleans()))
def test_conservative_keeps_its_promises(mode: str, hole: str, jobs: list[Job]) -> None:
    for urgent in ("ignore", "first"):
        for result in simulate_conservative(jobs, M, mode, hole, urgent):
            assert result.promise is not None and result.start <= result.promise


@given(jobs=job_lists(M, exact=True))
def test_conservative_modes_agree_when_estimates_are_exact(jobs: list[Job]) -> None:
    reference = simulate_conservative(jobs, M, "none")
    assert all(result.start == result.promise for result in reference)
    for mode in MODES:
        assert times(simulate_conservative(jobs, M, mode)) == times(reference)


@given(jobs=job_lists(M), m=st.just(M))
def test_a_later_job_changes_no_earlier_promise(jobs: list[Job], m: int) -> None:
    queue = sorted(jobs, key=lambda j: j.submit)
    alone = simulate_conservative(queue[:-1], m, "none")
    assert simulate_conservative(queue, m, "none")[:-1] == alone
