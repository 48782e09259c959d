"""What urgent jobs got, and what that cost the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.metrics import ratios
from headway.metrics.sample import Sample
from headway.metrics.statistics import largest_ratio, largest_time, mean_ratio, mean_time, seconds
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
        **_means(sample, rush, "urgent"),
        "urgent_max_wait": largest_time(sample.wait[rush]),
        **_means(sample, ~rush, "regular"),
    }
    stopped = stopped_rows(sample)
    numbers["preempted_jobs"] = int(stopped.sum())
    numbers["preempted_mean_response"] = mean_time(sample.flow[stopped])
    numbers["preempted_mean_slowdown"] = mean_ratio(
        ratios.slowdown(sample.flow[stopped], sample.run[stopped])
    )
    return numbers | _margins(sample, rush)


def stopped_rows(sample: Sample) -> NDArray[np.bool_]:
    """Which of the jobs measured were stopped for another at least once."""
    stopped = np.zeros(len(sample.schedule), np.bool_)
    pieces = sample.schedule.pieces
    if pieces is not None:
        stopped[pieces.job[np.isin(pieces.ended, FOR_URGENT)]] = True
    return np.asarray(sample.column(stopped), np.bool_)


def _means(sample: Sample, jobs: NDArray[np.bool_], label: str) -> dict[str, Any]:
    return {
        f"{label}_jobs": int(jobs.sum()),
        f"{label}_mean_wait": mean_time(sample.wait[jobs]),
        f"{label}_mean_response": mean_time(sample.flow[jobs]),
        f"{label}_mean_slowdown": mean_ratio(ratios.slowdown(sample.flow[jobs], sample.run[jobs])),
    }


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
