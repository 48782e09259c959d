"""Jobs that their users cancelled while they waited."""

from __future__ import annotations

from headway.workload.table import Workload


def ran_only(workload: Workload) -> Workload:
    """The workload without jobs that were cancelled while they waited; the ledger has them."""
    after = workload.get("cancelled_after")
    if after is None or not (after >= 0).any():
        return workload
    return workload.select(after < 0, rule="cancelled", action="cancelled before it ran: dropped")
