"""What the log says of each job of a grid, and how it may be molded: exact fractions of whole numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.engine.stretch import MOST
from headway.errors import InputError, UsageError
from headway.jit.kernels import as_written
from headway.platform import Cluster, Platform
from headway.policies.prepare import Arrivals, Table
from headway.policies.spec import Spec
from headway.workload import Workload

GRID, UNKNOWN = -1, -2
"""The home of a task of the grid, and of a local job whose home the platform does not have."""


def homes(
    columns: Mapping[str, npt.NDArray[Any]], labels: Mapping[str, Sequence[str]], clusters: Sequence[Cluster]
) -> npt.NDArray[np.int64]:
    """The number of the home cluster of each local job, or GRID, or UNKNOWN."""
    local = columns.get("local")
    if local is None:
        return np.full(len(columns["procs"]), GRID)
    names = [cluster.name for cluster in clusters]
    known = [names.index(name) if name in names else UNKNOWN for name in labels.get("cluster", ())]
    code = columns.get("cluster", np.full(len(local), -1))
    return np.where(local, np.array([*known, UNKNOWN])[code], GRID)


def is_moldable(columns: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.bool_]:
    """Jobs whose size may be chosen: neither sequential nor local, and with a parallel fraction."""
    procs = columns["procs"]
    fraction = columns.get("parallel_fraction", np.full(len(procs), np.nan))
    local = columns.get("local", np.zeros(len(procs), np.bool_))
    return np.asarray(~np.isnan(fraction) & ~local & (procs > 1))


def fit_to_grid(
    workload: Workload, platform: Platform, widest: Sequence[int], of_locals: Sequence[int]
) -> Workload:
    """Jobs that some cluster can run; local jobs must fit the one they belong to. Others are dropped.

    ``widest`` is the most processors that a task can have on each cluster, ``of_locals`` that of local jobs.
    """
    sizes = np.array(of_locals)
    home = homes(workload.columns, workload.labels, platform.clusters)
    if (home == UNKNOWN).any():
        job = workload.job[int(np.argmax(home == UNKNOWN))]
        names = ", ".join(cluster.name for cluster in platform.clusters)
        raise InputError(
            f"job {job} is local, but its home is none of the platform's clusters ({names}); give it in the "
            "column cluster of the annotations, or apply home(clusters=[...]) or merge(names=[...])",
            file=workload.source.name,
            field="cluster",
        )
    room = np.where(home >= 0, sizes[home], max(widest))
    room[is_moldable(workload.columns)] = workload.procs.max(initial=0)
    fits = workload.procs <= room
    action = "more processors than any cluster it may run on: dropped"
    most = room[np.argmin(fits)] if len(fits) else 0
    return workload.without_wide(fits, action, f"and its cluster has {most}; give a larger one")


# What the log says of each job of a grid, and how it may be molded: exact fractions of whole numbers.


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
        tables.Tasks["trace_procs"]: arrivals.procs,
        tables.Tasks["trace_wall"]: arrivals.walltime,
        tables.Tasks["of"]: of,
        tables.Tasks["out_of"]: out_of,
        tables.Tasks["limit"]: np.where(out_of > 0, limit, -1),
        tables.Tasks["home"]: homes(arrivals.columns, arrivals.labels, clusters),
    }
    speedup, over = _speedups(spec, of, out_of, arrivals.procs)
    rows |= {tables.Tasks["speedup"]: speedup, tables.Tasks["speedup_over"]: over}
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
    several = rows[tables.Tasks["out_of"]] > 0
    for of, out_of in np.unique(
        np.stack([rows[tables.Tasks["of"]], rows[tables.Tasks["out_of"]]])[:, several], axis=1
    ).T.tolist():
        here = several & (rows[tables.Tasks["of"]] == of) & (rows[tables.Tasks["out_of"]] == out_of)
        ends = {1, most}
        if out_of > of:
            bend = out_of // (out_of - of)
            ends |= {n for k in (bend, 2 * bend, 3 * bend) for n in (k - 1, k, k + 1) if 1 <= n <= most}
        laws = [law_of(spec, of, out_of, n) for n in ends]
        by = int(rows[tables.Tasks["speedup"]][here].max()) * max(bottom for _, bottom in laws) * fast
        over = int(rows[tables.Tasks["speedup_over"]][here].max()) * max(top for top, _ in laws) * slow
        if max(by, over) >= MOST:
            raise UsageError(
                f"reallocation: a parallel_fraction of {of / out_of} on up to {most} processors and the "
                "speeds of the clusters have too many decimals to compute times exactly; round them"
            )
