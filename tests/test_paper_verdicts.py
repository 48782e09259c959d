"""The one rule of verdicts on papers, by its definition, and claims that the data must refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headway.papers.verdicts import (
    COUNTED,
    Estimate,
    Verdict,
    always,
    arithmetic,
    bracket,
    change_of,
    direction,
    extreme_of,
    mean_of,
    number,
    order,
    ratio_of,
    share_of,
    slope_of,
    within,
)

UP, FLAT, DOWN = Estimate(2, 1, 3, 9), Estimate(0.5, -1, 2, 9), Estimate(-2, -3, -1, 9)


@pytest.mark.parametrize(
    ("said", "ours", "change", "verdict"),
    [
        (10.0, Estimate(10.9, 9, 12.8), True, "agrees"),  # within a tenth, and the interval holds 10
        (10.0, Estimate(11.1, 9, 13.2), True, "undecided"),  # holds 10, further than a tenth
        (
            10.0,
            Estimate(10.5, 10.2, 10.8),
            True,
            "in part",
        ),  # within a tenth, surely not 10
        (10.0, Estimate(33, 20, 46), True, "in part"),  # better, by much more
        (10.0, Estimate(33, 20, 46), False, "differs"),  # a level has no direction to share
        (10.0, Estimate(4, -1, 9), True, "differs"),  # neither size nor direction
        (-10.0, Estimate(33, 20, 46), True, "differs"),
        (4.4, Estimate(0.37, 0.2, 0.5), False, "differs"),  # two small percentages are not the same for that
        (10.0, Estimate(10.1, -9, 29), True, "undecided"),  # an interval that would hold anything
        (10.0, Estimate(10.1, -9, 29), False, "undecided"),
        (10.0, Estimate(10.5), True, "undecided"),  # a single week has no interval
        (10.0, Estimate(20), True, "differs"),
    ],
)
def test_a_number_agrees_within_a_tenth_and_inside_its_interval(
    said: float, ours: Estimate, change: bool, verdict: Verdict
) -> None:
    claim = number("claim", "source", said, ours, sign=change)
    assert (claim.verdict, claim.tested) == (verdict, "number")


@pytest.mark.parametrize(
    ("ours", "side", "than", "verdict"),
    [
        (UP, 1, 0.0, "agrees"),
        (UP, -1, 0.0, "differs"),
        (FLAT, 1, 0.0, "undecided"),
        (UP, 1, 1.5, "undecided"),
        (UP, -1, 3.5, "agrees"),
        (Estimate(2), 1, 0.0, "undecided"),
    ],
)
def test_a_direction_agrees_where_the_interval_excludes_the_other(
    ours: Estimate, side: int, than: float, verdict: Verdict
) -> None:
    assert direction("claim", "source", "more", ours, side, than=than).verdict == verdict


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        ([UP, UP, UP], "agrees"),
        ([UP, FLAT], "in part"),
        ([UP, DOWN], "in part"),
        ([UP, FLAT, FLAT], "undecided"),
        ([UP, DOWN, DOWN], "differs"),
        ([DOWN], "differs"),
        ([], "not tested"),
    ],
)
def test_an_order_agrees_where_each_step_does(steps: list[Estimate], verdict: Verdict) -> None:
    assert order("claim", "source", "a > b", "", steps).verdict == verdict


def test_one_case_refutes_always() -> None:
    for held, verdict in (([True] * 9, "agrees"), ([True] * 9 + [False], "in part"), ([False], "differs")):
        assert always("claim", "source", "always", "", held).verdict == verdict
    assert always("claim", "source", "always", "", []).verdict == "not tested"


def test_a_bracket_agrees_where_19_of_20_resampled_sets_have_their_best_inside() -> None:
    for outside, verdict in ((5, "agrees"), (6, "undecided"), (94, "undecided"), (95, "differs")):
        drawn = [10.0] * (100 - outside) + [99.0] * outside
        assert bracket("claim", "source", (5, 25), "10", drawn).verdict == verdict


def test_what_could_not_have_failed_is_not_counted() -> None:
    sure = number("U_L", "Table 2", 1.05, Estimate(1.0014, 1.0, 1.06), possible=(1.0, 1.06))
    assert sure.verdict == "could not fail"
    open_ = number("U_L", "Table 2", 1.05, Estimate(1.0014, 1.0, 1.06), possible=(1.0, 90.0))
    assert open_.verdict == "agrees"
    assert direction("claim", "source", "more", UP, 1, possible=(0.5, 7)).verdict == "could not fail"
    assert direction("claim", "source", "more", UP, 1, possible=(-7, 7)).verdict == "agrees"
    assert always("claim", "source", "none", "", [True], possible=False).verdict == "could not fail"
    assert arithmetic("sums", "Table 1", "3", "3", True).verdict == "arithmetic"
    assert not {"could not fail", "arithmetic", "not claimed", "not tested"} & set(COUNTED)


def test_a_claim_that_the_data_refuse_never_hides() -> None:
    """Whatever is said to be certain and fails all the same differs; so does a sum that does not add up."""
    assert always("claim", "source", "none", "", [False], possible=False).verdict == "differs"
    assert order("claim", "source", "a > b", "", [DOWN], possible=False).verdict == "differs"
    assert direction("claim", "source", "more", DOWN, 1, possible=(1, 2)).verdict == "differs"
    assert arithmetic("sums", "Table 1", "3", "4", False).verdict == "differs"


def test_the_mean_over_blocks_has_students_interval() -> None:
    """t for two degrees of freedom is 4.303; a mean of two blocks that differ says little, of one nothing."""
    found = mean_of([1.0, 2.0, 3.0])
    half = 4.302653 / math.sqrt(3)
    assert (found.value, found.blocks) == (2, 3)
    assert (found.low, found.high) == pytest.approx((2 - half, 2 + half), abs=1e-5)
    assert mean_of([7.0]) == Estimate(7.0) and mean_of([1.0, -1.0]).side() == 0


def test_pairing_takes_the_blocks_own_level_away() -> None:
    """A tenth less in each week is a tenth less, with no doubt, however much the weeks differ."""
    weeks = np.array([4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 30.0])
    change = change_of(0.9 * weeks, weeks)
    assert (change.value, change.low, change.high) == pytest.approx((-10, -10, -10))
    assert mean_of(weeks - 9).side() == 0 and change_of([2.0, 1.0, 90.0], [1.0, 1.0, 80.0]).low is None
    assert ratio_of([2.0, 4.0], [1.0, 2.0]).value == 2 and ratio_of([2.0], [1.0]).low is None


def test_the_interval_of_a_ratio_holds_the_truth_as_often_as_it_says() -> None:
    random = np.random.Generator(np.random.PCG64(1))
    held = 0
    for _ in range(400):
        base = random.lognormal(0, 0.5, 20)
        held += change_of(base * random.normal(0.8, 0.3, 20), base).holds(-20)
    assert 360 <= held <= 397  # 380 expected, 4.4 standard deviations either way


def test_shares_extremes_and_slopes() -> None:
    half = share_of(50, 100)  # Wilson: (0.5 + z²/200 ± z sqrt(0.0025 + z²/40000)) / (1 + z²/100)
    assert (half.value, half.low, half.high) == pytest.approx((50, 40.383, 59.617), abs=1e-3)
    assert share_of(0, 5).low == pytest.approx(0, abs=1e-9)
    top = extreme_of([[1.0, 5.0], [2.0], [4.0]])
    assert (top.value, top.low, top.high) == (5, 4, 5)
    least = extreme_of([[1.0, 5.0], [2.0], [4.0]], largest=False)
    assert (least.value, least.low, least.high) == (1, 1, 2)
    line = slope_of([0, 1, 2, 3], [0.0, 1.0, 2.0, 3.3])  # by hand: slope 1.09, error 0.05196, t 4.3027
    assert line.value == pytest.approx(1.09)
    assert (line.high or 0) - line.value == pytest.approx(0.2236, abs=1e-3)


def test_a_difference_is_small_where_its_interval_is_inside_the_margin() -> None:
    for found, verdict in (
        (Estimate(1, -2, 4), "agrees"),
        (Estimate(1, -2, 6), "in part"),
        (Estimate(9, 7, 11), "in part"),
        (Estimate(1, -9, 11), "undecided"),
    ):
        assert order("claim", "source", "close", "", within(found, 5)).verdict == verdict


def test_an_estimate_turned_round_keeps_its_ends_in_order() -> None:
    assert UP.negative() == Estimate(-2, -3, -1, 9) and FLAT.negative().side() == 0
    assert UP.scaled(100, -100) == Estimate(100, 0, 200, 9)
