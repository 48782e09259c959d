"""What deadlines cost and bring: jobs by the label they had on submission, deadlines met, what was told."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.metrics.own_numbers import of_group
from headway.metrics.sample import Sample
from headway.metrics.statistics import mean_time


def deadlines(sample: Sample) -> dict[str, Any]:
    """Numbers of a run whose jobs have deadlines, under any policy; empty where none has.

    flexible_* are of the jobs that were submitted with a deadline, priority_* of the others, whatever the
    policy made of them later. Where only urgent jobs have deadlines, these numbers are left out.
    *_mean_wait: mean wait (s); *_mean_walltime_slowdown: mean of (wait + walltime) / walltime over jobs with
        walltime > 0; *_mean_slowdown: mean of response / run over jobs with run > 0.
    deadlines: jobs with a deadline; deadlines_met: those that ended by it.
    promises_kept: share of the jobs that ended by the latest end they were told, where a policy tells one;
        mean_before_promise: how long before it they ended on average (s).
    """
    due = sample.schedule.workload.get("deadline")
    if due is None or not (due >= 0).any():
        return {}
    due = sample.column(due)
    flexible = due >= 0
    end = sample.column(sample.schedule.end)
    urgent = sample.schedule.workload.get("urgent")
    numbers: dict[str, Any] = {}
    if urgent is None or (flexible & ~sample.column(urgent)).any():  # urgent jobs are not flexible
        numbers = of_group(sample, "priority", ~flexible) | of_group(sample, "flexible", flexible)
    numbers["deadlines"] = int(flexible.sum())
    numbers["deadlines_met"] = int((end[flexible] <= due[flexible]).sum())
    return numbers | _told(sample, end)


def _told(sample: Sample, end: NDArray[np.int64]) -> dict[str, Any]:
    promise = sample.schedule.promise
    if promise is None or sample.schedule.promise_kind != "end":
        return {}
    promise = sample.column(promise)
    told = promise >= 0
    kept = (end <= promise)[told]
    return {
        "promises_kept": float(kept.mean()) if len(kept) else None,
        "mean_before_promise": mean_time((promise - end)[told]),
    }
