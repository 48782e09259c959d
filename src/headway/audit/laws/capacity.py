"""At no instant are more processors held than there are: machine, groups, clusters, nodes.

Intervals are half-open, so that a job ending at t leaves its processors to one that starts at t. A
job of length zero holds nothing after its instant; in it, it must fit beside the jobs that run across
(start < t < end). It need not fit beside those that start at t or beside another of length zero:
they may follow one another in turns at the same t::

    across  ######|######        needs  across + zero-length <= processors
    starting      |######        may come in the turn after
    zero-length   |
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headway.audit.record import Record
from headway.audit.verdict import Column, Fault, Finding, fault, found, listed, together
from headway.plain import counted
from headway.platform.processor_sets import numbers
from headway.schedule import Pieces
from headway.units import seconds_text


def overfull(start: Column, end: Column, procs: Column, size: int) -> tuple[Column, Column]:
    """Instants at which more than `size` processors are needed, in order, and how many are."""
    long = end > start
    by_start = np.argsort(start[long], kind="stable")
    by_end = np.argsort(end[long], kind="stable")
    starts, ends = start[long][by_start], end[long][by_end]
    taken = np.concatenate([[0], np.cumsum(procs[long][by_start])])
    freed = np.concatenate([[0], np.cumsum(procs[long][by_end])])
    # Use only ever grows at starts. Of several at one instant the last one counts them all.
    used = taken[1:] - freed[np.searchsorted(ends, starts, side="right")]
    last = np.append(starts[1:] != starts[:-1], True) if len(starts) else np.zeros(0, np.bool_)
    over = (used > size) & last
    instants, needs = starts[over], used[over]
    if not long.all():
        at, width = start[end == start], procs[end == start]
        across = taken[np.searchsorted(starts, at)] - freed[np.searchsorted(ends, at, side="right")]
        tight = across + width > size
        instants = np.concatenate([instants, at[tight]])
        needs = np.concatenate([needs, (across + width)[tight]])
        order = np.argsort(instants, kind="stable")
        instants, needs = instants[order], needs[order]
    return instants, needs


def check_machine(record: Record) -> Finding:
    """The whole machine."""
    everything = np.ones(len(record.intervals[0]), np.bool_)
    return _overfull_place(record, everything, "the machine", record.capacity)


def check_places(record: Record, kind: str) -> Finding | None:
    """The same for every group, cluster or node."""
    places = record.places.get(kind)
    if places is None:
        return None
    findings = []
    for code in np.unique(places.codes[places.codes >= 0]).tolist():
        name, size = f"{kind} {places.names[code]}", places.sizes[code]
        findings.append(_overfull_place(record, places.codes == code, name, size))
    return together(*findings)


def _overfull_place(record: Record, inside: NDArray[np.bool_], name: str, size: int) -> Finding:
    job, start, end, procs = (column[inside] for column in record.intervals)
    instants, needs = overfull(start, end, procs, size)

    def describe(place: int) -> Fault:
        t = instants[place]
        there = (start <= t) & ((t < end) | ((start == end) & (start == t)))
        jobs = record.job[np.unique(job[there])].tolist()
        need = f"need {needs[place]} processors, {name} has {size}"
        return fault(t, jobs, f"at {seconds_text(t)} {listed(jobs)} {need}")

    return found(range(len(instants)), describe)


def check_sets(record: Record) -> Finding | None:
    """Where processors are named, pieces have as many as they hold, and no two hold the same at once."""
    pieces = record.pieces
    if pieces is None or pieces.processors is None or not any(pieces.processors):
        return None
    bad: list[Fault] = []
    held: list[tuple[int, int]] = []  # piece, processor
    for piece in np.flatnonzero(pieces.holding).tolist():
        text = pieces.processors[piece]
        if not text:
            continue
        job, start = int(record.job[pieces.job[piece]]), int(pieces.start[piece])
        try:
            members = numbers(text)
        except ValueError:
            message = f"job {job}: {text!r} is not a set of processors like 0-3,7"
            bad.append(fault(start, (job,), message))
            continue
        if len(members) != pieces.procs[piece]:
            wide = counted(int(pieces.procs[piece]), "processor")
            message = f"job {job} holds {wide}, its set {text} has {len(members)}"
            bad.append(fault(start, (job,), message))
        if members[-1] >= record.capacity:
            message = f"job {job} holds processor {members[-1]} of a machine of {record.capacity}"
            bad.append(fault(start, (job,), message))
        held.extend((piece, member) for member in members)
    return together(Finding(len(bad), tuple(bad)), _disjoint(record, pieces, held))


def _disjoint(record: Record, pieces: Pieces, held: list[tuple[int, int]]) -> Finding:
    if not held:
        return Finding()
    piece, processor = np.array(held, dtype=np.int64).T
    long = pieces.end[piece] > pieces.start[piece]
    piece, processor = piece[long], processor[long]
    # Processors are numbered within their cluster, group or node where pieces say which.
    where = [getattr(pieces, name) for name in ("cluster", "group", "node")]
    keys = [processor, *(codes[piece] for codes in where if codes is not None)]
    order = np.lexsort((pieces.start[piece], *keys))
    same = np.ones(max(len(order) - 1, 0), np.bool_)
    for key in keys:
        same &= key[order][1:] == key[order][:-1]
    start, end = pieces.start[piece][order], pieces.end[piece][order]
    clash = same & (start[1:] < end[:-1])

    def describe(place: int) -> Fault:
        jobs = [record.job[pieces.job[piece[order[place + step]]]] for step in (0, 1)]
        number, t = processor[order[place]], start[place + 1]
        message = f"jobs {jobs[0]} and {jobs[1]} both hold processor {number} at {seconds_text(t)}"
        return fault(t, jobs, message)

    return found(clash, describe)
