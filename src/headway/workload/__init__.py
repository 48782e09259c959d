"""Workloads: jobs as columns, readers and writers, and the ledger of what was odd."""

from __future__ import annotations

from headway.workload.header import Header, Source
from headway.workload.ledger import Ledger, LedgerEntry
from headway.workload.table import Workload

__all__ = ["Header", "Ledger", "LedgerEntry", "Source", "Workload"]
