"""The files of one run: schedule, runs, moves and notes as .csv and .parquet, events, summary and run.json.

All but run.json hold the same bytes whenever the same run is made again; in run.json only what
stands under "timing" may differ. The CSV files are the reference: their decimal seconds are exact. In the
Parquet files a column of times is Int64 (seconds) where all of it is whole, else Float64.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway import __version__
from headway.documents import digest_of
from headway.schedule.folder import ON_COMMAND_LINE, whole_folder
from headway.schedule.moves import moves_frame
from headway.schedule.seconds import seconds_text_column
from headway.schedule.table import notes_frame, runs_frame, schedule_frame

if TYPE_CHECKING:
    import polars as pl

    from headway.schedule.schedule import Schedule

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
