"""Write the Standard Workload Format: the header as it was, 18 fields a line, nothing half written."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from headway.units import SECOND, seconds_text
from headway.workload.cancelled import not_started
from headway.workload.swf_fields import FIELDS
from headway.workload.swf_lines import Ints
from headway.workload.swf_partial import WHOLE_JOBS, WHOLE_JOBS_LINE, is_piece
from headway.workload.table import Workload
from headway.writing import write_lines

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
