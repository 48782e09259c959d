"""Means, sums and quantiles that give the same bits on every machine; None where there is no value."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.units import SECOND

Times = NDArray[np.int64]
Ratios = NDArray[np.float64]

BLOCK = 1 << 16
FEW, HUGE = 1000, 1e290
"""Fewer values are summed as quickly one by one; of larger ones a multiple may be infinite."""


def seconds(us: int) -> int | float:
    """Seconds of a time in µs: an int where they are whole."""
    return us // SECOND if us % SECOND == 0 else us / SECOND


def total(times: Times) -> int:
    """The exact sum in µs; numpy's own would overflow where many jobs wait for years."""
    return (int((times >> 32).sum()) << 32) + int((times & 0xFFFFFFFF).sum())


def mean_time(times: Times) -> float | None:
    """The mean in seconds, rounded once."""
    return total(times) / (len(times) * SECOND) if len(times) else None


def exact_sum(values: Ratios) -> float:
    """The sum as if with unlimited digits, rounded once; a block at a time, for memory's sake."""
    if len(values) < FEW:
        return math.fsum(values.tolist())
    blocks = (values[place : place + BLOCK] for place in range(0, len(values), BLOCK))
    return math.fsum(chain.from_iterable(map(exact_parts, blocks)))


def exact_parts(values: Ratios) -> list[float]:
    """Fewer numbers with exactly the same sum.

    Adding and taking away a large power of two leaves of each value what is above a common lowest digit. So
    many values of so few digits add up without rounding, in any order; what was cut off follows in the same
    way. The idea is in Rump, Ogita and Oishi, Accurate floating-point summation, SIAM J. Sci. Comput., 2008.
    """
    parts: list[float] = []
    while len(values) and (largest := max(float(values.max()), -float(values.min()))):
        if not largest < HUGE:
            return [*parts, *values.tolist()]
        coarse = math.ldexp(1.0, math.frexp(largest)[1] + (len(values) + 1).bit_length())
        high = (values + coarse) - coarse
        parts.append(float(high.sum()))
        values = values - high
    return parts


def mean_ratio(ratios: Ratios) -> float | None:
    """The mean of the jobs' ratios (never the ratio of means); the sum does not depend on their order."""
    return exact_sum(ratios) / len(ratios) if len(ratios) else None


def quantile(values: Times | Ratios, percent: float) -> float:
    """Between the two nearest values, in proportion; the bits are those of numpy's linear percentile."""
    below = int((len(values) - 1) * (percent / 100))
    nearest: Any = np.partition(values, (below, min(below + 1, len(values) - 1)))
    return sorted_quantile(nearest, percent)


def sorted_quantile(values: Times | Ratios, percent: float) -> float:
    """The same of values in ascending order."""
    place = (len(values) - 1) * (percent / 100)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    low, high, share = values[below].item(), values[above].item(), place - below
    return float(low + (high - low) * share if share < 0.5 else high - (high - low) * (1 - share))


def quantile_time(times: Times, percent: float) -> float | None:
    """The quantile in seconds, interpolated between the two nearest jobs."""
    return quantile(times, percent) / SECOND if len(times) else None


def quantile_ratio(ratios: Ratios, percent: float) -> float | None:
    """The quantile, interpolated between the two nearest jobs."""
    return quantile(ratios, percent) if len(ratios) else None


def largest_time(times: Times) -> int | float | None:
    """The maximum in seconds."""
    return seconds(int(times.max())) if len(times) else None


def largest_ratio(ratios: Ratios) -> float | None:
    """The maximum."""
    return float(ratios.max()) if len(ratios) else None
