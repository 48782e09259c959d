"""Who waits for the end of another job is submitted a think time after it, everybody else as the log says."""

from __future__ import annotations

import numpy as np

from headway.audit.record import Record
from headway.audit.verdict import Fault, Finding, fault, found
from headway.units import seconds_text


def check(record: Record) -> Finding | None:
    """Applies where jobs follow others.

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
