"""Simulates a log that is larger than memory.

    part of the log ──> window of arrivals ──> engine ──> jobs that ended ──> rows in order ──> files, sums

The clock stops before the first instant at which a job may arrive that has not been read. Then the jobs that
have ended leave the tables, the next arrivals take their place, and it goes on. So memory depends on the jobs
in the system, not on those in the log.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from headway.arrays import Ints
from headway.documents import digest_of
from headway.engine.tables import ALL_KNOWN
from headway.errors import UsageError
from headway.plain import Progress
from headway.platform import Platform
from headway.policies.spec import Spec, parse_spec
from headway.result import Result
from headway.schedule.csv_table import seconds_text_column
from headway.schedule.files import (
    IN_PYTHON,
    NAMES,
    RUN,
    SCHEDULE,
    SUMMARY,
    as_it_is,
    for_spreadsheets,
    refuse_occupied,
    run_record,
    whole_folder,
    write_json,
)
from headway.schedule.table import schedule_frame
from headway.streams.simulating import LOOKAHEAD, ROW, Arriving, Simulation
from headway.streams.summing import Summing
from headway.workload import Ledger, LedgerEntry, Workload
from headway.workload.read import looked_at, recognised, registered
from headway.workload.swf import read_swf_in_parts
from headway.workload.table import ALWAYS

if TYPE_CHECKING:
    from headway.schedule import Schedule


BLOCK = 1 << 15
IN_MEMORY = 24
"""Blocks that are held in memory, 90 MB in all."""

OUTCOME = ("start", "end", "why", "killed", "promise")
ROWS = (*ALWAYS, *OUTCOME)
NOT_ENDED = -1
"""The end of a job that waits or runs."""
FIRST_OUTCOME = len(ALWAYS)


class Block:
    """Rows ``first`` to ``first + BLOCK`` of the schedule."""

    def __init__(self, first: int, size: int) -> None:
        self.first, self.size = first, size
        self.filled = 0
        """Jobs that have been read."""
        self.ended = 0
        self.table: Ints | None = np.full((len(ROWS), size), NOT_ENDED, np.int64)
        """[column, row]; None while it lies in a file."""
        self.late: list[Ints] = []
        """[row | outcome, job] of jobs that ended since then."""
        self.file: Path | None = None

    @property
    def waits(self) -> bool:
        """Whether a job of it has not ended."""
        return self.ended < self.filled

    def put_away(self, folder: Path) -> None:
        """Let it lie in a file."""
        self.file = folder / f"rows-{self.first}.npy"
        np.save(self.file, self.table)  # type: ignore[arg-type]
        self.table = None

    def whole(self) -> dict[str, Ints]:
        """Its columns, also where no job has been read; the file goes."""
        if self.table is None:
            assert self.file is not None
            self.table = np.load(self.file)
            self.file.unlink()
            for late in self.late:
                self.table[FIRST_OUTCOME:, late[0]] = late[1:]
        return dict(zip(ROWS, self.table, strict=True))


class Rows:
    """Jobs as they are read and end, and blocks of them in order when these are complete."""

    def __init__(self, folder: Path, block: int = BLOCK, in_memory: int = IN_MEMORY) -> None:
        self._folder, self._size, self._in_memory = folder, block, in_memory
        self._blocks: deque[Block] = deque()
        self.read = 0
        """Jobs read."""
        self.given = 0
        """Jobs handed on."""

    def add(self, columns: Mapping[str, Ints], rows: Ints) -> None:
        """Jobs that were read, by their rows, which together with those before leave no gap in the end."""
        order = np.argsort(rows)
        columns, rows = {name: columns[name][order] for name in ALWAYS}, rows[order]
        numbers = rows // self._size
        for block, begin, end in _stretches(numbers):
            target = self._block(block)
            places = rows[begin:end] - target.first
            assert target.table is not None
            for row, name in enumerate(ALWAYS):
                target.table[row, places] = columns[name][begin:end]
            target.filled += end - begin
        self.read += len(rows)

    def end(self, rows: Ints, outcome: Mapping[str, Ints]) -> None:
        """Jobs that have ended, by their rows."""
        order = np.argsort(rows)
        rows = rows[order]
        table = np.stack([outcome[name][order] for name in OUTCOME]) if len(rows) else None
        for number, begin, end in _stretches(rows // self._size):
            assert table is not None
            block = self._block(number)
            places = rows[begin:end] - block.first
            block.ended += end - begin
            if block.table is None:
                block.late.append(np.concatenate((places[None], table[:, begin:end])))
            else:
                block.table[FIRST_OUTCOME:, places] = table[:, begin:end]

    def complete(self, last: bool = False) -> Iterator[dict[str, Ints]]:
        """Blocks in order while all their jobs have ended; one that is not full only if ``last``."""
        while self._blocks:
            block = self._blocks[0]
            if block.waits or (block.filled < block.size and not last):
                break
            self._blocks.popleft()
            self.given += block.filled
            yield {name: values[: block.filled] for name, values in block.whole().items()}
        held = [block for block in self._blocks if block.table is not None and block.filled == block.size]
        for block in held[: max(len(held) - self._in_memory, 0)]:
            block.put_away(self._folder)

    def ended(self) -> Iterator[dict[str, Ints]]:
        """After an interruption: all jobs that have ended, in order."""
        while self._blocks:
            columns = self._blocks.popleft().whole()
            done = columns["end"] != NOT_ENDED
            self.given += int(done.sum())
            if done.any():
                yield {name: values[done] for name, values in columns.items()}

    def _block(self, number: int) -> Block:
        first = self._blocks[0].first // self._size if self._blocks else self.given // self._size
        while number >= first + len(self._blocks):
            self._blocks.append(Block((first + len(self._blocks)) * self._size, self._size))
        return self._blocks[number - first]


def _stretches(numbers: Ints) -> Iterator[tuple[int, int, int]]:
    """Each number of an ascending list, and where it begins and ends there."""
    edges = np.flatnonzero(np.diff(numbers)) + 1
    begins = [0, *edges.tolist()] if len(numbers) else []
    for begin, end in zip(begins, [*begins[1:], len(numbers)], strict=False):
        yield int(numbers[begin]), begin, end


# schedule.csv in blocks of rows, with the bytes that it has if written at once; then schedule.parquet.

ROW_GROUP = 1 << 18
PARTITION, BEFORE = "partition", "queue"
"""A column that a schedule has where the log has several partitions, and the one before it."""


class ScheduleFile:
    """The tables of a schedule while its rows come."""

    def __init__(self, folder: Path, spreadsheet: bool = False) -> None:
        self.folder = folder
        self._csv, self._parquet = folder / f"{SCHEDULE}.csv", folder / f"{SCHEDULE}.parquet"
        self._file = self._csv.open("wb")
        self._types: dict[str, Any] = {}
        self._partition: int | None = None
        """The one partition of all rows so far."""
        self._shown = for_spreadsheets if spreadsheet else as_it_is

    def add(self, schedule: Schedule, partitions: int) -> None:
        """Write the next rows; there are so many partitions in all rows so far."""
        import polars as pl

        table = schedule_frame(schedule, seconds_text_column)
        if partitions > 1:
            if PARTITION not in table.columns:
                partition = pl.Series(PARTITION, schedule.workload.columns[PARTITION])
                table.insert_column(table.columns.index(BEFORE) + 1, partition)
            if self._types and PARTITION not in self._types:
                self._add_partition()
        elif self._partition is None and len(schedule):
            self._partition = int(schedule.workload.columns[PARTITION][0])
        self._shown(table).write_csv(self._file, include_header=not self._types)
        for name, kind in table.schema.items():
            decimals = kind == pl.String and name != "why"
            if decimals or name not in self._types:
                self._types[name] = pl.Float64 if decimals else kind

    def close(self) -> None:
        """Write no more."""
        self._file.close()

    def _add_partition(self) -> None:
        """Write the rows so far anew, with the partition that all of them had."""
        import polars as pl

        self._file.close()
        old = self._csv.with_suffix(".old")
        self._csv.rename(old)
        names = list(self._types)
        names.insert(names.index(BEFORE) + 1, PARTITION)
        rows = pl.scan_csv(old, infer_schema=False)
        rows.with_columns(pl.lit(self._partition).alias(PARTITION)).select(names).sink_csv(self._csv)
        old.unlink()
        self._types = {name: self._types.get(name, pl.Int64()) for name in names}
        self._file = self._csv.open("ab")

    def finish(self, empty: Schedule) -> bool:
        """Write the Parquet file; False if that was interrupted, and there is none.

        ``empty`` stands for the schedule where there was no row at all.
        """
        import polars as pl

        if not self._types:
            self.add(empty, 0)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        try:
            pl.scan_csv(self._csv, schema=self._types).sink_parquet(self._parquet, row_group_size=ROW_GROUP)
        except KeyboardInterrupt:
            self._parquet.unlink(missing_ok=True)
            return False
        return True


# Simulates a log that is larger than memory.
#
#     part of the log ──> window of arrivals ──> engine ──> jobs that ended ──> rows in order ──> files,
# sums
#
# The clock stops before the first instant at which a job may arrive that has not been read. Then the jobs
# that
# have ended leave the tables, the next arrivals take their place, and it goes on. So memory depends on the
# jobs
# in the system, not on those in the log.


@dataclass(frozen=True)
class Sizes:
    """How much is held in memory, in jobs or rows; none of it changes a result."""

    window: int = 200_000
    """Jobs that arrive in one window, or as many as are in the system where these are more."""
    lookahead: int = LOOKAHEAD
    block: int = BLOCK
    blocks: int = IN_MEMORY
    chunks: int = 8
    """Chunks of text in a part of the log."""


SIZES = Sizes()


@dataclass(frozen=True)
class Streamed:
    """What is left of a run when its rows have been written."""

    policy: str
    capacity: int
    jobs: int
    """Rows of the schedule."""
    summary: dict[str, Any]
    ledger: Ledger
    interrupted: bool = False
    """Whether the run was interrupted: then all this is of the jobs that had ended."""
    provenance: dict[str, Any] = field(default_factory=dict)


def simulate_stream(
    path: str | BinaryIO,
    platform: Platform | int | None,
    policy: str | Spec,
    *,
    rules: Mapping[str, str] | None = None,
    out: str | Path | None = None,
    force: bool = False,
    spreadsheet: bool = False,
    tau: float = 10,
    progress: Progress | None = None,
    provenance: Mapping[str, Any] | None = None,
    sizes: Sizes = SIZES,
    remedy: str = IN_PYTHON,
) -> Streamed:
    """Simulate an SWF log, plain or gzipped, while it is read; the schedule goes to the folder ``out``.

    Without a platform the machine is the one in the log's header. An interrupt ends the run in order: what
    had ended is written and summed up, and ``interrupted`` is true. ``progress`` is told (jobs
    that have ended, jobs read). ``remedy`` is what replaces the files of an earlier run.
    """
    spec = parse_spec(policy)
    spec.policy.refuse_stream()
    copy = registered(path) if isinstance(path, str) else None
    if copy is not None:
        path = str(copy.path)
    with ExitStack() as stack:
        first, begun = stack.enter_context(looked_at(path))
        format = recognised(first, str(path)) or "swf"
        if format != "swf":
            raise UsageError(f"{path}: only SWF is read as a stream, this is {format}; leave out --stream")
        parts = read_swf_in_parts(begun, rules, chunks=sizes.chunks)
        run = Run(parts, platform, spec, tau, sizes)
        folder = None
        if out is not None:
            refuse_occupied(Path(out), force, remedy)
            folder = stack.enter_context(whole_folder(Path(out), force, NAMES, remedy))
        away = Path(stack.enter_context(TemporaryDirectory(dir=folder, prefix="rows-")))
        file = None if folder is None else stack.enter_context(closing(ScheduleFile(folder, spreadsheet)))
        return run.whole(Rows(away, sizes.block, sizes.blocks), file, progress, dict(provenance or {}))


class Run:
    """One simulation of a stream."""

    def __init__(
        self, parts: Iterator[Workload], platform: Platform | int | None, spec: Spec, tau: float, sizes: Sizes
    ) -> None:
        part = next(parts)
        self.machine = machine_of(platform, part)
        policy = spec.policy.on(self.machine, part)
        policy.refuse_stream()
        if self.machine.outages is not None:
            raise UsageError("a stream knows no processors that come and go; leave them out, or --stream")
        self.spec, self.sizes, self.tau = policy.spec, sizes, tau
        self.capacity = policy.pools(self.machine)[0].procs
        self.arriving = Arriving(chain([part], parts), self.capacity, sizes.lookahead)
        self.simulation = Simulation(policy, self.machine, part.header.unix_start or 0)
        self.sums = Summing(self.capacity, tau)

    def whole(
        self, rows: Rows, file: ScheduleFile | None, progress: Progress | None, provenance: dict[str, Any]
    ) -> Streamed:
        """Simulate to the end, or until an interrupt; rows wait for their turn, and are written to a file."""
        wall, cpu = time.perf_counter(), time.thread_time()
        self.rows, self.file = rows, file
        interrupted = False
        try:
            self._simulate(progress)
        except KeyboardInterrupt:
            interrupted = True
            self._collect()
            self._hand_on(rows.ended())
        ledger = self._ledger(interrupted)
        if file is not None:
            interrupted = not file.finish(self._schedule({}, ledger)) or interrupted
        summary = self.sums.summary(ledger.dropped)
        timing = {"wall_seconds": time.perf_counter() - wall, "cpu_seconds": time.thread_time() - cpu}
        made = {**self.simulation.counts(), "stream": True, "interrupted": interrupted, "timing": timing}
        record = provenance | made
        if file is not None:
            self._save(file.folder, summary, ledger, record)
        return Streamed(str(self.spec), self.capacity, rows.given, summary, ledger, interrupted, record)

    def _simulate(self, progress: Progress | None) -> None:
        rows, until = self.rows, 0
        while until < ALL_KNOWN:
            with unbroken():
                window = self.arriving.window(max(self.sizes.window, self.simulation.in_system))
                rows.add(window.columns, window.columns[ROW])
                self.simulation.begin(window)
                until = window.until
            self.simulation.run_until(until)
            with unbroken():
                self._collect()
                self._hand_on(rows.complete(last=until == ALL_KNOWN))
            if progress is not None:
                progress(rows.read - self.simulation.in_system, rows.read)
        self.simulation.finish()

    def _collect(self) -> None:
        """Note what became of the jobs that have ended."""
        ended, outcome = self.simulation.collect()
        if outcome:
            self.sums.queue.add(*self.simulation.came_and_went())
            self.rows.end(ended, outcome)

    def _hand_on(self, blocks: Iterator[dict[str, Ints]]) -> None:
        """Sum up rows that are complete, and write them."""
        for columns in blocks:
            if len(columns[ALWAYS[0]]):
                schedule = self._schedule(columns, None)
                self.sums.add(schedule)
                if self.file is not None:
                    self.file.add(schedule, self.sums.partitions)

    def _schedule(self, columns: Mapping[str, Ints], ledger: Ledger | None) -> Result:
        """A block of rows, or none, as a schedule."""
        last = self.arriving.last
        assert last is not None
        none = np.zeros(0, np.int64)
        jobs = {name: columns.get(name, none) for name in ALWAYS}
        if ledger is not None:  # of all jobs, of which none is here
            ledger = Ledger(ledger.dropped, ledger.entries)
        return Result(
            workload=Workload(jobs, header=last.header, ledger=ledger, source=last.source, rules=last.rules),
            platform=self.machine,
            policy=str(self.spec),
            start=columns.get("start", none),
            end=columns.get("end", none),
            why=columns.get("why", none).astype(np.uint8),
            killed=columns.get("killed", none) > 0,
            promise=columns.get("promise", none),
            promise_kind=self.simulation.promise_kind,
            capacity=self.capacity,
        )

    def _ledger(self, interrupted: bool) -> Ledger:
        """The ledger of what was read; after an interruption not all of it has been scheduled."""
        ledger = self.arriving.ledger
        left = self.arriving.jobs - self.rows.given
        if not interrupted or not left:
            return ledger
        action = "read, but had not ended when the run was interrupted: left out"
        return ledger.with_entries(LedgerEntry("interrupted", action, left, dropped=True))

    def _save(
        self, folder: Path, summary: dict[str, Any], ledger: Ledger, provenance: dict[str, Any]
    ) -> None:
        """Write summary.json and run.json."""
        write_json(folder / SUMMARY, summary)
        written = {name: digest_of(folder / name) for name in NAMES if (folder / name).is_file()}
        empty = self._schedule({}, ledger)
        empty.provenance = provenance
        counted = {"jobs": self.rows.given, "jobs_in_log": ledger.total}
        write_json(folder / RUN, run_record(empty) | counted | {"files": written})


def machine_of(platform: Platform | int | None, part: Workload) -> Platform:
    """The machine asked for, or that of the log's header."""
    if isinstance(platform, Platform):
        return platform
    procs = part.header.max_procs if platform is None else platform
    if procs is None:
        raise UsageError(
            f"{part.source.name}: the header has {part.header.without_procs}, so the machine's size is not "
            "known; give --procs N or --platform FILE"
        )
    return Platform.procs(procs)


@contextmanager
def unbroken() -> Iterator[None]:
    """Let an interrupt wait until the block has ended, so that nothing is done by half."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda number, frame: came.append((number, frame))) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    for heard, frame in came:
        found = signal.getsignal(heard)
        if callable(found):
            found(heard, frame)
        else:
            signal.raise_signal(heard)
