"""Which days of the demo show what its text says: backfilling that delays no wide job."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headway.schedule import WHY, Schedule
from headway.units import DAY, SECOND

WIDE = 4
"""A wide job takes one part in so many of the machine, or more."""


def telling_window(fcfs: Schedule, easy: Schedule) -> float:
    """Where two telling days begin, in seconds after the first submission.

    Of the days in which no wide job starts later under EASY, those with the most backfilled jobs seen
    under both policies; if there are no such days, those with the fewest delayed wide jobs.
    """
    first, last = int(easy.submit.min()), int(easy.start.max())
    backfilled = easy.why == WHY.index("backfill")
    late = _wide_and_late(fcfs, easy)
    best, found = first, (-len(easy), 0)
    for begin in range(first, max(last - DAY, first + 1), DAY // 4):
        end = begin + 2 * DAY
        starts = (easy.start >= begin) & (easy.start < end) & (fcfs.start >= begin) & (fcfs.start < end)
        seen = late & (easy.submit < end) & (easy.start >= begin)
        score = (-int(seen.sum()), int((starts & backfilled).sum()))
        if score > found:
            best, found = begin, score
    return (best - first) / SECOND


def most_delayed(fcfs: Schedule, easy: Schedule) -> int | None:
    """The row of the wide job that EASY delays most; None where it delays none."""
    late = np.flatnonzero(_wide_and_late(fcfs, easy))
    return int(late[(easy.start - fcfs.start)[late].argmax()]) if len(late) else None


def _wide_and_late(fcfs: Schedule, easy: Schedule) -> NDArray[np.bool_]:
    return np.asarray((easy.procs * WIDE >= easy.capacity) & (easy.start > fcfs.start))
