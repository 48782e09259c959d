"""The Lublin-Feitelson model against its definition and its published properties."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log, log2, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import gammainc

from headway.errors import UsageError
from headway.units import SECOND
from headway.workload.models import generate, lublin
from headway.workload.models.daily_cycle import BUCKETS, Curve, bucket_weights, gamma_cdf, times_of_points
from headway.workload.models.lublin import (
    BATCH,
    INTERACTIVE,
    TYPELESS,
    JobClass,
    lublin_jobs,
    run_times,
    sizes,
)
from random_examples import examples

CLASSES = pytest.mark.parametrize(
    "job_class", [TYPELESS, BATCH, INTERACTIVE], ids=["typeless", "batch", "interactive"]
)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def gamma_of(shape: float, scale: float) -> Callable[[float], float]:
    """The distribution function of a gamma distribution."""
    return lambda x: float(gammainc(shape, x / scale))


def arrivals_by_the_definition(
    gaps: NDArray[np.float64], weights: NDArray[np.float64], bucket: int = 0
) -> list[float]:
    """The model's own words: pay points bucket by bucket, carry the remainder from job to job."""
    points = remainder = now = 0.0
    times = []
    for gap in gaps.tolist():
        points += gap / 1800
        passed = 0.0
        while points > weights[bucket]:
            points -= weights[bucket]
            bucket = (bucket + 1) % 48
            passed += 1800
        new = points / weights[bucket]
        passed += 1800 * (new - remainder)
        remainder = new
        now += passed
        times.append(now)
    return times


@given(
    gaps=st.lists(st.floats(0.01, 400_000), min_size=1, max_size=60),
    start=st.integers(0, 47),
)
@examples(100)
def test_arrivals_equal_the_definition(gaps: list[float], start: int) -> None:
    weights = bucket_weights(TYPELESS.cycle_shape, TYPELESS.cycle_scale)
    points = np.cumsum(np.array(gaps) / 1800)
    expected = arrivals_by_the_definition(np.array(gaps), weights, start)
    times = times_of_points(points, Curve.of(weights, start / 2))
    assert times == pytest.approx(expected, abs=1e-4, rel=1e-9)


@CLASSES
def test_bucket_weights_are_the_gamma_distribution_cut_into_half_hours(job_class: JobClass) -> None:
    weights = bucket_weights(job_class.cycle_shape, job_class.cycle_scale)
    gamma = gamma_of(job_class.cycle_shape, job_class.cycle_scale)
    assert weights.mean() == pytest.approx(1)
    # Bucket 10 is the eleventh half hour, 5 a.m., where the model's day starts; bucket 9 ends it.
    first, last = gamma(11.5) - gamma(10.5), gamma(58.5) - gamma(57.5)
    assert weights[10] / weights[9] == pytest.approx(first / last)
    assert gamma_cdf(30.5, job_class.cycle_shape, job_class.cycle_scale) == pytest.approx(gamma(30.5))


def within(share: float, expected: float, count: int) -> bool:
    """Whether a share of `count` draws is within five standard deviations of its expectation."""
    return abs(share - expected) <= 5 * sqrt(expected * (1 - expected) / count) + 1e-12


@CLASSES
def test_shares_of_serial_and_power_of_two_sizes(job_class: JobClass) -> None:
    count = 200_000
    size = sizes(job_class, count, 128, rng())
    assert within(float(np.mean(size == 1)), job_class.serial, count)
    # Besides the rounded sizes, other ones hit a power of two where 2^x rounds to it.
    low, med, high, share = job_class.low, job_class.med, job_class.high, job_class.low_share

    def below(x: float) -> float:
        """P(exponent <= x) of the two-stage uniform distribution."""
        first = min(max((x - low) / (med - low), 0), 1)
        second = min(max((x - med) / (high - med), 0), 1)
        return share * first + (1 - share) * second

    by_chance = sum(below(log2(2**k + 0.5)) - below(log2(2**k - 0.5)) for k in range(1, 8))
    expected = job_class.power_of_two + (1 - job_class.serial - job_class.power_of_two) * by_chance
    powers = (size > 1) & (size & (size - 1) == 0)
    assert within(float(np.mean(powers)), expected, count)


def test_the_published_size_ranges_at_128_processors() -> None:
    assert TYPELESS.size_range(128) == (0.8, 4.5, 7.0)
    assert BATCH.size_range(128) == (1.2, 5.0, 7.0)
    assert INTERACTIVE.size_range(128) == (1.0, 3.0, 5.5)
    assert sizes(INTERACTIVE, 50_000, 128, rng()).max() <= 45  # 2^5.5


@given(procs=st.integers(1, 200_000), seed=st.integers(0, 1000))
@examples(50)
def test_sizes_fit_any_machine(procs: int, seed: int) -> None:
    for job_class in (TYPELESS, BATCH, INTERACTIVE):
        size = sizes(job_class, 300, procs, rng(seed))
        assert size.min() >= 1 and size.max() <= procs


def test_a_large_machine_gets_large_jobs() -> None:
    size = sizes(TYPELESS, 20_000, 4096, rng())
    assert size.max() == 4096
    # uMed = log2(M) - 2.5: a share 1 - uProb of the parallel jobs is above M / 2^2.5.
    assert within(float(np.mean(size > 4096 / 2**2.5)), (1 - 0.244) * 0.14, 20_000)


