"""A job is marked as killed exactly where its program needs more than the walltime leaves it."""

from __future__ import annotations

import numpy as np

from headway.audit.laws.run_length import allowed
from headway.audit.record import Record
from headway.audit.verdict import Finding, of_jobs


def check(record: Record) -> Finding | None:
    """killed = (runtime > walltime - load); not for schedules that do not say who was killed."""
    if record.killed is None:
        return None
    killed = record.killed
    left = allowed(record)
    # Whether a load was cut or came to its end right then, a job that needs nothing more does not show.
    reads = np.zeros(len(record), np.bool_) if record.file is None else record.file >= 0
    unknown = (record.runtime == 0) & (left == 0) & reads

    def tell(row: int) -> str:
        if killed[row]:
            return "is marked as killed although it needs no more than its walltime"
        return "needs more than its walltime and is not marked as killed"

    return of_jobs(record, (killed != (record.runtime > left)) & ~unknown, tell, at=record.end)
