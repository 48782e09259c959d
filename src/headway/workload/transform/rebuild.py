"""Building a workload out of another one: shifted clocks, changed headers, added rows."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.arrays import Floats, Ints, Mask
from headway.errors import UsageError
from headway.plain import close
from headway.units import LONGEST, SECOND
from headway.workload.header import Header
from headway.workload.ledger import Ledger, LedgerEntry
from headway.workload.table import TYPES, Workload

Column = NDArray[Any]

MOST_NAMED = 12
"""Names that a message lists at most."""


def with_key(header: Header, key: str, value: object) -> Header:
    """The header with the first line of a key replaced, or the key added at the end."""
    line = f"; {key}: {value}"
    lines = list(header.lines)
    for k, old in enumerate(lines):
        if old.lstrip("; \t").lower().startswith(key.lower() + ":"):
            lines[k] = line
            return Header(lines)
    return Header([*lines, line])


ON_THE_CLOCK = ("deadline", "eligible", "recorded_start")
"""Columns beside the submission that are times on the log's clock; -1 stands for none."""


def shifted(workload: Workload, by: int) -> Workload:
    """All clocks moved back by `by` µs: submits and what belongs to them, and the date the log starts at."""
    header = workload.header
    started = header.unix_start
    if started is not None and by % SECOND == 0:
        header = with_key(header, "UnixStartTime", started + by // SECOND)
    return workload.replaced(changed=moved(workload, workload.submit - by), header=header)


def moved(workload: Workload, submit: Ints) -> dict[str, Column]:
    """Columns for new submit times; what else is on the clock keeps its distance from the submission."""
    columns: dict[str, Column] = {"submit": submit}
    for name in ON_THE_CLOCK:
        times = workload.get(name)
        if times is not None:
            columns[name] = np.where(times >= 0, np.maximum(times + (submit - workload.submit), 0), times)
    return columns


def on_grid(times: Floats, like: Column) -> Ints:
    """Times (µs) to the nearest second where all of `like` are whole seconds, else to the nearest µs."""
    step = step_of(like)
    return np.rint(times / step).astype(np.int64) * step


def step_of(times: Column) -> int:
    """A second (µs) where all times are whole seconds, else a microsecond."""
    return SECOND if not np.any(times % SECOND) else 1


def multiplied(times: Ints, by: float, where: str) -> Ints:
    """Times (µs) by a number as it is written, rounded up to the next µs."""
    if not math.isfinite(by):
        raise UsageError(f"{where} must be a number, not {by:g}")
    over, under = Decimal(str(by)).as_integer_ratio()
    exact = -(-times.astype(object) * over // under)
    if exact.max(initial=0) > LONGEST:
        raise UsageError(f"{where} {by:g} makes times longer than can be kept")
    return np.asarray(exact, np.int64)


def missing(name: str, rows: int) -> Column:
    """What a column holds for jobs that have no such value."""
    kind = TYPES.get(name, np.int64)
    if kind is np.bool_:
        return np.zeros(rows, np.bool_)
    return np.full(rows, np.nan) if kind is np.float64 else np.full(rows, -1, np.int64)


def with_rows(
    workload: Workload, added: Mapping[str, Column], *, rule: str, action: str, first: int
) -> Workload:
    """The workload with jobs added at its end, under job numbers from `first` on, told in the ledger."""
    rows = len(added["submit"])
    ids = first + np.arange(rows)
    new = {"job": ids, **added}
    names = [*workload.columns, *(name for name in new if name not in workload.columns)]
    columns = {
        name: np.concatenate(
            [
                workload.columns.get(name, missing(name, len(workload))),
                new.get(name, missing(name, rows)),
            ]
        )
        for name in names
    }
    ledger = Ledger(workload.ledger.total + rows, workload.ledger.entries)
    entry = LedgerEntry.of(rule, action, ids, dropped=False)
    return workload.replaced(columns=columns, ledger=ledger.with_entries(entry))


def next_job(workload: Workload) -> int:
    """The smallest job number above all others, those of dropped jobs included."""
    dropped = workload.ledger.dropped_jobs()
    return 1 + max(int(workload.job.max(initial=0)), int(dropped.max(initial=0)))


def machine_size(workload: Workload, procs: int | None, where: str) -> int:
    """Processors as given, else as the log's header says."""
    size = procs if procs is not None else workload.header.max_procs
    if size is None:
        raise UsageError(f"{where}: the log does not say how many processors there are; give procs")
    if size < 1:
        raise UsageError(f"{where}: procs must be at least 1, not {size}")
    return size


def named(workload: Workload, column: str, wanted: list[int | str]) -> Mask:
    """Which jobs have one of these users, groups, queues or partitions, by number or by name.

    A name that the log does not have is a mistake; a number may be missing in this part of it.
    """
    labels = workload.labels.get(column)
    values = workload.columns[column]
    if labels is None:
        for name in wanted:
            if not re.fullmatch(r"-?\d+", str(name)):
                there = _some(np.unique(values[values >= 0]).astype(str).tolist())
                raise UsageError(f"the log has no {column} {name}; it has numbers for them: {there}")
        return np.isin(values, np.array([int(name) for name in wanted], np.int64))
    for name in wanted:
        if str(name) not in labels:
            hint = close(str(name), labels)
            raise UsageError(f"the log has no {column} {name}{hint}; there are {_some(labels)}")
    texts = {str(name) for name in wanted}
    codes = [code for code, label in enumerate(labels) if label in texts]
    return np.isin(values, np.array(codes, np.int64))


def _some(names: Sequence[str]) -> str:
    """Names between commas, the first of them where they are many."""
    return ", ".join([*names[:MOST_NAMED], *(["..."] if len(names) > MOST_NAMED else [])]) or "none"


def by_submission(workload: Workload, drawn: Column) -> Column:
    """In the order of the log, what was drawn for one job after the other in order of submission."""
    found = np.empty_like(drawn)
    found[workload.order] = drawn
    return found


def generator(seed: int) -> np.random.Generator:
    """The random numbers of a seed: the same on every machine."""
    return np.random.Generator(np.random.PCG64(seed))


def probabilities(shares: list[float], where: str) -> Floats:
    """Shares as probabilities; they need not add up to 1."""
    values = np.array(shares, float)
    if len(values) == 0 or np.any(values < 0) or values.sum() <= 0:
        raise UsageError(f"{where}: shares must be at least 0 and not all 0")
    return np.asarray(values / values.sum())


def executed_area(workload: Workload) -> Floats:
    """Processor-seconds each job uses when it runs: procs x min(runtime, walltime)."""
    ran = np.minimum(workload.runtime, workload.walltime)
    return workload.procs * (ran / SECOND)


OF_SIZE = ("cpus", "cpus_with_gpus", "min_nodes", "max_nodes", "memory_job_mb")
"""Columns of what Slurm's users ask for that grow with the size of a job."""
OF_TASKS = ("tasks", "cpus_per_task", "tasks_per_node")
"""Columns that say how its CPUs are divided, which another size does not keep."""


def resized(workload: Workload, procs: Column) -> dict[str, Column]:
    """Columns for new processor counts; the record of those allocated and the request, where kept, follow."""
    columns: dict[str, Column] = {"procs": procs}
    if "allocated" in workload:
        columns["allocated"] = np.where(workload.allocated > 0, procs, workload.allocated)
    other = procs != workload.procs
    for name in [name for name in OF_SIZE if name in workload]:
        asked = workload.columns[name]
        scaled = -(-asked * procs // np.maximum(workload.procs, 1))
        columns[name] = np.where(other & (asked > 0), scaled, asked)
    for name in [name for name in OF_TASKS if name in workload]:
        columns[name] = np.where(other, -1, workload.columns[name])
    return columns
