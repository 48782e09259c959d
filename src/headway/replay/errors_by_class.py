"""Errors of simulated waits for a set of jobs: the mean, the mean of the sizes, and between quantiles.

With s the simulated and r the recorded wait of a job: bias is the mean of s - r, the mean absolute error the
mean of |s - r|. A quantile's error compares the quantiles of the two distributions, not two waits of one job.
Where there are several simulations of the same jobs, under several seeds, the numbers are over all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from headway.metrics.statistics import Times, mean_time, quantile_time
from headway.schedule import Schedule
from headway.units import SECOND, WEEK
from headway.workload.divisions import size_class, size_classes

Row = dict[str, Any]

QUANTILES = (50, 90, 95, 99)
NEAR = (60, 600, 3600)
"""A start counts as near where it is at most so many seconds away from the recorded one."""


def errors(simulated: Times, recorded: Times) -> Row:
    """The numbers for some jobs, `simulated` with a line for each seed; times in seconds."""
    away = np.abs(simulated - recorded)
    means = [mean_time(line) for line in simulated]
    row: Row = {
        "jobs": len(recorded),
        "mean_recorded": mean_time(recorded),
        "mean_simulated": mean_time(simulated.ravel()),
        "least_simulated": min(means, key=lambda mean: mean or 0.0),
        "most_simulated": max(means, key=lambda mean: mean or 0.0),
        "bias": mean_time((simulated - recorded).ravel()),
        "mean_absolute_error": mean_time(away.ravel()),
    }
    for seconds in NEAR:
        row[f"within_{seconds}"] = float(np.mean(away <= seconds * SECOND)) if away.size else None
    for percent in QUANTILES:
        ours, theirs = quantile_time(simulated.ravel(), percent), quantile_time(recorded, percent)
        row[f"p{percent}_recorded"], row[f"p{percent}_simulated"] = theirs, ours
        row[f"p{percent}_error"] = None if ours is None or theirs is None else ours - theirs
    return row


@dataclass(frozen=True)
class Waits:
    """Waits of jobs of a schedule, `simulated` with a line for each seed; in µs."""

    schedule: Schedule
    rows: Times
    simulated: Times
    recorded: Times

    def by_size(self) -> list[Row]:
        """One line for each class of sizes up to a power of two."""
        power = size_classes(self.schedule.procs[self.rows]).astype(np.int64)
        return self._table("size", power, size_class)

    def by_week(self) -> list[Row]:
        """One line for each week of submission, named by the day on which it begins where the log tells."""
        submit = self.schedule.submit[self.rows]
        first, origin = int(submit.min()) if len(submit) else 0, self.schedule.unix_start

        def name(week: int) -> object:
            if origin is None:
                return week + 1
            return datetime.fromtimestamp(origin + (first + week * WEEK) // SECOND, UTC).date().isoformat()

        return self._table("week", (submit - first) // WEEK, name)

    def by_name(self, column: str, title: str = "") -> list[Row]:
        """One line for each user, queue or so, those with most jobs first; `title` is what it is called."""
        workload = self.schedule.workload
        labels = workload.labels.get(column)

        def name(code: int) -> object:
            return code if labels is None else labels[code] if code >= 0 else None

        table = self._table(title or column, workload.columns[column][self.rows], name)
        return sorted(table, key=lambda row: -row["jobs"])

    def _table(self, key: str, codes: Times, name: Callable[[int], object]) -> list[Row]:
        order = np.argsort(codes, kind="stable")
        classes, first = np.unique(codes[order], return_index=True)
        groups = np.split(order, first[1:])
        return [
            {key: name(code)} | errors(self.simulated[:, group], self.recorded[group])
            for code, group in zip(classes.tolist(), groups, strict=True)
        ]
