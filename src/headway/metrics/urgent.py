"""What urgent jobs got, and what that cost the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.metrics import ratios
from headway.metrics.own_numbers import of_group
from headway.metrics.sample import Sample
from headway.metrics.statistics import largest_ratio, largest_time, mean_time, seconds
from headway.schedule.codes import FOR_URGENT


def urgent(sample: Sample) -> dict[str, Any]:
    """Numbers of a run with urgent jobs, under any policy; empty where none is urgent.

    urgent_lateness: U_L, the largest slowdown (response / run) of an urgent job with run > 0.
    urgent_* and regular_*: jobs, mean wait and response (s), mean slowdown over jobs with run > 0; of urgent
        jobs also the largest wait (s). Suspensions and swaps are in the response, not in the run.
    preempted_jobs: jobs that were stopped at least once; preempted_mean_response, preempted_mean_slowdown.
    urgent_margin_least, urgent_margin_mean: time from the end to the deadline (s) of urgent jobs that have
        one, negative where it was missed; urgent_deadlines_missed: how many.
    """
    marked = sample.schedule.workload.get("urgent")
    if marked is None or not marked.any():
        return {}
    rush: NDArray[np.bool_] = sample.column(marked)
    numbers: dict[str, Any] = {
        "urgent_lateness": largest_ratio(ratios.slowdown(sample.flow[rush], sample.run[rush])),
        **of_group(sample, "urgent", rush),
        "urgent_max_wait": largest_time(sample.wait[rush]),
        **of_group(sample, "regular", ~rush),
    }
    numbers |= of_group(sample, "preempted", stopped_rows(sample))
    return numbers | _margins(sample, rush)


def stopped_rows(sample: Sample) -> NDArray[np.bool_]:
    """Which of the jobs measured were stopped for another at least once."""
    stopped = np.zeros(len(sample.schedule), np.bool_)
    pieces = sample.schedule.pieces
    if pieces is not None:
        stopped[pieces.job[np.isin(pieces.ended, FOR_URGENT)]] = True
    return np.asarray(sample.column(stopped), np.bool_)


def _margins(sample: Sample, rush: NDArray[np.bool_]) -> dict[str, Any]:
    due = sample.schedule.workload.get("deadline")
    if due is None:
        return {}
    due, end = sample.column(due), sample.column(sample.schedule.end)
    some = rush & (due >= 0)
    if not some.any():
        return {}
    margin = due[some] - end[some]
    return {
        "urgent_margin_least": seconds(int(margin.min())),
        "urgent_margin_mean": mean_time(margin),
        "urgent_deadlines_missed": int((margin < 0).sum()),
    }
