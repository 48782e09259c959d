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

from statistics import median

import numpy as np

from headway.arrays import Ints
from headway.forecast.levels import LEVELS
from headway.forecast.pools import Kind, Pools, doublings, keys_of
from headway.forecast.qbets import Qbets, class_of
from headway.forecast.record import Record

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
        self._next = self._bounded = 0
        self._pools, self._recent = Pools(KEPT), Pools((LIKE,))
        self._qbets = Qbets()

    def learn(self, now: int) -> None:
        """Take note of the jobs that have started before ``now``; instants must not go back."""
        last = max(int(np.searchsorted(self._starts, now)), self._next)
        rows = self._by_start[self._next : last]
        waits = self.record.start[rows] - self.record.workload.submit[rows]
        self._pools.add(self._kinds(rows), waits)
        self._recent.add([self._like(rows)], waits)
        self._next = last

    def _kinds(self, rows: Ints) -> list[Kind]:
        """The kinds that jobs are of; an unknown user makes no kind."""
        user, queue = (self.record.column(name)[rows] for name in ("user", "queue"))
        like, always = self._like(rows).columns, np.ones(len(rows), np.bool_)
        group = class_of(self.record.workload.procs[rows])
        return [
            Kind((user, queue, *like), user >= 0),
            Kind((queue, *like), always),
            Kind((queue, group, like[1]), always),
            Kind((group,), always),
            Kind((), always),
        ]

    def _like(self, rows: Ints) -> Kind:
        """Jobs of about the same size and request."""
        work = self.record.workload
        columns = doublings(work.procs[rows]), doublings(work.walltime[rows])
        return Kind(columns, np.ones(len(rows), np.bool_))

    def recent_median(self, row: int) -> int:
        """The median of the last waits of jobs of about its size and request (µs); 0 if there are none."""
        [keys] = keys_of([self._like(np.array([row]))])
        [pool] = self._recent.of(keys)
        return int(median(pool or [0]))

    def bound(self, row: int) -> int:
        """QBETS' 95 % bound of a job's wait (µs); NEVER while there is none."""
        work = self.record.workload
        rows, self._bounded = self._by_start[self._bounded : self._next], self._next
        waits = self.record.start[rows] - work.submit[rows]
        for size, wait in zip(work.procs[rows].tolist(), waits.tolist(), strict=True):
            self._qbets.add(size, wait)
        return self._qbets.bound(int(work.procs[row]))

    def quantiles(self, row: int, waited: int = 0) -> Ints:
        """The waits at LEVELS (µs) that like jobs did not exceed; 0 if none has started yet.

        Of a job that has ``waited`` already, what was still ahead of those who waited longer than that; it
        is left at 0 where nobody did.
        """
        waits, weights, left = [np.zeros(1, np.int64)], [np.array([1e-12])], 1.0
        [keys] = keys_of(self._kinds(np.array([row])))
        for kept in self._pools.of(keys):
            pool = np.array(kept, np.int64) - waited
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
