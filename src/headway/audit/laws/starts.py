"""When jobs start: not before they are submitted, and no later than promised; and when those are submitted
that wait for another job."""

from __future__ import annotations

import numpy as np

from headway.audit.record import Record
from headway.audit.verdict import Fault, Finding, fault, found, of_jobs
from headway.units import seconds_text


def check_submission(record: Record) -> Finding:
    """start >= submit, in all runs of a job."""
    first = record.first_start

    def tell(row: int) -> str:
        start, submit = seconds_text(first[row]), seconds_text(record.submit[row])
        return f"starts at {start}, before its submission at {submit}"

    return of_jobs(record, first < record.submit, tell, at=first)


def check_think(record: Record) -> Finding | None:
    """Who waits for the end of another job is submitted a think time after it, others as the log says.

    A job that was refused has no end here, so that nothing is said of who waited for it.
    """
    follows, think = record.follows, record.think
    if follows is None or think is None:
        return None
    leader = record.leader
    wanted = np.where(leader >= 0, record.end[leader] + think, record.asked_submit)
    refused = (follows >= 0) & (leader < 0)

    def describe(place: int) -> Fault:
        job, submit = int(record.job[place]), seconds_text(int(record.submit[place]))
        if leader[place] < 0:
            said = f"the log says {seconds_text(int(wanted[place]))} s"
        else:
            end = seconds_text(int(record.end[leader[place]]))
            said = (
                f"job {follows[place]} ended at {end} s and its user thought for "
                f"{seconds_text(int(think[place]))} s"
            )
        message = f"job {job} was submitted at {submit} s, but {said}"
        jobs = (job,) if leader[place] < 0 else (job, int(follows[place]))
        return fault(record.submit[place], jobs, message)

    return found((record.submit != wanted) & ~refused, describe)


def check_promise(record: Record) -> Finding | None:
    """start <= promise wherever the schedule says that its promises are laws."""
    return check_promised(record) if record.promise_kind == "start" else None


def check_promised(record: Record) -> Finding | None:
    """start <= promise for every job that has one; None where no promises are recorded."""
    if record.promise is None:
        return None
    promise = record.promise

    def tell(row: int) -> str:
        return f"starts at {seconds_text(record.start[row])}, it was promised {seconds_text(promise[row])}"

    return of_jobs(record, (promise >= 0) & (record.start > promise), tell, at=promise)
