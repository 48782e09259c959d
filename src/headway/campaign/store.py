"""Results on disk: small Parquet files that appear whole or not at all.

    DIR/results.parquet          one row per cell of the campaign, in its order: parameters, then metrics
    DIR/cells/*.parquet          finished cells as they came, of this and earlier forms of the campaign
    DIR/classes/*.parquet        means by size, user and queue, where asked for
    DIR/schedules/CELL.parquet   the schedule of every cell, where asked for
    DIR/campaign.json            how the results were made

A file is written under another name, flushed to the disk and renamed, so that a process killed at any moment
leaves every finished file sound; a half-written one ends in .part and is removed by the next run.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.campaign.measure import WHOLE, Outcome
from headway.errors import InputError, UsageError
from headway.metrics.catalogue import BY_NAME
from headway.plain import one_line
from headway.writing import check_utf8, replacing

if TYPE_CHECKING:
    import polars as pl

    from headway.campaign.measure import Cell

RESULTS, CAMPAIGN = "results.parquet", "campaign.json"
PART = ".part"
DIGITS = 16
"""Digits of a digest in the name of a file."""

DONE, FAILED = "done", "failed"
TURN = "turn"
"""The column of kept tables that has the number of the run they are of."""
KEYS = {"cell": "String", "by": "String", "class": "String"}
"""Columns that tables of classes always have, and their types."""


class Store:
    """The folder of a campaign."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.cells, self.classes, self.schedules = (
            self.folder / name for name in ("cells", "classes", "schedules")
        )
        self.turn = 0
        """The number of the run that writes; of a cell that was run more than once the last run counts."""

    @contextmanager
    def writing(self) -> Iterator[dict[str, str]]:
        """Make the folder, keep other campaigns out of it, remove what a killed run left half-written.

        Gives whether each kept cell is done or failed, in the last run of it.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise UsageError(f"{self.folder} is a file, not a folder; give another name")
        known = (self.folder / CAMPAIGN).exists() or self.cells.is_dir()
        if self.folder.is_dir() and not known and any(self.folder.iterdir()):
            raise UsageError(f"{self.folder} is not empty and holds no campaign; give another folder")
        self.cells.mkdir(parents=True, exist_ok=True)
        with _locked(self.folder / ".lock", self.folder):
            for stale in self.folder.rglob(f"*{PART}"):
                stale.unlink(missing_ok=True)
            tables = [_with_turn(_read(path)) for path in self.cells.glob("*.parquet")]
            rows = [row for table in tables for row in table.select("cell", "status", TURN).iter_rows()]
            rows.sort(key=lambda row: (row[2], row[1] == DONE))
            self.turn = 1 + (rows[-1][2] if rows else 0)
            yield {cell: status for cell, status, _ in rows}

    @contextmanager
    def gone_if_empty(self) -> Iterator[None]:
        """Leave nothing where there was nothing, if something goes wrong before the first cell is kept.

        A folder that another campaign made and writes to stays.
        """
        new = not self.folder.exists()
        try:
            yield
        except BaseException:
            if new and self.turn and self.folder.is_dir() and not any(self.cells.glob("*.parquet")):
                shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def add(self, outcomes: Sequence[Outcome], plan: Mapping[str, Cell]) -> None:
        """Keep outcomes; their schedules and classes come first, so that a cell that is there is complete."""
        if not outcomes:
            return
        import polars as pl

        for outcome in outcomes:
            place = self.schedules / f"{outcome.id}.parquet"
            if outcome.schedule is not None:
                self.schedules.mkdir(exist_ok=True)
                write_whole(place, partial(Path.write_bytes, data=outcome.schedule))
            else:
                place.unlink(missing_ok=True)  # of an earlier run
        name = hashlib.sha256(" ".join(outcome.id for outcome in outcomes).encode()).hexdigest()[:24]
        rows = [
            {"cell": outcome.id, TURN: self.turn, **row} for outcome in outcomes for row in outcome.classes
        ]
        if rows:
            self.classes.mkdir(exist_ok=True)
            table = pl.DataFrame(rows, infer_schema_length=None)
            write_whole(self.classes / f"{name}.parquet", table.write_parquet)
        results = [
            {"cell": outcome.id, **(plan[outcome.id].columns if outcome.id in plan else {})}
            | {"status": FAILED if outcome.error is not None else DONE, "error": outcome.error}
            | {TURN: self.turn, **outcome.row}
            for outcome in outcomes
        ]
        # A retry of the same cells must not overwrite their failures before it is on the disk itself.
        self._keep(name, "r", frame_of(results))

    def _keep(self, name: str, again: str, table: pl.DataFrame) -> None:
        """Write a table of cells under a name that no file has, with the digest of its bytes in it."""
        kept = io.BytesIO()
        table.write_parquet(kept)
        data = kept.getvalue()
        ending = f"-{hashlib.sha256(data).hexdigest()[:DIGITS]}.parquet"
        while (self.cells / f"{name}{ending}").exists():
            name += again
        write_whole(self.cells / f"{name}{ending}", partial(Path.write_bytes, data=data))

    def load(self) -> pl.DataFrame:
        """Every kept cell once, as the last run left it; ``turn`` says which run that was."""
        import polars as pl

        files = sorted(self.cells.glob("*.parquet"), key=lambda path: (path.stat().st_mtime_ns, path.name))
        tables = [_read(path) for path in files]
        if not tables:
            return frame_of([])
        together = _with_turn(pl.concat(tables, how="diagonal_relaxed"))
        ranked = together.with_columns(pl.col("status").eq(DONE).alias("_done")).with_row_index("_row")
        kept = ranked.sort(TURN, "_done", "_row").unique("cell", keep="last", maintain_order=True)
        return kept.sort("_row").drop("_done", "_row")

    def load_classes(self) -> pl.DataFrame | None:
        """The classes of every cell as its last run left them; None where none were kept."""
        import polars as pl

        files = sorted(self.classes.glob("*.parquet")) if self.classes.is_dir() else []
        if not files:
            return None
        together = _with_turn(pl.concat([_read(path) for path in files], how="diagonal_relaxed"))
        last = together.filter(pl.col(TURN) == pl.col(TURN).max().over("cell"))
        return last.unique(["cell", "by", "class"], keep="last", maintain_order=True)

    def merge(self) -> None:
        """Join many small files into one; killed half way, cells are there twice, which does no harm."""
        files = sorted(self.cells.glob("*.parquet"))
        if len(files) > 1:
            table = self.load()
            name = hashlib.sha256(" ".join(table["cell"]).encode()).hexdigest()[:24] + "m"
            self._keep(name, "m", table)
            for path in files:
                path.unlink()
        files = sorted(self.classes.glob("*.parquet")) if self.classes.is_dir() else []
        classes = self.load_classes() if len(files) > 1 else None
        if classes is not None:
            name = hashlib.sha256(" ".join(path.name for path in files).encode()).hexdigest()[:24] + "m"
            write_whole(self.classes / f"{name}.parquet", classes.write_parquet)
            for path in files:
                path.unlink()

    def write_json(self, name: str, document: object) -> None:
        """A JSON file, whole or not at all."""
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False, default=str) + "\n"
        write_whole(self.folder / name, lambda path: path.write_text(text, encoding="utf-8"))


def frame_of(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Rows as a table with one type per column, whatever is missing in this part of the results."""
    import polars as pl

    names = list(dict.fromkeys(name for row in rows for name in row)) or ["cell", "status", "error"]
    columns = []
    for name in names:
        values = [row.get(name) for row in rows]
        kind = known_type(name)
        if kind is None and all(value is None for value in values):
            continue  # a type nobody can know here; the column comes back with the first value
        columns.append(pl.Series(name, values, dtype=kind, strict=False))
    return pl.DataFrame(columns)


