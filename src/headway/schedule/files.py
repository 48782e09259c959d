"""The files of a result: the folder, the schedule's tables, and the record of the run."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway import __version__
from headway.documents import check_entries, digest_of, read_json
from headway.errors import InputError, UsageError
from headway.plain import counted, cut
from headway.platform.cluster import MOST_PROCS
from headway.schedule.csv_table import seconds_text_column
from headway.schedule.moves import moves_frame
from headway.schedule.table import notes_frame, runs_frame, schedule_frame
from headway.values import COUNT, NUMBER
from headway.writing import OLD, check_replaceable, check_utf8, disk_trouble, draft_of, remove_drafts

if TYPE_CHECKING:
    import polars as pl

    from headway.schedule.schedule import Schedule


ON_COMMAND_LINE, IN_PYTHON = "--force", "force=True"
"""What replaces the files of a folder, in the words of who asked."""
LAST = ("comparison.json", "run.json")
"""Files by which a folder is known to hold results, and which tie the others together."""


def refuse_occupied(folder: Path, force: bool = False, remedy: str = ON_COMMAND_LINE) -> None:
    """Complain now if `folder` cannot be written later, so that no long run is lost for it."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, not a folder; give another name")
    above = next((parent for parent in folder.parents if parent.exists()), None)
    if above is not None and not above.is_dir():
        raise UsageError(f"{folder} cannot be written: {above} is a file; choose another folder")
    if not force and folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; give another folder, or {remedy} to replace its files")


@contextmanager
def whole_folder(
    folder: Path, force: bool = False, stale: Iterable[str] = (), remedy: str = ON_COMMAND_LINE
) -> Iterator[Path]:
    """A temporary sibling to write into, which becomes `folder` when the block ends well.

    With `force`, entries of the same names are replaced one by one, entries named in `stale` that were
    not written again are removed, and everything else in the folder is left alone. What says that the folder
    holds a run (LAST) goes first and comes last, so that one who is killed in between leaves no mixture.
    """
    folder = Path(os.path.realpath(folder))  # a link stays, what it leads to is written
    check_utf8(folder)
    refuse_occupied(folder, force, remedy)
    remove_drafts(folder)
    draft = draft_of(folder)
    try:
        draft.mkdir(parents=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}; choose another folder") from None
    try:
        yield draft
        refuse_occupied(folder, force, remedy)
        if folder.is_dir() and any(folder.iterdir()):
            _replace_entries(draft, folder, stale)
        else:
            if folder.is_dir():
                folder.rmdir()  # not every system renames onto an empty folder
            draft.rename(folder)
    except Exception as error:
        if (why := disk_trouble(error, draft)) is None:
            raise
        raise UsageError(f"{folder} cannot be written: {why}; choose another folder") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _remove(entry: Path) -> None:
    """Remove a file, a link or a folder, if it is there."""
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink(missing_ok=True)


def _replace_entries(draft: Path, folder: Path, stale: Iterable[str]) -> None:
    fresh = sorted((entry.name for entry in draft.iterdir()), key=lambda name: (name in LAST, name))
    for name in fresh:
        if not (folder / name).is_dir() or (folder / name).is_symlink():
            check_replaceable(folder / name)
    for name in (*LAST, *stale):
        if name in LAST or name not in fresh:
            _remove(folder / name)
    for name in fresh:
        target = folder / name
        if target.is_dir():
            remove_drafts(target)
            old = draft_of(target, OLD)
            target.rename(old)
            (draft / name).rename(target)
            shutil.rmtree(old)
        else:
            os.replace(draft / name, target)


# The files of one run: schedule, runs, moves and notes as .csv and .parquet, events, summary and run.json.
#
# All but run.json hold the same bytes whenever the same run is made again; in run.json only what
# stands under "timing" may differ. The CSV files are the reference: their decimal seconds are exact. In the
# Parquet files a column of times is Int64 (seconds) where all of it is whole, else Float64.

NAMED = {"user", "queue", "partition", "group"}
"""Columns of a workload that may have names instead of numbers."""

SCHEDULE, RUNS, MOVES, NOTES, SUMMARY, RUN = "schedule", "runs", "moves", "notes", "summary.json", "run.json"
EVENTS = "events.csv"
TABLES = (SCHEDULE, RUNS, MOVES, NOTES)
NAMES = (*(f"{name}.{kind}" for name in TABLES for kind in ("csv", "parquet")), EVENTS, SUMMARY, RUN)


