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
from headway.forecast.record import Column, Record, nothing_asked
from headway.platform import Platform
from headway.units import NEVER, SECOND
from headway.workload import Header, Workload
from headway.workload.table import ALWAYS

NAMED = {"user": "user", "partition": "partition", "node_list": "nodes", "account": "account", "qos": "qos"}
"""Columns of names, and what a job of now has for them."""


@dataclass(frozen=True)
class Present:
    """A job that runs or waits; ``start`` is None while it waits. Times are µs since 1970."""

    procs: int
    walltime: int
    submit: int
    start: int | None = None
    user: str = ""
    number: int = 0
    partition: str = ""
    nodes: str = ""
    """Those it runs on, such as n[1-3,7]; of a site's jobs."""
    account: str = ""
    qos: str = ""


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
    labels = {} if ended is None else dict(ended.workload.labels)
    named = {
        column: _coded(ended, labels, column, [getattr(job, name) for job in jobs])
        for column, name in NAMED.items()
    }
    columns = {
        "job": np.array([job.number for job in jobs], np.int64),
        "submit": np.array([min(job.submit, now) - origin for job in jobs], np.int64),
        "procs": np.array([job.procs for job in jobs], np.int64),
        "walltime": np.array([job.walltime for job in jobs], np.int64),
        "runtime": np.array(
            [job.walltime if job.start is None else now - job.start for job in jobs], np.int64
        ),
        **named,
    }
    begun = [NEVER if job.start is None else job.start - origin for job in jobs]
    start, end = np.array(begun, np.int64), np.full(len(jobs), NEVER, np.int64)
    if ended is not None:
        start, end = np.concatenate([ended.start, start]), np.concatenate([ended.end, end])
    work = Workload(
        {name: _behind(ended, name, columns, len(jobs)) for name in _names(ended)},
        header=header,
        labels=labels,
    )
    return Record(work, platform, start, end), now - origin


def before(past: Record, now: int) -> Record:
    """The runs of a past that have ended by ``now`` (µs since 1970)."""
    over = past.end <= now - SECOND * (past.workload.header.unix_start or 0)
    return Record(past.workload.select(over), past.platform, past.start[over], past.end[over])


def _coded(ended: Record | None, labels: dict[str, list[str]], column: str, given: list[str]) -> Column:
    """Codes of names, -1 for none; names that are new join those of the column.

    Where the past has numbers without names, new names get numbers of which it has none.
    """
    codes = {name: code for code, name in enumerate(labels.get(column, []))}
    taken = -1 if ended is None or codes else int(ended.column(column).max(initial=-1))
    for name in given:
        if name:
            codes.setdefault(name, taken + 1 + len(codes))
    if codes and taken < 0:
        labels[column] = list(codes)
    return np.array([codes.get(name, -1) for name in given], np.int64)


def _names(ended: Record | None) -> list[str]:
    return list(ALWAYS) if ended is None else list(ended.workload.columns)


def _behind(ended: Record | None, name: str, columns: dict[str, Column], count: int) -> Column:
    """A column of the past with the values of the present jobs behind it."""
    if ended is None:
        return columns.get(name, np.full(count, -1, np.int64))
    column = ended.workload.columns[name]
    own = columns.get(name, np.full(count, nothing_asked(name, column), np.int64))
    return np.concatenate([column, own.astype(column.dtype)])
