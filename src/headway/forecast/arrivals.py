"""Who will come: days of the log's own past, at the same hours of the same weekdays.

The future is cut into days that begin at the instant of the forecast. For each, one of the last weeks that
are wholly over is drawn, the latest most often (each earlier one FADING times as often), and the jobs that
came on that day of that week come again. A log younger than a week repeats its last days instead.

    draw 1   | same day last week    | next day, 3 weeks ago | ...
    draw 2   | same day 2 weeks ago  | next day last week    | ...
             now                    +1 day                  +2 days

A job that comes again runs as long as it did, if that was known at the instant; else its whole request. One
that was cancelled while it waited is cancelled again after as long, where the policy knows such jobs; else it
does not come.
"""

from __future__ import annotations

import numpy as np

from headway.arrays import Ints
from headway.forecast.record import Record
from headway.units import DAY, WEEK

WEEKS = 6
"""At most so many weeks are drawn from."""
FADING = 0.7


class Arrivals:
    """Draws of the jobs that come after an instant."""

    def __init__(self, record: Record, now: int, days: int, cancelled: bool = False) -> None:
        self.record, self.now = record, now
        self._comes = None if cancelled or not record.cancelled.any() else ~record.cancelled
        first = int(record.submits[0]) if len(record) else now
        self._days = [self._day(day, now - first) for day in range(days)]

    def _day(self, day: int, past: int) -> list[tuple[int, int, int]]:
        """Past days that may come again as the ``day``-th to come: first and last place, and shift."""
        begin, end = day * DAY, (day + 1) * DAY
        lags = [weeks * WEEK for weeks in range(-(-end // WEEK), -(-end // WEEK) + WEEKS)]
        lags = [lag for lag in lags if lag - begin <= past]
        lags = lags or [lag * DAY for lag in range(day + 1, day + 1 + WEEKS) if lag * DAY - begin <= past]
        found = []
        for lag in lags:
            # After the instant, not at it: what came at it is known.
            places = np.searchsorted(
                self.record.submits, [self.now + begin - lag, self.now + end - lag], side="right"
            )
            found.append((int(places[0]), int(places[1]), lag))
        return found

    def draw(self, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Rows of the jobs that come, and when (µs), in that order."""
        rows: list[Ints] = []
        when: list[Ints] = []
        for candidates in self._days:
            if candidates:
                weights = FADING ** np.arange(len(candidates))
                chosen = int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum(), side="right"))
                first, last, lag = candidates[min(chosen, len(candidates) - 1)]
                rows.append(self.record.order[first:last])
                when.append(self.record.submits[first:last] + lag)
        if not rows:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        all_rows, all_when = np.concatenate(rows), np.concatenate(when)
        if self._comes is None:
            return all_rows, all_when
        comes = self._comes[all_rows]
        return all_rows[comes], all_when[comes]

    def run_times(self, rows: Ints) -> Ints:
        """How long jobs that come again run (µs)."""
        record = self.record
        known, work = record.end[rows] <= self.now, record.workload
        begun = np.where(record.cancelled[rows], work.submit[rows], record.start[rows])
        return np.where(known, record.end[rows] - begun, work.walltime[rows])
