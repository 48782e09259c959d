"""EASY on instances worked by hand: starts, reasons, promises."""

from __future__ import annotations

import pytest

from headway.units import SECOND
from instances import jobs_of, promises, simulated, starts, whys
from reference.jobs import Job


def test_jobs_pass_that_end_in_time_or_need_only_the_extra_processors() -> None:
    # Ten processors. A (6) 0-10. B (8) is head from 1: shadow 10, extra 10 - 8 = 2.
    # C (2, 8 s) at 2 ends at 10 exactly: it passes. 2 free.
    # D (1, 8 s) at 3 ends at 11, but needs 1 <= 2 extra: it passes; extra 1.
    # E (1, 7 s) at 4 ends at 11 and takes the last extra processor. Nothing is free for F (1) at 5.
    # At 10 A and C end: B 10-15; F is head, D and E end at 11: shadow 11, and so it is.
    jobs = jobs_of((0, 6, 10, 10), (1, 8, 5, 5), (2, 2, 8, 8), (3, 1, 8, 8), (4, 1, 7, 7), (5, 1, 1, 1))
    results = simulated(jobs, 10, "easy")
    assert starts(results) == [0, 10, 2, 3, 4, 11]
    assert whys(results) == ["immediate", "head", "backfill", "backfill", "backfill", "head"]
    assert promises(results) == [None, 10, None, None, None, 11]


def test_extra_processors_are_used_up_in_one_pass() -> None:
    # A (5) 0-10. B (8): shadow 10, extra 2. At 2 come C (1), D (2), E (1), all of 20 s: C leaves 1 extra, D
    # needs 2, E takes the last. At 10 B, C and E hold all ten; D starts when B ends, at 15.
    jobs = jobs_of((0, 5, 10, 10), (1, 8, 5, 5), (2, 1, 20, 20), (2, 2, 20, 20), (2, 1, 20, 20))
    results = simulated(jobs, 10, "easy")
    assert starts(results) == [0, 10, 2, 15, 2]
    assert promises(results) == [None, 10, None, 15, None]


def test_every_end_at_the_shadow_time_counts() -> None:
    # 4 processors, 1 free. A (1) and B (2) both end at 10. Head C (2) needs only A's processor; but B's are
    # free then too, so extra = 1 + 1 + 2 - 2 = 2, and D (1, 99 s) passes.
    jobs = jobs_of((0, 1, 10, 10), (0, 2, 10, 10), (1, 2, 5, 5), (2, 1, 99, 99))
    assert starts(simulated(jobs, 4, "easy")) == [0, 0, 10, 2]


def test_early_ends_and_kills_move_the_head_forward() -> None:
    # A (2) asks 20 and runs 5, B (2) asks 8 and is killed then. Head C (4): at 1 shadow 20, at 5 shadow 8.
    results = simulated(jobs_of((0, 2, 20, 5), (0, 2, 8, 30), (1, 4, 3, 3)), 4, "easy")
    assert starts(results) == [0, 0, 8]
    assert promises(results) == [None, None, 8]
    assert [r.killed for r in results] == [False, True, False]


def test_jobs_of_no_length() -> None:
    # 4 processors, all sent at 0. A (no length) starts; head B is told 0, A's expected end. Second turn: B
    # (asks 6, needs 0) starts; head C is told 6. Third turn: C starts; head D (1) is told 5, C's end.
    jobs = jobs_of((0, 4, 0, 0), (0, 4, 6, 0), (0, 4, 5, 5), (0, 1, 0, 0))
    results = simulated(jobs, 4, "easy")
    assert starts(results) == [0, 0, 0, 5]
    assert promises(results) == [None, 0, 6, 5]
    assert whys(results) == ["immediate", "immediate", "immediate", "head"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        # 4 processors, A holds all to 10. B (3, 9 s), C (2, 4 s), D (2, 6 s) wait.
        ("easy", [0, 10, 19, 19]),  # B 10-19; C would end at 14, but does not fit beside B: both at 19
        ("easy(order=sjf)", [0, 16, 10, 10]),  # C and D 10-14 and 10-16, B when D ends
        ("easy(order=ljf)", [0, 10, 19, 19]),  # B, then D and C
        ("easy(order=sqf)", [0, 16, 10, 10]),
    ],
)
def test_the_order_chooses_the_head(spec: str, expected: list[int]) -> None:
    results = simulated(jobs_of((0, 4, 10, 10), (1, 3, 9, 9), (2, 2, 4, 4), (3, 2, 6, 6)), 4, spec)
    assert starts(results) == expected
    if "order" in spec:  # the head may change from pass to pass: nothing is promised
        assert promises(results) == [None] * 4


