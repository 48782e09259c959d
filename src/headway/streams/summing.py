"""The summary of a schedule whose rows come in blocks: the numbers of :func:`headway.metrics.summarise`.

All are exact, to the bit, but those in SKETCHED: quantiles are told by a histogram, whose name and error the
summary has beside them. Memory grows with the users, queues and partitions of the log, not with its jobs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.arrays import Ints
from headway.metrics import METRICS
from headway.metrics.sample import Sample, utilization
from headway.metrics.statistics import RELATIVE_ERROR, SKETCH, ExactSum, seconds, total
from headway.metrics.summary import Classes, fairness
from headway.schedule import Schedule
from headway.schedule.files import plain
from headway.units import SECOND
from headway.workload.divisions import size_class, size_classes

Row = dict[str, Any]

SKETCHED = tuple(metric.name for metric in METRICS if metric.by is not None and metric.by.sketched)
"""Metrics that a histogram tells."""


class Queue:
    """How many jobs wait, from submissions and starts that come window by window."""

    def __init__(self) -> None:
        self.waiting = self.largest = 0

    def add(self, submitted: Ints, started: Ints) -> None:
        """The submissions and starts in a stretch of time behind the last one."""
        instants = np.concatenate((submitted, started))
        order = np.argsort(instants, kind="stable")
        changes = np.where(order < len(submitted), 1, -1)
        last = np.append(np.diff(instants[order]) > 0, True) if len(order) else np.zeros(0, np.bool_)
        counts = self.waiting + np.cumsum(changes)[last]
        if len(counts):
            self.waiting, self.largest = int(counts[-1]), max(self.largest, int(counts.max()))


class Summing:
    """A summary in the making."""

    def __init__(self, capacity: int, tau: float = 10) -> None:
        self._capacity, self._tau = capacity, tau
        self.queue = Queue()
        self._jobs = self._wait = self._first = self._last = 0
        self._area = ExactSum()
        self._metrics = {metric: metric.by.blocks() for metric in METRICS if metric.by is not None}
        self._by = {
            "size": Classes("size", size_class),
            **{name: Classes(name, lambda code: code) for name in ("user", "queue", "partition")},
        }

    @property
    def partitions(self) -> int:
        """Partitions seen so far."""
        return len(self._by["partition"])

    def add(self, schedule: Schedule) -> None:
        """The next rows of the schedule."""
        sample = Sample(schedule, self._tau)
        begin, end = int(schedule.submit.min()), int(schedule.end.max())
        self._first = min(self._first, begin) if self._jobs else begin
        self._last = max(self._last, end)
        self._jobs += len(schedule)
        self._wait += total(sample.wait)
        self._area.add(schedule.procs.astype(np.float64) * (schedule.end - schedule.start) / SECOND)
        for metric, blocks in self._metrics.items():
            blocks.add(metric.of(sample))
        self._by["size"].add(size_classes(sample.procs), sample)
        for name in ("user", "queue", "partition"):
            self._by[name].add(schedule.workload.columns[name], sample)

    def summary(self, dropped: int) -> dict[str, Any]:
        """Everything as plain JSON data, in the order of any other summary."""
        span = self._last - self._first if self._jobs else None
        of_the_run: dict[str, Any] = {
            "dropped": dropped,
            "makespan": None if span is None else seconds(span),
            "utilization": utilization(self._area.value, self._capacity, span),
            **dict.fromkeys(("wasted_area", "swap_area", "load_area"), 0.0),
            "tau": seconds(round(self._tau * SECOND)),
            "mean_queue": self._wait / span if span else None,
            "max_queue": self.queue.largest,
        }
        values = of_the_run | {metric.name: blocks.value for metric, blocks in self._metrics.items()}
        summary = {metric.name: values.get(metric.name) for metric in METRICS}
        users = self._by["user"].table()
        summary["sketched"] = {name: {"by": SKETCH, "relative_error": RELATIVE_ERROR} for name in SKETCHED}
        summary |= {"fairness": fairness(users), "by_size": self._by["size"].table()}
        summary |= {"by_user": users, "by_queue": self._by["queue"].table()}
        if self.partitions > 1:
            summary["by_partition"] = self._by["partition"].table()
        return dict(plain(summary))
