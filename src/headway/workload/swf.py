"""The Standard Workload Format: text to columns to a workload with its ledger, and back."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from headway.arrays import Ints
from headway.errors import InputError
from headway.units import SECOND, seconds_text
from headway.workload import swf_lines
from headway.workload.cancelled import not_started
from headway.workload.header import Header, Source
from headway.workload.rules import choose
from headway.workload.stream import LogStream
from headway.workload.swf_fields import FIELDS, SCALE, job_line
from headway.workload.swf_lines import Lines
from headway.workload.swf_partial import WHOLE_JOBS, WHOLE_JOBS_LINE, is_piece
from headway.workload.swf_reading import Before
from headway.workload.swf_rules import apply_rules
from headway.workload.table import Workload
from headway.writing import write_lines

Parser = Callable[[bytes, int], Lines]

WORTH_COMPILING = 4
"""Chunks (about 40,000 jobs) after which a fresh machine had better compile the parser than go on without."""

_COMMENTS = re.compile(rb"(?:[ \t]*(?:;[^\n]*)?\n)+")


def _without_jobs(comments: list[str], name: str) -> InputError:
    """What is said of a log without a job: an empty file may have been meant as any format."""
    why = "is it a complete SWF log?" if comments else "the file is empty: export or copy it again"
    return InputError(f"has no job lines; {why}", file=name)


def read_swf(
    path: str | os.PathLike[str] | BinaryIO,
    rules: Mapping[str, str] | None = None,
    *,
    compiled: bool | None = None,
) -> Workload:
    """Read an SWF log, plain or gzipped; "-" is standard input.

    `rules` are reading rules by name (see RULES). `compiled` chooses the parser, never the result: compiled
    code where it is true, none where it is false, and by default only if numba is in the process already.
    """
    chosen = choose(rules or {})
    stream = LogStream(path)
    log = _Columns(stream.name)
    for chunk, text in enumerate(stream):
        log.add(text, _parser(compiled, chunk))
    if not log.jobs:
        raise _without_jobs(log.comments, stream.name)
    return log.workload(Source(stream.name, stream.sha256, "swf"), chosen)


def read_swf_in_parts(
    path: str | os.PathLike[str] | BinaryIO,
    rules: Mapping[str, str] | None = None,
    *,
    chunks: int = 8,
    compiled: bool | None = None,
) -> Iterator[Workload]:
    """Read an SWF log in parts of so many chunks of text (about 10,000 jobs each); see :func:`read_swf`.

    Each part has the comments up to there and a ledger of its own; the last one has the digest of the whole
    log. What can only be known of a whole log is an error that names the line: pieces of checkpointed jobs,
    and job numbers that do not rise.
    """
    chosen = choose(rules or {})
    stream = LogStream(path)
    source = Source(stream.name, format="swf")
    log, before, jobs = _Columns(stream.name), Before(), 0

    for chunk, text in enumerate(stream, start=1):
        log.add(text, _parser(compiled, chunk))
        if log.jobs and chunk % chunks == 0:
            jobs += log.jobs
            yield log.workload(source, chosen, before)
            log = log.continued()
    if not jobs + log.jobs:
        raise _without_jobs(log.comments, stream.name)
    yield log.workload(replace(source, sha256=stream.sha256), chosen, before)


def _parser(compiled: bool | None, chunk: int) -> Parser:
    """The parser for a chunk; by default the compiled one if loaded, or if numba is and the log is long."""
    if compiled is None:
        long = chunk >= WORTH_COMPILING and "numba" in sys.modules
        compiled = long or "headway.workload.swf_kernel" in sys.modules
        # Interpreted, the kernel would take minutes over what NumPy reads in a second.
        compiled = compiled and os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
    if not compiled:
        return swf_lines.parse
    from headway.workload import swf_kernel

    return swf_kernel.parse


class _Growing:
    """A column that grows at its end; it takes no memory while every value is the unknown one."""

    def __init__(self, unknown: int = 0, dtype: type[np.integer[Any]] = np.int64) -> None:
        self._unknown = unknown
        self._dtype = dtype
        self._values: npt.NDArray[Any] | None = None
        self._size = 0

    def append(self, values: npt.NDArray[Any]) -> None:
        start, self._size = self._size, self._size + len(values)
        if self._values is None and (values == self._unknown).all():
            return
        if self._values is None or self._size > len(self._values):
            # Pages beyond the end are not touched, so doubling costs addresses rather than memory.
            larger = np.empty(max(2 * self._size, 1 << 16), dtype=self._dtype)
            larger[:start] = self._unknown if self._values is None else self._values[:start]
            self._values = larger
        self._values[start : self._size] = values

    def take(self) -> npt.NDArray[Any] | None:
        """The column, None where all is unknown; it is given away, not kept."""
        values, self._values = self._values, None
        return None if values is None else values[: self._size]


class _Columns:
    """Fields of all job lines, gathered chunk by chunk."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.comments: list[str] = []
        self.jobs = 0
        self._values = [_Growing(-scale) for scale in SCALE.tolist()]
        self._lines = _Growing(dtype=np.uint32)
        self._flags = _Growing(dtype=np.uint8)
        self._line = 1

    def continued(self) -> _Columns:
        """Empty columns for the part of the log that follows."""
        following = _Columns(self.name)
        following.comments, following._line = self.comments, self._line
        return following

    def add(self, text: bytes, parser: Parser) -> None:
        """Parse a chunk of whole lines that follows those already added."""
        if comments := _COMMENTS.match(text):
            for line in comments[0].split(b"\n")[:-1]:
                self._comment(line)
            self._line += comments[0].count(b"\n")
            text = text[comments.end() :]
        if not text:
            return
        parsed = parser(text, self._line)
        lines = self._with_odd_lines(text, parsed)
        self._line += text.count(b"\n")
        self.jobs += len(lines.line)
        for column, values in zip(self._values, lines.values, strict=True):
            column.append(values)
        self._lines.append(lines.line)
        self._flags.append(lines.flags)

    def _comment(self, line: bytes) -> None:
        if line.strip():
            # Bytes that are not UTF-8 are carried along, so that the comment can be written back as it was.
            self.comments.append(line.decode("utf-8", "surrogateescape"))

    def _with_odd_lines(self, text: bytes, lines: Lines) -> Lines:
        """The lines of a chunk with those the parser left, read one by one."""
        rows: list[list[int]] = []
        marks: list[tuple[int, int]] = []
        for start, end, line in lines.odd.tolist():
            content = text[start:end]
            if not content.strip() or content.lstrip().startswith(b";"):
                self._comment(content)
                continue
            values, flags = job_line(content, self.name, line)
            rows.append(values)
            marks.append((line, flags))
        if not rows:
            return lines
        line = np.append(lines.line, [mark[0] for mark in marks])
        order = np.argsort(line, kind="stable")
        return Lines(
            np.concatenate((lines.values, np.array(rows, dtype=np.int64).T), axis=1)[:, order],
            line[order],
            np.append(lines.flags, [mark[1] for mark in marks])[order],
            lines.odd[:0],
        )

    def workload(self, source: Source, rules: Mapping[str, str], before: Before | None = None) -> Workload:
        """The jobs under reading rules; ``before`` is what the parts of the log above have left."""
        header = Header(self.comments)
        columns, ledger = apply_rules(
            self.columns(), self.lines(), self.flags(), rules, self.name,
            before=before, whole_jobs=WHOLE_JOBS in header,
        )  # fmt: skip
        return Workload(columns, header=header, ledger=ledger, source=source, rules=rules)

    def columns(self) -> dict[str, Ints]:
        """Columns by name, without those that are -1 throughout."""
        taken = {field.name: column.take() for field, column in zip(FIELDS, self._values, strict=True)}
        return {name: values for name, values in taken.items() if values is not None}

    def lines(self) -> npt.NDArray[np.uint32]:
        """Line numbers of the jobs."""
        values = self._lines.take()
        return np.zeros(0, dtype=np.uint32) if values is None else values

    def flags(self) -> npt.NDArray[np.uint8]:
        """Flags of the job lines (MISSING, EXTRA, ROUNDED)."""
        values = self._flags.take()
        return np.zeros(self.jobs, dtype=np.uint8) if values is None else values


