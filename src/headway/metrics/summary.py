"""The summary of a schedule: every metric, the tables by class, fairness, and the policy's own numbers."""

from __future__ import annotations

from typing import Any

from headway.errors import PolicyError
from headway.metrics.catalogue import METRICS, STRETCH
from headway.metrics.classes import by_division, by_group, by_queue, by_size, by_user, fairness
from headway.metrics.deadlines import deadlines
from headway.metrics.files import files
from headway.metrics.outages import outages
from headway.metrics.reallocation import came
from headway.metrics.redirected import redirected
from headway.metrics.sample import Sample
from headway.metrics.urgent import urgent
from headway.schedule import Schedule
from headway.schedule.files import plain
from headway.units import SECOND


def summarise(schedule: Schedule, tau: float = 10, trim: float = 0) -> dict[str, Any]:
    """Everything as plain JSON data; null where a metric has no value, as with no jobs at all."""
    sample = Sample(schedule, tau, trim)
    metrics = METRICS if schedule.workload.get("file_gb") is None else (*METRICS, STRETCH)
    summary: dict[str, Any] = {metric.name: metric.compute(sample) for metric in metrics}
    if trim:
        summary["trim"] = trim
    for name, value in schedule.own.items():
        if name in summary:
            raise PolicyError(f"the policy's own number {name!r} has the name of a metric; rename it")
        summary[name] = value
    summary |= redirected(sample)
    summary |= came(schedule)
    summary |= deadlines(sample)
    summary |= urgent(sample)
    summary |= outages(schedule)
    summary |= feedback(schedule)
    summary |= files(sample)
    users = by_user(sample)
    summary["fairness"] = fairness(users)
    groups = by_group(sample)
    if groups:
        summary["by_group"] = groups
    summary |= {"by_size": by_size(sample), "by_user": users, "by_queue": by_queue(sample)}
    summary |= {f"by_{name}": rows for name, rows in by_division(sample).items()}
    return dict(plain(summary))


def feedback(schedule: Schedule) -> dict[str, Any]:
    """Numbers of a simulation with feedback; empty for any other.

    following_jobs: jobs that were submitted a think time after the end of the job that their user waited for.
    mean_submission_delay: how much later than in the log these were submitted, on average (s); negative where
        they came earlier.
    """
    follows, logged = schedule.workload.get("follows"), schedule.workload.get("trace_submit")
    if follows is None or logged is None:
        return {}
    later = (schedule.submit - logged)[follows >= 0]
    mean = int(later.sum()) / (len(later) * SECOND) if len(later) else None
    return {"following_jobs": len(later), "mean_submission_delay": mean}
