"""A simulated schedule compared with the waits that its own log recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import InputError
from headway.replay.errors_by_class import Row, by_name, by_size, errors
from headway.replay.reasons import reasons
from headway.replay.trust import trust
from headway.schedule import Schedule
from headway.schedule.files import plain
from headway.workload import Workload
from headway.workload.divisions import divisions


@dataclass(frozen=True)
class Fidelity:
    """How far simulated waits are from recorded ones. All times are in seconds.

    `error` is the one number to look at: the mean of |simulated - recorded wait|. `relative` is the same as a
    share of the mean recorded wait, None where nobody waited.
    """

    policy: str
    error: float
    relative: float | None
    overall: Row
    by_size: list[Row]
    by_queue: list[Row]
    by_user: list[Row]
    by_division: dict[str, list[Row]]
    """By queue, or by partition, account and QOS."""
    reasons: list[str]

    @property
    def verdict(self) -> str:
        """Whether to trust the simulation, and for what, in one sentence."""
        return trust(self.overall)

    def describe(self) -> dict[str, Any]:
        """Everything as plain JSON data."""
        return dict(
            plain(
                {
                    "policy": self.policy,
                    "mean_absolute_error": self.error,
                    "relative_error": self.relative,
                    "overall": self.overall,
                    "by_size": self.by_size,
                    "by_queue": self.by_queue,
                    "by_user": self.by_user,
                    **{f"by_{name}": rows for name, rows in self.by_division.items()},
                    "reasons": self.reasons,
                    "verdict": self.verdict,
                }
            )
        )


def recorded_waits(workload: Workload) -> NDArray[np.int64]:
    """The waits a log recorded (µs, -1 unknown); a log without any is refused."""
    wait = workload.get("wait")
    if wait is None or not (wait >= 0).any():
        message = "records no waits, so there is nothing to compare with; replay a log that has them"
        raise InputError(message, file=workload.source.name)
    return wait


def fidelity(schedule: Schedule) -> Fidelity:
    """Compare each job's simulated wait with the one in the log; jobs without one are left out."""
    wait = recorded_waits(schedule.workload)
    rows = np.flatnonzero(wait >= 0)
    simulated, recorded = schedule.wait[rows], wait[rows]
    overall = errors(simulated, recorded)
    error, mean = overall["mean_absolute_error"], overall["mean_recorded"]
    return Fidelity(
        policy=schedule.policy,
        error=error,
        relative=error / mean if mean else None,
        overall=overall,
        by_size=by_size(schedule, rows, simulated, recorded),
        by_queue=by_name(schedule, "queue", rows, simulated, recorded),
        by_user=by_name(schedule, "user", rows, simulated, recorded),
        by_division={
            name: by_name(schedule, column, rows, simulated, recorded, name)
            for name, column in divisions(schedule.workload).items()
        },
        reasons=reasons(schedule, rows, recorded),
    )
