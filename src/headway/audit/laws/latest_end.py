"""DBF: nobody ends later than told on submission, and only jobs with a deadline are promoted.

With the requested walltimes, not only with what the programs needed: start + walltime <= promise. For a job
that was accepted with a deadline the promise is the deadline; for any other it is the end of the place it was
given, which is definitive.
"""

from __future__ import annotations

import numpy as np

from headway.audit.record import Record
from headway.audit.verdict import Finding, of_jobs, together
from headway.units import seconds_text


def check(record: Record) -> Finding | None:
    """For every job that was told an end; None where the schedule does not say."""
    return together(_late(record, np.ones(len(record), np.bool_)), _told(record)) if _known(record) else None


def check_definitive(record: Record) -> Finding | None:
    """Only for the jobs without a deadline, where the algorithm does not warrant the others."""
    if not _known(record):
        return None
    free = np.ones(len(record), np.bool_) if record.deadline is None else record.deadline < 0
    return together(_late(record, free), _told(record))


def _known(record: Record) -> bool:
    return record.promise is not None and record.promise_kind in ("", "end")


def _late(record: Record, judged: np.typing.NDArray[np.bool_]) -> Finding:
    assert record.promise is not None
    promise, latest = record.promise, record.start + record.walltime

    def tell(row: int) -> str:
        told = seconds_text(promise[row])
        return f"may run until {seconds_text(latest[row])}, it was told to end by {told}"

    return of_jobs(record, judged & (promise >= 0) & (latest > promise), tell, promise)


def _told(record: Record) -> Finding:
    """What was told must be possible, and a job that has no deadline cannot be promoted for it."""
    assert record.promise is not None
    promise = record.promise
    early = (promise >= 0) & (promise < record.submit + record.walltime)
    promoted = np.zeros(len(record), np.bool_) if record.promoted is None else record.promoted
    without = promoted
    if record.deadline is not None:  # in a grid of several policies the schedule may not say what was told
        without = promoted & ((record.deadline < 0) | (promise >= 0) & (record.deadline != promise))
    without = without & ~_redirected(record)  # promoted before it was stopped, and then told something else

    def tell(row: int) -> str:
        if without[row]:
            return "was promoted, but no deadline of its was accepted"
        return f"was told to end by {seconds_text(promise[row])}, which its walltime does not allow"

    return of_jobs(record, early | without, tell, record.submit)


def _redirected(record: Record) -> np.typing.NDArray[np.bool_]:
    """Jobs that went on in a redirection group."""
    mask, places = np.zeros(len(record), np.bool_), record.places.get("group")
    if places is not None and "redirection" in places.names:
        mask[record.intervals[0][places.codes == places.names.index("redirection")]] = True
    return mask
