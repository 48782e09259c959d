"""The state of a simulation: a few int64 tables with named rows, in one tuple.

A policy gets the :class:`State` and the verbs; it never gets the run times. Those are in the
:class:`World`, which belongs to the engine alone, together with the heap of real ends.

Jobs are numbered in the order of submit, then of the file, so a smaller number is an earlier arrival.
Times are microseconds. A row has a name: ``state.jobs.procs[job]`` (:mod:`headway.jit.rows`).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from headway.engine.profile import Profile, new_profile
from headway.jit.kernels import by_address
from headway.jit.rows import Each, Entries, Named, Row, Rows, array_of, same
from headway.units import NEVER

Table = npt.NDArray[np.int64]


class JobTable(Rows):
    """What is known of each job; behind these rows stand those of a policy's own."""

    submit: Row
    procs: Row
    wall: Row
    plan: Row
    key: Row
    backfill_key: Row
    priority_class: Row
    phase: Row
    run: Row
    reserved: Row
    slot: Row  # Its position in the heap of those that are due,
    due_by: Row  # and from when on it is looked for there.
    promise: Row
    kept: Row  # Work done in earlier runs that was saved (µs).
    stretch_by: Row  # Where its size or the speed of its cluster is not that of the log, its run time is the
    stretch_over: Row  # log's x stretch_by / stretch_over (0: the log's).


JOB_ROWS = len(JobTable)


class Phase(IntEnum):
    """Of a job; one that was withdrawn waits elsewhere, or not at all."""

    FUTURE = 0
    WAITING = 1
    RUNNING = 2
    SUSPENDED = 3
    DONE = 4
    REFUSED = 5
    WITHDRAWN = 6


class Runs(Rows):
    """The append-only log of runs."""

    job: Row
    start: Row
    end: Row
    pool: Row
    why: Row
    ended: Row
    expected: Row
    lead: Row  # µs for which it holds its processors before its program begins (loading, swapping in).
    limit: Row  # The most it may take in all (µs).
    share: Row  # Where its entries of `shares` begin, up to those of the next run.
    draining: Row  # How many of its processors take no new jobs once it has ended.


RUN_ROWS = len(Runs)
OPEN = -1
"""``runs.end`` of a run that has not ended."""


class Pools(Rows):
    """Pools, and from ``head`` on queues: pool k has queue 2 k in scheduling order, and queue 2 k + 1 where
    backfilling has its own."""

    size: Row
    free: Row
    due_count: Row  # Waiting jobs that hold reservations.
    pin_count: Row  # Reservations of no length.
    newcomers: Row  # Jobs that joined since the last pass.
    freed: Row  # Whether processors came free since then.
    room_from: Row  # From when to when the profile has more free than when waiting jobs were last looked at.
    room_to: Row
    searched: Row  # How many positions of the profile were passed when they were.
    left: Row  # Waiting jobs that gave up reservations since then: to the others like runs that ended early.
    head: Row
    tail: Row
    count: Row
    summed: Row  # Up to which position the queue is summed up.
    resorted: Row  # Whether it is sorted anew at each pass.


POOL_ROWS = len(Pools)


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


class Nodes(Rows):
    """Nodes that have names. Rows behind these are what is free of further resources."""

    cpus: Row
    memory_mb: Row
    free_cpus: Row
    free_memory: Row
    runs: Row  # How many runs are on it, and how many of those hold the whole node.
    alone: Row


NODE_ROWS = len(Nodes)


class ShareTable(Rows):
    """The append-only log of what runs hold on which node. Rows behind these are what they hold of the nodes'
    further resources."""

    node: Row
    cpus: Row
    memory_mb: Row
    alone: Row  # 1 where a run shares the node with nobody.


SHARE_ROWS = len(ShareTable)


class Queues(Rows):
    """[q, position] the entries of waiting lines."""

    job: Each
    key: Each
    procs: Each
    plan: Each


Q_FIELDS = len(Queues)
GONE = 1 << 60
"""``queue.procs`` of an entry that has left the queue: it fits nowhere."""


class Changes(Rows):
    """How many processors more (negative: fewer) to plan with from when to when."""

    start: Row
    end: Row
    procs: Row


CHANGE_ROWS = len(Changes)


class Lists(Rows):
    """Lists of jobs and runs, and space to work in."""

    ended_runs: Row  # The runs that ended at this instant.
    scratch: Row  # Space to sort in.
    spare_scratch: Row
    outlive_time: Row  # A heap (time, run) of estimates that running jobs may outlive.
    outlive_run: Row
    returned: Row  # Jobs that lost their processors at this instant and wait again.
    due: Each  # [pool, position] a heap (time, job) of reservations.
    due_job: Each
    pins: Each  # Reservations of no length.
    least_plan: Each  # Sums over parts of the pool's queue in scheduling order,
    least_procs: Each
    backfill_plan: Each  # and of that in which it backfills.
    backfill_procs: Each


SHARED_LISTS: int = Lists["due"]
POOL_LISTS = len(Lists) - SHARED_LISTS
"""Lists that are there once, and those of each pool."""