@CLASSES
@pytest.mark.parametrize("size", [1, 8, 64])
def test_run_times_follow_the_two_gamma_distributions(job_class: JobClass, size: int) -> None:
    count = 100_000
    run = run_times(job_class, np.full(count, size, np.int64), rng(size))
    assert run.min() >= 1 and run.max() <= exp(12)
    first = min(max(job_class.pa * size + job_class.pb, 0), 1)
    one, two = gamma_of(job_class.a1, job_class.b1), gamma_of(job_class.a2, job_class.b2)

    def cdf(x: float) -> float:
        return first * one(x) + (1 - first) * two(x)

    for seconds in (10, 100, 1000, 10_000, 50_000):
        # floor(e^g) <= k exactly when g < ln(k + 1); values above 12 are drawn again.
        expected = cdf(log(seconds + 1)) / cdf(12)
        assert within(float(np.mean(run <= seconds)), expected, count)


def test_larger_jobs_run_longer() -> None:
    narrow = run_times(TYPELESS, np.full(50_000, 1, np.int64), rng())
    wide = run_times(TYPELESS, np.full(50_000, 128, np.int64), rng())
    assert np.log(wide).mean() - np.log(narrow).mean() > 2


@pytest.mark.parametrize("load", [None, 0.3, 1.2])
def test_arrivals_follow_the_hours_of_the_day_at_any_load(load: float | None) -> None:
    submit = lublin_jobs(200_000, 128, 3, load)["submit"]
    counts = np.bincount(submit // 1800 % BUCKETS, minlength=BUCKETS)
    weights = bucket_weights(TYPELESS.cycle_shape, TYPELESS.cycle_scale)
    assert np.corrcoef(counts, weights)[0, 1] > 0.99
    assert counts / counts.mean() == pytest.approx(weights, abs=0.15)
    # Early morning is quiet, early afternoon is busy.
    assert counts[10] < 0.1 * counts.max() and 24 <= int(counts.argmax()) <= 32


def test_the_day_starts_at_the_hour_asked_for() -> None:
    submit = lublin_jobs(100_000, 128, 3, start_hour=14)["submit"]
    counts = np.bincount((submit // 1800 + 28) % BUCKETS, minlength=BUCKETS)
    assert counts[10] < 0.1 * counts.max() and 24 <= int(counts.argmax()) <= 32


@pytest.mark.parametrize("kind", ["typeless", "batch", "interactive", "both"])
@pytest.mark.parametrize("load", [0.5, 0.95])
def test_the_load_asked_for_is_reached(kind: str, load: float) -> None:
    work = generate(f"lublin(jobs=5000, procs=256, load={load}, kind={kind}, seed=4)")
    span = (work.submit.max() - work.submit.min()) / SECOND
    reached = float(np.dot(work.procs, work.runtime / SECOND)) / (256 * span)
    assert reached == pytest.approx(load, rel=2e-3 if kind == "both" else 1e-5)


def test_both_kinds_arrive_independently_in_their_queues() -> None:
    both = lublin_jobs(30_000, 128, 5, kind="both")
    interactive, batch = both["queue"] == 0, both["queue"] == 1
    assert np.all(interactive | batch) and np.all(np.diff(both["submit"]) >= 0)
    for chosen, job_class in ((interactive, INTERACTIVE), (batch, BATCH)):
        count = int(chosen.sum())
        assert within(float(np.mean(both["procs"][chosen] == 1)), job_class.serial, count)
    # Until the end of the log each queue holds as many jobs as its own process brings.
    alone = lublin_jobs(30_000, 128, 5, kind="interactive")["submit"]
    expected = int(np.searchsorted(alone, both["submit"][-1]))
    assert int(interactive.sum()) == pytest.approx(expected, rel=0.1)


def test_seeds_decide_and_estimates_do_not_touch_the_jobs() -> None:
    one, same, other = lublin(200, seed=1), lublin(200, seed=1), lublin(200, seed=2)
    for name in ("submit", "procs", "runtime", "walltime"):
        assert np.array_equal(one.columns[name], same.columns[name])
    assert not np.array_equal(one.runtime, other.runtime)
    guessed = lublin(200, seed=1, estimates="tsafrir")
    assert np.array_equal(one.submit, guessed.submit) and np.array_equal(one.runtime, guessed.runtime)
    assert np.array_equal(one.walltime, one.runtime) and np.all(guessed.walltime >= guessed.runtime)
    assert np.any(guessed.walltime > guessed.runtime)


def test_the_first_jobs_of_seed_1() -> None:
    work = lublin(4, procs=64, seed=1)
    assert (work.submit // SECOND).tolist() == [303, 936, 1001, 2791]
    assert work.procs.tolist() == [21, 4, 1, 64]
    assert (work.runtime // SECOND).tolist() == [57, 10008, 10070, 7879]
    assert work.header.max_procs == 64 and work.job.tolist() == [1, 2, 3, 4]
    assert work.transformations == (
        "lublin(jobs=4, procs=64, seed=1, load=none, kind=typeless, estimates=exact, start_hour=0)",
    )


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("lublin(jobs=-1)", "jobs must be at least 0"),
        ("lublin(jobs=5, procs=0)", "procs at least 1"),
        ("lublin(jobs=5, kind=serial)", "kind must be typeless|batch|interactive|both"),
        ("lublin(jobs=1, load=0.5)", "two jobs"),
        ("lublin(jobs=5, load=0)", "above 0"),
        ("lublin(jobs=5, start_hour=24)", "half hour"),
        ("lublin(jobs=5, estimates=guess)", "exact, tsafrir and f"),
        ("lublin(jobs=5, sed=1)", "no parameter sed"),
        ("lublin", "jobs is missing"),
        ("downey(5)", "no model downey; there are lublin, poisson"),
    ],
)
def test_mistakes_are_told_in_a_sentence(spec: str, says: str) -> None:
    with pytest.raises(UsageError) as error:
        generate(spec)
    assert says in str(error.value)


def test_no_jobs_at_all() -> None:
    assert len(lublin(0)) == 0
