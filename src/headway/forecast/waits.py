"""Waits that are over: what jobs like this one have waited lately.

Waits of jobs that have started are kept by what jobs have in common, the last ones of each kind:

    1  queue, processors and request      3  processors
    2  processors and request             4  everybody

with processors and requests within a factor of two. A distribution is mixed of them as for run times: the
first kind with probability n / (n + DOUBT), where n are kept there, else the next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from statistics import median

import numpy as np

from headway.forecast.levels import LEVELS
from headway.forecast.qbets import Qbets
from headway.forecast.record import Column, Record

KEPT = 100
LIKE = 20
"""So many of the last waits of like jobs make a recent median."""
DOUBT = 5.0


class Waits:
    """Waits that are over by an instant."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self._by_start = np.argsort(record.start, kind="stable")
        self._starts = record.start[self._by_start]
        self._next = 0
        self._seen: dict[Hashable, deque[int]] = {}
        self.longest = 0
        """The longest wait so far (µs)."""
        self.qbets = Qbets()

    def learn(self, now: int) -> None:
        """Take note of the jobs that have started before ``now``; instants must not go back."""
        last = int(np.searchsorted(self._starts, now))
        work = self.record.workload
        for row in self._by_start[self._next : last].tolist():
            wait = int(self.record.start[row] - work.submit[row])
            for key in self._kinds(row):
                self._seen.setdefault(key, deque(maxlen=KEPT)).append(wait)
            self.longest = max(self.longest, wait)
            self.qbets.add(int(work.procs[row]), wait)
        self._next = max(last, self._next)

    def _kinds(self, row: int) -> tuple[Hashable, ...]:
        work = self.record.workload
        size, request = int(work.procs[row]).bit_length(), int(work.walltime[row]).bit_length()
        return (size, request, int(work.queue[row])), (size, request), (size,), ()

    def recent_median(self, row: int) -> int:
        """The median of the last waits of jobs of about its size and request (µs); 0 if there are none."""
        seen = list(self._seen.get(self._kinds(row)[1], ()))
        return int(median(seen[-LIKE:] or [0]))

    def quantiles(self, row: int) -> Column:
        """The waits at LEVELS (µs) that like jobs did not exceed; 0 if none has started yet."""
        waits: list[int] = [0]
        weights, left = [1e-12], 1.0
        for key in self._kinds(row):
            pool = self._seen.get(key, ())
            if pool:
                trust = len(pool) / (len(pool) + DOUBT)
                waits += pool
                weights += [left * trust / len(pool)] * len(pool)
                left *= 1 - trust
        place = np.argsort(waits, kind="stable")
        total = np.cumsum(np.array(weights)[place])
        found = np.searchsorted(total, LEVELS * total[-1])
        ordered = np.array(waits, np.int64)[place]
        return np.asarray(ordered[np.minimum(found, len(waits) - 1)])
