"""The jobs as the page carries them: one table of all jobs, and what each schedule made of them, packed."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headway.figures.bands import Bands, Ints, all_away, bands
from headway.figures.gantt import strips
from headway.metrics.over_time import waiting_intervals
from headway.schedule import Schedule
from headway.units import SECOND
from headway.workload.divisions import divisions

Packed = dict[str, Any]

EXACT = 2**52
"""Larger than this a browser's numbers are no longer exact integers."""


def packed(values: ArrayLike, unit: float = 1) -> Packed:
    """A column of integers, which the page sees multiplied by `unit`."""
    numbers = np.ascontiguousarray(values, dtype=np.int64)
    common = int(np.gcd.reduce(numbers)) if len(numbers) else 1
    common = common or 1
    reduced = numbers // common
    plain, differences = _deflated(reduced), _deflated(np.diff(reduced, prepend=0))
    delta = len(differences[1]) < len(plain[1])
    planes, data = differences if delta else plain
    scale = common * unit
    return {
        "n": len(numbers),
        "planes": planes,
        "delta": delta,
        "scale": int(scale) if float(scale).is_integer() else scale,
        "data": base64.b64encode(data).decode("ascii"),
    }


def packed_times(microseconds: ArrayLike) -> Packed:
    """A column of times in µs, which the page sees in seconds."""
    column = np.ascontiguousarray(microseconds, dtype=np.int64)
    if not (column % SECOND).any():
        return packed(column // SECOND)
    return packed(column, 1 / SECOND)


def unpacked(column: Packed) -> NDArray[np.float64]:
    """What the page sees; the same steps as in columns.js, for tests and for anybody who reads a report."""
    count, planes = column["n"], column["planes"]
    raw = np.frombuffer(zlib.decompress(base64.b64decode(column["data"])), np.uint8)
    wide = np.zeros((count, 8), np.uint8)
    wide[:, :planes] = raw.reshape(planes, count).T
    folded = wide.view("<u8").reshape(count)
    numbers = (folded >> np.uint64(1)).astype(np.int64) ^ -(folded & np.uint64(1)).astype(np.int64)
    if column["delta"]:
        numbers = np.cumsum(numbers)
    return np.asarray(numbers * column["scale"], np.float64)


def _deflated(numbers: NDArray[np.int64]) -> tuple[int, bytes]:
    """Number of byte planes, and the planes deflated."""
    folded = ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)
    largest = int(folded.max()) if len(folded) else 0
    if largest > EXACT:
        raise ValueError(f"a column holds {largest}, which a page cannot show exactly")
    planes = max((largest.bit_length() + 7) // 8, 1)
    table = folded.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :planes]
    return planes, zlib.compress(np.ascontiguousarray(table.T).tobytes(), 7)


MOST_OUTAGES = 20_000
"""Outages that a page draws."""


@dataclass(frozen=True)
class JobTable:
    """Every job of any schedule, once, as the log has it; `rows[i]` are those of schedule i in its order."""

    columns: dict[str, Ints]
    names: dict[str, list[str] | None]
    rows: tuple[Ints, ...]

    def __len__(self) -> int:
        return len(self.columns["job"])

    def describe(self) -> dict[str, Packed]:
        """The columns, packed."""
        times = ("submit", "walltime", "runtime")
        return {
            name: packed_times(values) if name in times else packed(values)
            for name, values in self.columns.items()
        }


def job_table(schedules: Sequence[Schedule]) -> JobTable:
    """The first schedule's jobs in its order, then those that only later ones have.

    A job's user, and its queue or partition, account and QOS, are columns by these names.
    """
    owners = {"user": "user"} | divisions(schedules[0].workload)
    columns = {name: name for name in ("job", "submit", "procs", "walltime", "runtime")} | owners
    parts: dict[str, list[Ints]] = {name: [] for name in columns}
    known = np.zeros(0, np.int64)
    rows: list[Ints] = []
    coders = {name: _Names() for name in owners}
    for schedule in schedules:
        numbers = np.asarray(schedule.workload.columns["job"], np.int64)
        fresh = ~np.isin(numbers, known)
        known = np.concatenate([known, numbers[fresh]])
        for name, column in columns.items():
            values = np.asarray(schedule.workload.columns[column], np.int64)
            if name in coders:
                values = coders[name].codes(values, schedule.workload.labels.get(column))
            parts[name].append(values[fresh])
        order = np.argsort(known, kind="stable")
        rows.append(order[np.searchsorted(known, numbers, sorter=order)])
    table = {name: np.concatenate(pieces) for name, pieces in parts.items()}
    return JobTable(table, {name: coder.names for name, coder in coders.items()}, tuple(rows))


