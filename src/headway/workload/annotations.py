"""Annotations: a CSV file that adds to jobs what a log does not say, such as deadlines or input files."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from headway.arrays import Ints
from headway.errors import InputError
from headway.plain import close, counted
from headway.units import LONGEST, SECOND, microseconds, seconds_text
from headway.workload.ledger import LedgerEntry
from headway.workload.stream import LogStream
from headway.workload.table import TYPES, Column, Workload
from headway.writing import replacing

KB_PER_MB = 1024
"""Kilobytes of the log's memory fields in one megabyte of `memory_mb`."""


class _Refused(ValueError):
    """A cell that does not hold what its column wants; the text says what it wants."""


def _number(text: str, least: int = 0, most: Decimal = Decimal(10) ** 15) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise _Refused("write a number") from None
    if "_" in text or not value.is_finite():
        raise _Refused("write a number")
    if not least <= value <= most:
        raise _Refused(f"write a number from {least} to {most}")
    return value


def _whole(text: str, least: int) -> int:
    value = _number(text, least, Decimal(LONGEST))
    if value != value.to_integral_value():
        raise _Refused("write a whole number")
    return int(value)


def _flag(text: str) -> bool:
    value = _number(text)
    if value not in (0, 1):
        raise _Refused("write 0 or 1")
    return value == 1


