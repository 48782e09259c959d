"""What redirection did: to the jobs that were redirected, to the others, and to the processors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.metrics.areas import utilization
from headway.metrics.sample import Sample
from headway.metrics.statistics import mean_ratio

WORST = 0.01
"""The share of the jobs that counts as the worst."""


def redirected(sample: Sample) -> dict[str, Any]:
    """Numbers of a run with a redirection group; empty for any other.

    redirected_among_worst: share of redirected jobs among the hundredth (at least one) of the jobs with the
        largest bounded slowdowns; of equal ones the first in the log counts.
    worst_is_redirected: 1 if a job with the largest bounded slowdown was redirected, else 0.
    redirected_mean_bsld, others_mean_bsld: mean bounded slowdown of the redirected and of the other jobs.
    utilization_with_wasted: as utilization, runs that were given up included.
    """
    schedule = sample.schedule
    if schedule.group is None or "redirection" not in schedule.groups:
        return {}
    names = schedule.labels.get("group") or tuple(schedule.groups)
    moved = sample.column(schedule.group) == names.index("redirection")
    slowdown = sample.bounded_slowdown
    held = sample.areas.useful + sample.areas.wasted
    numbers: dict[str, Any] = {
        "utilization_with_wasted": utilization(held, schedule.capacity, sample.span),
        "redirected_mean_bsld": mean_ratio(slowdown[moved]),
        "others_mean_bsld": mean_ratio(slowdown[~moved]),
        "redirected_among_worst": None,
        "worst_is_redirected": None,
    }
    if len(slowdown):
        worst = moved[worst_rows(slowdown)]
        numbers["redirected_among_worst"] = float(np.mean(worst))
        numbers["worst_is_redirected"] = int(moved[slowdown == slowdown.max()].any())
    return numbers


def worst_rows(slowdown: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rows of the worst hundredth, at least one, worst first."""
    count = max(1, int(len(slowdown) * WORST))
    return np.argsort(-slowdown, kind="stable")[:count]
