"""Nobody runs on processors that are not there: not during maintenance, nor while they are down.

Where runs have processors, these are looked at; everywhere the numbers must do. A run that a failure stopped
ends when its processors go. On processors that drain nothing starts. Maintenance that was known when a job
started must have room beside it, if it is planned by its walltime (the invariant ``maintenance``).
"""

from __future__ import annotations

import numpy as np

from headway.audit.laws.capacity import overfull
from headway.audit.record import Record
from headway.audit.verdict import Column, Fault, Finding, fault, found, of_jobs, together
from headway.plain import counted
from headway.platform import Outage
from headway.platform.absences import absences
from headway.platform.processor_sets import numbers
from headway.units import LONGEST, seconds_text


def check(record: Record) -> Finding | None:
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
