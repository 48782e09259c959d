"""Processors times time, in processor-seconds; as floats, because microseconds would overflow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.metrics.statistics import exact_sum
from headway.schedule import STATES, Schedule
from headway.units import SECOND

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
