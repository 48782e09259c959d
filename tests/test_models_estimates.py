"""Estimate models: few round values, never below the run, dealt fairly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from headway.errors import UsageError
from headway.units import SECOND
from headway.workload.models.estimate_values import (
    distinct_estimates,
    histogram,
    popular_shares,
    popular_values,
    rare_values,
    whole_jobs,
)
from headway.workload.models.estimates import deal, f_model, raise_shortest, tsafrir
from headway.workload.models.lublin import lublin_jobs
from random_examples import examples
from test_models_poisson import fits

HOUR = 3600


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def test_number_of_distinct_estimates() -> None:
    assert [distinct_estimates(n) for n in (20, 1000, 5500, 70_000, 10**7)] == [10, 35, 62, 340, 565]
    assert distinct_estimates(10_000, "power") == round(0.653566 * 10_000**0.547761) == 101
    assert distinct_estimates(10_000, 7) == 7


def test_shares_of_the_popular_values_add_up_to_89_percent() -> None:
    shares = popular_shares(20)
    assert shares.sum() == pytest.approx(89)
    # Rank 2 by hand: 14.0491 e^(-0.355062) + 0.462513.
    assert shares[1] == pytest.approx(10.313, abs=1e-3)
    assert np.all(np.diff(shares) < 0)


def test_popular_values_are_the_longest_and_round_ones() -> None:
    values = popular_values(36 * HOUR)
    assert len(values) == 20 and values[0] == 36 * HOUR and values[1:] == sorted(values[1:])
    # The fifteen common ones, then multiples of 10 h (30, 20) and of 5 h (35, 25) below 36 h.
    assert {300, 600, 900, 1200, 1800, 18 * HOUR} < set(values)
    assert {20 * HOUR, 25 * HOUR, 30 * HOUR, 35 * HOUR} < set(values)
    assert len(popular_values(HOUR)) <= 20 and max(popular_values(HOUR)) == HOUR


def test_rare_values_follow_the_curve_on_free_minutes() -> None:
    taken = {300, 600}
    values = rare_values(12 * HOUR, 50, taken)
    assert len(values) == len(set(values)) and not taken & set(values)
    assert all(0 < value < 12 * HOUR for value in values)
    a = 1 + 12.1039 * 52**-0.6026
    middle = (a - 1) * 0.5 / (a - 0.5) * 12 * HOUR
    assert min(abs(value - middle) for value in values) <= 60


def test_the_histogram_of_ten_thousand_jobs() -> None:
    made = histogram(10_000, 18 * HOUR, rng())
    assert made.jobs.sum() == 10_000 and len(made.values) <= 90
    assert made.values[np.argmax(made.jobs)] == 18 * HOUR == made.values[-1]
    assert np.sort(made.jobs)[::-1][:20].sum() == pytest.approx(8900, abs=60)
    assert np.sum(made.values % 60 != 0) <= 40  # minutes, except where two values met


def test_known_popular_values_are_taken_as_told() -> None:
    made = histogram(10_000, 18 * HOUR, rng(), popular={18 * HOUR: 30.0, 7 * HOUR: 20.0})
    counts = dict(zip(made.values.tolist(), made.jobs.tolist(), strict=True))
    assert counts[18 * HOUR] == pytest.approx(3000, abs=30) and counts[7 * HOUR] == pytest.approx(
        2000, abs=30
    )
    with pytest.raises(UsageError, match="up to the longest"):
        histogram(10, HOUR, rng(), popular={2 * HOUR: 5.0})


@given(shares=st.lists(st.floats(0.01, 100), min_size=1, max_size=30), jobs=st.integers(0, 500))
def test_shares_become_whole_jobs(shares: list[float], jobs: int) -> None:
    counts = whole_jobs(np.array(shares), jobs)
    assert counts.sum() == jobs and counts.min() >= 0
    assert jobs < len(shares) or counts.min() >= 1


@given(
    runs=st.lists(st.integers(0, 100_000 * SECOND), min_size=1, max_size=200),
    seed=st.integers(0, 100),
    distinct=st.sampled_from(["linear", "power", 3]),
)
@examples(60)
def test_no_estimate_is_below_its_run(runs: list[int], seed: int, distinct: str | int) -> None:
    runtime = np.array(runs, np.int64)
    estimates = tsafrir(runtime, seed, distinct=distinct)  # type: ignore[arg-type]
    assert np.all(estimates >= runtime)
    assert np.array_equal(estimates, tsafrir(runtime, seed, distinct=distinct))  # type: ignore[arg-type]
    assert len(np.unique(estimates)) <= max(distinct_estimates(len(runs), distinct), 1)  # type: ignore[arg-type]


def test_estimates_of_a_lublin_workload_are_few_round_and_loose() -> None:
    runtime = lublin_jobs(20_000, 128, 1)["runtime"] * SECOND
    estimates = tsafrir(runtime, 1)
    values, counts = np.unique(estimates, return_counts=True)
    assert len(values) < 200
    assert np.sort(counts)[::-1][:20].sum() / len(runtime) == pytest.approx(0.89, abs=0.02)
    assert np.mean(runtime / estimates) < 0.5  # users ask for much more than they use


def test_a_longest_estimate_below_the_longest_run_is_refused() -> None:
    with pytest.raises(UsageError, match="below the longest run, 7200 s; raise it"):
        tsafrir(np.array([7200 * SECOND]), 1, longest=3600)


def test_short_estimates_are_raised_only_as_far_as_needed() -> None:
    # Runs 9 8 7 1 against estimates 10 6 5 4: two short ones must become 10.
    raised = raise_shortest(np.array([10, 6, 5, 4]), np.array([9, 8, 7, 1]), 10)
    assert raised.tolist() == [10, 10, 10, 6]
    assert raise_shortest(np.array([9, 5]), np.array([9, 2]), 9).tolist() == [9, 5]


def test_dealing_is_even_among_the_estimates_that_cover() -> None:
    # Runs 5 and 1, estimates 9 and 6: both cover both, so each deal is as likely as the other.
    runtime, order = np.array([1, 5]), np.array([1, 0])
    swaps = sum(deal(runtime, order, np.array([9, 6]), rng(seed)).tolist() == [6, 9] for seed in range(400))
    assert 2 * special.bdtr(min(swaps, 400 - swaps), 400, 0.5) > 1e-4  # of a fair coin
    # Where only one covers the long job there is nothing to draw.
    assert deal(runtime, order, np.array([9, 4]), rng()).tolist() == [4, 9]


@given(runs=st.lists(st.integers(0, 10**12), max_size=50), f=st.floats(0, 20))
def test_f_model_stays_between_run_and_its_multiple(runs: list[int], f: float) -> None:
    runtime = np.array(runs, np.int64)
    estimates = f_model(runtime, f, 3)
    assert np.all(estimates >= runtime)
    assert np.all(estimates <= runtime * (1 + f) * (1 + 1e-9) + SECOND)
    with pytest.raises(UsageError):
        f_model(runtime, -1, 3)


def test_f_model_factors_are_uniform() -> None:
    runtime = np.full(20_000, 10**7 * SECOND)
    factors = f_model(runtime, 3.0, 7) / runtime
    assert fits(factors, lambda x: np.clip((x - 1) / 3, 0, 1))
