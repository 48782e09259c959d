"""The jobs that a summary speaks of, with the columns that several metrics share: areas and slowdowns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import UsageError
from headway.metrics.statistics import Ratios, Times, exact_sum
from headway.platform.node_table import load_time, nodes_of
from headway.schedule import STATES, Schedule
from headway.units import LONGEST, SECOND, microseconds

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Areas:
    """What the processors were held for.

    `useful`: final runs, running or loading input (loading alone is `load`). `wasted`: runs that were
    thrown away. `swap`: memory moved out and in for a preemption. A suspended job holds nothing.
    """

    useful: float
    wasted: float
    swap: float
    load: float


def areas(schedule: Schedule, group: int | None = None) -> Areas:
    """The areas of the whole machine, or of one group."""
    pieces = schedule.pieces
    if pieces is None:
        chosen = slice(None) if group is None else _chosen(schedule.group, group, len(schedule))
        return Areas(_area(schedule.procs, schedule.start, schedule.end, chosen), 0.0, 0.0, 0.0)
    alone = pieces.alone(len(schedule)) & _chosen(schedule.group, group, len(schedule))
    inside = _chosen(pieces.group, group, len(pieces))
    final = pieces.final(len(schedule))

    def area(states: tuple[str, ...], where: Mask) -> float:
        chosen = np.isin(pieces.state, [STATES.index(state) for state in states]) & where & inside
        return _area(pieces.procs, pieces.start, pieces.end, chosen)

    return Areas(
        useful=area(("running", "loading"), final)
        + _area(schedule.procs, schedule.start, schedule.end, alone),
        wasted=area(("running", "loading"), ~final),
        swap=area(("swap_out", "swap_in"), np.ones(len(pieces), np.bool_)),
        load=area(("loading",), final),
    )


def makespan(schedule: Schedule) -> int | None:
    """From the first submission to the last end, in µs; None without jobs."""
    return int(schedule.end.max()) - int(schedule.submit.min()) if len(schedule) else None


def utilization(useful: float, processors: int, span: int | None, away: float = 0.0) -> float | None:
    """Useful area over processors times makespan (µs), less processor-seconds away; None where that is 0."""
    there = processors * (span / SECOND) - away if span else 0.0
    return useful / there if there > 0 else None


def _chosen(codes: NDArray[np.int64] | None, group: int | None, length: int) -> Mask:
    if group is None:
        return np.ones(length, np.bool_)
    return np.zeros(length, np.bool_) if codes is None else np.asarray(codes == group)


def _area(
    procs: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64], chosen: Mask | slice
) -> float:
    held = procs[chosen].astype(np.float64) * (end[chosen] - start[chosen]) / SECOND
    return exact_sum(held)


# The slowdowns of jobs; each formula stands here and nowhere else.
#
# F is the flow (response) time end - submit, p the run time the job got, min(runtime, walltime), so that
# killed jobs count with their walltime; q its processors, w its walltime and tau the bound, all in µs.


def slowdown(flow: Times, run: Times) -> Ratios:
    """F / p of the jobs with p > 0; the others have none and are left out."""
    some = run > 0
    return np.asarray(flow[some] / run[some])


def bounded_slowdown(flow: Times, run: Times, tau: int) -> Ratios:
    """max(F / max(p, tau), 1): short jobs count as if they ran for tau."""
    return np.maximum(flow / _bounded(run, tau), 1.0)


def per_processor_bounded_slowdown(flow: Times, run: Times, procs: Times, tau: int) -> Ratios:
    """max(F / (q max(p, tau)), 1)."""
    return np.maximum(flow / (procs * _bounded(run, tau)), 1.0)


def walltime_slowdown(wait: Times, walltime: Times) -> Ratios:
    """(wait + w) / w of the jobs with w > 0: the slowdown as if each job used all it asked for."""
    some = walltime > 0
    return np.asarray((wait[some] + walltime[some]) / walltime[some])


def stretch(flow: Times, run: Times, load: Times) -> Ratios:
    """F / (p + load) where that is positive: against the run with the job's input file read alone."""
    alone = run + load
    some = alone > 0
    return np.asarray(flow[some] / alone[some])


def _bounded(run: Times, tau: int) -> Ratios:
    # A zero-length job under tau = 0 has no slowdown; one microsecond keeps the quotient finite.
    return np.maximum(run, max(tau, 1)).astype(np.float64)


# The jobs that a summary speaks of, with the columns that several metrics share.


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
        return slowdown(self.flow, self.run)

    @cached_property
    def bounded_slowdown(self) -> Ratios:
        return bounded_slowdown(self.flow, self.run, self.tau)

    @cached_property
    def per_processor(self) -> Ratios:
        return per_processor_bounded_slowdown(self.flow, self.run, self.procs, self.tau)

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
