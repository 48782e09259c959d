"""No job starts before it is submitted, in none of its runs."""

from __future__ import annotations

import numpy as np

from headway.audit.record import Record
from headway.audit.verdict import Finding, of_jobs
from headway.units import seconds_text


def check(record: Record) -> Finding:
    """start >= submit."""
    first = record.start.copy()
    if record.pieces is not None:
        np.minimum.at(first, record.pieces.job, record.pieces.start)

    def tell(row: int) -> str:
        start, submit = seconds_text(first[row]), seconds_text(record.submit[row])
        return f"starts at {start}, before its submission at {submit}"

    return of_jobs(record, first < record.submit, tell, at=first)
