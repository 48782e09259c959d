"""What feedback did: jobs that were submitted when others had ended, and how much later than in the log."""

from __future__ import annotations

from typing import Any

from headway.schedule import Schedule
from headway.units import SECOND


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
