"""Workloads: jobs as columns, readers and writers, and the ledger of what was odd."""

from __future__ import annotations

from headway.workload.annotations import read_annotations, write_annotations
from headway.workload.header import Header, Source
from headway.workload.ledger import Ledger, LedgerEntry
from headway.workload.read import read
from headway.workload.rules import RULES
from headway.workload.swf import read_swf, write_swf
from headway.workload.table import Workload

__all__ = [
    "RULES",
    "Header",
    "Ledger",
    "LedgerEntry",
    "Source",
    "Workload",
    "read",
    "read_annotations",
    "read_swf",
    "write_annotations",
    "write_swf",
]
