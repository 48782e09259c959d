"""The summary of a schedule whose rows come in blocks: the numbers of :func:`headway.metrics.summarise`.

All are exact, to the bit, but those in SKETCHED: quantiles are told by a histogram, whose name and error the
summary has beside them. Memory grows with the users, queues and partitions of the log, not with its jobs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.arrays import Floats, Ints
from headway.metrics import METRICS, ratios
from headway.metrics.areas import utilization
from headway.metrics.classes import fairness
from headway.metrics.sample import Sample
from headway.metrics.statistics import exact_parts, quantile, seconds, total
from headway.schedule import Schedule
from headway.schedule.files import plain
from headway.units import SECOND
from headway.workload.divisions import size_class, size_classes

Ratios = Floats


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


Row = dict[str, Any]

SKETCHED = ("median_wait", "p95_wait", "median_bsld")
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


class Classes:
    """The table of one way to divide the jobs; sums in the order of the log, as the whole table has them."""

    def __init__(self, key: str, name: Callable[[int], Any]) -> None:
        self._key, self._name = key, name
        self._place: dict[int, int] = {}
        self._sums = np.zeros((5, 0))
        self._worst = np.zeros(0)
        self._jobs = np.zeros(0, np.int64)

    def add(self, codes: Ints, sample: Sample) -> None:
        bsld = sample.bounded_slowdown
        classes, place = np.unique(codes, return_inverse=True)
        for code in classes.tolist():
            self._place.setdefault(code, len(self._place))
        more = (0, len(self._place) - len(self._worst))
        self._sums, self._worst = np.pad(self._sums, ((0, 0), more)), np.pad(self._worst, more)
        self._jobs = np.pad(self._jobs, more)
        rows = np.array([self._place[code] for code in classes.tolist()], np.int64)[place]
        self._jobs += np.bincount(rows, minlength=len(self._jobs))
        columns = (
            sample.wait / SECOND,
            sample.flow / SECOND,
            bsld,
            sample.procs * (sample.run / SECOND),
            sample.column(sample.schedule.killed),
        )
        for sums, values in zip(self._sums, columns, strict=True):
            np.add.at(sums, rows, values)
        np.maximum.at(self._worst, rows, bsld)

    def __len__(self) -> int:
        return len(self._place)

    def table(self) -> list[Row]:
        """One row for each class, as :mod:`headway.metrics.classes` has them."""
        rows = []
        for code, place in sorted(self._place.items()):
            jobs = int(self._jobs[place])
            wait, flow, bsld, area, killed = self._sums[:, place].tolist()
            rows.append({
                self._key: self._name(code),
                "jobs": jobs,
                "mean_wait": wait / jobs,
                "mean_response": flow / jobs,
                "mean_bsld": bsld / jobs,
                "max_bsld": float(self._worst[place]),
                "area": area,
                "killed": int(killed),
            })  # fmt: skip
        return rows


class Summing:
    """A summary in the making."""

    def __init__(self, capacity: int, tau: float = 10) -> None:
        self._capacity, self._tau = capacity, tau
        self.queue = Queue()
        self._jobs = self._killed = self._wait = self._flow = 0
        self._max_wait, self._max_bsld = -1, 0.0
        self._first = self._last = 0
        self._area, self._slowdown, self._bsld, self._per_processor, self._walltime = (
            ExactSum() for _ in range(5)
        )
        self._waits, self._bslds = Histogram(), Histogram()
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
        wait, bsld = sample.wait, sample.bounded_slowdown
        begin, end = int(schedule.submit.min()), int(schedule.end.max())
        self._first = min(self._first, begin) if self._jobs else begin
        self._last = max(self._last, end)
        self._jobs += len(schedule)
        self._killed += int(schedule.killed.sum())
        self._wait += total(wait)
        self._flow += total(sample.flow)
        self._max_wait, self._max_bsld = max(self._max_wait, int(wait.max())), max(self._max_bsld, bsld.max())
        self._area.add(schedule.procs.astype(np.float64) * (schedule.end - schedule.start) / SECOND)
        self._slowdown.add(sample.slowdown)
        self._bsld.add(bsld)
        self._per_processor.add(sample.per_processor)
        self._walltime.add(ratios.walltime_slowdown(wait, sample.walltime))
        self._waits.add(wait)
        self._bslds.add(bsld)
        self._by["size"].add(size_classes(sample.procs), sample)
        for name in ("user", "queue", "partition"):
            self._by[name].add(schedule.workload.columns[name], sample)

    def summary(self, dropped: int) -> dict[str, Any]:
        """Everything as plain JSON data, in the order of any other summary."""
        jobs, some = self._jobs, self._jobs > 0
        span = self._last - self._first if some else None
        values: dict[str, Any] = {
            "jobs": jobs,
            "dropped": dropped,
            "makespan": None if span is None else seconds(span),
            "utilization": utilization(self._area.value, self._capacity, span),
            **dict.fromkeys(("wasted_area", "swap_area", "load_area"), 0.0),
            "mean_wait": self._wait / (jobs * SECOND) if some else None,
            "median_wait": self._quantile(self._waits, 50, SECOND),
            "p95_wait": self._quantile(self._waits, 95, SECOND),
            "max_wait": seconds(self._max_wait) if some else None,
            "mean_response": self._flow / (jobs * SECOND) if some else None,
            "mean_slowdown": self._slowdown.mean,
            "slowdown_excluded": jobs - self._slowdown.count,
            "mean_bsld": self._bsld.mean,
            "median_bsld": self._quantile(self._bslds, 50, 1),
            "max_bsld": float(self._max_bsld) if some else None,
            "mean_pp_bsld": self._per_processor.mean,
            "mean_walltime_slowdown": self._walltime.mean,
            "tau": seconds(round(self._tau * SECOND)),
            "killed": self._killed,
            "mean_queue": self._wait / span if span else None,
            "max_queue": self.queue.largest,
        }
        summary = {metric.name: values[metric.name] for metric in METRICS}
        users = self._by["user"].table()
        summary["sketched"] = {name: {"by": SKETCH, "relative_error": RELATIVE_ERROR} for name in SKETCHED}
        summary |= {"fairness": fairness(users), "by_size": self._by["size"].table()}
        summary |= {"by_user": users, "by_queue": self._by["queue"].table()}
        if self.partitions > 1:
            summary["by_partition"] = self._by["partition"].table()
        return dict(plain(summary))

    @staticmethod
    def _quantile(histogram: Histogram, percent: float, unit: int) -> float | None:
        value = histogram.quantile(percent)
        return None if value is None else value / unit
