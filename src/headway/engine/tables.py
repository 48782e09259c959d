"""The state of a simulation: a few int64 tables with named rows, in one tuple.

A policy gets the :class:`State` and the verbs; it never gets the run times. Those are in the
:class:`World`, which belongs to the engine alone, together with the heap of real ends.

Jobs are numbered in the order of submit, then of the file, so a smaller number is an earlier arrival.
Times are microseconds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from headway.engine.profile import Profile, new_profile
from headway.jit import by_address
from headway.units import NEVER

Table = npt.NDArray[np.int64]

# Rows of `jobs`. KEPT is work done in earlier runs that was saved (µs). Where a job's size or the speed of
# its cluster is not that of the log, its run time is the log's x STRETCH_BY / STRETCH_OVER (0: the log's).
(
    SUBMIT,
    PROCS,
    WALL,
    PLAN,
    KEY,
    BACKFILL_KEY,
    CLASS,
    PHASE,
    RUN,
    RESERVED,
    SLOT,
    PROMISE,
    KEPT,
    STRETCH_BY,
    STRETCH_OVER,
) = range(15)
JOB_ROWS = 15
# Phases of a job; one that was withdrawn waits elsewhere, or not at all.
FUTURE, WAITING, RUNNING, SUSPENDED, DONE, REFUSED, WITHDRAWN = range(7)

# Rows of `runs`, the append-only log. R_LEAD is how long a run holds its processors before the program
# begins (a file is loaded, memory is swapped in), R_LIMIT the most it may take in all (both µs). R_SHARE is
# where its entries of `shares` begin; they go up to those of the next run. Counted processors have none.
R_JOB, R_START, R_END, R_POOL, R_WHY, R_ENDED, R_EXPECTED, R_LEAD, R_LIMIT, R_SHARE = range(10)
RUN_ROWS = 10
OPEN = -1
"""``R_END`` of a run that has not ended."""

# Rows of `pools`: size and free processors; how many waiting jobs hold reservations, and reservations of no
# length; jobs that joined since the last pass, and whether processors came free since then; from when to when
# the profile has more free than when waiting jobs were last looked at; how many positions of the profile were
# passed when they were. The Q rows are of queues: pool k
# has queue 2 k in scheduling order, and queue 2 k + 1 where backfilling has its own; up to which position a
# queue is summed up, and whether it is sorted anew at each pass.
(
    SIZE,
    FREE,
    DUE_COUNT,
    PIN_COUNT,
    NEWCOMERS,
    FREED,
    ROOM_FROM,
    ROOM_TO,
    SEARCHED,
    Q_HEAD,
    Q_TAIL,
    Q_COUNT,
    Q_SUMMED,
    Q_RESORTED,
) = range(14)
POOL_ROWS = 14

# Why a run started, and how it ended.
(
    IMMEDIATE,
    HEAD,
    BACKFILL,
    RESERVATION,
    RESUMED,
    REDIRECTED,
    URGENT,
    URGENT_BACKFILL,
    URGENT_PREEMPT,
    PROMOTED,
    MOVED,
) = range(11)
BY_ITSELF, AT_WALLTIME, BY_REDIRECTION, BY_PREEMPTION, BY_SUSPENSION = range(5)
BY_FAILURE = 6
"""As the schedule numbers the ways in which a run ends; the one between is of pieces alone."""

# Rows of `nodes`, where nodes have names: what a node has, what of it is free, how many runs are on it, and
# how many of those hold the whole node. Rows behind these are what is free of further resources.
N_CPUS, N_MEMORY, N_FREE_CPUS, N_FREE_MEMORY, N_RUNS, N_ALONE = range(6)
NODE_ROWS = 6

# Rows of `shares`, the append-only log of what runs hold on which node (memory in MB); S_ALONE is 1 where a
# run shares the node with nobody. Rows behind these are what it holds of the nodes' further resources.
S_NODE, S_CPUS, S_MEMORY, S_ALONE = range(4)
SHARE_ROWS = 4

# Fields of a queue's entries.
Q_JOB, Q_KEY, Q_PROCS, Q_PLAN = range(4)
Q_FIELDS = 4
GONE = 1 << 60
"""``Q_PROCS`` of an entry that has left the queue: it fits nowhere."""

# Rows of `changes`: how many processors more (negative: fewer) there are to plan with from when to when.
C_FROM, C_TO, C_PROCS = range(3)
CHANGE_ROWS = 3

# Rows of `lists`: the runs that ended at this instant, space to sort in, a heap (time, run) of estimates
# that running jobs may outlive, jobs that lost their processors at this instant and wait again; then for
# each pool, from DUE on: a heap (time, job) of reservations, a list of those of no length, and two rows for
# the summary of each of its queues.
ENDED_RUNS, SCRATCH, SPARE_SCRATCH, OUTLIVE_TIME, OUTLIVE_RUN, RETURNED, DUE = range(7)
DUE_JOB, PINS, SUMMARY, POOL_LISTS = DUE + 1, DUE + 2, DUE + 3, 7

# Entries of `clock`. HORIZON is when the world next has something to tell beside ends and arrivals, HELD is 2
# while it tells, and 1 in the policy's turn after that; the same where the policy asks its owner, and is
# answered. CHANGES and RETURNS are what the world told at this instant. Arrivals before KNOWN_UNTIL are in
# the table of jobs; no instant from then on is opened.
(
    NOW,
    FIRST_NEW,
    LAST_NEW,
    ENDED,
    WAKE,
    FAULT,
    FAULT_JOB,
    RUNS,
    FRESH,
    WAITS,
    RUNS_NOW,
    SUSPENDS,
    FINISHED,
    INSTANTS,
    WAITS_SUM,
    WAITS_MAX,
    AGED,
    OUTLIVES,
    LIVE_ROOM,
    SHARES,
    NODE_CPUS,
    HORIZON,
    HELD,
    CHANGES,
    RETURNS,
    KNOWN_UNTIL,
) = range(26)
CLOCK_ENTRIES = 26

ALL_KNOWN = NEVER + 1
"""``KNOWN_UNTIL`` where no more jobs come than those in the table."""

# What step and the loop return.
PASS, TICK, GROW, FINISH, BROKEN, EVENT, PAUSE, ASK = range(8)

# Faults: verbs that were refused.
NONE, NOT_WAITING, TOO_WIDE, NOT_RUNNING, SLEPT, BAD_KEY, NOT_SUSPENDED, TOO_FAR, NODE_FULL = range(9)


@by_address
class NoMemory(NamedTuple):
    """The memory of a policy that remembers nothing but its options."""

    table: Table


NO_MEMORY = NoMemory(np.zeros((0, 0), np.int64))


def copy_memory(memory: Any) -> Any:
    """The same tables with the same content; one that is another view of a table stays a view of it."""
    copies = {id(table): table.copy() for table in memory if table.base is None}
    return type(memory)(*(_copied(table, copies) for table in memory))


def _copied(table: npt.NDArray[Any], copies: dict[int, npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The copy of a table, or the like view of the copy of the table that it looks at."""
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
    by reserved start (``jobs[SLOT]`` is a job's place in it)."""
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
        held = SHARE_ROWS + len(nodes) - NODE_ROWS, 2 * int(nodes[N_CPUS].sum())
    clock = np.zeros(CLOCK_ENTRIES, np.int64)
    clock[HORIZON], clock[KNOWN_UNTIL] = NEVER, ALL_KNOWN
    return State(
        clock=clock,
        jobs=jobs,
        runs=np.zeros((RUN_ROWS, log), np.int64),
        pools=pools,
        queue=np.zeros((Q_FIELDS * 2 * count, queue_room(live)), np.int64),
        lists=np.zeros((DUE + POOL_LISTS * count, queue_room(live)), np.int64),
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