class _Names:
    """One code for one name, whichever schedule it stands in; logs without names keep their numbers."""

    def __init__(self) -> None:
        self.names: list[str] | None = None

    def codes(self, values: Ints, labels: Sequence[str] | None) -> Ints:
        if labels is None:
            return values
        if self.names is None:
            self.names = []
        place = {name: code for code, name in enumerate(self.names)}
        for name in labels:
            if name not in place:
                place[name] = len(self.names)
                self.names.append(name)
        translation = np.array([place[name] for name in labels] + [-1], np.int64)
        return np.asarray(translation[values])  # -1, unknown, takes the last


def schedule_data(schedule: Schedule, jobs: JobTable, rows: Ints) -> dict[str, Any]:
    """Columns of the jobs and their pieces, and the bands of processors of the Gantt chart."""
    where = bands(schedule)
    columns = _job_columns(schedule, jobs, rows)
    if schedule.pieces is not None or not np.array_equal(where.job, np.arange(len(schedule))):
        columns |= _pieces(schedule, where, rows)
    named = zip(where.names, where.sizes.tolist(), where.offsets.tolist(), strict=True)
    return {
        "columns": columns | _places(where),
        "bands": [{"name": str(name), "size": size, "offset": offset} for name, size, offset in named],
        **_outages(schedule, where),
    }


def _outages(schedule: Schedule, where: Bands) -> dict[str, Any]:
    """Maintenance, what was reserved, and processors that are down or drain: [kind, from, to (s), lowest, how
    many].
    """
    last = int(schedule.end.max()) if len(schedule) else 0
    drawn = [
        [away.kind, away.start / SECOND, min(last, away.end) / SECOND, away.low, away.high - away.low]
        for away in all_away(schedule, where)
        if away.start < last and away.end > 0
    ]
    return {"outages": drawn[:MOST_OUTAGES]} if drawn else {}


def _job_columns(schedule: Schedule, jobs: JobTable, rows: Ints) -> dict[str, Packed]:
    """What this schedule adds to the table of jobs; columns that follow from the others are left out."""
    mine = {name: values[rows] for name, values in jobs.columns.items()}
    found = {"wait": packed_times(schedule.wait), "why": packed(schedule.why)}
    if not np.array_equal(rows, np.arange(len(jobs))):
        found["rows"] = packed(rows)
    for name in ("procs", "walltime", "runtime"):
        values = getattr(schedule, name)
        if not np.array_equal(values, mine[name]):
            found[name] = packed(values) if name == "procs" else packed_times(values)
    length = schedule.end - schedule.start
    if not np.array_equal(length, schedule.run):
        found["length"] = packed_times(length)
    if not np.array_equal(schedule.killed, schedule.runtime > schedule.walltime):
        found["killed"] = packed(schedule.killed)
    if schedule.promise is not None and schedule.promise_kind:
        promised = schedule.promise >= 0
        if promised.any():
            found["promise"] = packed_times(np.where(promised, schedule.promise - schedule.start, 0))
            if not promised.all():
                found["promised"] = packed(promised)
    return found


def _pieces(schedule: Schedule, where: Bands, rows: Ints) -> dict[str, Packed]:
    """Pieces that hold processors, where a job may have several (in time, on nodes), and when jobs waited."""
    begin, end = waiting_intervals(schedule)
    return {
        "piece_row": packed(rows[where.job]),
        "piece_start": packed_times(where.start),
        "piece_end": packed_times(where.end),
        "piece_procs": packed(where.procs),
        "piece_state": packed(where.state),
        "piece_lost": packed(where.lost),
        "wait_from": packed_times(begin),
        "wait_to": packed_times(end),
    }


def _places(where: Bands) -> dict[str, Packed]:
    """The band of each piece where there are several, and its processors where the schedule knows them.

    Where it does not, the page paints them: they would be the larger half of the file.
    """
    found = {"band": packed(where.band)} if len(where.names) > 1 else {}
    if where.processors is not None:
        piece, low, size = strips(where)
        order = np.lexsort((low, piece))
        found |= {
            "strip_low": packed((low + where.offsets[where.band[piece]])[order]),
            "strip_size": packed(size[order]),
            "strip_count": packed(np.bincount(piece, minlength=len(where))),
        }
    return found
