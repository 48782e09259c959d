"""Another machine size: scaling jobs to it, and splitting jobs wider than a node."""

from __future__ import annotations

from typing import Literal

import numpy as np

from headway.errors import UsageError
from headway.workload.ledger import Ledger, LedgerEntry
from headway.workload.table import Workload
from headway.workload.transform.rebuild import machine_size, next_job, resized, with_key
from headway.workload.transform.registry import transformation


@transformation
def machine(
    workload: Workload,
    procs: int,
    of: int | None = None,
    rounding: Literal["nearest", "up", "down"] = "nearest",
) -> Workload:
    """Scale every job's processors from the log's machine to another; run times stay.

    procs: processors of the new machine.
    of: processors of the log's machine; by default as the log says.
    rounding: of the scaled sizes, which are at least 1. Jobs wider than the log's machine stay wider than
        the new one.
    """
    old = machine_size(workload, of, "machine")
    if procs < 1:
        raise UsageError(f"machine: procs must be at least 1, not {procs}")
    # In whole numbers, so that exact multiples stay exact.
    scaled = workload.procs * procs
    offset = {"nearest": old // 2, "up": old - 1, "down": 0}[rounding]
    sizes = np.maximum((scaled + offset) // old, 1)
    sizes = np.where(workload.procs > old, np.maximum(sizes, procs + 1), sizes)
    header = with_key(workload.header, "MaxProcs", procs)
    return workload.replaced(changed=resized(workload, sizes), header=header)


@transformation
def split(workload: Workload, cores: int = 20) -> Workload:
    """Split jobs wider than a node into jobs of one node; processors x time stay the same in all.

    cores: cores of a node. A job of 45 on nodes of 20 becomes 20, 20 and 5. The first part keeps the
        job's number, the others get the next free ones; all other properties are repeated.
    """
    if cores < 1:
        raise UsageError(f"split: cores must be at least 1, not {cores}")
    parts = np.maximum(-(-workload.procs // cores), 1)
    added = int(parts.sum()) - len(workload)
    rows = np.repeat(np.arange(len(workload)), parts)
    place = np.arange(len(rows)) - np.repeat(np.cumsum(parts) - parts, parts)
    columns = {name: values[rows] for name, values in workload.columns.items()}
    later = place > 0
    columns["job"][later] = next_job(workload) + np.arange(added)
    wide = parts > 1
    entry = LedgerEntry.of(
        "split",
        f"wider than a node of {cores}: split, {added} parts added",
        workload.job[wide],
        dropped=False,
    )
    ledger = Ledger(workload.ledger.total + added, workload.ledger.entries).with_entries(entry)
    repeated = workload.replaced(columns=columns, ledger=ledger)
    sizes = np.minimum(repeated.procs - place * cores, cores)
    return repeated.replaced(changed=resized(repeated, sizes))
