"""Means, sums and quantiles that give the same bits on every machine; None where there is no value."""

from __future__ import annotations

import math
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from headway.units import SECOND

Times = NDArray[np.int64]
Ratios = NDArray[np.float64]

BLOCK = 1 << 16


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
    blocks = (values[place : place + BLOCK].tolist() for place in range(0, len(values), BLOCK))
    return math.fsum(chain.from_iterable(blocks))


def mean_ratio(ratios: Ratios) -> float | None:
    """The mean of the jobs' ratios (never the ratio of means); the sum does not depend on their order."""
    return exact_sum(ratios) / len(ratios) if len(ratios) else None


def quantile_time(times: Times, percent: float) -> float | None:
    """The quantile in seconds, interpolated between the two nearest jobs."""
    return float(np.percentile(times, percent)) / SECOND if len(times) else None


def quantile_ratio(ratios: Ratios, percent: float) -> float | None:
    """The quantile, interpolated between the two nearest jobs."""
    return float(np.percentile(ratios, percent)) if len(ratios) else None


def largest_time(times: Times) -> int | float | None:
    """The maximum in seconds."""
    return seconds(int(times.max())) if len(times) else None


def largest_ratio(ratios: Ratios) -> float | None:
    """The maximum."""
    return float(ratios.max()) if len(ratios) else None
