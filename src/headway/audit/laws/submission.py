"""No job starts before it is submitted, in none of its runs."""

from __future__ import annotations

import numpy as np

from headway.audit.record import Record
from headway.audit.verdict import Fault, Finding, fault, found
from headway.units import seconds_text

NAME = "submission"


def check(record: Record) -> Finding:
    """start >= submit."""
    first = record.start.copy()
    if record.pieces is not None:
        np.minimum.at(first, record.pieces.job, record.pieces.start)

    def describe(row: int) -> Fault:
        job, start, submit = record.job[row], first[row], record.submit[row]
        message = (
            f"job {job} starts at {seconds_text(start)}, before its submission at {seconds_text(submit)}"
        )
        return fault(NAME, start, (job,), message)

    return found(np.flatnonzero(first < record.submit).tolist(), describe)
