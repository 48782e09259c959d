"""QBETS: bounds of waits from the history of waits alone, a baseline that a forecast must beat.

J. Brevik, D. Nurmi, R. Wolski, "Predicting bounds on queuing delay for batch-scheduled parallel machines",
PPoPP 2006. The bound is the order statistic that exceeds the 95 % quantile of the waits with 95 % confidence,
by the binomial distribution; jobs are divided by size. When several waits in a row are above the bound, the
past no longer speaks for the present, and all but the shortest history that gives a bound is forgotten.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from functools import cache
from math import ceil, sqrt

import numpy as np

from headway.arrays import Ints
from headway.units import NEVER

QUANTILE = CONFIDENCE = 0.95
SHORTEST = 59
"""The fewest waits whose largest is above the 95 % quantile with 95 % confidence."""
IN_A_ROW = 3
"""So many waits above the bound in a row are taken for a change; three have one chance in 8,000."""
SIZES = (4, 16, 64)
"""Jobs are divided by processors: up to 4, 16, 64, and more."""
Z_95 = 1.6448536269514722
MANY = 2000
"""From so many waits on the binomial distribution is taken for a normal one."""


@cache
def place_of_bound(count: int) -> int:
    """Which of ``count`` ascending waits, from 1 on, bounds the quantile; 0 if there are too few."""
    if count > MANY:
        spread = sqrt(count * QUANTILE * (1 - QUANTILE))
        return min(count, ceil(count * QUANTILE + Z_95 * spread) + 1)
    # The probability that at most so many of the waits, and that exactly so many, are above the quantile.
    above, most = 0, 0.0
    exactly = QUANTILE**count
    while most + exactly <= 1 - CONFIDENCE:
        most += exactly
        exactly *= (count - above) / (above + 1) * (1 - QUANTILE) / QUANTILE
        above += 1
    return count - above + 1 if above else 0


class History:
    """Waits of one group of jobs, and the bound that they give."""

    def __init__(self) -> None:
        self.waits: deque[int] = deque()
        self.sorted: list[int] = []
        self.missed = 0

    def bound(self) -> int:
        """The 95 % bound (µs), NEVER while there are too few waits."""
        place = place_of_bound(len(self.sorted))
        return self.sorted[place - 1] if place else NEVER

    def add(self, wait: int) -> None:
        """A job has started after this wait."""
        self.missed = self.missed + 1 if wait > self.bound() else 0
        self.waits.append(wait)
        insort(self.sorted, wait)
        if self.missed >= IN_A_ROW:
            while len(self.waits) > SHORTEST:
                del self.sorted[bisect_left(self.sorted, self.waits.popleft())]
            self.missed = 0


def class_of(procs: Ints) -> Ints:
    """Which of the classes of SIZES jobs of so many processors belong to."""
    return np.searchsorted(SIZES, procs).astype(np.int64)


class Qbets:
    """The histories of all sizes."""

    def __init__(self) -> None:
        self._groups = [History() for _ in range(len(SIZES) + 1)]

    def add(self, procs: int, wait: int) -> None:
        """A job of so many processors has started after ``wait`` (µs)."""
        self._groups[bisect_left(SIZES, procs)].add(wait)

    def bound(self, procs: int) -> int:
        """The 95 % bound of the wait of such a job (µs); NEVER while there is none."""
        return self._groups[bisect_left(SIZES, procs)].bound()