def known_type(name: str) -> Any:
    """The type of a column of every campaign, or None for policies' own numbers."""
    import polars as pl

    if name in ("cell", "status", "error", "workload", "block", "machine", "policy", "label", "baseline"):
        return pl.String
    if name in ("part", "seed", "procs", "capacity", TURN) or name in WHOLE:
        return pl.Int64
    return pl.Float64 if name in BY_NAME else None


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file under another name, bring it to the disk, and give it its name."""
    check_utf8(path)
    try:
        with replacing(path) as draft:
            write(draft)
    except UsageError as error:
        raise UsageError(f"{error}; finished cells are kept") from None
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return  # folders cannot be opened there, and renaming is already ordered
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _with_turn(table: pl.DataFrame) -> pl.DataFrame:
    """A kept table with the number of its run in every row, 0 where that was not written down."""
    import polars as pl

    if TURN not in table.columns:
        return table.with_columns(pl.lit(0, pl.Int64).alias(TURN))
    return table.with_columns(pl.col(TURN).cast(pl.Int64).fill_null(0))


def _read(path: Path) -> pl.DataFrame:
    """A table of cells or of classes; the digest in its name is that of its bytes."""
    is_cells = path.parent.name == "cells"
    remedy = "remove it to run its cells again" if is_cells else "remove it and run all cells again (--fresh)"
    digest = re.search(rf"-([0-9a-f]{{{DIGITS}}})\.parquet$", path.name)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    if digest and hashlib.sha256(data).hexdigest()[:DIGITS] != digest[1]:
        raise InputError(f"is damaged: it does not have its digest; {remedy}", file=path)
    return read_table(path, {"cell": "String", "status": "String"} if is_cells else KEYS, remedy, data)


@contextmanager
def _nothing_said() -> Iterator[None]:
    """Keep a library that panics over a damaged file from writing to the terminal: we say what is wrong."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def read_table(path: Path, needed: Mapping[str, str], remedy: str, data: bytes | None = None) -> pl.DataFrame:
    """A Parquet file of ours; ``needed`` names columns that must be there and the types they must have."""
    import polars as pl

    try:
        with _nothing_said():
            table = pl.read_parquet(path if data is None else io.BytesIO(data))
    except BaseException as error:  # the reader of damaged files may panic, which is no Exception
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        reason = one_line(str(error), 80)
        raise InputError(f"is not a sound table of results ({reason}); {remedy}", file=path) from None
    for name, kind in needed.items():
        if name not in table.columns or str(table[name].dtype) != kind:
            raise InputError(f"has no column {name} as it should be; {remedy}", file=path)
    return table


@contextmanager
def _locked(path: Path, folder: Path) -> Iterator[None]:
    """Hold a file's lock, which the system gives back when the process ends in whatever way."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(
                f"another campaign is writing to {folder}; wait for it, or give another folder"
            ) from None
        yield
