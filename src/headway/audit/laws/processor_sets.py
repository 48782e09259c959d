"""Where processors are named, a piece has as many as it holds, and no two pieces hold the same at once."""

from __future__ import annotations

import numpy as np

from headway.audit.record import Record
from headway.audit.verdict import Fault, Finding, fault, found, together
from headway.plain import counted
from headway.platform.processor_sets import numbers
from headway.schedule import Pieces
from headway.units import seconds_text


def check(record: Record) -> Finding | None:
    """Sets of the pieces that hold processors; not where none are given."""
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
