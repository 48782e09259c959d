"""Every job of the log is scheduled once, and nothing else is."""

from __future__ import annotations

from collections.abc import Sequence

from headway.audit.record import Record
from headway.audit.verdict import Finding, fault, found, together


def check(record: Record) -> Finding:
    """Missing, repeated and foreign job numbers."""
    findings = [
        _numbers(record.missing, "of the log is not in the schedule"),
        _numbers(record.repeated, "is in the schedule more than once"),
        _numbers(record.foreign, "is in the schedule and not in the log"),
    ]
    if record.lost:
        message = (
            f"the table has {abs(record.lost)} {'fewer' if record.lost > 0 else 'more'} jobs than the run"
        )
        findings.append(Finding(abs(record.lost), (fault(None, (), message),)))
    return together(*findings)


def _numbers(jobs: Sequence[int], what: str) -> Finding:
    return found(jobs, lambda job: fault(None, (job,), f"job {job} {what}"))
