"""Strict orders on instances worked by hand."""

from __future__ import annotations

import pytest

from headway.units import SECOND
from instances import jobs_of, simulated


def starts(rows: tuple[tuple[int, int, int, int], ...], m: int, spec: str) -> list[float]:
    return [result.start / SECOND for result in simulated(jobs_of(*rows), m, spec)]


def test_fcfs_stops_at_the_first_misfit() -> None:
    # 4 processors. A (3) 0-10. B (2) does not fit at 1; C (1), which would, waits behind it. At 10 B and C
    # start; D (4) needs both gone, so 15. E (1), sent with D but after it, waits for D: 16.
    jobs = jobs_of((0, 3, 10, 10), (1, 2, 5, 5), (2, 1, 3, 3), (3, 4, 1, 1), (3, 1, 1, 1))
    results = simulated(jobs, 4, "fcfs")
    assert [r.start / SECOND for r in results] == [0, 10, 10, 15, 16]
    assert [r.why for r in results] == ["immediate", "head", "head", "head", "head"]
    assert [r.promise for r in results] == [None] * 5


def test_jobs_are_killed_at_their_walltime() -> None:
    # A asks 5 and needs 9: killed at 5, when B starts; B needs exactly what it asked, and is not killed.
    results = simulated(jobs_of((0, 4, 5, 9), (1, 4, 3, 3)), 4, "fcfs")
    assert [(r.start / SECOND, r.end / SECOND, r.killed) for r in results] == [(0, 5, True), (5, 8, False)]


def test_ties_go_by_submit_then_by_file() -> None:
    # One processor, the file is not in order of submit: line 2 comes first, then lines 1 and 3 (both at 5).
    results = simulated(jobs_of((5, 1, 2, 2), (0, 1, 9, 9), (5, 1, 2, 2)), 1, "fcfs")
    assert [r.start / SECOND for r in results] == [9, 0, 11]
    # Equal keys under every order: as submitted, then as written.
    for order in ("sjf", "ljf", "sqf", "lqf", "saf", "laf", "f3"):
        rows = ((0, 1, 9, 9), (5, 1, 2, 2), (4, 1, 2, 2), (5, 1, 2, 2))
        assert starts(rows, 1, order) == [0, 11, 9, 13], order


def test_jobs_of_no_length_take_turns_in_one_instant() -> None:
    # 4 processors, all sent at 0: A and C ask for nothing, B asks 6 but needs nothing, D runs. All start at
    # 0, each in the turn after the one before. E (1) waits for D: 5.
    jobs = jobs_of((0, 4, 0, 0), (0, 4, 6, 0), (0, 4, 0, 0), (0, 4, 5, 5), (0, 1, 1, 1))
    assert [r.start / SECOND for r in simulated(jobs, 4, "fcfs")] == [0, 0, 0, 0, 5]


# A holds all ten processors to 10. B, C, D, E wait, no two fit together, so their starts are their order.
#      submit procs walltime  area
#   B    1      9      4       36
#   C    3      6      6       36
#   D    4      7      2       14
#   E    9      8      5       40
WAITING = ((0, 10, 10, 10), (1, 9, 4, 4), (3, 6, 6, 6), (4, 7, 2, 2), (9, 8, 5, 5))


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("fcfs", [0, 10, 14, 20, 22]),  # B 10-14, C 14-20, D 20-22, E 22
        ("sjf", [0, 12, 21, 10, 16]),  # D 10-12, B 12-16, E 16-21, C 21
        ("ljf", [0, 21, 10, 25, 16]),  # C 10-16, E 16-21, B 21-25, D 25
        ("sqf", [0, 23, 10, 16, 18]),  # C 10-16, D 16-18, E 18-23, B 23
        ("lqf", [0, 10, 21, 19, 14]),  # B 10-14, E 14-19, D 19-21, C 21
        ("saf", [0, 12, 16, 10, 22]),  # D 10-12, then B and C with equal areas: B 12-16, C 16-22; E 22
        ("laf", [0, 15, 19, 25, 10]),  # E 10-15, B 15-19, C 19-25, D 25
    ],
)
def test_fixed_orders(order: str, expected: list[int]) -> None:
    assert starts(WAITING, 10, order) == expected


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        # 16 processors, A to 10; P (9 procs, sent at 4), Q (16, at 5), R (16, at 3), all of walltime 4, so
        # each pass starts one of them, at 10, 14 and 18.
        # (wait + w) / w at 10: P 2.5, Q 2.25, R 2.75: R. At 14: P 3.5, Q 3.25: P.
        ("lxf", [0, 14, 18, 10]),
        # (wait / w)^3 q at 10: P 1.5^3 9 = 30.4, Q 1.25^3 16 = 31.3, R 1.75^3 16 = 85.8: R.
        # At 14: P 2.5^3 9 = 141, Q 2.25^3 16 = 182: Q.
        ("wfp3", [0, 18, 14, 10]),
        # wait / (w log2 q), log2 9 = 3.17: at 10 P 1.5 / 3.17 = 0.47, Q 1.25 / 4 = 0.31, R 1.75 / 4 = 0.44:
        # P.
        # At 14: Q 2.25 / 4, R 2.75 / 4: R.
        ("unicef", [0, 10, 18, 14]),
    ],
)
def test_orders_that_change_with_time(order: str, expected: list[int]) -> None:
    rows = ((0, 16, 10, 10), (4, 9, 4, 4), (5, 16, 4, 4), (3, 16, 4, 4))
    assert starts(rows, 16, order) == expected