def _seconds(text: str) -> int:
    return microseconds(_number(text, 0, Decimal(LONGEST // SECOND)))


class _Kind(NamedTuple):
    """How a column is read and written: the workload's column, a cell's value, what none is, and a text."""

    column: str
    value: Callable[[str], Any]
    none: Any
    text: Callable[[Any], str] = str
    labelled: bool = False


def _real(text: str) -> float:
    return float(_number(text))


def _megabytes_text(kb: int) -> str:
    """A power of two divides into a decimal that ends, so nothing is lost."""
    return format((Decimal(kb) / KB_PER_MB).normalize(), "f")


_JOB = "job"
KINDS = {
    "urgent": _Kind("urgent", _flag, False, lambda is_set: str(int(is_set))),
    "deadline": _Kind("deadline", _seconds, -1, seconds_text),
    "swap": _Kind("swap", _seconds, -1, seconds_text),
    "memory_mb": _Kind("memory_kb", lambda text: math.ceil(_number(text) * KB_PER_MB), -1, _megabytes_text),
    "file": _Kind("file", str, -1, labelled=True),
    "file_gb": _Kind("file_gb", _real, math.nan),
    "needs_node_gb": _Kind("needs_node_gb", _real, math.nan),
    "parallel_fraction": _Kind(
        "parallel_fraction", lambda text: float(_number(text, 0, Decimal(1))), math.nan
    ),
    "max_procs": _Kind("max_procs", lambda text: _whole(text, 1), -1),
    "cluster": _Kind("cluster", str, -1, labelled=True),
    "local": _Kind("local", _flag, False, lambda is_set: str(int(is_set))),
}
"""Columns an annotation file may have beside `job`."""
COLUMNS = tuple(kind.column for kind in KINDS.values())
"""Columns of a workload that annotations hold."""


class _Sheet:
    """Cells of an annotation file: job numbers with their lines, and each column's values by listed job."""

    def __init__(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        self._stream = LogStream(path)
        self.name = self._stream.name
        self.jobs: list[int] = []
        self.lines: list[int] = []
        self.cells: dict[str, tuple[list[int], list[Any]]] = {}
        self._sizes: dict[str, tuple[Any, int]] = {}
        reader = csv.reader(self._text(), strict=True)
        try:
            names = [name.strip() for name in next(reader, [])]
            self._check_names(names)
            self.cells = {name: ([], []) for name in names if name != _JOB}
            for texts in reader:
                if any(text.strip() for text in texts):
                    self._add(names, texts, reader.line_num)
        except csv.Error as error:
            raise self.error(f"is not CSV ({error}); correct the line", reader.line_num) from None

    def error(self, message: str, line: int, column: str | None = None) -> InputError:
        return InputError(message, file=self.name, line=line, field=column)

    def _text(self) -> Iterator[str]:
        line = 0
        for chunk in self._stream:
            for raw in chunk.splitlines(keepends=True):
                line += 1
                try:
                    yield raw.decode("utf-8")
                except UnicodeDecodeError:
                    raise self.error("is not UTF-8 text; save the file as UTF-8", line) from None

    def _check_names(self, names: list[str]) -> None:
        known = ", ".join((_JOB, *KINDS))
        if _JOB not in names:
            message = f"the first line must name the columns, {_JOB} among them; they are {known}"
            raise self.error(message, 1)
        for name in names:
            if name != _JOB and name not in KINDS:
                hint = close(name[:20], KINDS)
                raise self.error(f"there is no annotation {name[:20]!r}{hint}; the columns are {known}", 1)
            if names.count(name) > 1:
                raise self.error(f"the column {name} is there twice; remove one", 1)

    def _add(self, names: list[str], texts: list[str], line: int) -> None:
        if len(texts) != len(names):
            raise self.error(
                f"has {counted(len(texts), 'cell')} and the header {len(names)}; complete the line", line
            )
        values = {}
        for name, text in zip(names, map(str.strip, texts), strict=True):
            if not text and name != _JOB:
                continue
            try:
                values[name] = _whole(text, 0) if name == _JOB else KINDS[name].value(text)
            except _Refused as refused:
                otherwise = "" if name == _JOB else ", or leave it empty"
                raise self.error(f"{text[:20]!r} cannot be taken; {refused}{otherwise}", line, name) from None
        self._check_size(values, line)
        for name, value in values.items():
            if name != _JOB:
                self.cells[name][0].append(len(self.jobs))
                self.cells[name][1].append(value)
        self.jobs.append(values[_JOB])
        self.lines.append(line)

    def _check_size(self, values: dict[str, Any], line: int) -> None:
        """One file has one size."""
        if "file" not in values or "file_gb" not in values:
            return
        size = values["file_gb"]
        known, first = self._sizes.setdefault(values["file"], (size, line))
        if known != size:
            message = (
                f"the same file has {known:g} GB on line {first} and {size:g} GB here; correct one of them"
            )
            raise self.error(message, line, "file_gb")


def beside(log: str | os.PathLike[str]) -> Path:
    """Where the annotations of a log are written, and looked for: log.swf.gz has log.annotations.csv."""
    path = Path(log)
    return path.with_name(path.name.removesuffix(".gz").removesuffix(".swf") + ".annotations.csv")


def read_annotations(workload: Workload, path: str | os.PathLike[str] | BinaryIO) -> Workload:
    """The workload with the columns of an annotation file, CSV with a header line.

    An empty cell, and a job that is not listed, mean none (-1, NaN or false), or what the workload already
    had in that column. Jobs that the workload has dropped may be listed; the ledger counts them.
    """
    sheet = _Sheet(path)
    row_of = _rows(workload, sheet)
    columns: dict[str, Column] = {}
    labels: dict[str, list[str]] = {}
    for name, (listed, values) in sheet.cells.items():
        kind = KINDS[name]
        before = workload.get(kind.column)
        column = np.full(len(workload), kind.none, TYPES[kind.column]) if before is None else before.copy()
        if kind.labelled:
            codes = {label: code for code, label in enumerate(workload.labels.get(kind.column, ()))}
            values = [codes.setdefault(value, len(codes)) for value in values]
            labels[kind.column] = list(codes)
        rows = row_of[np.array(listed, dtype=np.int64)]
        column[rows[rows >= 0]] = np.array(values, dtype=column.dtype)[rows >= 0]
        columns[kind.column] = column
    gone = np.array(sheet.jobs, dtype=np.int64)[row_of < 0]
    entry = LedgerEntry.of("annotations", "annotated jobs that were dropped: left out", gone, dropped=False)
    annotated = workload.with_columns(transformation=f"annotations {sheet.name}", **columns)
    return annotated.with_labels(**labels).with_entries(entry)


def _rows(workload: Workload, sheet: _Sheet) -> Ints:
    """The workload's row of each listed job, -1 where it was dropped; others and repeated ones are errors."""
    jobs = np.array(sheet.jobs, dtype=np.int64)
    first = np.unique(jobs, return_index=True)[1]
    if len(first) < len(jobs):
        again = int(np.setdiff1d(np.arange(len(jobs)), first)[0])
        line = sheet.lines[sheet.jobs.index(sheet.jobs[again])]
        message = f"job {sheet.jobs[again]} is on line {line} already; keep one of them"
        raise sheet.error(message, sheet.lines[again], _JOB)
    known, found = workload.rows_of(jobs)
    rows = np.full(len(jobs), -1, dtype=np.int64)
    rows[known] = found
    unknown = ~known & ~np.isin(jobs, workload.ledger.dropped_jobs())
    if unknown.any():
        first_unknown = int(np.argmax(unknown))
        message = f"job {jobs[first_unknown]} is not in the workload; correct the number or remove the line"
        raise sheet.error(message, sheet.lines[first_unknown], _JOB)
    return rows


def annotated(workload: Workload) -> list[str]:
    """Columns of the workload that SWF cannot hold and at least one job has a value in."""
    return [
        name for name in COLUMNS if name != "memory_kb" and name in workload and _has(workload, name).any()
    ]


def write_annotations(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write every annotation the workload has, one line for each job that has any.

    Together with the SWF file of `write_swf`, `read_annotations` gives back the same columns.
    """
    given = {
        name: kind
        for name, kind in KINDS.items()
        if kind.column in workload and _has(workload, kind.column).any()
    }
    listed = np.zeros(len(workload), np.bool_)
    for kind in given.values():
        listed |= _has(workload, kind.column)
    rows = np.flatnonzero(listed)
    columns = [workload.job[rows].tolist(), *(_texts(workload, kind, rows) for kind in given.values())]
    with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([_JOB, *given])
        writer.writerows(zip(*columns, strict=True))


def _has(workload: Workload, name: str) -> Column:
    """Which jobs have a value."""
    column = workload.columns[name]
    if column.dtype == np.bool_:
        return column
    return ~np.isnan(column) if column.dtype.kind == "f" else column >= 0


def _texts(workload: Workload, kind: _Kind, rows: Column) -> list[str]:
    """Cells of some rows; empty where there is no value."""
    values, has = workload.columns[kind.column][rows].tolist(), _has(workload, kind.column)[rows].tolist()
    if kind.labelled and (labels := workload.labels.get(kind.column)) is not None:
        values = [labels[value] for value in values]
    return [kind.text(value) if present else "" for value, present in zip(values, has, strict=True)]
