"""Means, sums and quantiles that give the same bits on every machine; None where there is no value."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
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


# Numbers of a column: of all its values at once, or of blocks of them that come one after the other.


class Blocks(Protocol):
    """A number in the making."""

    def add(self, values: npt.NDArray[Any]) -> None:
        """The next values of the column."""

    @property
    def value(self) -> int | float | None:
        """The number of all values so far; None where there is none."""


@dataclass(frozen=True)
class Reducer:
    """How a column becomes a number; of blocks it has the same bits, unless it is sketched."""

    whole: Callable[[npt.NDArray[Any]], int | float | None]
    blocks: Callable[[], Blocks]
    sketched: bool = False
    """Whether blocks give it by a histogram, whose error the summary has beside it."""


class Count:
    """How many values are true."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, values: npt.NDArray[Any]) -> None:
        self.value += int(values.sum())


class MeanTime:
    """The mean of times (µs) in seconds, rounded once."""

    def __init__(self) -> None:
        self._sum = self._count = 0

    def add(self, values: npt.NDArray[Any]) -> None:
        self._sum += total(values)
        self._count += len(values)

    @property
    def value(self) -> float | None:
        return self._sum / (self._count * SECOND) if self._count else None


class Largest:
    """The largest value."""

    def __init__(self, shown: Callable[[Any], int | float]) -> None:
        self._shown = shown
        self._largest: int | float | None = None

    def add(self, values: npt.NDArray[Any]) -> None:
        if len(values):
            most = values.max().item()
            self._largest = most if self._largest is None else max(self._largest, most)

    @property
    def value(self) -> int | float | None:
        return None if self._largest is None else self._shown(self._largest)


class MeanRatio:
    """The mean of ratios, of their exact sum."""

    def __init__(self) -> None:
        self._sum = ExactSum()

    def add(self, values: Ratios) -> None:
        self._sum.add(values)

    @property
    def value(self) -> float | None:
        return self._sum.value / self._sum.count if self._sum.count else None


class ExactSum:
    """The sum as if with unlimited digits, rounded once, as :func:`exact_sum` of all values together.

    It is kept as a few numbers with exactly that sum (Shewchuk, Adaptive precision floating-point arithmetic,
    Discrete & Computational Geometry, 1997).
    """

    def __init__(self) -> None:
        self._parts: list[float] = []
        self.count = 0

    def add(self, values: Ratios) -> None:
        self.count += len(values)
        for part in exact_parts(values):
            self._add(part)

    def _add(self, x: float) -> None:
        kept = 0
        for y in self._parts:
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low:
                self._parts[kept] = low
                kept += 1
            x = high
        self._parts[kept:] = [x]

    @property
    def value(self) -> float:
        return math.fsum(self._parts)


DIGITS = 14
"""Binary digits of a number that a histogram tells apart."""
BINS = 1 << (DIGITS - 1)
"""Bins from one power of two to the next."""
LEAST, MOST = 1, 63
"""Powers of two below which the smallest and the largest numbers lie that are not 0."""

SKETCH = "log-linear histogram"
RELATIVE_ERROR = 2.0**-DIGITS


class Histogram:
    """A log-linear histogram: numbers that agree in their first binary digits share a bin, 0 has one alone.

    A quantile is that of the bins' middles, at most ``RELATIVE_ERROR`` from the exact one. (The layout is
    that of Tene's HdrHistogram.) Numbers are 0, or from 1 up to 2^63.
    """

    def __init__(self) -> None:
        self.bins = np.zeros((MOST - LEAST + 1) * BINS + 1, np.int64)
        """[0] is for 0."""

    def add(self, values: npt.NDArray[Any]) -> None:
        digits, power = np.frexp(values.astype(np.float64))
        # From 1/2 up to 1: the first binary digit is a 1, which need not be kept.
        within = (digits * (2 * BINS)).astype(np.int64) - BINS
        place = np.where(values == 0, 0, 1 + (power - LEAST) * BINS + within)
        self.bins += np.bincount(place, minlength=len(self.bins))

    def quantile(self, percent: float) -> float | None:
        """Between the two nearest values, in proportion."""
        count = int(self.bins.sum())
        if not count:
            return None
        place = (count - 1) * (percent / 100)
        below = int(place)
        above = min(below + 1, count - 1)
        upto = np.cumsum(self.bins)
        low, high = (self._middle(int(np.searchsorted(upto, n, side="right"))) for n in (below, above))
        return quantile(np.array([low, high]), 100 * (place - below))

    @staticmethod
    def _middle(place: int) -> float:
        if place == 0:
            return 0.0
        power, within = divmod(place - 1, BINS)
        return math.ldexp((BINS + within + 0.5) / (2 * BINS), power + LEAST)


class Sketch:
    """A quantile by a histogram, in units of so many."""

    def __init__(self, percent: float, unit: int) -> None:
        self._percent, self._unit, self._histogram = percent, unit, Histogram()

    def add(self, values: npt.NDArray[Any]) -> None:
        self._histogram.add(values)

    @property
    def value(self) -> float | None:
        value = self._histogram.quantile(self._percent)
        return None if value is None else value / self._unit


COUNT = Reducer(lambda values: int(values.sum()), Count)
MEAN_TIME = Reducer(mean_time, MeanTime)
LARGEST_TIME = Reducer(largest_time, lambda: Largest(seconds))
MEAN_RATIO = Reducer(mean_ratio, MeanRatio)
LARGEST_RATIO = Reducer(largest_ratio, lambda: Largest(float))


def time_quantile(percent: float) -> Reducer:
    """A quantile of times (µs), in seconds."""
    return Reducer(
        lambda times: quantile_time(times, percent), lambda: Sketch(percent, SECOND), sketched=True
    )


def ratio_quantile(percent: float) -> Reducer:
    """A quantile of ratios."""
    return Reducer(lambda ratios: quantile_ratio(ratios, percent), lambda: Sketch(percent, 1), sketched=True)
