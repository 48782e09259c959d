"""Sizes and times on a grid: a moldable task has as many processors as it may, and the times that follow.

Times are recomputed from the log with exact fractions: log x S(n of the log) / S(n) / speed, rounded up to
the next microsecond.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from headway.audit.record import Record
from headway.audit.verdict import Finding, of_jobs, together
from headway.plain import counted
from headway.units import seconds_text

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


def check(record: Record, speedup: Speedup) -> Finding | None:
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
