"""The jobs that a summary speaks of, with the columns that several metrics share."""

from __future__ import annotations

from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import UsageError
from headway.metrics import ratios
from headway.metrics.areas import Areas, areas, makespan
from headway.metrics.statistics import Ratios, Times
from headway.platform.node_table import load_time, nodes_of
from headway.schedule import Schedule
from headway.units import LONGEST, SECOND, microseconds


class Sample:
    """A schedule, the bound tau, and the rows of the jobs measured (all, unless trimmed).

    `tau` is in seconds. `trim` leaves out that percentage of the jobs at either end, by submission,
    from everything that is measured per job; makespan, areas and queue are always of the whole run.
    """

    def __init__(self, schedule: Schedule, tau: float = 10, trim: float = 0) -> None:
        check_bounds(tau, trim)
        self.schedule = schedule
        self.tau = microseconds(tau)
        self.rows = _middle(schedule.submit, trim)
        self._all = len(self.rows) == len(schedule)

    def column(self, values: NDArray[Any]) -> NDArray[Any]:
        """A column of the schedule at the rows measured."""
        return values if self._all else values[self.rows]

    @cached_property
    def wait(self) -> Times:
        return self.column(self.schedule.wait)

    @cached_property
    def sorted_wait(self) -> Times:
        return np.sort(self.wait)

    @cached_property
    def flow(self) -> Times:
        return self.column(self.schedule.response)

    @cached_property
    def run(self) -> Times:
        return self.column(self.schedule.run)

    @cached_property
    def procs(self) -> Times:
        return self.column(self.schedule.procs)

    @cached_property
    def walltime(self) -> Times:
        return self.column(self.schedule.walltime)

    @cached_property
    def slowdown(self) -> Ratios:
        return ratios.slowdown(self.flow, self.run)

    @cached_property
    def bounded_slowdown(self) -> Ratios:
        return ratios.bounded_slowdown(self.flow, self.run, self.tau)

    @cached_property
    def per_processor(self) -> Ratios:
        return ratios.per_processor_bounded_slowdown(self.flow, self.run, self.procs, self.tau)

    @cached_property
    def areas(self) -> Areas:
        return areas(self.schedule)

    @cached_property
    def span(self) -> int | None:
        """The makespan in µs; None without jobs."""
        return makespan(self.schedule)

    @cached_property
    def load(self) -> Times:
        """Time to read each job's input file alone, on the node where it ran (µs)."""
        return self.column(file_load(self.schedule))


def check_bounds(tau: float, trim: float) -> None:
    """Tell what cannot be a bound of slowdowns, or a percentage of the jobs at either end."""
    if not isinstance(tau, Real) or not 0 <= tau <= LONGEST / SECOND:
        most = f"{LONGEST // SECOND:,}"
        raise UsageError(f"tau must be a number of seconds from 0 to {most}, not {tau!r}")
    if not isinstance(trim, Real) or not 0 <= trim < 50:
        raise UsageError(f"trim must be a percentage from 0 to below 50, not {trim!r}")


def file_load(schedule: Schedule) -> Times:
    """File size over the bandwidth of the job's node in µs, rounded up; 0 without file or nodes."""
    sizes = schedule.workload.get("file_gb")
    load = np.zeros(len(schedule), np.int64)
    if sizes is None or schedule.node is None:
        return load
    nodes = nodes_of(schedule.platform)
    known: dict[tuple[float, float], int] = {}
    for row in np.flatnonzero(np.nan_to_num(sizes) > 0).tolist():
        key = float(sizes[row]), nodes[schedule.node[row]].group.bandwidth_gb_s
        if key not in known:
            known[key] = load_time(*key)
        load[row] = known[key]
    return load


def _middle(submit: Times, trim: float) -> Times:
    """Rows in file order, without the first and the last `trim` percent by submission."""
    jobs = len(submit)
    cut = int(jobs * trim / 100)
    return np.arange(jobs) if cut == 0 else np.sort(np.argsort(submit, kind="stable")[cut : jobs - cut])
