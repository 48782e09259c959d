"""A start that was promised as the latest is kept."""

from __future__ import annotations

import numpy as np

from headway.audit.record import Record
from headway.audit.verdict import Fault, Finding, fault, found
from headway.units import seconds_text

NAME = "promise"


def check(record: Record) -> Finding | None:
    """start <= promise wherever the schedule says that its promises are laws."""
    return kept(record) if record.promise_kind == "start" else None


def kept(record: Record) -> Finding | None:
    """start <= promise for every job that has one; None where no promises are recorded."""
    if record.promise is None:
        return None
    promise = record.promise

    def describe(row: int) -> Fault:
        job, start, told = record.job[row], record.start[row], promise[row]
        message = f"job {job} starts at {seconds_text(start)}, it was promised {seconds_text(told)}"
        return fault(NAME, told, (job,), message)

    return found(np.flatnonzero((promise >= 0) & (record.start > promise)).tolist(), describe)
