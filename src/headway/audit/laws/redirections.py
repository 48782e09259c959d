"""Redirection: who may be stopped, when, and where the job goes on.

A redirected job fits into the redirection group and is stopped once, in the principal group, at an instant
at which some job was submitted; no two are stopped at the same instant; its next run is in the redirection
group, and nobody else runs there. Where that is a cluster of another speed, its times are those of the log by
the ratio of the speeds, rounded up; all others have the log's.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from headway.audit.record import Record
from headway.audit.verdict import Column, Finding, of_jobs, together
from headway.plain import counted
from headway.schedule import Pieces
from headway.schedule.pieces import TO_REDIRECTION, Places
from headway.units import seconds_text


def check(record: Record) -> Finding | None:
    """Every stop against the rules; not where the schedule does not say which group a job was in."""
    places, pieces = record.places.get("group"), record.pieces
    if places is None or set(places.names) != {"principal", "redirection"}:
        return None
    if pieces is None:
        nobody = np.zeros(0, np.int64)
        return together(_uninvited(record, places, nobody), _times(record, nobody))
    if pieces.group is None:
        return None
    stops = np.flatnonzero(np.isin(pieces.ended, TO_REDIRECTION))
    stops = stops[np.argsort(pieces.end[stops], kind="stable")]
    return together(
        _unfit(record, places, pieces, stops),
        _ill_timed(record, pieces, stops),
        _uninvited(record, places, pieces.job[stops]),
        _times(record, pieces.job[stops]),
    )


def _unfit(record: Record, places: Places, pieces: Pieces, stops: Column) -> Finding:
    """Wider than the redirection group, stopped twice, or stopped elsewhere than in the principal group."""
    assert pieces.group is not None
    size = places.sizes[places.names.index("redirection")]
    job, times = pieces.job[stops], pieces.end[stops]
    again = np.ones(len(job), np.bool_)
    again[np.unique(job, return_index=True)[1]] = False
    wide = record.procs[job] > size
    astray = pieces.group[stops] != places.names.index("principal")

    def tell(place: int) -> str:
        if wide[place]:
            wrong = (
                f"needs {counted(record.procs[job[place]], 'processor')}, the redirection group has {size}"
            )
        elif again[place]:
            wrong = "was redirected before"
        else:
            wrong = "does not run in the principal group"
        return f"is redirected at {seconds_text(times[place])} and {wrong}"

    return of_jobs(record, wide | again | astray, tell, times, job)


def _ill_timed(record: Record, pieces: Pieces, stops: Column) -> Finding:
    """At an instant without an arrival, or at the same instant as another."""
    times = pieces.end[stops]
    alone = ~np.isin(times, record.submit if record.instants is None else record.instants)
    second = np.append(False, times[1:] == times[:-1]) if len(times) else np.zeros(0, np.bool_)

    def tell(place: int) -> str:
        wrong = "though no job was submitted then" if alone[place] else "together with another"
        return f"is redirected at {seconds_text(times[place])}, {wrong}"

    return of_jobs(record, alone | second, tell, times, pieces.job[stops])


def _uninvited(record: Record, places: Places, redirected: Column) -> Finding:
    """Jobs in the redirection group that were not redirected, and redirected ones that ended elsewhere."""
    job, start = record.intervals[0], record.intervals[1]
    there = np.zeros(len(record), np.bool_)
    there[job[places.codes == places.names.index("redirection")]] = True
    sent = np.zeros(len(record), np.bool_)
    sent[redirected] = True
    began = record.start.copy()
    began[job] = np.maximum(began[job], start)

    def tell(row: int) -> str:
        if sent[row]:
            return "was redirected and does not run in the redirection group"
        return "runs in the redirection group and was not redirected"

    return of_jobs(record, there != sent, tell, began)


def _times(record: Record, redirected: Column) -> Finding:
    """Times as run on two clusters of different speeds; elsewhere another invariant compares them."""
    if len(record.clusters) != 2 or not record.speeds:
        return Finding()
    first, second = (Fraction(repr(float(cluster.speed))) for cluster in record.clusters)
    by, over = (first / second).as_integer_ratio()
    due = {"walltime": record.asked_walltime.copy(), "runtime": record.asked_runtime.copy()}
    for column in due.values():
        column[redirected] = [-(-int(time) * by // over) for time in column[redirected]]
    had = {"walltime": record.walltime, "runtime": record.runtime}

    def tell(row: int) -> str:
        wrong = ", ".join(
            f"{name} {seconds_text(had[name][row])} s instead of {seconds_text(due[name][row])} s"
            for name in due
            if had[name][row] != due[name][row]
        )
        return f"has {wrong} on its cluster"

    differs = (had["walltime"] != due["walltime"]) | (had["runtime"] != due["runtime"])
    return of_jobs(record, differs, tell)
