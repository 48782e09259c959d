"""A schedule as tables: the columns of schedule.csv and runs.csv."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headway.schedule.csv_table import NONE, seconds_column, with_nulls
from headway.schedule.pieces import COLUMNS, ENDED, PLACES, STATES, WHY, Pieces
from headway.schedule.shares import joined, share_columns
from headway.workload.divisions import divisions

if TYPE_CHECKING:
    import polars as pl

    from headway.schedule.schedule import Schedule

Times = Callable[..., "pl.Series"]

EXTRAS = (
    *("urgent", "deadline", "swap", "parallel_fraction", "max_procs", "local"),
    *("file", "file_gb", "needs_node_gb", "constraint", "trace_submit", "follows", "think"),
)
"""Optional columns of the workload that judging a schedule needs; they follow the fixed ones."""

EXTRA_TIMES = ("deadline", "swap", "trace_submit", "think")
EXTRA_NAMES = ("file", "constraint")
NOTE_TIMES = ("planned_at", "planned_start")
HOME = "home"
"""The cluster that a job comes from; `cluster` is the one where it ran."""


def schedule_frame(schedule: Schedule, times: Times = seconds_column) -> pl.DataFrame:
    """One row per job in trace order; `times` says how a column of microseconds is shown."""
    import polars as pl

    workload = schedule.workload
    columns = [
        pl.Series("job", workload.columns["job"]),
        times("submit", schedule.submit),
        times("start", schedule.start),
        times("end", schedule.end),
        pl.Series("procs", schedule.procs),
        times("walltime", schedule.walltime),
        times("runtime", schedule.runtime),
        times("wait", schedule.wait),
        _names("why", schedule.why, WHY),
        pl.Series("killed", schedule.killed.astype(np.int8)),
        _workload_names(schedule, "user"),
        _workload_names(schedule, "queue"),
    ]
    of_site = divisions(workload)
    for name in ("partition", "qos", "account"):
        if name == "partition" and schedule.partition is not None:
            columns.append(_names(name, schedule.partition, schedule.labels.get(name)))
        elif name in of_site:
            columns.append(_workload_names(schedule, of_site[name]).alias(name))
    if schedule.shares is not None:
        columns += share_columns(schedule.shares, len(schedule))
    for name in ("group", "cluster", "node"):
        codes = getattr(schedule, name)
        if codes is not None:
            columns.append(_names(name, codes, schedule.labels.get(name)))
    if schedule.promise is not None:
        columns.append(times("promise", schedule.promise, absent=NONE))
    columns += _differences(schedule, times)
    if schedule.waiting is not None:
        columns.append(times("waiting", schedule.waiting))
    for name in EXTRAS:
        if name == "constraint" and (name not in workload or not (workload.columns[name] >= 0).any()):
            continue  # every log of a site has the column, few have constraints
        if name in EXTRA_NAMES and name in workload.columns:
            columns.append(_names(name, workload.columns[name], workload.labels.get(name)))
        elif name in workload.columns:
            columns.append(_extra(name, workload.columns[name], times))
    if schedule.moves is not None and "cluster" in workload.columns:
        columns.append(_names(HOME, workload.columns["cluster"], workload.labels.get("cluster", ())))
    return pl.DataFrame(columns)


def notes_frame(schedule: Schedule, times: Times = seconds_column) -> pl.DataFrame:
    """What the policy noted of each job: codes by their names, times in seconds, numbers as they are."""
    import polars as pl

    columns = [pl.Series("job", schedule.workload.columns["job"])]
    for name, column in schedule.notes.items():
        if name in NOTE_TIMES:
            columns.append(times(name, column, absent=NONE))
        elif name in schedule.labels:
            columns.append(_names(name, column, schedule.labels[name]))
        else:
            columns.append(pl.Series(name, column))
    return pl.DataFrame(columns)


def runs_frame(schedule: Schedule, times: Times = seconds_column) -> pl.DataFrame:
    """One row per piece, by job in trace order, then run, then time."""
    import polars as pl

    pieces = all_pieces(schedule)
    order = pieces.in_order()
    empty = pl.Series([None] * len(pieces), dtype=pl.String)
    columns = [
        pl.Series("job", schedule.workload.columns["job"][pieces.job[order]]),
        pl.Series("run", pieces.run[order]),
        _names("state", pieces.state[order], STATES),
        times("start", pieces.start[order]),
        times("end", pieces.end[order]),
        pl.Series("procs", pieces.procs[order]),
    ]
    for name in PLACES:
        codes = getattr(pieces, name)
        columns.append(
            empty.alias(name) if codes is None else _names(name, codes[order], schedule.labels.get(name))
        )
    if pieces.processors is None:
        columns.append(empty.alias("processors"))
    else:
        sets = pl.Series("processors", list(pieces.processors), dtype=pl.String)[order]
        columns.append(sets.replace("", None))
    columns.append(_names("ended", pieces.ended[order], ENDED))
    if pieces.shares is not None:
        columns += share_columns(pieces.shares.in_rows(order, len(pieces)), len(pieces))
    return pl.DataFrame(columns)


def all_pieces(schedule: Schedule) -> Pieces:
    """The pieces of every job; jobs without any in the table ran in one, from start to end."""
    jobs = len(schedule)
    given = schedule.pieces
    alone = np.arange(jobs) if given is None else np.flatnonzero(given.alone(jobs))
    single = Pieces(
        job=alone,
        run=np.zeros(len(alone), np.int64),
        state=np.full(len(alone), STATES.index("running")),
        start=schedule.start[alone],
        end=schedule.end[alone],
        procs=schedule.procs[alone],
        ended=np.where(schedule.killed[alone], ENDED.index("walltime"), ENDED.index("done")),
        **{
            name: None if getattr(schedule, name) is None else getattr(schedule, name)[alone]
            for name in PLACES
        },
        shares=None if schedule.shares is None else schedule.shares.in_rows(alone, jobs),
    )
    return single if given is None else _joined(given, single)


def _joined(first: Pieces, second: Pieces) -> Pieces:
    if not len(second):
        return first

    def both(name: str) -> NDArray[np.int64] | None:
        columns = [getattr(table, name) for table in (first, second)]
        if columns[0] is None and columns[1] is None:
            return None
        lengths = (len(first), len(second))
        return np.concatenate(
            [np.full(n, NONE) if c is None else c for c, n in zip(columns, lengths, strict=True)]
        )

    sets = None if first.processors is None else [*first.processors, *[""] * len(second)]
    shares = None
    if first.shares is not None and second.shares is not None:
        shares = joined(first.shares, second.shares, len(first))
    columns: dict[str, Any] = {name: both(name) for name in (*COLUMNS, *PLACES)}
    return Pieces(**columns, processors=sets, shares=shares)


def _names(name: str, codes: NDArray[np.generic], names: object) -> pl.Series:
    """Codes as their names; the numbers themselves where there are no names; null for NONE."""
    import polars as pl

    numbers = pl.Series(name, np.asarray(codes, dtype=np.int64))
    if names is None:
        return with_nulls(numbers, np.asarray(codes) != NONE)
    table = pl.Series(name, list(names), dtype=pl.String)  # type: ignore[call-overload]
    missing = np.asarray(codes, dtype=np.int64) < 0
    if missing.all():
        return pl.Series(name, [None] * len(numbers), dtype=pl.String)
    return with_nulls(table.gather(np.where(missing, 0, codes)), ~missing)


def _workload_names(schedule: Schedule, name: str) -> pl.Series:
    """User, queue or so as the log calls them; SWF's numbers (with -1 for unknown) are names themselves."""
    import polars as pl

    codes = schedule.workload.columns[name]
    labels = schedule.workload.labels.get(name)
    return pl.Series(name, codes) if labels is None else _names(name, codes, labels)


def _differences(schedule: Schedule, times: Times) -> list[pl.Series]:
    """The log's own values where the run had others."""
    import polars as pl

    columns = []
    for name in ("procs", "walltime", "runtime"):
        logged = schedule.workload.columns[name]
        if not np.array_equal(logged, getattr(schedule, name)):
            text = f"trace_{name}"
            columns.append(pl.Series(text, logged) if name == "procs" else times(text, logged))
    if schedule.partition is not None:
        ran = _names("partition", schedule.partition, schedule.labels.get("partition"))
        asked = _workload_names(schedule, "partition")
        if ran.dtype != asked.dtype or not ran.equals(asked):
            columns.append(asked.alias("trace_partition"))
    return columns


def _extra(name: str, values: NDArray[np.generic], times: Times) -> pl.Series:
    import polars as pl

    if name in EXTRA_TIMES:
        return times(name, values, absent=NONE)
    if values.dtype == np.bool_:
        return pl.Series(name, values.astype(np.int8))
    if values.dtype.kind == "f":
        return pl.Series(name, values).fill_nan(None)
    return with_nulls(pl.Series(name, values), np.asarray(values) != NONE)
