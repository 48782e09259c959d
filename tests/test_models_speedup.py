"""Speedup models: their laws, and values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import UsageError
from headway.workload.models.speedup import amdahl, downey


def test_amdahl_at_the_limits_of_the_moldable_types() -> None:
    # 1 / (0.2 + 0.8 / 32) = 1 / 0.225, and so on.
    values = amdahl([0.8, 0.9, 0.99, 0.999], [32, 96, 256, 650])
    assert values == pytest.approx([4.444, 9.143, 72.11, 394.2], rel=1e-3)


@given(fraction=st.floats(0, 1), most=st.integers(1, 2000))
def test_amdahl_starts_at_one_never_falls_and_is_bounded(fraction: float, most: int) -> None:
    n = np.arange(1, most + 1)
    speedup = amdahl(fraction, n)
    assert speedup[0] == pytest.approx(1)
    assert np.all(np.diff(speedup) >= -1e-9)
    assert np.all(speedup <= n + 1e-9)
    assert fraction == 1 or np.all(speedup <= 1 / (1 - fraction) + 1e-9)


def test_downey_by_hand() -> None:
    # A = 4, sigma = 0: linear up to 4, then flat.
    assert downey(4, 0, [1, 2, 4, 8]) == pytest.approx([1, 2, 4, 4])
    # A = 4, sigma = 0.5: S(3) = 12 / (4 + 0.5) ; S(6) = 24 / (0.5 * 3.5 + 6 * 0.75) ; flat from 2A - 1 = 7.
    assert downey(4, 0.5, [3, 6, 7, 9]) == pytest.approx([12 / 4.5, 24 / 6.25, 4, 4])
    # A = 4, sigma = 2: S(3) = 3 * 4 * 3 / (2 * 6 + 4); flat from 4 + 8 - 2 = 10.
    assert downey(4, 2, [1, 3, 10, 11]) == pytest.approx([1, 36 / 16, 4, 4])


@given(average=st.floats(1, 300), sigma=st.floats(0, 5))
def test_downey_laws(average: float, sigma: float) -> None:
    n = np.arange(1, 700)
    speedup = downey(average, sigma, n)
    assert speedup[0] == pytest.approx(1)
    assert np.all(np.diff(speedup) >= -1e-9)
    assert np.all(speedup <= np.minimum(n, average) + 1e-9)


@given(average=st.floats(1, 300))
def test_the_two_branches_of_downey_agree_at_sigma_one(average: float) -> None:
    n = np.arange(1, 700)
    assert downey(average, 1.0, n) == pytest.approx(downey(average, 1.0 + 1e-12, n), rel=1e-6)


@pytest.mark.parametrize(("fraction", "n"), [(1.5, 2), (-0.1, 2), (0.5, 0)])
def test_amdahl_out_of_range(fraction: float, n: int) -> None:
    with pytest.raises(UsageError, match="amdahl"):
        amdahl(fraction, n)


@pytest.mark.parametrize(("average", "sigma", "n"), [(0.5, 1, 2), (2, -1, 2), (2, 1, 0)])
def test_downey_out_of_range(average: float, sigma: float, n: int) -> None:
    with pytest.raises(UsageError, match="downey"):
        downey(average, sigma, n)
