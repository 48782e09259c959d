"""A start that was promised as the latest is kept."""

from __future__ import annotations

from headway.audit.record import Record
from headway.audit.verdict import Finding, of_jobs
from headway.units import seconds_text


def check(record: Record) -> Finding | None:
    """start <= promise wherever the schedule says that its promises are laws."""
    return kept(record) if record.promise_kind == "start" else None


def kept(record: Record) -> Finding | None:
    """start <= promise for every job that has one; None where no promises are recorded."""
    if record.promise is None:
        return None
    promise = record.promise

    def tell(row: int) -> str:
        return f"starts at {seconds_text(record.start[row])}, it was promised {seconds_text(promise[row])}"

    return of_jobs(record, (promise >= 0) & (record.start > promise), tell, at=promise)
