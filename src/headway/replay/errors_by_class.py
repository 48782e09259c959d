"""Errors of simulated waits for a set of jobs: the mean, the mean of the sizes, and between quantiles.

With s the simulated and r the recorded wait of a job: bias is the mean of s - r, the mean absolute error the
mean of |s - r|. A quantile's error compares the quantiles of the two distributions, not two waits of one job.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.metrics.classes import size_class
from headway.metrics.statistics import mean_time, quantile_time
from headway.schedule import Schedule

Times = NDArray[np.int64]
Row = dict[str, Any]

QUANTILES = (50, 90, 95, 99)


def errors(simulated: Times, recorded: Times) -> Row:
    """The numbers for some jobs; times in seconds."""
    row: Row = {
        "jobs": len(simulated),
        "mean_recorded": mean_time(recorded),
        "mean_simulated": mean_time(simulated),
        "bias": mean_time(simulated - recorded),
        "mean_absolute_error": mean_time(np.abs(simulated - recorded)),
    }
    for percent in QUANTILES:
        ours, theirs = quantile_time(simulated, percent), quantile_time(recorded, percent)
        row[f"p{percent}_recorded"], row[f"p{percent}_simulated"] = theirs, ours
        row[f"p{percent}_error"] = None if ours is None or theirs is None else ours - theirs
    return row


def by_size(schedule: Schedule, rows: NDArray[np.int64], simulated: Times, recorded: Times) -> list[Row]:
    """One line for each class of sizes up to a power of two."""
    sizes = np.maximum(schedule.procs[rows], 1)
    power = np.where(sizes == 1, 0, np.frexp((sizes - 1).astype(np.float64))[1]).astype(np.int64)
    return _table("size", power, lambda code: size_class(code), simulated, recorded)


def by_name(
    schedule: Schedule,
    column: str,
    rows: NDArray[np.int64],
    simulated: Times,
    recorded: Times,
    title: str = "",
) -> list[Row]:
    """One line for each user, queue or so, those with the most jobs first; `title` is what it is called."""
    labels = schedule.workload.labels.get(column)

    def name(code: int) -> object:
        return code if labels is None else labels[code] if code >= 0 else None

    table = _table(title or column, schedule.workload.columns[column][rows], name, simulated, recorded)
    return sorted(table, key=lambda row: -row["jobs"])


def _table(key: str, codes: NDArray[np.int64], name: Any, simulated: Times, recorded: Times) -> list[Row]:
    order = np.argsort(codes, kind="stable")
    classes, first = np.unique(codes[order], return_index=True)
    groups = np.split(order, first[1:])
    return [
        {key: name(code)} | errors(simulated[group], recorded[group])
        for code, group in zip(classes.tolist(), groups, strict=True)
    ]
