"""Without urgent jobs UJFB is backfilling that makes all reservations anew, job for job.

The jobs are scheduled once more by the policy without any word of urgency, and every start is compared:
``conservative(compress=scratch)``, or ``dbf(compress=scratch)`` where deadlines count. All that is needed is
in the log: requests, run times and submissions, or whom a user waited for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.audit.record import Record
from headway.audit.verdict import Fault, Finding, fault, found
from headway.units import seconds_text
from headway.workload import Workload


def check(record: Record, policy: str) -> Finding | None:
    """Starts job for job; not where a job is urgent, jobs are missing, or others have waited there too."""
    others = record.missing or record.instants is not None
    if others or (record.urgent is not None and record.urgent.any()):
        return None
    from headway.simulate import simulate

    order = np.argsort(record.row, kind="stable")
    columns: dict[str, Any] = {
        "submit": record.submit,
        "procs": record.procs,
        "walltime": record.walltime,
        "runtime": record.runtime,
        "deadline": np.full(len(record), -1) if record.deadline is None else record.deadline,
    }
    if record.follows is not None and record.think is not None:  # some may come in a further turn
        led = record.leader >= 0
        columns |= {"job": record.job, "follows": np.where(led, record.follows, -1), "think": record.think}
    log = Workload.from_arrays(unit="us", **{name: column[order] for name, column in columns.items()})
    start = np.empty(len(record), np.int64)
    start[order] = simulate(log, record.capacity, policy).start

    def describe(row: int) -> Fault:
        job, t = record.job[row], record.start[row]
        message = (
            f"no job is urgent, and job {job} starts at {seconds_text(t)}, under {policy} at "
            f"{seconds_text(start[row])}"
        )
        return fault(min(t, start[row]), (job,), message)

    wrong = np.flatnonzero(record.start != start)
    return found(wrong[np.argsort(record.start[wrong], kind="stable")].tolist(), describe)
