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
from headway.forecast.record import Record, nothing_asked
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
    first = min([now, *(job.submit for job in jobs)]) // SECOND
    ended = nobody(platform, first) if past is None else before(past, now)
    header, labels = ended.workload.header, dict(ended.workload.labels)
    origin = SECOND * (header.unix_start or 0)
    given = {
        "job": [job.number for job in jobs],
        "submit": [min(job.submit, now) - origin for job in jobs],
        "procs": [job.procs for job in jobs],
        "walltime": [job.walltime for job in jobs],
        "runtime": [job.walltime if job.start is None else now - job.start for job in jobs],
    }
    for column, name in NAMED.items():
        given[column] = _coded(ended, labels, column, [getattr(job, name) for job in jobs])
    columns = {}
    for name, values in ended.workload.columns.items():
        own = given.get(name, [nothing_asked(name, values)] * len(jobs))
        columns[name] = np.concatenate([values, np.array(own, values.dtype)])
    begun = [NEVER if job.start is None else job.start - origin for job in jobs]
    start, end = np.array(begun, np.int64), np.full(len(jobs), NEVER, np.int64)
    work = Workload(columns, header=header, labels=labels)
    start, end = np.concatenate([ended.start, start]), np.concatenate([ended.end, end])
    return Record(work, platform, start, end), now - origin


def nobody(platform: Platform, first: int) -> Record:
    """A past without jobs, whose clock was 0 at ``first`` (s since 1970)."""
    none = np.zeros(0, np.int64)
    header = Header((f"; UnixStartTime: {first}",))
    return Record(Workload(dict.fromkeys(ALWAYS, none), header=header), platform, none, none)


def before(past: Record, now: int) -> Record:
    """The runs of a past that have ended by ``now`` (µs since 1970)."""
    over = past.end <= now - SECOND * (past.workload.header.unix_start or 0)
    return Record(past.workload.select(over), past.platform, past.start[over], past.end[over])


def _coded(ended: Record, labels: dict[str, list[str]], column: str, given: list[str]) -> list[int]:
    """Codes of names, -1 for none; names that are new join those of the column.

    Where the past has numbers without names, new names get numbers of which it has none.
    """
    codes = {name: code for code, name in enumerate(labels.get(column, []))}
    taken = -1 if codes else int(ended.column(column).max(initial=-1))
    for name in given:
        if name:
            codes.setdefault(name, taken + 1 + len(codes))
    if codes and taken < 0:
        labels[column] = list(codes)
    return [codes.get(name, -1) for name in given]