def test_the_backfill_order_chooses_who_passes() -> None:
    # Ten processors. A (6) 0-10, head B (10) is told 10. C (4, 8 s) and D (4, 3 s) come at 2; one can pass.
    # As submitted: C 2-10; D after B, 15. Shortest first: D 2-5; at 5 C would end at 13: after B, 15.
    jobs = jobs_of((0, 6, 10, 10), (1, 10, 5, 5), (2, 4, 8, 8), (2, 4, 3, 3))
    assert starts(simulated(jobs, 10, "easy")) == [0, 10, 2, 15]
    results = simulated(jobs, 10, "easy(backfill=sjf)")
    assert starts(results) == [0, 10, 15, 2]
    assert promises(results) == [None, 10, 15, None]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        # 4 processors. A (3) 0-10, head B (4), C (1, asks 9) at 2, D (1, asks 2) at 7.
        # Requested: shadow 10; C would end at 11. D 7-9. B 10-15, C 15.
        ("easy", [0, 10, 15, 7]),
        # C needs 6: 2 + 6 <= 10, it passes and is gone at 8, so D (7 + 2 <= 10) waits for it and passes then.
        ("easy(estimate=exact)", [0, 10, 2, 8]),
        # Twice the request: A is planned to 20, so is the shadow; C (2 + 18 <= 20) passes and runs to 8.
        # At 8 D (8 + 4 <= 20) passes, gone at 10.
        ("easy(estimate=2)", [0, 10, 2, 8]),
        # Half: A is planned to 5, so is the shadow; C (2 + 4.5) may not pass. At 7 A has outlived its
        # estimate and is planned to its request, 10: C (7 + 4.5) may not pass, D (7 + 1) may.
        ("easy(estimate=0.5)", [0, 10, 15, 7]),
    ],
)
def test_estimates(spec: str, expected: list[int]) -> None:
    jobs = jobs_of((0, 3, 10, 10), (1, 4, 5, 5), (2, 1, 9, 6), (7, 1, 2, 2))
    assert starts(simulated(jobs, 4, spec)) == expected


@pytest.mark.parametrize("estimate", ["1e-19", "1e-300", "0.00000012345678901234567"])
def test_an_estimate_of_next_to_nothing_is_a_microsecond(estimate: str) -> None:
    """It has more decimals than numbers of 64 bits."""
    jobs = jobs_of((0, 1, 4, 4), (0, 2, 3, 3), (0, 1, 2, 2))
    assert starts(simulated(jobs, 2, f"easy(estimate={estimate})")) == [0, 4, 0]


def test_an_estimate_beyond_the_request_can_delay_the_head() -> None:
    # As above with C running its 9 s and no D: twice the request lets C pass to 11, and B waits for it.
    jobs = jobs_of((0, 3, 10, 10), (1, 4, 5, 5), (2, 1, 9, 9))
    results = simulated(jobs, 4, "easy(estimate=2)")
    assert starts(results) == [0, 11, 2]
    assert promises(results) == [None] * 3
    assert starts(simulated(jobs, 4, "easy")) == [0, 10, 15]


def test_the_kill_is_at_the_request_whatever_is_planned() -> None:
    # A asks 4 and needs 9.
    for estimate in ("0.5", "3", "exact"):
        results = simulated(jobs_of((0, 1, 4, 9), (0, 1, 1, 1)), 1, f"easy(estimate={estimate})")
        assert [(r.end / SECOND, r.killed) for r in results] == [(4, True), (5, False)]


def test_old_jobs_go_first() -> None:
    # One processor, shortest first. A 0-5; L (10 s) sent at 1; S1, S2, S3 (3 s) sent at 2, 6, 9.
    # Without a limit L is last: S1 5, S2 8, S3 11, L 14. With age=7: at 8 L has waited 7, which is not
    # longer: S2; at 11 it has waited 10: L 11-21, then S3.
    jobs = jobs_of((0, 1, 5, 5), (1, 1, 10, 10), (2, 1, 3, 3), (6, 1, 3, 3), (9, 1, 3, 3))
    assert starts(simulated(jobs, 1, "easy(order=sjf)")) == [0, 14, 5, 8, 11]
    assert starts(simulated(jobs, 1, "easy(order=sjf, age=7)")) == [0, 11, 5, 8, 21]


