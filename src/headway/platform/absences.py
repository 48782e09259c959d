"""When which processors are away, from the outages of a machine."""

from __future__ import annotations

import numpy as np

from headway.arrays import Ints
from headway.platform.outages import Outages
from headway.units import SECOND

AWAY = ("maintenance", "down")
"""Outages during which nobody runs on their processors; on those that drain jobs go on."""
CLOSED = (*AWAY, "drain")
"""Outages during which nobody starts on their processors."""


def absences(outages: Outages, kinds: tuple[str, ...] = AWAY) -> tuple[Ints, Ints, Ints]:
    """Processor, start and end (µs) of each time for which one is away; those of one do not overlap."""
    parts = [
        (np.arange(low, high), outage.start, outage.over)
        for outage in outages.outages
        if outage.kind in kinds
        for low, high in outage.processors
    ]
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    processor = np.concatenate([part[0] for part in parts])
    sizes = [len(part[0]) for part in parts]
    start = np.repeat([part[1] for part in parts], sizes)
    end = np.repeat([part[2] for part in parts], sizes)
    order = np.lexsort((start, processor))
    processor, start, end = processor[order], start[order], end[order]
    times = np.unique(np.concatenate([start, end]))
    offset = processor * (len(times) + 1)  # ranks of times instead of times: products stay small
    begins, upto = offset + np.searchsorted(times, start), offset + np.searchsorted(times, end)
    reach = np.maximum.accumulate(upto)
    first = np.append(True, begins[1:] > reach[:-1])
    last = np.append(first[1:], True)
    return processor[first], start[first], times[reach[last] - offset[last]]


def unheld(closed: tuple[Ints, Ints, Ints], held: tuple[Ints, Ints, Ints]) -> tuple[Ints, Ints]:
    """From when to when a processor is closed and nobody holds it; both are processor, start and end (µs)."""
    where = np.concatenate([closed[0], closed[0], held[0], held[0]])
    times = np.concatenate([*closed[1:], *held[1:]])
    steps = np.repeat([1, -1, -1, 1], [len(closed[0])] * 2 + [len(held[0])] * 2)
    order = np.lexsort((times, where))
    times, level = times[order], np.cumsum(steps[order])
    idle = (level[:-1] == 1) & (times[1:] > times[:-1])
    return times[:-1][idle], times[1:][idle]


def away_area(outages: Outages | None, begin: int, end: int) -> float:
    """Processor-seconds that are down or under maintenance between two instants (µs)."""
    if outages is None:
        return 0.0
    _, start, stop = absences(outages)
    inside = np.minimum(stop, end) - np.maximum(start, begin)
    return float((np.maximum(inside, 0) / SECOND).sum())
