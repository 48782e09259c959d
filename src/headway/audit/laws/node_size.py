"""Every job runs inside one node that is wide enough and of a memory size it may use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headway.audit.record import Record
from headway.audit.verdict import Finding, of_jobs
from headway.plain import counted

NOWHERE = -1


def node_of(record: Record) -> NDArray[np.int64] | None:
    """The platform's number of each job's node; None where the schedule does not say."""
    places = record.places.get("node")
    if places is None or record.nodes is None:
        return None
    # A table names the nodes that it uses, in any order; a name is the platform's number.
    numbers = [int(name) if name.isdecimal() else NOWHERE for name in places.names]
    if any(not 0 <= number < len(record.nodes) for number in numbers):
        if len(places.names) != len(record.nodes):
            return None
        numbers = list(range(len(record.nodes)))  # names of their own, in the platform's order
    node = np.full(len(record), NOWHERE, np.int64)
    node[record.intervals[0]] = np.array([*numbers, NOWHERE], np.int64)[places.codes]
    return node


def sizes_of(record: Record) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Memory sizes of the nodes from small to large, and the smallest that will do for each job."""
    assert record.nodes is not None
    sizes = np.unique([group.memory_gb for group in record.nodes])
    need = np.zeros(len(record)) if record.needs_node_gb is None else np.nan_to_num(record.needs_node_gb)
    return sizes, np.searchsorted(sizes, need).astype(np.int64)


def check(record: Record, match: str) -> Finding | None:
    """The check for one rule of matching."""
    node = node_of(record)
    if node is None or record.nodes is None:
        return None
    cores = np.array([group.cores for group in record.nodes])
    sizes, own = sizes_of(record)
    here = np.searchsorted(sizes, [group.memory_gb for group in record.nodes])[node]
    wrong = here != own if match == "exact" else here < own
    if match == "any":
        wrong = np.zeros(len(record), np.bool_)
    bad = (node == NOWHERE) | (record.procs > cores[node]) | wrong

    def tell(row: int) -> str:
        if node[row] == NOWHERE:
            return "is on no node"
        if record.procs[row] > cores[node[row]]:
            wide, size = counted(record.procs[row], "processor"), counted(cores[node[row]], "core")
            return f"has {wide} on node {node[row]} of {size}"
        return f"runs on node {node[row]} of {sizes[here[row]]:g} GB, which match={match} does not allow"

    return of_jobs(record, bad, tell)
