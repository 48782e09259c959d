"""A job is marked as killed exactly where its program needs more than the walltime leaves it."""

from __future__ import annotations

import numpy as np

from headway.audit.laws.run_length import allowed
from headway.audit.record import Record
from headway.audit.verdict import Fault, Finding, fault, found

NAME = "killing"


def check(record: Record) -> Finding | None:
    """killed = (runtime > walltime - load); not for schedules that do not say who was killed."""
    if record.killed is None:
        return None
    killed = record.killed
    left = allowed(record)
    # Whether a load was cut or came to its end right then, a job that needs nothing more does not show.
    reads = np.zeros(len(record), np.bool_) if record.file is None else record.file >= 0
    unknown = (record.runtime == 0) & (left == 0) & reads

    def describe(row: int) -> Fault:
        job = record.job[row]
        if killed[row]:
            message = f"job {job} is marked as killed although it needs no more than its walltime"
        else:
            message = f"job {job} needs more than its walltime and is not marked as killed"
        return fault(NAME, record.end[row], (job,), message)

    return found(np.flatnonzero((killed != (record.runtime > left)) & ~unknown).tolist(), describe)
