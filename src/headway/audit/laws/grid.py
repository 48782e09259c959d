"""The invariants of a grid under reallocation: sizes and times of tasks, and moves between clusters.

A moldable task has as many processors as it may, and the times that follow. These are recomputed from the log
with exact fractions: log x S(n of the log) / S(n) / speed, rounded up to the next microsecond.

A task is always in exactly one place, and moves only while it waits. Between two instants it waits in one
queue, runs on one cluster, or is done. So each move leaves the cluster at which the one before it arrived,
none comes before the submission or after the start, and the task runs where the last one brought it. Local
jobs do not move, and run on the cluster they belong to.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from headway.audit.record import Record
from headway.audit.verdict import Finding, Law, of_jobs, together
from headway.plain import counted
from headway.policies.spec import Spec
from headway.schedule.moves import Moves
from headway.units import SECOND, microseconds, seconds_text

Speedup = Callable[[Fraction, int], Fraction]


def amdahl(p: Fraction, n: int) -> Fraction:
    """Speedup on n processors of a task of which the part p is parallel."""
    return 1 / (1 - p + p / n)


def downey(sigma: Fraction) -> Speedup:
    """Downey's speedup with the average parallelism 1 / (1 - p)."""

    def speedup(p: Fraction, n: int) -> Fraction:
        if p == 1:
            return Fraction(n)
        a = 1 / (1 - p)
        if sigma > 1:
            return n * a * (sigma + 1) / (sigma * (n + a - 1) + a) if n <= a + a * sigma - sigma else a
        if n <= a:
            return a * n / (a + sigma * (n - 1) / 2)
        return a * n / (sigma * (a - Fraction(1, 2)) + n * (1 - sigma / 2)) if n <= 2 * a - 1 else a

    return speedup


def check_molding(record: Record, speedup: Speedup) -> Finding | None:
    """The check of sizes and times under a law of speedup."""
    there = where(record)
    if there is None:
        return None
    return together(_sizes(record, there), _times(record, there, speedup))


def where(record: Record) -> np.ndarray | None:
    """The cluster that each job ended on; None where the schedule does not say."""
    if record.cluster is None and len(record.clusters) == 1:
        return np.zeros(len(record), np.int64)
    return record.cluster


def moldable(record: Record) -> np.ndarray:
    """Which jobs may change their size: not the sequential and not the local ones."""
    if record.fraction is None:
        return np.zeros(len(record), np.bool_)
    free = ~np.isnan(record.fraction) & (record.asked > 1)
    return np.asarray(free & ~record.is_local)


def _sizes(record: Record, there: np.ndarray) -> Finding:
    sizes = np.array([cluster.procs for cluster in record.clusters])[there]
    limit = np.full(len(record), -1) if record.limit is None else record.limit
    most = np.where(moldable(record), np.where(limit > 0, np.minimum(limit, sizes), sizes), record.asked)
    least = np.where(moldable(record), 1, record.asked)

    def tell(row: int) -> str:
        return f"has {counted(record.procs[row], 'processor')}, it may have {least[row]} to {most[row]}"

    return of_jobs(record, (record.procs < least) | (record.procs > most), tell)


def _times(record: Record, there: np.ndarray, speedup: Speedup) -> Finding:
    free = moldable(record)
    speeds = [Fraction(repr(float(cluster.speed))) for cluster in record.clusters]
    p = np.zeros(len(record)) if record.fraction is None else np.where(free, record.fraction, -1.0)
    known: dict[tuple[float, int, int, int], Fraction] = {}
    wrong = []
    expected = np.zeros((2, len(record)), np.int64)
    for row in range(len(record)):
        k, n, asked = int(there[row]), int(record.procs[row]), int(record.asked[row])
        key = (float(p[row]), asked, n, k) if free[row] else (-1.0, 1, 1, k)
        if key not in known:
            part = Fraction(repr(key[0])) if free[row] else Fraction(0)
            stretch = speedup(part, asked) / speedup(part, n) if free[row] and n > 0 else Fraction(1)
            known[key] = stretch / speeds[k]
        by, over = known[key].numerator, known[key].denominator
        for i, time in enumerate((record.asked_walltime[row], record.asked_runtime[row])):
            expected[i, row] = -(-int(time) * by // over)
        if expected[0, row] != record.walltime[row] or expected[1, row] != record.runtime[row]:
            wrong.append(row)

    def tell(row: int) -> str:
        walltime, runtime = seconds_text(record.walltime[row]), seconds_text(record.runtime[row])
        due = f"{seconds_text(int(expected[0, row]))} s and {seconds_text(int(expected[1, row]))} s"
        return f"has {walltime} s and {runtime} s; they should be {due}"

    return of_jobs(record, wrong, tell)


def check_places(record: Record) -> Finding | None:
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


def check_parts(record: Record) -> Finding | None:
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


def grid_laws(spec: Spec) -> tuple[Law, ...]:
    """A task is in one place, has a size it may have, moves at events only, and only for a gain."""
    period = float(str(spec.params["period"]))
    still = spec.params["mode"] == "none" or math.isinf(period)
    every = 0 if still else microseconds(str(spec.params["period"]))
    speedup: Speedup = amdahl
    if spec.params["law"] == "downey":
        speedup = downey(Fraction(str(spec.params["sigma"])))
    when = "no task is moved" if still else "tasks are moved at multiples of the period only"
    laws = [
        Law("one place", "a task is in one place and moves only while it waits", check_places),
        Law("events", when, partial(check_times, period=every)),
        Law("molding", "sizes are allowed, times follow from them", partial(check_molding, speedup=speedup)),
    ]
    if spec.params["mode"] == "regular":
        least = microseconds(str(spec.params["threshold"]))
        check = partial(check_gain, threshold=least)
        laws.append(Law("gain", "each move was expected to gain the threshold", check))
    transfer, link = microseconds(str(spec.params["transfer"])), float(str(spec.params["link"]))
    if transfer or math.isfinite(link):
        bandwidth = Fraction(str(spec.params["link"])) if math.isfinite(link) else None
        check = partial(check_data, transfer=transfer, link=bandwidth)
        laws.append(Law("data", "a task that moved starts when its data have come", check))
    if spec.params["reserved"]:
        demands = "tasks of the grid have the reserved processors, local jobs the others"
        laws.append(Law("reserved", demands, check_parts))
    return tuple(laws)
