"""run.json read back: every entry is what it should be, and the files beside it are those of the same run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.documents import check_entries, digest_of, read_json
from headway.errors import InputError
from headway.plain import counted, cut
from headway.platform.cluster import MOST_PROCS
from headway.schedule.files import NAMES, RUN
from headway.values import COUNT, NUMBER

AGAIN = "run the simulation again"

SOURCE = ("name", "sha256", "format")
"""What is said of a log."""

ENTRIES: dict[str, Any] = {
    "version": str,
    "policy": str,
    "platform": dict,
    "processors": range(1, MOST_PROCS + 1),
    "groups": {str: COUNT},
    "promise": str,
    "jobs": COUNT,
    "ledger": [{"rule": str, "action": str, "count": COUNT, "jobs": [NUMBER]}],
    "jobs_in_log": COUNT,
    "dropped": COUNT,
    "trace": dict.fromkeys(SOURCE, str),
    "rules": {str: str},
    "unix_start": (None, COUNT),
    "transformations": [str],
    "named": [str],
    "labels": {str: [str]},
    "own": dict,
    "files": {str: str},
    "seed": COUNT,
    "command": str,
    "policy_source": dict,
    "timing": {str: NUMBER},
    "mean_queue_per_pass": NUMBER,
    "max_queue": NUMBER,
    "events": NUMBER,
    "passes": NUMBER,
}
"""What the entries of run.json are; others are kept as they stand there."""

NEEDED = ("policy", "platform", "processors")


def read_record(folder: Path) -> dict[str, Any]:
    """The run.json of a folder; a folder in which files of two runs are mixed is refused."""
    path = folder / RUN
    record = read_json(path, AGAIN)
    check_entries(record, ENTRIES, path, AGAIN)
    for key in NEEDED:
        if key not in record:
            raise InputError(f"the entry is missing; {AGAIN}", file=path, field=key)
    _check_files(folder, record)
    return dict(record)


def _check_files(folder: Path, record: dict[str, Any]) -> None:
    """Hold the files against their digests; a record that has none is of an older version."""
    written = record.get("files")
    if written is None:
        return
    for name in NAMES:
        path = folder / name
        if name == RUN or (name not in written and not path.exists()):
            continue
        if name not in written or not path.is_file() or digest_of(path) != written[name]:
            wrong = "is not of the same run as" if path.is_file() else "is missing next to"
            found = _what_differs(path, written)
            raise InputError(
                f"{wrong} {RUN}, or was changed since{f': {found.message}' if found else ''}; {AGAIN}, or "
                "judge the table alone with 'headway audit FILE.csv --trace LOG'",
                file=path,
                line=found.line if found else None,
                field=found.field if found else None,
            )


def _what_differs(path: Path, written: dict[str, str]) -> Difference | None:
    """What was changed in a table, where the same one is there in the other format, as it was written."""
    twin = path.with_suffix({".csv": ".parquet", ".parquet": ".csv"}.get(path.suffix, path.suffix))
    if twin == path or not (path.is_file() and twin.is_file()) or digest_of(twin) != written.get(twin.name):
        return None
    return first_difference(path, twin)


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
