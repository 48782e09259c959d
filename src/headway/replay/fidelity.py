"""A simulated schedule compared with the waits that its own log recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import InputError
from headway.metrics.statistics import Times, mean_time
from headway.replay.errors_by_class import Row, Waits, errors
from headway.replay.reasons import reasons
from headway.replay.sentences import trust
from headway.schedule import WHY, Schedule
from headway.schedule.files import plain
from headway.workload import Workload
from headway.workload.divisions import divisions


@dataclass(frozen=True)
class Fidelity:
    """How far simulated waits are from recorded ones. All times are in seconds.

    `error` is the one number to look at: the mean of |simulated - recorded wait|. `relative` is the same as a
    share of the mean recorded wait, None where nobody waited. Where there are several seeds, all numbers are
    over all of them; `seeds` has them one by one, and `chance` is how far two of them are from each other:
    the mean of |wait - wait| over jobs and pairs of seeds, None with a single one.
    """

    policy: str
    error: float
    relative: float | None
    overall: Row
    seeds: list[Row]
    chance: float | None
    by_size: list[Row]
    by_queue: list[Row]
    by_user: list[Row]
    by_division: dict[str, list[Row]]
    """By queue, or by partition, account and QOS."""
    by_week: list[Row]
    reasons: list[str]

    @property
    def verdict(self) -> str:
        """Whether to trust the simulation, and for what, in one sentence."""
        return trust(self.overall, self.seeds)

    def describe(self) -> dict[str, Any]:
        """Everything as plain JSON data."""
        return dict(
            plain(
                {
                    "policy": self.policy,
                    "mean_absolute_error": self.error,
                    "relative_error": self.relative,
                    "overall": self.overall,
                    "seeds": self.seeds,
                    "chance": self.chance,
                    "by_size": self.by_size,
                    "by_queue": self.by_queue,
                    "by_user": self.by_user,
                    **{f"by_{name}": rows for name, rows in self.by_division.items()},
                    "by_week": self.by_week,
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


def fidelity(*schedules: Schedule) -> Fidelity:
    """Compare each job's simulated wait with the one in the log; jobs without one are left out.

    Several schedules are simulations of the same jobs under several seeds; the jobs that all of them ran are
    compared.
    """
    first = schedules[0]
    wait = recorded_waits(first.workload)
    rows = np.flatnonzero((wait >= 0) & _in_all(schedules))
    recorded = wait[rows]
    simulated = np.stack([_waits(each, first, rows) for each in schedules])
    waits, overall = Waits(first, rows, simulated, recorded), errors(simulated, recorded)
    error, mean = overall["mean_absolute_error"], overall["mean_recorded"]
    return Fidelity(
        policy=first.policy,
        error=error,
        relative=error / mean if mean else None,
        overall=overall,
        seeds=[errors(line[None, :], recorded) for line in simulated],
        chance=_chance(simulated),
        by_size=waits.by_size(),
        by_queue=waits.by_name("queue"),
        by_user=waits.by_name("user"),
        by_division={name: waits.by_name(column, name) for name, column in divisions(first.workload).items()},
        by_week=waits.by_week(),
        reasons=reasons(first, rows, recorded),
    )


def _in_all(schedules: Sequence[Schedule]) -> NDArray[np.bool_]:
    """Which jobs of the first schedule all the others have too."""
    job = schedules[0].workload.job
    found = np.ones(len(job), np.bool_)
    for other in schedules[1:]:
        found &= np.isin(job, other.workload.job)
    return found


def _waits(schedule: Schedule, first: Schedule, rows: NDArray[np.int64]) -> Times:
    """The waits (µs) of the jobs in these rows of the first schedule; this one has them all."""
    if not np.array_equal(schedule.workload.job, first.workload.job):
        rows = schedule.workload.rows_of(first.workload.job[rows])[1]
    return np.asarray(schedule.wait[rows])


def _chance(simulated: Times) -> float | None:
    pairs = [np.abs(one - two) for one, two in combinations(simulated, 2)]
    return mean_time(np.concatenate(pairs)) if pairs else None


def recorded(schedule: Schedule) -> Schedule:
    """The recorded starts and ends of those simulated jobs whose waits the log has.

    They ran on as many processors as they were given, and past their requests where the log says so.
    """
    kept = recorded_waits(schedule.workload) >= 0
    workload = schedule.workload.select(kept, rule="recorded", action="no recorded wait: left out")
    start = workload.submit + workload.wait
    given = workload.get("allocated")
    procs = workload.procs if given is None else np.where(given > 0, given, workload.procs)
    return Schedule(
        workload=workload,
        platform=schedule.platform,
        policy="recorded",
        start=start,
        end=start + workload.runtime,
        why=np.full(len(workload), WHY.index("recorded")),
        killed=np.zeros(len(workload), np.bool_),
        procs=procs,
        capacity=schedule.capacity,
    )
