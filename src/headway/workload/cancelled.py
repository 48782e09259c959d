"""Jobs of which a log does not know how long they run: cancelled while they waited, or not over yet."""

from __future__ import annotations

import numpy as np

from headway.arrays import Mask
from headway.workload.ledger import LedgerEntry
from headway.workload.table import Workload


def ran_only(workload: Workload) -> Workload:
    """The workload without jobs that were cancelled while they waited; the ledger has them."""
    after = workload.get("cancelled_after")
    if after is None or not (after >= 0).any():
        return workload
    return workload.select(after < 0, rule="cancelled", action="cancelled before it ran: dropped")


def ended_only(workload: Workload) -> Workload:
    """The workload without jobs that still waited or ran when the log was taken; the ledger has them."""
    unfinished = workload.get("open")
    if unfinished is None or not unfinished.any():
        return workload
    action = "not over when the log was taken: left out"
    return workload.select(unfinished == 0, rule="unfinished", action=action)


def not_started(workload: Workload) -> Mask:
    """Jobs that still waited when the log was taken: their run time here is what they asked for."""
    unfinished = workload.get("open")
    if unfinished is None:
        return np.zeros(len(workload), np.bool_)
    return (unfinished > 0) & (workload.columns["wait"] < 0)


def as_written(workload: Workload) -> Workload:
    """The workload with a line in the ledger on those of whom a file says that their run time is unknown."""
    action = "still waiting when the log was taken: written with -1, unknown, for the run time"
    jobs = workload.job[not_started(workload)]
    entry = LedgerEntry.of("unfinished", action, jobs, dropped=False)
    return workload.with_entries(entry)