def test_equal_keys_of_unicef_go_by_arrival() -> None:
    # At 23, P (4 procs, w 9) has 23 / (2 x 9) and Q (8 procs, w 6) has 23 / (3 x 6): equal, so P goes first.
    assert starts(((0, 8, 23, 23), (0, 4, 9, 9), (0, 8, 6, 6)), 8, "unicef") == [0, 23, 32]


@pytest.mark.parametrize("order", ["lxf", "wfp3", "unicef"])
def test_moving_keys_are_computed_at_each_pass(order: str) -> None:
    # One processor, A to 10. Z (w 2, sent at 0) goes first by far. X (w 20, sent at 0) has waited half its
    # walltime, Y (w 4, sent at 9) a quarter: X is ahead of Y at 10. At 12, when Z ends, X has waited 0.6 of
    # its walltime and Y 0.75: Y.
    assert starts(((0, 1, 10, 10), (0, 1, 20, 20), (9, 1, 4, 4), (0, 1, 2, 2)), 1, order) == [0, 16, 12, 10]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        # Ten processors, A to 2000. B (9 procs, 1000 s, sent at 1000), C (6, 100 s, 1010), D (7, 1 s, 1020).
        # log10 of the submits: 3, 3.00432, 3.00860.
        # log10(w) q + 870 log10(s): B 27 + 2610 = 2637, C 12 + 2613.8 = 2625.8, D 0 + 2617.5: D, C, B.
        ("f1", [0, 2101, 2001, 2000]),
        # sqrt(w) q + 25600 log10(s): B 284.6 + 76800 = 77084.6, C 60 + 76910.6 = 76970.6,
        # D 7 + 77020.2 = 77027.2: C, D, B.
        ("f2", [0, 2101, 2000, 2100]),
        # w q + 6860000 log10(s): B 9000 + 20580000, C 600 + 20609645, D 7 + 20638997: B, C, D.
        ("f3", [0, 2000, 3000, 3100]),
        # w sqrt(q) + 530000 log10(s): B 3000 + 1590000 = 1593000, C 245 + 1592290 = 1592535,
        # D 3 + 1594558: C, B, D.
        ("f4", [0, 2100, 2000, 3100]),
    ],
)
def test_learned_orders(order: str, expected: list[int]) -> None:
    rows = ((0, 10, 2000, 2000), (1000, 9, 1000, 1000), (1010, 6, 100, 100), (1020, 7, 1, 1))
    assert starts(rows, 10, order) == expected


@pytest.mark.parametrize("order", ["fcfs", "sjf", "lqf", "lxf", "f1"])
def test_urgent_jobs_go_first_where_asked(order: str) -> None:
    # A holds all 4 to 10. B, sent first and shorter, is before C in each of these orders; but C is urgent.
    jobs = jobs_of((0, 4, 10, 10), (1, 4, 5, 5), (2, 4, 6, 6), urgent=[2])
    assert [r.start / SECOND for r in simulated(jobs, 4, order)] == [0, 10, 15]
    assert [r.start / SECOND for r in simulated(jobs, 4, f"{order}(urgent=first)")] == [0, 16, 10]
