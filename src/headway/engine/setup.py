"""What a simulation is made of: jobs, what a policy needs of the engine, and the tables, which grow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.engine.profile import clear, copy_profile
from headway.engine.tables import (
    JOB_ROWS,
    NO_MEMORY,
    POOL_ROWS,
    Q_FIELDS,
    JobTable,
    Pools,
    Runs,
    ShareTable,
    State,
    Table,
    World,
    copy_memory,
    new_state,
    new_world,
)
from headway.units import NEVER

if TYPE_CHECKING:
    from headway.engine.outages import ChangingMachine
    from headway.engine.submissions import Submissions

Progress = Callable[[int, int], None]

FIRST_ROOM, LEAST_ROOM = 4096, 256
"""Live jobs (waiting or running) the tables hold at first; they double when more come."""


@dataclass(frozen=True)
class Jobs:
    """What the engine simulates, in order of submit then file (times in µs)."""

    submit: Table
    procs: Table
    walltime: Table
    runtime: Table
    plan: Table
    """The time the scheduler plans with: the walltime, or an estimate."""
    ids: Table | None = None
    """The log's numbers of the jobs, for messages."""

    def __len__(self) -> int:
        return len(self.submit)


EMPTY = Jobs(*(np.zeros(0, np.int64) for _ in range(5)))


@dataclass(frozen=True)
class Setup:
    """What a policy needs of the engine."""

    pools: tuple[int, ...]
    """Processors of each pool."""
    hook: Callable[[int, State], None]
    """The compiled policy, called once per instant."""
    options: tuple[int, ...] | Table = ()
    """The policy's parameters."""
    prepare: Callable[[State], None] | None = None
    """Fills further job rows, such as keys, before the run."""
    drive: Callable[[Jobs, Setup, Progress | None], State] | None = None
    """Runs the simulation in place of the compiled loop, for policies written in Python."""
    more_rows: int = 0
    """Job rows of the policy's own, behind the engine's."""
    queues: int = 0
    """How many of the pools, the first ones, have queues and a profile; 0 means all of them."""
    nodes: Table | None = None
    """[row, node] where nodes have names (rows of :mod:`headway.engine.tables`); nothing of them is taken."""
    shares_of_cpu: int = 1
    """How many jobs may get the same CPU of a named node in one instant, one after the other."""
    memory: Any = NO_MEMORY
    """The policy's own tables: a named tuple of a class of its own, tables that the engine never looks at."""
    machine: ChangingMachine | None = None
    """The machine, where its processors come and go."""
    submissions: Submissions | None = None
    """When jobs are submitted, where that depends on the ends of others."""
    again: bool = True
    """Whether another run may begin with it; else the policy's own tables are not copied."""

    def with_submissions(self, submissions: Submissions | None, again: bool = True) -> Setup:
        """The setup for jobs that are submitted so; itself where nothing changes."""
        if submissions is None and self.submissions is None and (again or self.memory is NO_MEMORY):
            return self
        return replace(self, submissions=submissions, again=again)


def first_room(jobs: int) -> int:
    """Space for how many live jobs a simulation begins with: small tables stay in the processor's cache."""
    return min(max(jobs // 4, LEAST_ROOM), FIRST_ROOM)


def make_state(jobs: Jobs, setup: Setup, room: int = FIRST_ROOM) -> tuple[State, World]:
    """The tables at the beginning: every job in the future, every processor free."""
    table = JobTable(np.zeros((JOB_ROWS + setup.more_rows, len(jobs)), np.int64))
    table.submit[:], table.procs[:] = jobs.submit, jobs.procs
    table.wall[:], table.plan[:] = jobs.walltime, jobs.plan
    table.promise[:] = table.run[:] = -1
    queues = setup.queues or len(setup.pools)
    pools = Pools(np.zeros((POOL_ROWS, max(2 * queues, len(setup.pools))), np.int64))
    pools.size[: len(setup.pools)] = pools.free[: len(setup.pools)] = setup.pools
    pools.room_from[:] = NEVER
    room = max(1, min(room, len(jobs)))
    count = len(setup.options)
    options = np.zeros(max(1, count), np.int64)
    options[:count] = setup.options
    # Copies, so that every run begins with what was prepared.
    memory = copy_memory(setup.memory) if setup.again and setup.memory is not NO_MEMORY else setup.memory
    nodes = None if setup.nodes is None else setup.nodes.copy()
    state = new_state(table, pools, options, queues, room, len(jobs) + room, nodes, memory)
    # Jobs that are submitted in another order than the log's move in this table, and it may be another run's.
    runtime = jobs.runtime if setup.submissions is None else jobs.runtime.copy()
    world = new_world(np.ascontiguousarray(runtime), room)
    state.clock.live_room = room
    if nodes is not None:
        state.clock.node_cpus = state.nodes.cpus.sum() * setup.shares_of_cpu
    begin = int(jobs.submit[0]) if len(jobs) else 0
    for pool, size in enumerate(setup.pools[:queues]):
        clear(state.profile, pool, begin, size)
    state.clock.wake = NEVER
    if setup.prepare is not None:
        setup.prepare(state)
    return state, world


def copy_into(larger: Table, table: Table) -> None:
    """Copy a table into the upper left of a larger one."""
    larger[tuple(slice(n) for n in table.shape)] = table


def grow(state: State, world: World) -> tuple[State, World]:
    """A larger table of shares where that is too small; else tables for twice as many live jobs."""
    used, most = int(state.clock.shares), int(state.clock.node_cpus)
    if used + most > state.shares.shape[1]:
        shares = np.zeros((len(state.shares), max(state.shares.shape[1] * 3 // 2, used + 2 * most)), np.int64)
        copy_into(shares, state.shares[:, :used])
        return state._replace(shares=ShareTable(shares)), world
    room = 2 * int(state.clock.live_room)
    state.clock.live_room = room
    state.pools.summed[:] = 0  # summaries are laid out by the size of the tables
    count = state.queue.shape[0] // (2 * Q_FIELDS)
    larger = new_state(state.jobs[:, :0], state.pools, state.options, count, room, 1)
    copy_into(larger.queue.table, state.queue.table)
    copy_into(larger.lists.table, state.lists.table)
    copy_profile(state.profile, larger.profile)
    runs, used = state.runs, int(state.clock.runs)
    if used + room > runs.shape[1]:  # by far the largest table, and seldom what is too small
        runs = Runs(np.zeros((runs.shape[0], max(runs.shape[1] * 5 // 4, used + room)), np.int64))
        copy_into(runs.table, state.runs[:, :used])
    larger_world = new_world(world.runtime, room)
    copy_into(larger_world.ends, world.ends)
    larger_world.size[:] = world.size
    names = ("clock", "jobs", "nodes", "shares", "changes", "memory")
    kept = {name: getattr(state, name) for name in names}
    return larger._replace(runs=runs, **kept), larger_world
