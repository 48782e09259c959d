"""Jobs of which a log does not know how long they run: cancelled while they waited, or not over yet."""

from __future__ import annotations

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
    action = "not over when the log was taken: left out of the simulation"
    return workload.select(unfinished == 0, rule="unfinished", action=action)
