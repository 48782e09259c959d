"""Outages in a CSV file: kind, start, end, procs or processors, and perhaps announced and a note.

    kind,start,end,procs,processors,announced
    maintenance,2024-03-04T08:00:00,2024-03-04T18:00:00,128,,2024-02-26T09:00:00
    down,93600,108000,,16-31,
    drain,120000,,16,,

Times are seconds on the log's clock, or dates (UTC unless they say otherwise) where the log says when its
clock was 0. An outage without an end lasts until the last job of the log is submitted.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from headway.errors import InputError, UsageError
from headway.platform import processor_sets
from headway.platform.outage import KINDS, Outage
from headway.units import LONGEST, SECOND, microseconds, seconds_text

COLUMNS = ("kind", "start", "end", "procs", "processors", "announced", "note")
MOST_BYTES = 200_000_000


def bytes_of(path: Path) -> bytes:
    """All of a file of events, which may be a pipe: it is opened once and read forward."""
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}; give a CSV of events", file=path) from None
    if len(raw) > MOST_BYTES:
        raise InputError("is too large for a list of events", file=path)
    return raw


def parse_outages(raw: bytes, path: Path, unix_start: int | None) -> tuple[Outage, ...]:
    """The outages of a CSV file; ``unix_start`` is when the log's clock was 0, in seconds since 1970."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("is not text in UTF-8; give a CSV of events", file=path) from None
    rows = csv.DictReader(io.StringIO(text))
    try:
        return _outages(rows, path, unix_start)
    except csv.Error as error:  # a carriage return within a line, or a cell too long to be one
        raise InputError(f"is not a CSV of events: {error}", file=path, line=rows.line_num + 1) from None


def _outages(rows: csv.DictReader[str], path: Path, unix_start: int | None) -> tuple[Outage, ...]:
    """The outages of the rows, whose header is checked."""
    given = [name.strip() for name in rows.fieldnames or ()]
    unknown = [name for name in given if name not in COLUMNS]
    if "kind" not in given or "start" not in given or unknown:
        what = f"has no column {unknown[0]!r}" if unknown else "needs the columns kind and start"
        raise InputError(f"a list of events {what}; the columns are {', '.join(COLUMNS)}", file=path, line=1)
    twice = next((name for name in COLUMNS if given.count(name) > 1), "")
    if twice:
        raise InputError(f"the column {twice} is there twice; remove one", file=path, line=1)
    rows.fieldnames = given
    return tuple(
        outage_of(row, path, rows.line_num, unix_start)
        for row in rows
        if any((value or "").strip() for key, value in row.items() if key)
    )


def outage_of(row: Mapping[str, str | None], path: Path, line: int, unix_start: int | None) -> Outage:
    """One line of the file."""

    def cell(name: str) -> str:
        return (row.get(name) or "").strip()

    def wrong(message: str, field: str) -> InputError:
        return InputError(message, file=path, line=line, field=field)

    def time(name: str) -> int | None:
        try:
            return moment(cell(name), unix_start) if cell(name) else None
        except UsageError as error:
            raise wrong(str(error), name) from None

    if None in row:
        raise InputError("has more cells than the header", file=path, line=line)
    kind, start = cell("kind").lower(), time("start")
    if kind not in KINDS:
        raise wrong(f"must be {', '.join(KINDS[:-1])} or {KINDS[-1]}, not {cell('kind')!r}", "kind")
    if start is None:
        raise wrong("is empty; give the seconds or the date at which it begins", "start")
    try:
        processors = tuple(processor_sets.ranges(cell("processors"))) if cell("processors") else ()
    except ValueError:
        raise wrong(f"must be a set such as 0-3,7, not {cell('processors')!r}", "processors") from None
    held = sum(high - low for low, high in processors)
    if cell("procs") and not re.fullmatch(r"\d{1,10}", cell("procs")):
        raise wrong(f"must be a whole number, not {cell('procs')!r}", "procs")
    procs = int(cell("procs")) if cell("procs") else held
    if processors and kind != "maintenance" and procs != held:
        raise wrong(f"is {procs}, and the cell processors has {held}; give one of the two", "procs")
    if not procs:
        raise wrong("is empty; give the number of processors, or a set in the column processors", "procs")
    try:
        return Outage(kind, start, time("end"), procs, processors, time("announced"), cell("note"))
    except UsageError as error:
        raise InputError(str(error), file=path, line=line) from None


def moment(text: str, unix_start: int | None) -> int:
    """A time in µs on the log's clock."""
    try:
        if re.fullmatch(r"-?\d+(\.\d+)?", text):
            at = microseconds(text)
        else:
            date = datetime.fromisoformat(text)
            date = date if date.tzinfo else date.replace(tzinfo=UTC)
            if unix_start is None:
                raise UsageError("is a date, and the log does not say when its clock was 0; give seconds")
            at = round((date - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() - unix_start) * SECOND
    except (ValueError, OverflowError):
        raise UsageError(f"must be seconds or a date such as 2024-03-04T08:00:00, not {text!r}") from None
    if abs(at) > LONGEST:
        raise UsageError(f"is too far away: {text}")
    return at


def outages_text(outages: Iterable[Outage]) -> str:
    """The outages as such a file, which says the same when it is read."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    for outage in outages:
        times = [
            "" if time is None else seconds_text(time)
            for time in (outage.start, outage.end, outage.announced)
        ]
        named = processor_sets.text(outage.processors)
        table.writerow([outage.kind, *times[:2], outage.procs, named, times[2], outage.note])
    return out.getvalue()
