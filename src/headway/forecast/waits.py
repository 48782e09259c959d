"""Waits that are over: what jobs like this one have waited.

Waits of jobs that have started are kept by what jobs have in common, the last KEPT of each kind:

    1  user, queue, processors and request     4  class of processors
    2  queue, processors and request           5  everybody
    3  queue, class of processors and request

with processors and requests within a factor of two, and the classes of QBETS. A distribution is mixed of
them as for run times: the first kind with probability n / (n + DOUBT), where n are kept there, else the next.
The first two kinds know how things are just now, but are short and cannot say what happens once in a hundred
times; the long ones behind them can.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from statistics import median

import numpy as np

from headway.forecast.levels import LEVELS
from headway.forecast.qbets import Qbets, class_of
from headway.forecast.record import Column, Record

KEPT = (50, 100, 2000, 5000, 100)
"""How many of the last waits are kept of each kind."""
DOUBT = 100.0
"""So many waits of the next kinds stand beside those of a kind."""
LIKE = 20
"""So many of the last waits of jobs of about its size and request make a recent median."""


class Waits:
    """Waits that are over by an instant."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self._by_start = np.argsort(record.start, kind="stable")
        self._starts = record.start[self._by_start]
        self._next = 0
        self._seen: dict[Hashable, deque[int]] = {}
        self._recent: dict[Hashable, deque[int]] = {}
        self.qbets = Qbets()

    def learn(self, now: int) -> None:
        """Take note of the jobs that have started before ``now``; instants must not go back."""
        last = int(np.searchsorted(self._starts, now))
        work = self.record.workload
        for row in self._by_start[self._next : last].tolist():
            wait = int(self.record.start[row] - work.submit[row])
            for kind, key in self._kinds(row):
                self._seen.setdefault(key, deque(maxlen=KEPT[kind])).append(wait)
            self._recent.setdefault(self._like(row), deque(maxlen=LIKE)).append(wait)
            self.qbets.add(int(work.procs[row]), wait)
        self._next = max(last, self._next)

    def _like(self, row: int) -> tuple[int, int]:
        """Processors and request, within a factor of two."""
        work = self.record.workload
        return int(work.procs[row]).bit_length(), int(work.walltime[row]).bit_length()

    def _kinds(self, row: int) -> Iterator[tuple[int, Hashable]]:
        """The kinds that a job is of; an unknown user makes no kind."""
        user, queue = int(self.record.column("user")[row]), int(self.record.column("queue")[row])
        size, request = self._like(row)
        group = class_of(int(self.record.workload.procs[row]))
        if user >= 0:
            yield 0, (0, user, queue, size, request)
        yield 1, (1, queue, size, request)
        yield 2, (2, queue, group, request)
        yield 3, (3, group)
        yield 4, (4,)

    def recent_median(self, row: int) -> int:
        """The median of the last waits of jobs of about its size and request (µs); 0 if there are none."""
        return int(median(self._recent.get(self._like(row)) or [0]))

    def quantiles(self, row: int, waited: int = 0) -> Column:
        """The waits at LEVELS (µs) that like jobs did not exceed; 0 if none has started yet.

        Of a job that has ``waited`` already, what was still ahead of those who waited longer than that; it
        is left at 0 where nobody did.
        """
        waits, weights, left = [np.zeros(1, np.int64)], [np.array([1e-12])], 1.0
        for _, key in self._kinds(row):
            pool = np.array(self._seen.get(key, ()), np.int64) - waited
            pool = pool[pool > 0] if waited else pool
            if count := len(pool):
                trust = count / (count + DOUBT)
                waits.append(pool)
                weights.append(np.full(count, left * trust / count))
                left *= 1 - trust
        every, weight = np.concatenate(waits), np.concatenate(weights)
        place = np.argsort(every, kind="stable")
        total = np.cumsum(weight[place])
        found = np.searchsorted(total, LEVELS * total[-1])
        return np.asarray(every[place][np.minimum(found, len(every) - 1)])
