"""Sets of processors as half-open ranges in ascending order: ``[(0, 4), (7, 8)]`` are 0 to 3, and 7."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

Range = tuple[int, int]
Ranges = list[Range]


def ranges_of(numbers: npt.NDArray[np.int64]) -> Ranges:
    """Ascending numbers as ranges.

    >>> ranges_of(np.array([0, 1, 2, 7]))
    [(0, 3), (7, 8)]
    """
    if not len(numbers):
        return []
    first, last = int(numbers[0]), int(numbers[-1])
    if last - first == len(numbers) - 1:  # mostly: the processors of a node
        return [(first, last + 1)]
    breaks = np.flatnonzero(np.diff(numbers) > 1)
    lows = numbers[np.append(0, breaks + 1)]
    highs = numbers[np.append(breaks, len(numbers) - 1)] + 1
    return list(zip(lows.tolist(), highs.tolist(), strict=True))


def numbers_of(ranges: Iterable[Range]) -> npt.NDArray[np.int64]:
    """The numbers in ranges, in their order."""
    parts = [np.arange(low, high) for low, high in ranges]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def take_lowest(free: Ranges, procs: int) -> Ranges:
    """Remove and return the lowest ``procs`` of the free ones; all of them where there are not so many."""
    taken: Ranges = []
    for place, (low, high) in enumerate(free):
        if procs <= high - low:
            taken.append((low, low + procs))
            free[: place + 1] = [(low + procs, high)] if low + procs < high else []
            return taken
        taken.append((low, high))
        procs -= high - low
    free.clear()
    return taken


def give(free: Ranges, ranges: Sequence[Range]) -> None:
    """Put ranges that are not free among the free ones, joined to their neighbours."""
    for low, high in ranges:
        place = bisect_left(free, (low, high))
        first = last = place
        if place < len(free) and free[place][0] == high:
            high, last = free[place][1], place + 1
        if place and free[place - 1][1] == low:
            low, first = free[place - 1][0], place - 1
        free[first:last] = [(low, high)]


def remove(free: Ranges, ranges: Sequence[Range]) -> None:
    """Take away whatever of the ranges is among the free ones."""
    for low, high in ranges:
        place = bisect_left(free, (low, low))
        if place and free[place - 1][1] > low:
            place -= 1
        rest: Ranges = []
        last = place
        while last < len(free) and free[last][0] < high:
            begin, end = free[last]
            rest += [part for part in ((begin, min(end, low)), (max(begin, high), end)) if part[0] < part[1]]
            last += 1
        free[place:last] = rest


def meet(some: Sequence[Range], others: Sequence[Range]) -> bool:
    """Whether two sets share a processor."""
    return any(low < end and begin < high for low, high in some for begin, end in others)
