"""The queue at an instant, as a user sees it: who runs for how long already, and who waits.

    known        submitted by then, before the job that asks or with it
    running      started before the instant, and not over at it
    waiting      neither started before the instant nor over; also if it was cancelled afterwards

A job that starts at the very instant still waits: the scheduler decides after the arrivals of an instant. Of
a running job only its start is known, not its end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headway.arrays import Ints
from headway.forecast.record import Record


@dataclass(frozen=True, eq=False)
class Instant:
    """Rows of a record that run and that wait at an instant (µs)."""

    record: Record
    now: int
    running: Ints
    """In order of their start."""
    waiting: Ints
    """In order of submission."""

    @property
    def elapsed(self) -> Ints:
        """How long the running jobs have run (µs)."""
        return np.asarray(self.now - self.record.start[self.running])

    @classmethod
    def of(cls, record: Record, now: int, newest: int | None = None) -> Instant:
        """The queue at ``now``; of jobs submitted at that very instant, those up to the row ``newest``."""
        if newest is None:
            count = int(np.searchsorted(record.submits, now, side="right"))
        else:
            count = int(record.rank[newest]) + 1
        known = record.order[:count]
        over = (record.end[known] <= now) & ((record.start[known] < now) | record.cancelled[known])
        alive = known[~over]
        begun = record.start[alive] < now
        running, waiting = alive[begun], alive[~begun]
        return cls(record, now, running[np.argsort(record.start[running], kind="stable")], waiting)