ROWS = 1 << 16
"""Jobs put into text at a time."""


def write_swf(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write a workload as SWF, gzipped if the name ends with .gz; "-" is standard output.

    Where the log left out processors, a requested time or memory, and nothing changed them since, they are
    left out again, and so is the run time of a job that had not started. A status that would make a piece of
    a job out of a whole one comes with a line in the header that says what it is. Columns the format does not
    know, such as deadlines, are not written.
    """
    write_lines(path, _texts(workload))


def _texts(workload: Workload) -> Iterator[bytes]:
    for comment in workload.header.lines:
        for line in comment.split("\n"):
            mark = "" if line.lstrip().startswith(";") else "; "
            yield f"{mark}{line}\n".encode("utf-8", "surrogateescape")
    status = workload.get("status")
    if status is not None and WHOLE_JOBS not in workload.header and is_piece(status).any():
        yield f"{WHOLE_JOBS_LINE}\n".encode()
    columns = {field.name: _field(workload, field.name) for field in FIELDS}
    form = " ".join(["%s"] * len(FIELDS)) + "\n"
    for start in range(0, len(workload), ROWS):
        rows = slice(start, min(start + ROWS, len(workload)))
        fields = [_text(columns[field.name], rows, field.is_time) for field in FIELDS]
        yield "".join(map(form.__mod__, zip(*fields, strict=True))).encode("ascii")


def _field(workload: Workload, name: str) -> Ints | None:
    """A field's column; None where it is unknown throughout.

    The log's own requests are written where reading them again gives what the workload has, else that.
    """
    column = workload.get(name)
    if name == "requested_procs":
        otherwise = workload.get("allocated")
        return _request(column, otherwise, workload.procs)
    if name == "requested_time":
        return _request(column, workload.runtime, workload.walltime)
    if name == "runtime":
        return np.where(not_started(workload), -1, workload.runtime)
    if name == "requested_memory_kb":
        made = workload.get("memory_kb")
        return column if made is None else _request(column, workload.get("used_memory_kb"), made)
    return column


def _request(request: Ints | None, otherwise: Ints | None, made: Ints) -> Ints:
    if request is None:
        return made
    again = request if otherwise is None else np.where(request > 0, request, otherwise)
    # Nothing above zero in either reads as unknown, which is -1 in the column made from them.
    again = np.where((again <= 0) & (made < 0), made, again)
    return np.where(again == made, request, made)


def _text(column: Ints | None, rows: slice, is_time: bool) -> list[object]:
    """Values of some rows as they are printed: whole numbers, or seconds with the decimals they need."""
    if column is None:
        return [-1] * (rows.stop - rows.start)
    part = column[rows]
    if not is_time:
        return part.tolist()  # type: ignore[no-any-return]
    seconds, rest = np.divmod(part, SECOND)
    texts: list[object] = np.where(part < 0, -1, seconds).tolist()
    for row in np.flatnonzero((rest > 0) & (part >= 0)).tolist():
        texts[row] = seconds_text(int(part[row]))
    return texts
