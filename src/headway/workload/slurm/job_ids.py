"""JobID and JobIDRaw as numbers: 123, 123_4, 123_[5-9], 123+1, each perhaps with a step behind a point.

A record's key packs its job number with the place in its array or heterogeneous job, so that steps, repeated
records and runs of one job find each other without any text being kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl

PLAIN, TASK, WAITING_TASKS, COMPONENT = range(4)
"""A job, a task of an array, the tasks of an array that never started, a part of a heterogeneous job."""

_ID = r"^(\d{1,10})(?:_(\d{1,9})|_\[([^\]]*)\]|\+(\d{1,6}))?(?:\.(.+))?$"
_EVERY_WAITING = (1 << 31) - 1


def shown_ids(frame: pl.DataFrame) -> pl.Series:
    """What records are called, which tells tasks of arrays, where the export has it."""
    return frame["JobID" if "JobID" in frame.columns else "JobIDRaw"]


def identified(frame: pl.DataFrame) -> dict[str, pl.Series]:
    """Columns number (null where it is none), step, key, kind, and shared: whether others have the number."""
    both = "JobID" in frame.columns and "JobIDRaw" in frame.columns
    found = _by_raw_numbers(frame) if both else _by_shown_numbers(frame)
    return found.to_dict(as_series=True)


def array_and_task(shown: pl.Series) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The array that a task belongs to and its place in it; -1 where there is none, or several places."""
    import polars as pl

    parts = shown.str.extract_groups(r"^(\d+)_(\d+|\[)").struct.unnest()
    array, task = (parts[name].cast(pl.Int64, strict=False).fill_null(-1).to_numpy() for name in ("1", "2"))
    return array, task


def _by_raw_numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Every task has a number of its own; JobID only says what it is."""
    import polars as pl

    raw = pl.col("JobIDRaw").str.strip_chars()
    number = raw.str.splitn(".", 2).struct[0].cast(pl.UInt32, strict=False).cast(pl.Int64)
    shown = pl.col("JobID")
    waiting = shown.str.contains("_[", literal=True)
    task = shown.str.contains("_", literal=True)
    component = shown.str.contains("+", literal=True)
    kind = pl.when(waiting).then(WAITING_TASKS).when(task).then(TASK)
    return frame.select(
        number=number,
        # Tasks that never started have no steps; three points end a list of them that is too long for sacct.
        step=raw.str.contains(".", literal=True) | shown.str.contains(".", literal=True) & ~waiting,
        key=number * (1 << 31) + pl.when(waiting).then(_EVERY_WAITING).otherwise(0),
        kind=kind.when(component).then(COMPONENT).otherwise(PLAIN).cast(pl.UInt8),
        shared=pl.repeat(False, pl.len(), dtype=pl.Boolean),
    )


def _by_shown_numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Tasks of an array share its number and differ by their position in it."""
    import polars as pl

    shown = shown_ids(frame).str.strip_chars()
    names = ["number", "task", "waiting", "offset", "step"]
    parts = shown.str.extract_groups(_ID).struct.rename_fields(names).struct.unnest()
    wide = [
        pl.col(name).cast(pl.UInt32, strict=False).cast(pl.Int64) for name in ("number", "task", "offset")
    ]
    parts = parts.with_columns(*wide)
    task, waiting, offset, step = (
        pl.col(name).is_not_null() for name in ("task", "waiting", "offset", "step")
    )
    within = pl.when(task).then(1 + pl.col("task")).when(offset).then((1 << 30) + pl.col("offset"))
    kind = pl.when(waiting).then(WAITING_TASKS).when(task).then(TASK)
    return parts.select(
        "number",
        step=step,
        key=pl.col("number") * (1 << 31) + within.when(waiting).then(_EVERY_WAITING).otherwise(0),
        kind=kind.when(offset).then(COMPONENT).otherwise(PLAIN).cast(pl.UInt8),
        shared=task | offset,
    )
