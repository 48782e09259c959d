"""Poisson workloads: gaps and service times have the moments queueing theory needs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special

from headway.errors import UsageError
from headway.units import SECOND
from headway.workload.models import generate, poisson


def fits(values: NDArray[np.float64], cdf: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> bool:
    """Kolmogorov's test: whether many values may have been drawn from a distribution."""
    count, shares = len(values), cdf(np.sort(values))
    below = np.arange(count) / count
    farthest = max((shares - below).max(), (below + 1 / count - shares).max())
    return bool(special.kolmogorov(np.sqrt(count) * farthest) > 1e-4)


def test_gaps_are_exponential() -> None:
    work = poisson(20_000, rate=0.25, seed=2)
    gaps = np.diff(work.submit) / SECOND
    assert fits(gaps, lambda x: 1 - np.exp(-x / 4))
    assert not fits(gaps, lambda x: 1 - np.exp(-x / 3.7))
    assert np.all(work.procs == 1) and work.header.max_procs == 1
    assert work.transformations == (
        'poisson(jobs=20000, rate=0.25, service="exponential(1)", procs=1, seed=2)',
    )


@pytest.mark.parametrize(
    ("service", "mean", "variance"),
    [
        ("exponential(3)", 3, 9),
        ("constant(2.5)", 2.5, 0),
        ("uniform(1, 4)", 2.5, 0.75),
        ("erlang(4, 2)", 2, 1),
        # 0.9 x 1 + 0.1 x 11 = 2; second moment 2 (0.9 x 1 + 0.1 x 121) = 26.
        ("hyperexponential(0.9, 1, 11)", 2, 22),
    ],
)
def test_service_times_have_their_moments(service: str, mean: float, variance: float) -> None:
    run = generate(f"poisson(100000, 1, service={service}, procs=4)").runtime / SECOND
    error = 5 * np.sqrt(max(variance, 1e-12) / len(run)) + 1e-6
    assert abs(run.mean() - mean) < error
    assert run.var() == pytest.approx(variance, rel=0.1, abs=1e-9)


def test_mean_wait_of_a_single_server_is_pollaczek_and_khinchine() -> None:
    # M/D/1 at load 0.5: mean wait = rho / (2 (1 - rho)) x service = 0.5 s. The wait of each job follows
    # from that of the one before (Lindley).
    work = poisson(200_000, rate=0.5, service="constant(1)", seed=5)
    gaps = np.diff(work.submit, prepend=work.submit[0])
    wait, total = 0.0, 0.0
    for gap, run in zip(gaps.tolist(), [0, *work.runtime.tolist()[:-1]], strict=True):
        wait = max(wait + run - gap, 0.0)
        total += wait
    assert total / len(work) / SECOND == pytest.approx(0.5, rel=0.03)


@pytest.mark.parametrize(
    "spec", ["poisson(5, 0)", "poisson(5, 1, service=gaussian(1))", "poisson(5, 1, service=uniform(1))"]
)
def test_mistakes(spec: str) -> None:
    with pytest.raises(UsageError, match="poisson"):
        generate(spec)
