"""What outages did: processor time that was not there, runs that failed, jobs that were lost."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.metrics.areas import makespan
from headway.platform.absences import away_area
from headway.schedule import ENDED, Schedule

FAILED = ENDED.index("failed")


def unavailable(schedule: Schedule) -> float:
    """Processor-seconds of the makespan that were down or under maintenance."""
    if schedule.platform.outages is None or makespan(schedule) is None:
        return 0.0
    return away_area(schedule.platform.outages, int(schedule.submit.min()), int(schedule.end.max()))


def lost(schedule: Schedule) -> NDArray[np.bool_]:
    """Which jobs were not run again after their processors were lost."""
    found = np.zeros(len(schedule), np.bool_)
    if schedule.pieces is not None:
        pieces = schedule.pieces
        found[pieces.job[(pieces.ended == FAILED) & pieces.final(len(schedule))]] = True
    return found


def outages(schedule: Schedule) -> dict[str, Any]:
    """Numbers of a machine whose processors come and go; empty for any other.

    failed_runs: runs that ended because their processors were lost.
    lost_jobs: jobs that were not run again after that (on_failure=lost).
    unavailable_area: processor-seconds of the makespan that were down or under maintenance; utilization does
        not count them.
    broken_promises: jobs that ended later than they had been told, under a policy that tells ends (dbf).
    """
    pieces = schedule.pieces
    if schedule.platform.outages is None:
        return {}
    found: dict[str, Any] = {
        "failed_runs": 0 if pieces is None else int((pieces.ended == FAILED).sum()),
        "lost_jobs": int(lost(schedule).sum()),
        "unavailable_area": unavailable(schedule),
    }
    if schedule.promise is not None and schedule.promise_kind == "end":
        found["broken_promises"] = int(((schedule.promise >= 0) & (schedule.end > schedule.promise)).sum())
    return found
