"""Moves between clusters: a task is always in exactly one place, and only while it waits.

Between two instants a task waits in one queue, runs on one cluster, or is done. So each move leaves the
cluster at which the one before it arrived, none comes before the submission or after the start, and the task
runs where the last one brought it. Local jobs do not move, and run on the cluster they belong to.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from headway.audit.laws.grid_molding import where
from headway.audit.record import Record
from headway.audit.verdict import Finding, of_jobs, together
from headway.schedule.moves import Moves
from headway.units import SECOND, seconds_text


def check(record: Record) -> Finding | None:
    """Every move against those before it, and against where the job ran."""
    moves, there = record.moves, where(record)
    if moves is None or there is None:
        return None
    order = np.lexsort((np.arange(len(moves)), moves.job))
    columns = (moves.job, moves.source, moves.target, moves.time)
    job, source, target, time = (column[order] for column in columns)
    again = np.append(False, job[1:] == job[:-1]) if len(job) else np.zeros(0, np.bool_)
    last = np.append(~again[1:], True) if len(job) else again
    torn = again & (source != np.append(-1, target[:-1])[: len(job)])
    back = again & (time < np.append(0, time[:-1])[: len(job)])
    wrong = {
        "from another cluster than it was on": torn,
        "before an earlier move of it": back,
        "to the cluster it was on": source == target,
        "before it is submitted": time < record.submit[job],
        "after it has started": time > record.first_start[job],
        "and does not run where the last move brought it": last & (target != there[job]),
        "though it is local": record.is_local[job],
    }
    return together(_moves(record, moves, order, wrong), _at_home(record, there))


def _moves(record: Record, moves: Moves, order: np.ndarray, wrong: dict[str, np.ndarray]) -> Finding:
    bad = np.logical_or.reduce(list(wrong.values()))
    time = moves.time[order]

    def tell(place: int) -> str:
        why = next(words for words, where in wrong.items() if where[place])
        return f"is moved at {seconds_text(time[place])} {why}"

    return of_jobs(record, bad, tell, time, moves.job[order])


def _at_home(record: Record, there: np.ndarray) -> Finding:
    """Local jobs run where they belong."""
    if record.local is None or record.home is None:
        return Finding()
    home = record.home

    def tell(row: int) -> str:
        return f"is local and runs on {record.clusters[there[row]].name}"

    return of_jobs(record, record.local & (home != there), tell)


def check_gain(record: Record, threshold: int) -> Finding | None:
    """The check that every move was expected to complete its job earlier by the threshold (µs)."""
    moves = record.moves
    if moves is None:
        return None
    gain = moves.before - moves.after

    def tell(place: int) -> str:
        at, gained = seconds_text(moves.time[place]), seconds_text(gain[place])
        least = seconds_text(threshold)
        return f"is moved at {at} for a gain of {gained} s, the threshold is {least} s"

    return of_jobs(record, gain < threshold, tell, moves.time, moves.job)


def check_data(record: Record, transfer: int, link: Fraction | None) -> Finding | None:
    """The check that a task that was moved starts when its data have come: ``transfer`` µs, and its file.

    ``link`` is the bandwidth for input files in GB/s; None where they take no time.
    """
    moves = record.moves
    if moves is None:
        return None
    came = np.full(len(record), -1, np.int64)
    np.maximum.at(came, moves.job, moves.time)
    late = []
    for row in np.flatnonzero(came >= 0).tolist():
        size = math.nan if record.file_gb is None else float(record.file_gb[row])
        file = 0 if link is None or math.isnan(size) else math.ceil(Fraction(repr(size)) * SECOND / link)
        if record.start[row] < came[row] + transfer + file:
            late.append(row)

    def tell(row: int) -> str:
        return f"is moved at {seconds_text(came[row])} and starts before its data can have come"

    return of_jobs(record, late, tell)


def parts(record: Record) -> Finding | None:
    """Tasks of the grid have the reserved processors, local jobs the others."""
    places = record.places.get("group")
    if places is None:
        return None
    job = record.intervals[0]
    due = np.where(record.is_local[job], list(places.names).index("local"), list(places.names).index("grid"))

    def tell(place: int) -> str:
        has_reserved = places.names[places.codes[place]] == "grid"
        return f"should have {'the others' if has_reserved else 'the reserved processors'} of its cluster"

    return of_jobs(record, places.codes != due, tell, rows=job)


def check_times(record: Record, period: int) -> Finding | None:
    """The check that moves are made at multiples of the period (µs); 0: none are made at all."""
    moves = record.moves
    if moves is None:
        return None
    astray = np.ones(len(moves), np.bool_)
    if period > 0:
        astray = (moves.time % period != 0) | (moves.time <= 0)

    def tell(place: int) -> str:
        return f"is moved at {seconds_text(moves.time[place])}, without an event"

    return of_jobs(record, astray, tell, moves.time, moves.job)
