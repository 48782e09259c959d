"""Numbers of a column: of all its values at once, or of blocks of them that come one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from headway.metrics.statistics import (
    Ratios,
    exact_parts,
    largest_ratio,
    largest_time,
    mean_ratio,
    mean_time,
    quantile,
    quantile_ratio,
    quantile_time,
    seconds,
    total,
)
from headway.units import SECOND


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


class Times:
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
MEAN_TIME = Reducer(mean_time, Times)
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