class Clock(Entries):
    """Scalars."""

    now: int
    first_new: int
    last_new: int
    ended: int
    wake: int
    fault: int
    fault_job: int
    runs: int
    fresh: int
    waits: int
    runs_now: int
    suspends: int
    finished: int
    instants: int
    waits_sum: int
    waits_max: int
    aged: int
    outlives: int
    live_room: int
    shares: int
    node_cpus: int
    horizon: int  # When the world next has something to tell beside ends and arrivals.
    held: int  # 2 while it tells (or the policy asks its owner), and 1 in the policy's turn after that.
    changes: int  # What the world told at this instant, as are RETURNS.
    returns: int
    known_until: int  # Arrivals before this are in the table of jobs; no instant from then on is opened.
    only_plans: int  # 1 while the policy's turn is to bring its plans up to date and start nothing.


ALL_KNOWN = NEVER + 1
"""``clock.known_until`` where no more jobs come than those in the table."""


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
        yield from _tables_in(each) if isinstance(each, tuple) else (array_of(each),)


def _copied(table: Any, copies: dict[int, npt.NDArray[Any]]) -> Any:
    """The copy of a table, or the like view of the copy of what it looks at; of a tuple, of each in it."""
    if isinstance(table, tuple):
        return type(table)(*(_copied(each, copies) for each in table))
    if isinstance(table, Named):
        return same(table, _copied(table.table, copies))
    if table.base is None:
        return copies[id(table)]
    seen = copies.get(id(table.base))
    return table.copy() if seen is None else seen.view(table.dtype).reshape(table.shape)


@by_address
class State(NamedTuple):
    """Everything a scheduler may know."""

    clock: Clock
    """Scalars: the present instant, its newcomers and completions, counts, the fault if any."""
    jobs: JobTable
    """[row, job]"""
    runs: Runs
    """[row, run] one column per started run, in the order of starting."""
    pools: Pools
    """[row, pool or queue] a pool is a count of interchangeable processors: a cluster, a group, a node."""
    queue: Queues
    """[4 q + field, position] waiting jobs in scheduling order, with gaps where jobs have left."""
    lists: Lists
    """[row, position] the runs that ended at this instant, space to sort in, and for each pool a heap of jobs
    by reserved start (``jobs.slot`` is a job's position in it)."""
    profile: Profile
    """Free processors over time, for policies that plan ahead."""
    keys: npt.NDArray[np.float64]
    """[place] the keys of the present instant, for orders that change with time."""
    options: Table
    """The parameters of queues, those of each pool one behind the other."""
    nodes: Nodes
    """[row, node] where nodes have names: CPUs and memory of each, and what of it is free."""
    shares: ShareTable
    """[row, entry] what each run on named nodes holds of which node, in the order of starting."""
    changes: Changes
    """[row, position] what became known at this instant of processors that come and go."""
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
    jobs: Table | JobTable,
    pools: Table | Pools,
    options: Table,
    count: int,
    live: int,
    log: int,
    nodes: Table | Nodes | None = None,
    memory: Any = NO_MEMORY,
) -> State:
    """Empty tables for these jobs [row, job] and pools [row, pool], with space for ``live`` jobs at once.

    The first ``count`` pools have queues and a profile.
    """
    held = (SHARE_ROWS, 0)
    if nodes is not None:
        held = SHARE_ROWS + len(nodes) - NODE_ROWS, 2 * int(Nodes(nodes).cpus.sum())
    clock = Clock(np.zeros(len(Clock), np.int64))
    clock.horizon, clock.known_until = NEVER, ALL_KNOWN
    return State(
        clock=clock,
        jobs=JobTable(jobs),
        runs=Runs(np.zeros((RUN_ROWS, log), np.int64)),
        pools=Pools(pools),
        queue=Queues(np.zeros((Q_FIELDS * 2 * count, queue_room(live)), np.int64)),
        lists=Lists(np.zeros((SHARED_LISTS + POOL_LISTS * count, queue_room(live)), np.int64)),
        profile=new_profile(count, live),
        keys=np.zeros(queue_room(live), np.float64),
        options=options,
        nodes=Nodes(np.zeros((NODE_ROWS, 0), np.int64) if nodes is None else nodes),
        shares=ShareTable(np.zeros(held, np.int64)),
        changes=Changes(np.zeros((CHANGE_ROWS, 8), np.int64)),
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
Of a tuple of tables inside it, the kind of that; of a table whose rows have names, its class, too."""


def kind_of(memory: Any) -> Kind:
    """The kind of a policy's memory."""
    return NO_KIND if memory is NO_MEMORY else _kind_of_tables(memory)


def _kind_of_tables(memory: Any) -> Kind:
    return type(memory), tuple(map(_kind_of_table, memory))


def _kind_of_table(table: Any) -> tuple[Any, Any]:
    if isinstance(table, tuple):
        return _kind_of_tables(table)
    if isinstance(table, Named):
        return type(table), _kind_of_table(table.table)
    return table.dtype.str, table.ndim


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
    if issubclass(made, Named):
        return made(_empty(inside))
    return made(*map(_empty, inside))
