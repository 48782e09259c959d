"""Sums and quantiles of numbers that come in blocks, in memory that does not grow with them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.metrics.statistics import exact_parts, quantile

Ratios = npt.NDArray[np.float64]


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

    @property
    def mean(self) -> float | None:
        return self.value / self.count if self.count else None


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
