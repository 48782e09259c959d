"""Concrete processors for pieces that were only counted: painted afterwards, lowest free ones first.

Each piece gets the lowest gap that holds it whole, else the largest gaps, so that it is in few strips::

    processor
       3  |   bbbb      b and c are placed when they start; c found 0-1 free again,
       2  |   bbbb      a and b keep what they have to their ends
       1  | aaaa ccc
       0  | aaaa ccc
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterable, Sequence

import numpy as np

from headway.engine.ranges import Ranges, give, remove, take_lowest
from headway.figures.bands import Bands, Ints
from headway.platform.processor_sets import ranges

AROUND = 20_000
"""Pieces up to which those without numbers are painted around those with numbers."""

Strips = tuple[Ints, Ints, Ints]
"""Piece, lowest processor and number of processors of each strip."""


def strips(bands: Bands) -> Strips:
    """Where every piece lies, as strips of neighbouring processors within its band."""
    sets = bands.processors
    if sets is not None and all(sets):
        found = _named(sets, range(len(sets)))
    elif sets is not None and len(bands) <= AROUND:
        found = [
            strip
            for band in np.unique(bands.band).tolist()
            for strip in _paint_around(bands, sets, np.flatnonzero(bands.band == band))
        ]
    else:
        found = [
            strip for band in np.unique(bands.band).tolist() for strip in _paint(bands, bands.band == band)
        ]
    table = np.array(found, np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _paint(bands: Bands, here: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[tuple[int, int, int]]:
    """The strips of one band. What a schedule holds beyond the band's size lies above it, for all to see."""
    rows = np.flatnonzero(here)
    # A job of no length is over before another starts on its processors at the same instant.
    rows = rows[np.lexsort((bands.job[rows], bands.end[rows] > bands.start[rows], bands.start[rows]))]
    free: Ranges = [(0, 2**62)]
    held: list[tuple[int, int, Ranges]] = []
    painted: list[tuple[int, int, int]] = []
    for piece, start, end, procs in zip(
        rows.tolist(),
        bands.start[rows].tolist(),
        bands.end[rows].tolist(),
        bands.procs[rows].tolist(),
        strict=True,
    ):
        while held and held[0][0] <= start:
            give(free, heapq.heappop(held)[2])
        size = int(bands.sizes[bands.band[piece]])
        taken = _take(free, procs, size)
        if end > start:
            heapq.heappush(held, (end, piece, taken))
        else:
            give(free, taken)
        painted.extend((piece, low, high - low) for low, high in taken)
    return painted


def _named(sets: Sequence[str], pieces: Iterable[int]) -> list[tuple[int, int, int]]:
    """The strips of pieces whose processors have numbers."""
    return [(piece, low, high - low) for piece in pieces for low, high in ranges(sets[piece])]


def _paint_around(bands: Bands, sets: Sequence[str], rows: Ints) -> list[tuple[int, int, int]]:
    """The strips of a band in which some pieces have numbers: the others go where these never are meanwhile.

    A job with numbers keeps its processors from its first piece to its last, in the gaps between them too.
    """
    known = [row for row in rows.tolist() if sets[row]]
    painted = _named(sets, known)
    spans: dict[tuple[int, str], list[int]] = {}
    for row in known:
        span = spans.setdefault((int(bands.job[row]), sets[row]), [int(bands.start[row]), 0])
        span[0], span[1] = min(span[0], int(bands.start[row])), max(span[1], int(bands.end[row]))
    kept = sorted((begin, end, ranges(text)) for (_, text), (begin, end) in spans.items())
    begins, longest = [begin for begin, _, _ in kept], max((end - begin for begin, end, _ in kept), default=0)
    free: Ranges = [(0, 2**62)]
    held: list[tuple[int, int, Ranges]] = []
    others = np.array([row for row in rows.tolist() if not sets[row] and bands.procs[row]], np.int64)
    others = others[
        np.lexsort((bands.job[others], bands.end[others] > bands.start[others], bands.start[others]))
    ]
    for row in others.tolist():
        start, end = int(bands.start[row]), int(bands.end[row])
        while held and held[0][0] <= start:
            give(free, heapq.heappop(held)[2])
        near = kept[bisect_left(begins, start - longest) : bisect_left(begins, max(end, start + 1))]
        open_to_it = list(free)
        for _, stop, parts in near:
            if stop > start:
                remove(open_to_it, parts)
        taken = take_lowest(open_to_it, int(bands.procs[row]))
        remove(free, taken)
        heapq.heappush(held, (end, row, taken))
        painted.extend((row, low, high - low) for low, high in taken)
    return painted


def _take(free: Ranges, procs: int, size: int) -> Ranges:
    """Remove and return `procs` processors, in one strip below `size` if there is a gap for it."""
    for place, (low, high) in enumerate(free):
        if min(high, size) - low >= procs:
            free[place : place + 1] = [(low + procs, high)] if low + procs < high else []
            return [(low, low + procs)]
    # What lies above the size comes last; it is taken only where a schedule holds more than there is.
    order = sorted(range(len(free)), key=lambda place: free[place][0] - min(free[place][1], size))
    taken: Ranges = []
    for place in order:
        low, high = free[place]
        room = high - low if low >= size else min(high, size) - low
        taken.append((low, low + min(procs, room)))
        free[place] = (taken[-1][1], high)
        procs -= min(procs, room)
        if not procs:
            break
    if procs:  # the gap that begins below the size goes on above it
        low, high = free[-1]
        taken.append((low, low + procs))
        free[-1] = (low + procs, high)
    free[:] = [gap for gap in free if gap[0] < gap[1]]
    return sorted(taken)
