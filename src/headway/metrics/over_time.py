"""Busy processors and queue length over time, as step functions and on a regular grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.metrics.statistics import Times
from headway.schedule import Schedule
from headway.schedule.table import all_pieces
from headway.units import HOUR


@dataclass(frozen=True)
class Steps:
    """A step function: `values[i]` from `times[i]` (µs) until `times[i + 1]`; 0 before and after."""

    times: Times
    values: Times

    @property
    def largest(self) -> int:
        """The highest step; 0 where there is none."""
        return int(self.values.max()) if len(self.values) else 0

    def at(self, instant: int) -> int:
        """The value at an instant (µs)."""
        place = int(np.searchsorted(self.times, instant, side="right")) - 1
        return int(self.values[place]) if place >= 0 else 0

    def means(self, edges: Times) -> NDArray[np.float64]:
        """The time-weighted mean between each two neighbouring edges (µs, increasing)."""
        if not len(self.times):
            return np.zeros(max(len(edges) - 1, 0))
        lengths = np.diff(self.times).astype(np.float64)
        integral = np.concatenate([[0.0], np.cumsum(self.values[:-1] * lengths)])
        # Past the last step the value is 0, so the integral stays flat, as interp leaves it.
        at_edges = np.interp(edges.astype(np.float64), self.times.astype(np.float64), integral)
        return np.asarray(np.diff(at_edges) / np.diff(edges))

    def on_grid(self, step: int = HOUR, begin: int | None = None) -> tuple[Times, NDArray[np.float64]]:
        """Begin of each interval of `step` µs, and the mean in it; from `begin` to the last change.

        By default the grid begins at the multiple of `step` at or before the first change.
        """
        if not len(self.times):
            return np.zeros(0, np.int64), np.zeros(0)
        first = int(self.times[0]) // step * step if begin is None else begin
        count = max(-(-(int(self.times[-1]) - first) // step), 1)
        edges = first + step * np.arange(count + 1, dtype=np.int64)
        return edges[:-1], self.means(edges)


def steps(start: Times, end: Times, height: Times) -> Steps:
    """The sum of heights over half-open intervals [start, end)."""
    long = end > start
    instants = np.concatenate([start[long], end[long]])
    changes = np.concatenate([height[long], -height[long]])
    order = np.argsort(instants, kind="stable")
    instants, values = instants[order], np.cumsum(changes[order])
    last = np.append(instants[1:] != instants[:-1], True) if len(instants) else np.zeros(0, np.bool_)
    return Steps(instants[last], values[last])


def busy_processors(schedule: Schedule) -> Steps:
    """Processors held at each instant."""
    pieces = all_pieces(schedule)
    chosen = pieces.holding
    return steps(pieces.start[chosen], pieces.end[chosen], pieces.procs[chosen])


def queue_length(schedule: Schedule) -> Steps:
    """Waiting jobs at each instant; a job between two runs waits again, a suspended one does not."""
    begin, end = waiting_intervals(schedule)
    return steps(begin, end, np.ones(len(begin), np.int64))


def longest_queue(schedule: Schedule) -> int:
    """The largest number of jobs that wait at once, the highest step of :func:`queue_length`.

    The queue is longest when somebody has just joined: so many had come until then, and so many had left.
    """
    begin, end = (np.sort(times) for times in waiting_intervals(schedule))
    still = np.arange(1, len(begin) + 1) - end.searchsorted(begin, side="right")
    return int(still.max()) if len(still) else 0


def waiting_intervals(schedule: Schedule) -> tuple[Times, Times]:
    """When jobs stood in the queue, as half-open intervals in µs."""
    if schedule.pieces is None:
        return schedule.submit, schedule.start
    pieces = all_pieces(schedule)
    order = pieces.in_order()
    job, run = pieces.job[order], pieces.run[order]
    start, end = pieces.start[order], pieces.end[order]
    new_job = np.append(True, job[1:] != job[:-1])
    new_run = new_job | np.append(True, run[1:] != run[:-1])
    before = np.where(new_job, schedule.submit[job], np.append(0, end[:-1]))
    return before[new_run], start[new_run]
