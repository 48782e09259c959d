"""Several logs as one workload: the grid of the machines they come from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import numpy as np

from headway.errors import UsageError
from headway.plain import counted
from headway.units import SECOND
from headway.workload.header import Header
from headway.workload.ledger import Ledger, LedgerEntry
from headway.workload.read import read
from headway.workload.table import ALWAYS, Workload
from headway.workload.transform.rebuild import Column, missing, shifted
from headway.workload.transform.registry import transformation

PEOPLE = ("user", "group", "queue", "partition", "executable")
"""Columns whose numbers mean something only within their log."""
WITHIN = (*PEOPLE, "file", "account", "qos")
"""Columns whose names mean something only within their log."""
OF_JOBS = {"preceding": 1, "follows": 0, "array": 0}
"""Columns that hold job numbers, and the smallest number that is one."""


@transformation
def merge(
    workload: Workload,
    with_: list[Any],
    names: list[str] | None = None,
    align: Literal["start", "clock"] = "start",
) -> Workload:
    """Merge other logs into this one; each job's home cluster is the log it comes from.

    with: the other logs: files, or workloads already read.
    names: names of the clusters, this log's first; by default the names of the files.
    align: start: every log begins at 0; clock: as their UnixStartTime says.

    Jobs are in submission order. Job numbers, and numbers of users, groups, queues, partitions and
    executables, of the second log on are raised above those before, so that none is mistaken for another;
    whoever follows a job, or depends on it, does so under its new number.
    """
    logs = [workload, *(_opened(other) for other in with_)]
    names = [_short_name(log, k) for k, log in enumerate(logs)] if names is None else names
    if len(names) != len(logs) or len(set(names)) != len(names):
        raise UsageError(f"merge: {len(logs)} logs need {len(logs)} different names, not {', '.join(names)}")
    logs = _aligned(logs, align)
    columns: dict[str, list[Column]] = {}
    labels: dict[str, list[str]] = {}
    every = [*ALWAYS, *dict.fromkeys(name for log in logs for name in log.columns if name not in ALWAYS)]
    for name in every:
        columns[name] = [log.columns.get(name, missing(name, len(log))) for log in logs]
    columns["cluster"] = [np.full(len(log), k, np.int64) for k, log in enumerate(logs)]
    offsets = _offsets([np.concatenate([log.job, log.ledger.dropped_jobs()]) for log in logs])
    columns["job"] = [log.job + offset for log, offset in zip(logs, offsets, strict=True)]
    for name in [n for n in every if n in OF_JOBS]:
        columns[name] = [
            np.where(part >= OF_JOBS[name], part + offset, part)
            for part, offset in zip(columns[name], offsets, strict=True)
        ]
    for name in [n for n in every if n != "cluster"]:
        if any(name in log.labels for log in logs):
            columns[name], labels[name] = _relabelled(name, logs, columns[name], names, offsets)
        elif name in PEOPLE or name == "file":
            columns[name] = _raised(columns[name])
    labels["cluster"] = list(names)
    joined = {name: np.concatenate(parts) for name, parts in columns.items()}
    order = np.argsort(joined["submit"], kind="stable")
    return workload.replaced(
        columns={name: values[order] for name, values in joined.items()},
        header=_header(logs, names),
        ledger=_ledger(logs, names, offsets),
        labels=labels,
    )


def _opened(other: Any) -> Workload:
    if isinstance(other, Workload):
        return other
    if not isinstance(other, (str, Path)):
        raise UsageError(f"merge: with takes files or workloads, not {other!r}")
    return read(other)


def _short_name(log: Workload, place: int) -> str:
    name = Path(log.source.name).name.split(".")[0]
    return name if name and name not in ("-", "generated") else f"log{place + 1}"


def _aligned(logs: list[Workload], align: str) -> list[Workload]:
    if align == "start":
        return [shifted(log, int(log.submit.min())) if len(log) else log for log in logs]
    starts = [log.header.unix_start for log in logs]
    known = [start for start in starts if start is not None]
    if len(known) != len(logs):
        raise UsageError("merge: align=clock needs a UnixStartTime in every log; use align=start")
    return [shifted(log, (min(known) - start) * SECOND) for log, start in zip(logs, known, strict=True)]


def _raised(parts: list[Column]) -> list[Column]:
    """Numbers of each part moved above all of the parts before; negative ones mean unknown and stay."""
    offsets = _offsets(parts)
    return [np.where(part >= 0, part + offset, part) for part, offset in zip(parts, offsets, strict=True)]


def _offsets(parts: list[Column]) -> list[int]:
    """What to add to the numbers of each part; nothing to those of the first."""
    offsets: list[int] = []
    floor = 0
    for part in parts:
        known = part[part >= 0]
        offsets.append(max(floor - int(known.min()), 0) if offsets and len(known) else 0)
        floor = max(floor, int(known.max()) + 1 + offsets[-1] if len(known) else 0)
    return offsets


def _relabelled(
    name: str, logs: list[Workload], parts: list[Column], names: list[str], offsets: list[int]
) -> tuple[list[Column], list[str]]:
    """Codes of all logs in one list of texts: names with their log's name in front, job numbers raised."""
    places: dict[str, int] = {}
    codes = []
    for log, part, prefix, offset in zip(logs, parts, names, offsets, strict=True):
        own = log.labels.get(name)
        if own is None:
            numbers = np.unique(part[part >= 0])
            own = [str(number) for number in numbers.tolist()]
            part = np.where(part >= 0, np.searchsorted(numbers, part), part)
        if name in WITHIN:
            own = [f"{prefix}/{label}" for label in own]
        elif name == "dependency":
            own = [renumbered(label, offset) for label in own]
        new = np.array([*(places.setdefault(label, len(places)) for label in own), -1], np.int64)
        codes.append(np.where(part >= 0, new[part], part))
    return codes, list(places)


def renumbered(dependency: str, offset: int) -> str:
    """What a job depends on, where the numbers of jobs are raised.

    >>> renumbered("afterok:3:4_1+10,singleton", 100)
    'afterok:103:104_1+10,singleton'
    """
    return re.sub(r"(?<=:)\d+", lambda found: str(int(found[0]) + offset), dependency)


def _header(logs: list[Workload], names: list[str]) -> Header:
    sizes = [log.header.max_procs for log in logs]
    lines = ["; Version: 2.2", f"; Computer: {' + '.join(names)}"]
    if all(size is not None for size in sizes):
        lines.append(f"; MaxProcs: {sum(size for size in sizes if size is not None)}")
    starts = [log.header.get("UnixStartTime") for log in logs]
    if starts[0] is not None and len(set(starts)) == 1:
        lines.append(f"; UnixStartTime: {starts[0]}")
    for log, name, size in zip(logs, names, sizes, strict=True):
        of = "" if size is None else f" of {counted(size, 'processor')}"
        lines.append(f"; Note: {name}: {counted(len(log), 'job')}{of} from {Path(log.source.name).name}")
    return Header(lines)


def _ledger(logs: list[Workload], names: list[str], offsets: list[int]) -> Ledger:
    """All entries under the new job numbers; those of dropped jobs move with their log."""
    entries = []
    for log, name, offset in zip(logs, names, offsets, strict=True):
        for entry in log.ledger:
            jobs = tuple(job + offset if job >= 0 else job for job in entry.jobs)
            every = None if entry.every is None else np.where(entry.every >= 0, entry.every + offset, -1)
            action = f"{name}: {entry.action}"
            entries.append(LedgerEntry(entry.rule, action, entry.count, jobs, entry.dropped, every))
    return Ledger(sum(log.ledger.total for log in logs), tuple(entries))