def test_a_second_reservation_protects_the_second_job() -> None:
    # 5 processors. A (3) 0-10, B (4, 5 s), C (5, 4 s), D (1, 20 s, sent at 3).
    # One reservation: B at 10 leaves 1 extra; D takes it to 23, so C starts at 23.
    # Two: B 10-15, C 15-19; D (3-23) would run through C's: it starts after C.
    jobs = jobs_of((0, 3, 10, 10), (1, 4, 5, 5), (2, 5, 4, 4), (3, 1, 20, 20))
    results = simulated(jobs, 5, "easy")
    assert (starts(results), promises(results)) == ([0, 10, 23, 3], [None, 10, 23, None])
    results = simulated(jobs, 5, "easy(depth=2)")
    assert (starts(results), promises(results)) == ([0, 10, 15, 19], [None, 10, 15, 19])
    assert whys(results) == ["immediate", "head", "head", "head"]


def test_all_reservations_protect_the_third() -> None:
    # 5 processors. A (3) 0-10, B (4, 5 s) 10-15, C (4, 4 s) 15-19, E (5, 3 s), D (1, 20 s, sent at 5).
    # Two reservations leave one processor beside B and C: D 5-25, and E waits for it.
    # All: E has 19-22, D would run through it: 22.
    jobs = jobs_of((0, 3, 10, 10), (1, 4, 5, 5), (2, 4, 4, 4), (4, 5, 3, 3), (5, 1, 20, 20))
    results = simulated(jobs, 5, "easy(depth=2)")
    assert (starts(results), promises(results)) == ([0, 10, 15, 25, 5], [None, 10, 15, 25, None])
    assert whys(results) == ["immediate", "head", "head", "head", "backfill"]
    results = simulated(jobs, 5, "easy(depth=all)")
    assert (starts(results), promises(results)) == ([0, 10, 15, 19, 22], [None, 10, 15, 19, 22])


def urgent_instance() -> list[Job]:
    # 4 processors. A (3) 0-10. B (4) sent at 1, U (4, urgent) at 2, C (1, 7 s) at 3.
    return jobs_of((0, 3, 10, 10), (1, 4, 5, 5), (2, 4, 5, 5), (3, 1, 7, 7), urgent=[2])


def test_urgent_jobs_first() -> None:
    # U is head: shadow 10, C (3 + 7 <= 10) passes; U 10-15, B 15. Heads may change: nothing is promised.
    for depth in ("1", "2", "all"):
        results = simulated(urgent_instance(), 4, f"easy(urgent=first, depth={depth})")
        assert starts(results) == [0, 15, 10, 3]
        assert whys(results) == ["immediate", "head", "head", "backfill"]
        assert promises(results) == [None] * 4
    # Ignored: B 10-15, U 15.
    results = simulated(urgent_instance(), 4, "easy")
    assert starts(results) == [0, 10, 15, 3]
    assert promises(results) == [None, 10, 15, None]


def test_a_reserved_job_of_no_length_keeps_its_instant() -> None:
    # 4 processors. A (2) 0-10. Z (4, no length) sent at 1 is told 10. J (2, 20 s) fits beside A, but would
    # run through 10 and leave Z two: it starts at 10, in the turn after Z.
    jobs = jobs_of((0, 2, 10, 10), (1, 4, 0, 0), (2, 2, 20, 20))
    for depth in ("1", "2", "all"):
        results = simulated(jobs, 4, f"easy(depth={depth})")
        assert starts(results) == [0, 10, 10]
        assert promises(results) == [None, 10, 10]


def test_reserved_jobs_of_no_length_take_turns() -> None:
    # 8 processors. A (3) 0-7. Y and Z (7 each, no length) are both to start at 7, one after the other. J (1,
    # 6 s) is sent at 2 and runs through 7: it leaves each of them its seven.
    jobs = jobs_of((0, 3, 7, 7), (1, 7, 0, 0), (1, 7, 0, 0), (2, 1, 6, 6))
    for policy in ("easy", "easy(depth=2)", "easy(depth=all)", "conservative"):
        assert starts(simulated(jobs, 8, policy)) == [0, 7, 7, 2]
