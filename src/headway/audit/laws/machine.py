"""At no instant is more held than there is, of what is there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headway.audit.record import Record
from headway.audit.verdict import Column, Fault, Finding, fault, found, listed, of_jobs, together
from headway.plain import counted
from headway.platform import Outage
from headway.platform.absences import absences
from headway.platform.processor_sets import numbers
from headway.schedule import Pieces
from headway.units import LONGEST, seconds_text


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


# Nobody runs on processors that are not there: not during maintenance, nor while they are down.
#
# Where runs have processors, these are looked at; everywhere the numbers must do. A run that a failure
# stopped
# ends when its processors go. On processors that drain nothing starts. Maintenance that was known when a job
# started must have room beside it, if it is planned by its walltime (the invariant ``maintenance``).


def check_outages(record: Record) -> Finding | None:
    """Numbers at every instant, then named processors, then those that drain."""
    if record.outages is None:
        return None
    processor, start, end = absences(record.outages)
    findings = [_numbers(record, start, end)]
    held = _held(record)
    if held is not None:
        findings += [_named(record, held, processor, start, end), _drained(record, held)]
    return together(*findings)


def _numbers(record: Record, away_from: Column, away_to: Column) -> Finding:
    job, start, end, procs = record.intervals
    ones = np.ones(len(away_from), np.int64)
    instants, needs = overfull(
        np.concatenate([start, away_from]),
        np.concatenate([end, away_to]),
        np.concatenate([procs, ones]),
        record.capacity,
    )

    def describe(place: int) -> Fault:
        t = instants[place]
        there = record.capacity - np.count_nonzero((away_from <= t) & (t < away_to))
        jobs = record.job[np.unique(job[(start <= t) & (t < end)])].tolist()
        used = needs[place] - (record.capacity - there)
        return fault(
            t, jobs, f"at {seconds_text(t)} jobs hold {counted(used, 'processor')}, {there} are there"
        )

    return found(range(len(instants)), describe)


def _held(record: Record) -> tuple[Column, Column] | None:
    """Piece and processor, where pieces have processors."""
    pieces = record.pieces
    if pieces is None or pieces.processors is None or not any(pieces.processors):
        return None
    rows: list[Column] = []
    members: list[Column] = []
    for piece in np.flatnonzero(pieces.holding & (pieces.end > pieces.start)).tolist():
        try:
            named = np.array(numbers(pieces.processors[piece]), np.int64)
        except ValueError:
            continue  # the invariant of processor sets tells
        rows.append(np.full(len(named), piece))
        members.append(named)
    if not rows:
        return None
    return np.concatenate(rows), np.concatenate(members)


def _named(
    record: Record, held: tuple[Column, Column], processor: Column, start: Column, end: Column
) -> Finding:
    pieces = record.pieces
    assert pieces is not None
    piece, member = held
    who = np.concatenate([piece, np.full(len(processor), -1)])
    where = np.concatenate([member, processor])
    begin = np.concatenate([pieces.start[piece], start])
    over = np.concatenate([pieces.end[piece], end])
    order = np.lexsort((begin, where))
    who, where, begin, over = who[order], where[order], begin[order], over[order]
    clash = (where[1:] == where[:-1]) & (begin[1:] < over[:-1]) & ((who[1:] < 0) != (who[:-1] < 0))

    def describe(place: int) -> Fault:
        row = max(who[place], who[place + 1])
        job, t = record.job[pieces.job[row]], begin[place + 1]
        message = f"job {job} holds processor {where[place]} at {seconds_text(t)}, when it is not there"
        return fault(t, (job,), message)

    return found(clash, describe)


def _drained(record: Record, held: tuple[Column, Column]) -> Finding:
    pieces, outages = record.pieces, record.outages
    assert pieces is not None and outages is not None
    piece, member = held
    wrong: list[tuple[int, int]] = []
    for outage in outages.outages:
        if outage.kind == "drain":
            inside = (pieces.start[piece] >= outage.start) & (pieces.start[piece] < outage.over)
            named = np.zeros(len(member), np.bool_)
            for low, high in outage.processors:
                named |= (member >= low) & (member < high)
            both = inside & named
            wrong += list(zip(piece[both].tolist(), member[both].tolist(), strict=True))

    def describe(place: int) -> Fault:
        row, p = wrong[place]
        job, t = record.job[pieces.job[row]], pieces.start[row]
        return fault(t, (job,), f"job {job} starts at {seconds_text(t)} on processor {p}, which drains")

    return found(range(len(wrong)), describe)


def check_planned(record: Record) -> Finding | None:
    """When a job starts that may still run when known maintenance begins, both have their processors."""
    if record.outages is None:
        return None
    job, start, end, procs = record.intervals
    planned = start + record.walltime[job]
    wrong: list[tuple[int, Outage]] = []
    for outage in record.outages.outages:
        known = outage.announced if outage.announced is not None else -LONGEST
        if outage.kind != "maintenance":
            continue
        across = np.flatnonzero((start < outage.start) & (planned > outage.start))
        for row in across[start[across] >= known].tolist():
            earlier = start[across] < start[row] + (end[row] > start[row])  # who comes after it has its place
            beside = across[earlier & (end[across] > start[row]) | (across == row)]
            if procs[beside].sum() + outage.procs > record.capacity:
                wrong.append((row, outage))

    rows = [row for row, _ in wrong]

    def tell(place: int) -> str:
        row, outage = wrong[place]
        longest, away = seconds_text(record.walltime[job[row]]), seconds_text(outage.start)
        return f"starts at {seconds_text(start[row])} for up to {longest} s, into maintenance from {away}"

    return of_jobs(record, range(len(wrong)), tell, start[rows], job[rows])
