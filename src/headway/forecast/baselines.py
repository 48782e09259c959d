"""What a forecast must beat: the recent median wait of like jobs, and QBETS' bound.

Both look only at waits that are over by the instant, of jobs that have started.

QBETS: J. Brevik, D. Nurmi, R. Wolski, "Predicting bounds on queuing delay for batch-scheduled parallel
machines", PPoPP 2006. The bound is the order statistic that exceeds the 95 % quantile of the waits with 95 %
confidence, by the binomial distribution; jobs are divided by size. When several waits in a row are above the
bound, the past no longer speaks for the present, and all but the shortest history that gives a bound is
forgotten.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Hashable
from functools import cache
from math import exp, lgamma, log, sqrt
from statistics import median

import numpy as np

from headway.forecast.record import Record
from headway.units import NEVER

LIKE = 20
"""So many waits of like jobs make a median."""
QUANTILE = CONFIDENCE = 0.95
SHORTEST = 59
"""The fewest waits whose largest is above the 95 % quantile with 95 % confidence."""
IN_A_ROW = 3
"""So many waits above the bound in a row are taken for a change; three have one chance in 8,000."""
SIZES = (4, 16, 64)
"""QBETS divides jobs by processors: up to 4, 16, 64, and more."""
Z_95 = 1.6448536269514722


@cache
def place_of_bound(count: int) -> int:
    """Which of ``count`` ascending waits, from 1 on, bounds the quantile; 0 if there are too few."""
    if count < SHORTEST:
        return 0
    if count > 2000:
        spread = sqrt(count * QUANTILE * (1 - QUANTILE))
        return min(count, int(np.ceil(count * QUANTILE + Z_95 * spread)) + 1)
    below = 0.0
    for k in range(count):
        # The probability that exactly k of the waits are below the quantile.
        ways = lgamma(count + 1) - lgamma(k + 1) - lgamma(count - k + 1)
        below += exp(ways + k * log(QUANTILE) + (count - k) * log(1 - QUANTILE))
        if below >= CONFIDENCE:
            return k + 1
    return 0


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


class Baselines:
    """Waits that are over by an instant, by what jobs have in common."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self._by_start = np.argsort(record.start, kind="stable")
        self._starts = record.start[self._by_start]
        self._next = 0
        self._like: dict[Hashable, deque[int]] = {}
        self._groups: dict[int, History] = {}

    def learn(self, now: int) -> None:
        """Take note of the jobs that have started before ``now``; instants must not go back."""
        last = int(np.searchsorted(self._starts, now))
        work = self.record.workload
        for row in self._by_start[self._next : last].tolist():
            wait = int(self.record.start[row] - work.submit[row])
            self._like.setdefault(self._alike(row), deque(maxlen=LIKE)).append(wait)
            self._groups.setdefault(self._group(row), History()).add(wait)
        self._next = max(last, self._next)

    def _alike(self, row: int) -> Hashable:
        work = self.record.workload
        return int(work.procs[row]).bit_length(), int(work.walltime[row]).bit_length()

    def _group(self, row: int) -> int:
        return int(np.searchsorted(SIZES, self.record.workload.procs[row]))

    def recent_median(self, row: int) -> int:
        """The median of the last waits of jobs of about its size and request (µs); 0 if there are none."""
        return int(median(self._like.get(self._alike(row), [0])))

    def bound(self, row: int) -> int:
        """QBETS' 95 % bound of its wait (µs); NEVER while there is none."""
        return self._groups.setdefault(self._group(row), History()).bound()
