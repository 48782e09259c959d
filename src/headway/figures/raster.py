"""Many intervals on a grid: how much of each cell they cover, in time that grows with the intervals alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def raster(row: Ints, start: Ints, end: Ints, height: Ints, edges: Ints, rows: int) -> NDArray[np.float64]:
    """The time-weighted mean, in each row and column, of the heights of intervals [start, end).

    `edges` (µs, increasing) bound the columns. Every interval adds its height to whole columns by a step up
    and a step down, and its shares of the first and last column apart::

        edges    |        |        |        |
        interval      [------------------)
        adds        part     whole    part
    """
    columns = len(edges) - 1
    begin, stop = np.clip(start, edges[0], edges[-1]), np.clip(end, edges[0], edges[-1])
    seen = stop > begin
    row, begin, stop, weight = row[seen], begin[seen], stop[seen], height[seen].astype(np.float64)
    width = np.diff(edges).astype(np.float64)
    first = np.searchsorted(edges, begin, side="right") - 1
    last = np.searchsorted(edges, stop, side="left") - 1

    def spread(place: Ints, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        cells = np.bincount(row * (columns + 1) + place, amounts, rows * (columns + 1))
        return np.asarray(cells.reshape(rows, columns + 1))

    # Everything from the first to the last column, less what lies before the begin and after the end.
    whole = np.cumsum(spread(first, weight) - spread(last + 1, weight), axis=1)[:, :columns]
    before = spread(first, weight * (begin - edges[first]) / width[first])[:, :columns]
    after = spread(last, weight * (edges[last + 1] - stop) / width[last])[:, :columns]
    # Sums that cancel leave tiny negative rests.
    return np.asarray(np.maximum(whole - before - after, 0.0))
