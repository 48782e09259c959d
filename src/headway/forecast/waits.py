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
from typing import NamedTuple

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


class Traits(NamedTuple):
    """What jobs have in common."""

    user: int
    queue: int
    group: int
    """The class of its processors."""
    like: tuple[int, int]
    """Processors and request, within a factor of two."""


def kinds_of(job: Traits) -> Iterator[tuple[int, Hashable]]:
    """The kinds that a job is of; an unknown user makes no kind."""
    if job.user >= 0:
        yield 0, (0, job.user, job.queue, *job.like)
    yield 1, (1, job.queue, *job.like)
    yield 2, (2, job.queue, job.group, job.like[1])
    yield 3, (3, job.group)
    yield 4, (4,)


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
        rows = self._by_start[self._next : last]
        work = self.record.workload
        waits, procs = (self.record.start[rows] - work.submit[rows]).tolist(), work.procs[rows].tolist()
        for traits, wait, size in zip(self._traits(rows), waits, procs, strict=True):
            for kind, key in kinds_of(traits):
                self._seen.setdefault(key, deque(maxlen=KEPT[kind])).append(wait)
            self._recent.setdefault(traits.like, deque(maxlen=LIKE)).append(wait)
            self.qbets.add(size, wait)
        self._next = max(last, self._next)

    def _traits(self, rows: Column) -> list[Traits]:
        """What is looked at of the jobs of some rows."""
        work, record = self.record.workload, self.record
        procs, request = work.procs[rows].tolist(), work.walltime[rows].tolist()
        users, queues = record.column("user")[rows].tolist(), record.column("queue")[rows].tolist()
        return [
            Traits(user, queue, class_of(size), (size.bit_length(), asked.bit_length()))
            for user, queue, size, asked in zip(users, queues, procs, request, strict=True)
        ]

    def _of(self, row: int) -> Traits:
        """The same of one job."""
        return self._traits(np.array([row]))[0]

    def recent_median(self, row: int) -> int:
        """The median of the last waits of jobs of about its size and request (µs); 0 if there are none."""
        return int(median(self._recent.get(self._of(row).like) or [0]))

    def quantiles(self, row: int, waited: int = 0) -> Column:
        """The waits at LEVELS (µs) that like jobs did not exceed; 0 if none has started yet.

        Of a job that has ``waited`` already, what was still ahead of those who waited longer than that; it
        is left at 0 where nobody did.
        """
        waits, weights, left = [np.zeros(1, np.int64)], [np.array([1e-12])], 1.0
        for _, key in kinds_of(self._of(row)):
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