def save(
    schedule: Schedule,
    folder: Path,
    summary: dict[str, Any],
    *,
    force: bool = False,
    spreadsheet: bool = False,
    remedy: str = ON_COMMAND_LINE,
) -> Path:
    """Write every file of the run into `folder`, which appears whole or not at all.

    `summary` are its metrics; `spreadsheet` quotes texts that a spreadsheet would take for formulas;
    `remedy` is what replaces the files of an earlier run.
    """
    with whole_folder(folder, force, NAMES, remedy) as draft:
        write_files(schedule, draft, summary, spreadsheet=spreadsheet)
    return folder


def write_files(
    schedule: Schedule, folder: Path, summary: dict[str, Any], *, spreadsheet: bool = False
) -> None:
    """Write the files into a folder that exists, such as one of several of a comparison."""
    shown = for_spreadsheets if spreadsheet else as_it_is
    outages = schedule.platform.outages
    tables = {SCHEDULE: schedule_frame}
    if schedule.pieces is not None and (schedule.pieces.several or outages is not None):
        tables[RUNS] = runs_frame
    if schedule.moves is not None:
        tables[MOVES] = moves_frame
    if schedule.shares is not None and schedule.notes:
        tables[NOTES] = notes_frame
    for name, frame in tables.items():
        shown(frame(schedule, seconds_text_column)).write_csv(folder / f"{name}.csv")
        frame(schedule).write_parquet(folder / f"{name}.parquet")
    if outages is not None:
        from headway.platform.outages_file import outages_text

        (folder / EVENTS).write_text(outages_text(outages.outages), encoding="utf-8", newline="")
    write_json(folder / SUMMARY, summary)
    written = {name: digest_of(folder / name) for name in NAMES if (folder / name).is_file() and name != RUN}
    write_json(folder / RUN, run_record(schedule) | {"files": written})


def as_it_is(table: pl.DataFrame) -> pl.DataFrame:
    return table


def for_spreadsheets(table: pl.DataFrame) -> pl.DataFrame:
    """A table in which texts that begin with = + - @ and are no numbers have an apostrophe before them."""
    import polars as pl

    formula = r"^([=+@-].*)$"
    number = r"^[+-]?[0-9.]+$"
    texts = pl.col(pl.String)
    return table.with_columns(
        pl.when(texts.str.contains(number)).then(texts).otherwise(texts.str.replace(formula, "'$1"))
    )


def run_record(schedule: Schedule) -> dict[str, Any]:
    """How the schedule was made: what its own object knows, then what the run added."""
    workload = schedule.workload
    record: dict[str, Any] = {
        "version": __version__,
        "policy": schedule.policy,
        "platform": schedule.platform.describe(),
        "processors": schedule.capacity,
        "groups": dict(schedule.groups),
        "promise": schedule.promise_kind,
        "jobs": len(schedule),
        "ledger": [
            row | {"dropped": entry.dropped}
            for row, entry in zip(workload.ledger.rows(), workload.ledger, strict=True)
        ],
        "jobs_in_log": workload.ledger.total,
        "dropped": workload.ledger.dropped,
        "trace": asdict(workload.source),
        "rules": dict(workload.rules),
        "unix_start": workload.header.unix_start,
        "transformations": list(workload.transformations),
        "named": sorted(NAMED & set(workload.labels)),
        "labels": {name: list(names) for name, names in schedule.labels.items()},
        "own": dict(schedule.own),
    }
    timing = {"timing": schedule.provenance["timing"]} if "timing" in schedule.provenance else {}
    rest = {key: value for key, value in schedule.provenance.items() if key != "timing"}
    return record | rest | timing


def write_json(path: Path, data: object) -> None:
    """JSON that a person can read and a second run repeats byte for byte."""
    text = json.dumps(plain(data), indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def plain(value: object) -> Any:
    """The same data in Python's own types; a number that is not finite becomes null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return plain(value.tolist())
    if isinstance(value, float) and not (float("-inf") < value < float("inf")):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


# run.json read back: every entry is what it should be, and the files beside it are those of the same run.

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
