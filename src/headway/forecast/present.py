"""A queue that is watched, as a record: the jobs that run and wait now, behind the past of a log.

    jobs = [Present(procs=8, walltime=3600 * SECOND, submit=..., start=..., user="ada"), ...]
    outlook = Outlook(present(jobs, now, Platform.procs(64), past), "easy")

Times are µs since 1970. Without a past nothing is known of run times but the requests, and nobody comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headway.errors import UsageError
from headway.forecast.record import Column, Record
from headway.platform import Platform
from headway.units import NEVER, SECOND
from headway.workload import Header, Workload
from headway.workload.table import ALWAYS


@dataclass(frozen=True)
class Present:
    """A job that runs or waits; ``start`` is None while it waits. Times are µs since 1970."""

    procs: int
    walltime: int
    submit: int
    start: int | None = None
    user: str = ""
    number: int = 0


def present(
    jobs: Sequence[Present], now: int, platform: Platform, past: Record | None = None
) -> tuple[Record, int]:
    """The jobs of now behind those of a past that have ended; also ``now`` on the record's clock (µs)."""
    if past is not None and past.workload.header.unix_start is None:
        raise UsageError(
            f"{past.workload.source.name} does not say when its clock was 0 (UnixStartTime), so that it "
            "cannot be the past of a queue of today"
        )
    ended = None if past is None else before(past, now)
    first = min([now, *(job.submit for job in jobs)]) // SECOND
    header = Header((f"; UnixStartTime: {first}",)) if ended is None else ended.workload.header
    origin = SECOND * (header.unix_start or 0)
    users = [] if ended is None else list(ended.workload.labels.get("user", []))
    names = {name: code for code, name in enumerate(users)}
    for job in jobs:
        if job.user and job.user not in names:
            names[job.user] = len(names)
    columns = {
        "job": np.array([job.number for job in jobs], np.int64),
        "submit": np.array([min(job.submit, now) - origin for job in jobs], np.int64),
        "procs": np.array([job.procs for job in jobs], np.int64),
        "walltime": np.array([job.walltime for job in jobs], np.int64),
        "runtime": np.array(
            [job.walltime if job.start is None else now - job.start for job in jobs], np.int64
        ),
        "user": np.array([names.get(job.user, -1) for job in jobs], np.int64),
    }
    begun = [NEVER if job.start is None else job.start - origin for job in jobs]
    start, end = np.array(begun, np.int64), np.full(len(jobs), NEVER, np.int64)
    if ended is not None:
        start, end = np.concatenate([ended.start, start]), np.concatenate([ended.end, end])
    work = Workload(
        {name: _behind(ended, name, columns, len(jobs)) for name in _names(ended)},
        header=header,
        labels={} if ended is None else ended.workload.labels | {"user": list(names)},
    )
    return Record(work, platform, start, end), now - origin


def before(past: Record, now: int) -> Record:
    """The runs of a past that have ended by ``now`` (µs since 1970)."""
    over = past.end <= now - SECOND * (past.workload.header.unix_start or 0)
    return Record(past.workload.select(over), past.platform, past.start[over], past.end[over])


def _names(ended: Record | None) -> list[str]:
    return list(ALWAYS) if ended is None else list(ended.workload.columns)


def _behind(ended: Record | None, name: str, columns: dict[str, Column], count: int) -> Column:
    """A column of the past with the values of the present jobs behind it."""
    own = columns.get(name, np.full(count, -1, np.int64))
    if ended is None:
        return own
    column = ended.workload.columns[name]
    nothing = np.zeros(count, column.dtype) if column.dtype == np.bool_ else own.astype(column.dtype)
    return np.concatenate([column, nothing])
