"""What a site took away for a time: nodes that were down or drained, reservations, and tasks and jobs that
wait for others. Every run is judged whose nodes are known; for tasks and dependencies the final one.
"""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np

from headway.audit.laws.partitions import Complaint, complaints
from headway.audit.laws.run_length import LATE
from headway.audit.on_nodes import runs
from headway.audit.record import Record
from headway.audit.verdict import Finding
from headway.schedule import Shares
from headway.units import SECOND


def check_away(record: Record) -> Finding | None:
    """Nothing starts on a node that drains or is down, and nothing goes on where one goes down."""
    named = record.on_nodes
    if named is None or named.site is None or not named.site.events:
        return None
    wrong: list[Complaint] = []
    held = runs(record)
    holders = stretches_by_node(held.shares)
    for event in named.site.events:
        holding = np.array(holders.get(event.node, []), np.int64)
        rows, start, end = held.job[holding], held.start[holding], held.end[holding]
        begins = (event.start - record.origin) * SECOND
        ends = None if event.end is None else (event.end - record.origin) * SECOND
        after = np.ones(len(rows), np.bool_) if ends is None else start < ends
        for row in rows[(start > begins) & after].tolist():
            wrong.append((row, f"started on {event.node}, which was {event.state} then"))
        if event.ends_jobs:
            for row in rows[(start < begins) & (end > begins)].tolist():
                wrong.append((row, f"went on on {event.node} when that went down"))
    return complaints(record, wrong)


def check_reservations(record: Record) -> Finding | None:
    """No job runs into a reservation of its nodes that it did not ask for and that was known."""
    named = record.on_nodes
    if named is None or named.site is None or not named.site.reservations or named.reservation is None:
        return None
    wrong: list[Complaint] = []
    held = runs(record)
    holders = stretches_by_node(held.shares)
    by_name = {one.name: one for one in named.site.reservations}
    for one in named.site.reservations:
        begins, ends = ((t - record.origin) * SECOND for t in (one.start, one.end))
        known = ((one.announced or 0) - record.origin) * SECOND
        if "IGNORE_JOBS" not in one.flags and "MAINT" not in one.flags and "FLEX" in one.flags:
            continue
        for node in one.nodes:
            for run in holders.get(named.site.nodes[node].name, []):
                row = int(held.job[run])
                meets = held.start[run] < ends and held.end[run] > begins + LATE
                own = by_name.get(named.reservation[row])
                if own is not None and (own.name == one.name or own.may_overlap(one)):
                    continue
                if meets and held.start[run] >= known:
                    wrong.append((row, f"ran into the reservation {one.name}"))
    return complaints(record, list(dict.fromkeys(wrong)))


def check_arrays(record: Record) -> Finding | None:
    """No more tasks of an array run at once than its limit says."""
    named = record.on_nodes
    if named is None or named.array is None or named.array_limit is None:
        return None
    wrong: list[Complaint] = []
    for array in np.unique(named.array[(named.array >= 0) & (named.array_limit > 0)]).tolist():
        rows = np.flatnonzero(named.array == array)
        start, end = np.sort(record.start[rows]), np.sort(record.end[rows])
        running = np.arange(1, len(rows) + 1) - np.searchsorted(end, start, "right")
        limit = int(named.array_limit[rows[0]])
        if (running > limit).any():
            at = start[int(np.argmax(running > limit))]
            row = int(rows[int(np.argmax(record.start[rows] == at))])
            wrong.append(
                (row, f"started as task number {int(running.max())} of its array, which may have {limit}")
            )
    return complaints(record, wrong)


def check_dependencies(record: Record) -> Finding | None:
    """No job starts before the jobs have ended, or started, that it depends on."""
    named = record.on_nodes
    if named is None or not any(named.dependency):
        return None
    rows_of: dict[str, list[int]] = defaultdict(list)
    for row, number in enumerate(record.job.tolist()):
        rows_of[str(number)].append(row)
    if named.array is not None:
        for row in np.flatnonzero(named.array >= 0).tolist():
            rows_of[str(named.array[row])].append(row)
    wrong: list[Complaint] = []
    for row, text in enumerate(named.dependency):
        if not text or "?" in text:
            continue
        for kind, numbers in re.findall(r"(after(?:any|ok|notok)?):([\d:]+)", text):
            for number in numbers.split(":"):
                for other in rows_of.get(number, []):
                    bound = record.start[other] if kind == "after" else record.end[other]
                    if (
                        record.start[row] < bound and not record.in_pieces[other]
                    ):  # it may have started before
                        wrong.append((row, f"depends on {kind}:{number} and started before"))
    return complaints(record, list(dict.fromkeys(wrong)))


def stretches_by_node(shares: Shares) -> dict[str, list[int]]:
    """The runs that held something of each node."""
    found: dict[str, list[int]] = defaultdict(list)
    for run, node in zip(shares.job.tolist(), shares.node.tolist(), strict=True):
        found[shares.names[node]].append(run)
    return found
