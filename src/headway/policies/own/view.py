"""What a policy written in Python sees at each pass, and what it answers.

It sees what a scheduler sees: the jobs that have arrived, what they asked for, who runs until when at most.
It never sees how long an unfinished job will run, nor a job that has not arrived. Times are whole
microseconds (an hour is ``3600 * SECOND``), so that everything is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from headway.engine.tables import Clock
from headway.plain import counted

if TYPE_CHECKING:
    from headway.engine.submissions import Submissions


Column = npt.NDArray[Any]

PENDING = 4096
"""Jobs that are kept as they came before their values go into the columns."""


class Arrived:
    """A table that grows by a row with each arrival; a column of it is looked at by name, read-only."""

    __slots__ = ("_columns", "_count", "_pending", "names")

    def __init__(self, kinds: Mapping[str, np.dtype[Any]]) -> None:
        self.names = tuple(kinds)
        self._columns: dict[str, Column] = {name: np.zeros(0, kind) for name, kind in kinds.items()}
        self._count = 0
        self._pending: list[tuple[Any, ...]] = []

    def __len__(self) -> int:
        return self._count + len(self._pending)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def add(self, row: tuple[Any, ...]) -> None:
        """A job with its values in the order of the names."""
        self._pending.append(row)
        if len(self._pending) >= PENDING:
            self._fill()

    def column(self, name: str) -> Column:
        """The values of all jobs that have arrived, by number."""
        if self._pending:
            self._fill()
        seen = self._columns[name][: self._count]
        seen.flags.writeable = False
        return seen

    def _fill(self) -> None:
        first, self._count = self._count, len(self)
        for name, values in zip(self.names, zip(*self._pending, strict=True), strict=True):
            column = self._columns[name]
            if self._count > len(column):
                larger = np.zeros(max(2 * self._count, PENDING), column.dtype)
                larger[:first] = column[:first]
                column = self._columns[name] = larger
            column[first : self._count] = values
        self._pending = []


# What a policy written in Python sees at each pass, and what it answers.
#
# It sees what a scheduler sees: the jobs that have arrived, what they asked for, who runs until when at
# most.
# It never sees how long an unfinished job will run, nor a job that has not arrived. Times are whole
# microseconds (an hour is ``3600 * SECOND``), so that everything is exact.

PUBLIC = (
    "job", "submit", "procs", "walltime", "user", "group", "queue", "partition", "executable", "memory_kb",
    "requested_procs", "requested_time", "requested_memory_kb", "preceding", "deadline", "urgent", "swap",
    "file", "file_gb", "needs_node_gb", "parallel_fraction", "max_procs", "cluster", "local",
)  # fmt: skip
"""Columns of a workload that are known when a job is submitted; a policy sees these and no other."""

UNKNOWN = -1


class Maintenance(NamedTuple):
    """So many processors that are not there from ``start`` to ``end`` (µs)."""

    start: int
    end: int
    procs: int


class Job(NamedTuple):
    """One job: its number in order of arrival, its id in the log, and what it asked for (times in µs)."""

    number: int
    id: int
    submit: int
    procs: int
    walltime: int
    user: int
    group: int
    queue: int
    partition: int
    start: int = UNKNOWN
    """When it started; -1 while it waits."""
    expected_end: int = UNKNOWN
    """The latest it can end, start + walltime; -1 while it waits."""


OF_THE_JOB = ("job", "submit", "procs", "walltime", "user", "group", "queue", "partition")
_FROM_THE_JOB = {name: itemgetter(Job._fields.index(name)) for name in ("start", "expected_end")}


def arriving(columns: dict[str, Column], chunk: int = 4096) -> Iterator[tuple[Job, tuple[Any, ...]]]:
    """The jobs in order of arrival and all that is known of each, made a chunk at a time."""
    count = len(columns["job"])
    for first in range(0, count, chunk):
        values = {name: column[first : first + chunk].tolist() for name, column in columns.items()}
        rows = [values[name] for name in OF_THE_JOB]
        numbers = range(first, min(first + chunk, count))
        jobs = map(Job._make, zip(numbers, *rows, repeat(UNKNOWN), repeat(UNKNOWN), strict=False))
        yield from zip(jobs, zip(*values.values(), strict=True), strict=True)


def following(
    columns: dict[str, Column], submissions: Submissions, clock: Clock
) -> Iterator[tuple[Job, tuple[Any, ...]]]:
    """The same where jobs are submitted when others have ended: numbers are in the order of that."""
    number = 0
    while True:
        place = submissions.order[number]
        values = {name: column[place].item() for name, column in columns.items()}
        values["submit"] = int(clock.now)
        yield Job(number, *(values[name] for name in OF_THE_JOB)), tuple(values.values())
        number += 1


def started(job: Job, now: int) -> Job:
    """The same job as it runs from now on."""
    return Job._make((*job[:9], now, now + job[4]))


class Jobs(Sequence[Job]):
    """Jobs one by one, and any of their columns as an array: ``view.waiting.procs``.

    Columns are ``number``, ``start``, ``expected_end`` and every one that is known at submission. Looking at
    the first few costs nothing for the others; ``list(view.waiting)`` is a list to work with.
    """

    __slots__ = ("_arrived", "_jobs")

    def __init__(self, jobs: dict[int, Job], arrived: Arrived) -> None:
        self._jobs, self._arrived = jobs, arrived

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Job]:
        return iter(self._jobs.values())

    @overload
    def __getitem__(self, place: int) -> Job: ...
    @overload
    def __getitem__(self, place: slice) -> list[Job]: ...
    def __getitem__(self, place: int | slice) -> Job | list[Job]:
        if place == 0 and self._jobs:
            return next(iter(self._jobs.values()))
        return list(self._jobs.values())[place]

    def __repr__(self) -> str:
        some = ", ".join(str(job.id) for job in self[:5])
        return f"<{counted(len(self), 'job')}: {some}{', ...' * (len(self) > 5)}>"

    def __getattr__(self, name: str) -> Column:
        if name in _FROM_THE_JOB:
            return np.fromiter(map(_FROM_THE_JOB[name], self), np.int64, len(self))
        numbers = np.fromiter(self._jobs, np.int64, len(self))
        if name == "number":
            return numbers
        if name.startswith("_") or name not in self._arrived:
            if hasattr(list, name):
                raise AttributeError(f"these jobs are for reading, without {name!r}; take list(...) of them")
            raise AttributeError(no_column(name, self._arrived.names))
        column: Column = self._arrived.column(name)[numbers]
        return column


def no_column(name: str, columns: Iterable[str]) -> str:
    """What to say of a column that a policy may not see or that is not there."""
    return f"jobs have no column {name!r} that a scheduler can see; there are {', '.join(columns)}"


class View:
    """The state of the machine at one pass, for reading. The same object serves every pass.

    Everything in it is a copy of what is known by now; no part of it shares memory with what is to come.
    """

    __slots__ = (
        "_arrived", "_running", "_waiting", "away", "capacity", "ended", "free", "maintenance", "new", "now",
        "returned",
    )  # fmt: skip

    def __init__(self, columns: dict[str, Column], capacity: int) -> None:
        self.now = 0
        """The present instant, µs."""
        self.capacity = capacity
        """Processors of the machine."""
        self.free = capacity
        """Processors that nobody uses."""
        self.new: list[Job] = []
        """Jobs that arrived at this instant."""
        self.ended: list[Job] = []
        """Jobs that ended at this instant, by themselves or because their processors failed."""
        self.returned: list[Job] = []
        """Jobs whose processors failed at this instant: they wait again, each at the place it had."""
        self.away = 0
        """Processors that are not there at the moment."""
        self.maintenance: list[Maintenance] = []
        """Maintenance that is known and not over."""
        self._arrived = Arrived({name: column.dtype for name, column in columns.items()})
        self._waiting: dict[int, Job] = {}
        self._running: dict[int, Job] = {}

    @property
    def waiting(self) -> Jobs:
        """Jobs that wait, in order of arrival; a job that was stopped has the place that it had."""
        return Jobs(self._waiting, self._arrived)

    @property
    def running(self) -> Jobs:
        """Jobs that run, in order of starting."""
        return Jobs(self._running, self._arrived)

    def column(self, name: str) -> Column:
        """A column of all jobs that have arrived so far, by job number; read-only."""
        if name not in self._arrived:
            raise AttributeError(no_column(name, self._arrived.names))
        return self._arrived.column(name)


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy decides: jobs to stop (their work is lost, and they wait again where they had waited),
    jobs to start, when to be asked again.

    Jobs are given as they stand in the view, or by number. ``wake`` (µs) asks for a pass at that time even
    if nothing happens then; it holds for one pass, so give it again as long as it is wanted.
    """

    start: Iterable[Job | int] = ()
    kill: Iterable[Job | int] = ()
    wake: int | None = None
