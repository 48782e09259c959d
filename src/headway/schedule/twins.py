"""A table is there as .csv and as .parquet: where one of them was changed, the other tells what and where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.plain import counted, cut


@dataclass(frozen=True, slots=True)
class Difference:
    """The first row in which two tables differ: line of the CSV file, column, and what stands there."""

    line: int
    field: str | None
    message: str


def first_difference(path: Path, other: Path) -> Difference | None:
    """Where a table at `path` first differs from the one at `other`; None where nobody can say."""
    import polars as pl

    try:
        ours, theirs = _read(path), _read(other)
    except (OSError, ValueError, pl.exceptions.PolarsError):
        return None
    if ours.columns != theirs.columns or "job" not in ours.columns:
        return None
    names, rows, kept = ours.columns, ours.rows(), theirs.rows()
    wrong = [i for i, (row, its) in enumerate(zip(rows, kept, strict=False)) if not _same_row(row, its)]
    if len(rows) != len(kept):
        numbers = f"has {counted(len(rows), 'row')}, and {other.name} {len(kept):,}"
        at = wrong[0] if wrong else min(len(rows), len(kept))
        here = f"{_job(names, kept[at])} here" if at < len(kept) else "nothing more"
        return Difference(at + 2, None, f"{numbers}, which has {here}")
    if not wrong:
        return None
    row, its = rows[wrong[0]], kept[wrong[0]]
    column = next(i for i, pair in enumerate(zip(row, its, strict=True)) if not _same(*pair))
    more = f" ({len(wrong):,} rows differ)" if len(wrong) > 1 else ""
    told = f"{_job(names, its)} has {_shown(row[column])}, and {_shown(its[column])} in {other.name}{more}"
    return Difference(wrong[0] + 2, names[column], told)


def _read(path: Path) -> Any:
    import polars as pl

    if path.suffix == ".csv":
        return pl.read_csv(path, infer_schema=False)
    return pl.read_parquet(path)


def _job(names: list[str], row: tuple[Any, ...]) -> str:
    return f"job {_shown(row[names.index('job')])}"


def _shown(value: object) -> str:
    if value is None or value == "":
        return "nothing"
    text = str(value)
    return text if len(text) <= 20 else cut(text)


def _same_row(row: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return all(_same(mine, its) for mine, its in zip(row, other, strict=True))


def _same(mine: object, its: object) -> bool:
    """Whether two cells say the same, one of them as text."""
    if mine is None or its is None or mine == its:
        return (mine in (None, "")) == (its in (None, ""))
    if isinstance(mine, str) and isinstance(its, str):  # an apostrophe keeps spreadsheets from calculating
        return mine.removeprefix("'") == its.removeprefix("'")
    try:
        return float(str(mine)) == float(str(its))
    except ValueError:
        return False
