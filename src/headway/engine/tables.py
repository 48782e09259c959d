"""The state of a simulation: a few int64 tables with named rows, in one tuple.

A policy gets the :class:`State` and the verbs; it never gets the run times. Those are in the
:class:`World`, which belongs to the engine alone, together with the heap of real ends.

Jobs are numbered in the order of submit, then of the file, so a smaller number is an earlier arrival.
Times are microseconds. A row is a member of its table's enumeration: ``state.jobs[Job.PROCS, job]``.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from headway.engine.profile import Profile, new_profile
from headway.jit.kernels import by_address
from headway.units import NEVER

Table = npt.NDArray[np.int64]


class Job(IntEnum):
    """Rows of `jobs`."""

    SUBMIT = 0
    PROCS = 1
    WALL = 2
    PLAN = 3
    KEY = 4
    BACKFILL_KEY = 5
    CLASS = 6
    PHASE = 7
    RUN = 8
    RESERVED = 9
    SLOT = 10
    """Where a job stands in the heap of those that are due, and from when on it is looked for there."""
    DUE_BY = 11
    PROMISE = 12
    KEPT = 13
    """Work done in earlier runs that was saved (µs)."""
    STRETCH_BY = 14
    """Where a job's size or the speed of its cluster is not that of the log, its run time is the log's
    x STRETCH_BY / STRETCH_OVER (0: the log's)."""
    STRETCH_OVER = 15


JOB_ROWS = len(Job)


class Phase(IntEnum):
    """Of a job; one that was withdrawn waits elsewhere, or not at all."""

    FUTURE = 0
    WAITING = 1
    RUNNING = 2
    SUSPENDED = 3
    DONE = 4
    REFUSED = 5
    WITHDRAWN = 6


class Run(IntEnum):
    """Rows of `runs`, the append-only log."""

    JOB = 0
    START = 1
    END = 2
    POOL = 3
    WHY = 4
    ENDED = 5
    EXPECTED = 6
    LEAD = 7
    """How long (µs) it holds its processors before its program begins (to load a file or swap memory in)."""
    LIMIT = 8
    """The most it may take in all (µs)."""
    SHARE = 9
    """Where its entries of `shares` begin, up to those of the next run. Counted processors have none."""
    DRAINING = 10
    """How many of its processors take no new jobs once it has ended."""


RUN_ROWS = len(Run)
OPEN = -1
"""``Run.END`` of a run that has not ended."""


class Pool(IntEnum):
    """Rows of `pools`, and from HEAD on of queues: pool k has queue 2 k in scheduling order, and queue
    2 k + 1 where backfilling has its own."""

    SIZE = 0
    FREE = 1
    DUE_COUNT = 2
    """Waiting jobs that hold reservations."""
    PIN_COUNT = 3
    """Reservations of no length."""
    NEWCOMERS = 4
    """Jobs that joined since the last pass."""
    FREED = 5
    """Whether processors came free since then."""
    ROOM_FROM = 6
    """From when to when the profile has more free than when waiting jobs were last looked at."""
    ROOM_TO = 7
    SEARCHED = 8
    """How many positions of the profile were passed when they were."""
    LEFT = 9
    """Waiting jobs that gave up their reservations since then: to the others like runs that ended early."""
    HEAD = 10
    TAIL = 11
    COUNT = 12
    SUMMED = 13
    """Up to which position the queue is summed up."""
    RESORTED = 14
    """Whether it is sorted anew at each pass."""


POOL_ROWS = len(Pool)


class Why(IntEnum):
    """A run started."""

    IMMEDIATE = 0
    HEAD = 1
    BACKFILL = 2
    RESERVATION = 3
    RESUMED = 4
    REDIRECTED = 5
    URGENT = 6
    URGENT_BACKFILL = 7
    URGENT_PREEMPT = 8
    PROMOTED = 9
    MOVED = 10


class Ended(IntEnum):
    """How a run ended, as the schedule numbers it; 5 is of pieces of runs alone."""

    BY_ITSELF = 0
    AT_WALLTIME = 1
    BY_REDIRECTION = 2
    BY_PREEMPTION = 3
    BY_SUSPENSION = 4
    BY_FAILURE = 6


class Node(IntEnum):
    """Rows of `nodes`, where nodes have names. Rows behind these are what is free of further resources."""

    CPUS = 0
    MEMORY = 1
    FREE_CPUS = 2
    FREE_MEMORY = 3
    RUNS = 4
    """How many runs are on it, and how many of those hold the whole node."""
    ALONE = 5


NODE_ROWS = len(Node)


class Share(IntEnum):
    """Rows of `shares`, the append-only log of what runs hold on which node. Rows behind these are what they
    hold of the nodes' further resources."""

    NODE = 0
    CPUS = 1
    MEMORY = 2
    """MB"""
    ALONE = 3
    """1 where a run shares the node with nobody."""


SHARE_ROWS = len(Share)


class Entry(IntEnum):
    """Fields of a queue's entries."""

    JOB = 0
    KEY = 1
    PROCS = 2
    PLAN = 3


Q_FIELDS = len(Entry)
GONE = 1 << 60
"""``Entry.PROCS`` of an entry that has left the queue: it fits nowhere."""


class Change(IntEnum):
    """Rows of `changes`: how many processors more (negative: fewer) to plan with from when to when."""

    FROM = 0
    TO = 1
    PROCS = 2


CHANGE_ROWS = len(Change)


class List(IntEnum):
    """Rows of `lists`; those from DUE on are there for each pool, POOL_LISTS apart."""

    ENDED_RUNS = 0
    """The runs that ended at this instant."""
    SCRATCH = 1
    """Space to sort in."""
    SPARE_SCRATCH = 2
    OUTLIVE_TIME = 3
    """A heap (time, run) of estimates that running jobs may outlive."""
    OUTLIVE_RUN = 4
    RETURNED = 5
    """Jobs that lost their processors at this instant and wait again."""
    DUE = 6
    """A heap (time, job) of reservations."""
    DUE_JOB = 7
    PINS = 8
    """Reservations of no length."""
    SUMMARY = 9
    """Two rows for each of the pool's queues."""


POOL_LISTS = 7


class Clock(IntEnum):
    """Entries of `clock`."""

    NOW = 0
    FIRST_NEW = 1
    LAST_NEW = 2
    ENDED = 3
    WAKE = 4
    FAULT = 5
    FAULT_JOB = 6
    RUNS = 7
    FRESH = 8
    WAITS = 9
    RUNS_NOW = 10
    SUSPENDS = 11
    FINISHED = 12
    INSTANTS = 13
    WAITS_SUM = 14
    WAITS_MAX = 15
    AGED = 16
    OUTLIVES = 17
    LIVE_ROOM = 18
    SHARES = 19
    NODE_CPUS = 20
    HORIZON = 21
    """When the world next has something to tell beside ends and arrivals."""
    HELD = 22
    """2 while it tells, and 1 in the policy's turn after that; the same where the policy asks its owner, and
    is answered."""
    CHANGES = 23
    """What the world told at this instant, as are RETURNS."""
    RETURNS = 24
    KNOWN_UNTIL = 25
    """Arrivals before this are in the table of jobs; no instant from then on is opened."""
    ONLY_PLANS = 26
    """1 while the policy's turn is to bring its plans up to date and start nothing."""


ALL_KNOWN = NEVER + 1
"""``Clock.KNOWN_UNTIL`` where no more jobs come than those in the table."""


class Step(IntEnum):
    """What step and the loop return."""

    PASS = 0
    TICK = 1
    GROW = 2
    FINISH = 3
    BROKEN = 4
    EVENT = 5
    PAUSE = 6
    ASK = 7


class Fault(IntEnum):
    """Why a verb was refused."""

    NONE = 0
    NOT_WAITING = 1
    TOO_WIDE = 2
    NOT_RUNNING = 3
    SLEPT = 4
    BAD_KEY = 5
    NOT_SUSPENDED = 6
    TOO_FAR = 7
    NODE_FULL = 8
    NO_ROOM = 9


@by_address
class NoMemory(NamedTuple):
    """The memory of a policy that remembers nothing but its options."""

    table: Table


NO_MEMORY = NoMemory(np.zeros((0, 0), np.int64))


def copy_memory(memory: Any) -> Any:
    """The same tables with the same content; one that is another view of a table stays a view of it."""
    copies = {id(table): table.copy() for table in _tables_in(memory) if table.base is None}
    return _copied(memory, copies)


def _tables_in(memory: Any) -> Iterator[npt.NDArray[Any]]:
    """All tables of a memory, those of the tuples inside it too."""
    for each in memory:
        yield from _tables_in(each) if isinstance(each, tuple) else (each,)


def _copied(table: Any, copies: dict[int, npt.NDArray[Any]]) -> Any:
    """The copy of a table, or the like view of the copy of what it looks at; of a tuple, of each in it."""
    if isinstance(table, tuple):
        return type(table)(*(_copied(each, copies) for each in table))
    if table.base is None:
        return copies[id(table)]
    seen = copies.get(id(table.base))
    return table.copy() if seen is None else seen.view(table.dtype).reshape(table.shape)


@by_address
class State(NamedTuple):
    """Everything a scheduler may know."""

    clock: Table
    """Scalars: the present instant, its newcomers and completions, counts, the fault if any."""
    jobs: Table
    """[row, job]"""
    runs: Table
    """[row, run] one column per started run, in the order of starting."""
    pools: Table
    """[row, pool or queue] a pool is a count of interchangeable processors: a cluster, a group, a node."""
    queue: Table
    """[4 q + field, place] waiting jobs in scheduling order, with gaps where jobs have left."""
    lists: Table
    """[row, place] the runs that ended at this instant, space to sort in, and for each pool a heap of jobs
    by reserved start (``jobs[Job.SLOT]`` is a job's place in it)."""
    profile: Profile
    """Free processors over time, for policies that plan ahead."""
    keys: npt.NDArray[np.float64]
    """[place] the keys of the present instant, for orders that change with time."""
    options: Table
    """The parameters of queues, those of each pool one behind the other."""
    nodes: Table
    """[row, node] where nodes have names: CPUs and memory of each, and what of it is free."""
    shares: Table
    """[row, entry] what each run on named nodes holds of which node, in the order of starting."""
    changes: Table
    """[row, place] what became known at this instant of processors that come and go."""
    memory: Any
    """The policy's own tables, a named tuple that the policy declares."""


@by_address
class World(NamedTuple):
    """What only the engine knows: how long jobs really run."""

    runtime: Table
    """[job] µs"""
    ends: Table
    """[time | run, place] a heap of real ends; a run that has an end already is stale."""
    size: Table
    """[1] entries in the heap."""


def new_state(
    jobs: Table,
    pools: Table,
    options: Table,
    count: int,
    live: int,
    log: int,
    nodes: Table | None = None,
    memory: Any = NO_MEMORY,
) -> State:
    """Empty tables for these jobs [row, job] and pools [row, pool], with space for ``live`` jobs at once.

    The first ``count`` pools have queues and a profile.
    """
    held = (SHARE_ROWS, 0)
    if nodes is not None:
        held = SHARE_ROWS + len(nodes) - NODE_ROWS, 2 * int(nodes[Node.CPUS].sum())
    clock = np.zeros(len(Clock), np.int64)
    clock[Clock.HORIZON], clock[Clock.KNOWN_UNTIL] = NEVER, ALL_KNOWN
    return State(
        clock=clock,
        jobs=jobs,
        runs=np.zeros((RUN_ROWS, log), np.int64),
        pools=pools,
        queue=np.zeros((Q_FIELDS * 2 * count, queue_room(live)), np.int64),
        lists=np.zeros((List.DUE + POOL_LISTS * count, queue_room(live)), np.int64),
        profile=new_profile(count, live),
        keys=np.zeros(queue_room(live), np.float64),
        options=options,
        nodes=np.zeros((NODE_ROWS, 0), np.int64) if nodes is None else nodes,
        shares=np.zeros(held, np.int64),
        changes=np.zeros((CHANGE_ROWS, 8), np.int64),
        memory=memory,
    )


def new_world(runtime: Table, live: int) -> World:
    """An empty heap with space for ``live`` running jobs and as many stale entries."""
    return World(runtime=runtime, ends=np.zeros((2, 2 * live), np.int64), size=np.zeros(1, np.int64))


def queue_room(live: int) -> int:
    """Positions in a queue of at most ``live`` jobs: gaps are closed when twice as many are used."""
    return 2 * live + 64


Kind = tuple[type, tuple[Any, ...]]
"""Class of a memory, and the type and dimensions of each of its tables: all that compiled code depends on.
Of a tuple of tables inside it, the kind of that."""


def kind_of(memory: Any) -> Kind:
    """The kind of a policy's memory."""
    return NO_KIND if memory is NO_MEMORY else _kind_of_tables(memory)


def _kind_of_tables(memory: Any) -> Kind:
    return type(memory), tuple(
        _kind_of_tables(each) if isinstance(each, tuple) else (each.dtype.str, each.ndim) for each in memory
    )


NO_KIND = _kind_of_tables(NO_MEMORY)
"""That of most policies."""


def tables_like(kind: Kind) -> tuple[State, World]:
    """Tables of the types that a policy with a memory of such a kind works on, with nothing in them."""
    table, row = np.zeros((0, 0), np.int64), np.zeros(0, np.int64)
    memory = _empty(kind)
    return new_state(table, table, row, count=1, live=1, log=1, memory=memory), new_world(row, live=1)


def _empty(kind: Any) -> Any:
    """A memory of such a kind with nothing in it; or a table."""
    made, inside = kind
    if isinstance(made, str):
        return np.zeros((0,) * inside, made)
    return made(*map(_empty, inside))
