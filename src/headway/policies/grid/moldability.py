"""What the log says of each job of a grid, and how it may be molded: exact fractions of whole numbers."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np

from headway.engine.stretch import MOST
from headway.errors import UsageError
from headway.jit.kernels import as_written
from headway.platform import Cluster
from headway.policies.grid.fitting import homes, is_moldable
from headway.policies.prepare import Arrivals, Table
from headway.policies.spec import Spec


def fraction(number: float) -> tuple[int, int]:
    """A number as the fraction of the decimals it is written with."""
    found = Decimal(repr(float(number))).as_integer_ratio()
    if max(found) >= 1 << 62:
        raise UsageError(f"reallocation: {number:g} has too many decimals to compute times exactly; round it")
    return found


def job_rows(
    spec: Spec, arrivals: Arrivals, clusters: tuple[Cluster, ...], speeds: list[tuple[int, int]]
) -> dict[int, Table]:
    """What the log says of each job, and how it may be molded."""
    from headway.policies.grid import tables

    jobs = len(arrivals.submit)
    limit = arrivals.extra.get("max_procs", np.full(jobs, -1))
    of, out_of = _fractions(arrivals)
    rows: dict[int, Table] = {
        tables.Task.TRACE_PROCS: arrivals.procs,
        tables.Task.TRACE_WALL: arrivals.walltime,
        tables.Task.OF: of,
        tables.Task.OUT_OF: out_of,
        tables.Task.LIMIT: np.where(out_of > 0, limit, -1),
        tables.Task.HOME: homes(arrivals.columns, arrivals.labels, clusters),
    }
    speedup, over = _speedups(spec, of, out_of, arrivals.procs)
    rows |= {tables.Task.SPEEDUP: speedup, tables.Task.SPEEDUP_OVER: over}
    _refuse_large_fractions(spec, rows, max(cluster.procs for cluster in clusters), speeds)
    return rows


def _fractions(arrivals: Arrivals) -> tuple[Table, Table]:
    """The parallel part of each job as a fraction; 0 / 0 for one that is rigid."""
    jobs = len(arrivals.submit)
    given = arrivals.extra.get("parallel_fraction", np.full(jobs, np.nan))
    of, out_of = np.zeros(jobs, np.int64), np.zeros(jobs, np.int64)
    moldable = is_moldable(arrivals.columns)
    for value in np.unique(given[moldable]).tolist():
        chosen = moldable & (given == value)
        of[chosen], out_of[chosen] = fraction(value)
    return of, out_of


def _speedups(spec: Spec, of: Table, out_of: Table, procs: Table) -> tuple[Table, Table]:
    """The speedup of each job on the log's processors, as a fraction in lowest terms; 1 for rigid ones."""
    top, bottom = np.ones(len(of), np.int64), np.ones(len(of), np.int64)
    several = out_of > 0
    kinds, place = np.unique(np.stack([of, out_of, procs])[:, several], axis=1, return_inverse=True)
    found = [lowest(*law_of(spec, int(a), int(d), int(n))) for a, d, n in kinds.T]
    if max((max(pair) for pair in found), default=0) >= MOST:
        raise UsageError(
            f"reallocation: parallel_fraction and sigma={spec.number('sigma'):g} have too many decimals to "
            "compute times exactly; round them"
        )
    if found:
        top[several], bottom[several] = np.array(found, object).T[:, place.reshape(-1)]
    return top, bottom


def law_of(spec: Spec, of: int, out_of: int, n: int) -> tuple[int, int]:
    """Speedup on n processors of a job of which of / out_of is parallel, under the spec's law."""
    from headway.policies.grid import molding

    if spec.params["law"] == "amdahl":
        speedup: tuple[int, int] = as_written(molding.amdahl)(of, out_of, n)
    else:
        sigma = fraction(float(str(spec.params["sigma"])))
        speedup = as_written(molding.downey)(of, out_of, n, *sigma)
    return speedup


def lowest(top: int, bottom: int) -> tuple[int, int]:
    """A fraction in lowest terms."""
    common = math.gcd(top, bottom)
    return top // common, bottom // common


def _refuse_large_fractions(
    spec: Spec, rows: dict[int, Table], most: int, speeds: list[tuple[int, int]]
) -> None:
    """Factors are computed with whole numbers of limited size; each piece of a law is largest at its ends."""
    from headway.policies.grid import tables

    fast, slow = max(over for _, over in speeds), max(top for top, _ in speeds)
    several = rows[tables.Task.OUT_OF] > 0
    for of, out_of in np.unique(
        np.stack([rows[tables.Task.OF], rows[tables.Task.OUT_OF]])[:, several], axis=1
    ).T.tolist():
        here = several & (rows[tables.Task.OF] == of) & (rows[tables.Task.OUT_OF] == out_of)
        ends = {1, most}
        if out_of > of:
            bend = out_of // (out_of - of)
            ends |= {n for k in (bend, 2 * bend, 3 * bend) for n in (k - 1, k, k + 1) if 1 <= n <= most}
        laws = [law_of(spec, of, out_of, n) for n in ends]
        by = int(rows[tables.Task.SPEEDUP][here].max()) * max(bottom for _, bottom in laws) * fast
        over = int(rows[tables.Task.SPEEDUP_OVER][here].max()) * max(top for top, _ in laws) * slow
        if max(by, over) >= MOST:
            raise UsageError(
                f"reallocation: a parallel_fraction of {of / out_of} on up to {most} processors and the "
                "speeds of the clusters have too many decimals to compute times exactly; round them"
            )
