"""A copy of a cluster that runs on alone: when is a job completed if nothing else comes?

In the copy every job lasts as long as was requested; how long it really runs only the engine knows. The
answer is a fact for policies whose jobs start as planned, and an estimate for all others.

A copy is made again and again, so only what may have changed is copied: of the long tables, those of jobs and
of runs, the part from the first job (or run) on that was not over at the last copy.
"""

from __future__ import annotations

import numpy as np

from headway.engine.driver import Driver
from headway.engine.heap import push
from headway.engine.side_by_side import open_at
from headway.engine.tables import (
    NO_MEMORY,
    OPEN,
    Fault,
    Phase,
    State,
    Step,
    Table,
    World,
)
from headway.jit.kernels import entry, kernel
from headway.jit.rows import array_of, same
from headway.policies.grid.composed.cluster import Cluster, Shape
from headway.policies.grid.composed.copies import is_here
from headway.units import NEVER

FIRST_STEPS, MOST_STEPS = 16, 4096
"""Instants that a copy is run on before somebody looks whether the job has ended; doubled each time."""


class Copy(Driver):
    """A copy of a cluster at some instant, which can be run on."""

    def __init__(self, cluster: Cluster) -> None:
        self.__dict__.update(vars(cluster))
        self.cluster, self.hook = cluster, cluster.hook_as_value
        self.lists = np.array(cluster.kind.not_of_jobs, np.int64)
        """Rows of the table of jobs whose columns are not jobs."""
        self.first_job = self.first_run = self.touched = 0
        self.tables: tuple[int, ...] = ()
        self.over = False

    def renew(self, t: int) -> None:
        """Be the cluster as it is at ``t``, before the policy's turn."""
        source, cluster = self.cluster.state, self.cluster
        tables = (source.jobs, source.runs, source.queue, source.changes, cluster.world.ends)
        sizes = tuple(table.shape[1] for table in tables)
        if self.tables != sizes:
            self.state = _alike(source, cluster)
            ends = np.zeros_like(cluster.world.ends)
            self.world = World(cluster.requested.copy(), ends, np.zeros(1, np.int64))
            self.tables, self.first_job, self.first_run = sizes, 0, 0
        state = self.state
        for table, original in zip(state.memory, source.memory, strict=True):
            if len(table):
                np.copyto(array_of(table), array_of(original))
        np.copyto(state.options, source.options)
        upto = min(max(int(source.clock.last_new) + 1, self.touched), sizes[0])
        self.touched = int(source.clock.last_new) + 1
        self.first_job, self.first_run = copy_changed(
            source._replace(memory=NO_MEMORY),  # so that it is compiled once for all policies
            state._replace(memory=NO_MEMORY),
            self.world,
            cluster.requested,
            self.lists,
            self.first_job,
            self.first_run,
            upto,
        )
        self.over = False
        if not cluster.is_open:
            while open_at(self.state, self.world, t) == Step.GROW:
                self.grow()

    def begin(self, t: int, job: int | None = None, shape: Shape | None = None) -> int:
        """The policy's turn at ``t``, with one more newcomer if a job is given; its column."""
        column = -1
        if job is not None and shape is not None:
            if self.state.clock.last_new == self.state.jobs.shape[1]:
                self.widen()
            column = self.cluster.add(self.state, job, shape)
            self.world.runtime[column] = shape.time(int(self.cluster.jobs.walltime[job]))
        self.turn(t)
        return column

    def turn(self, t: int) -> None:
        """The policy's turn."""
        self.cluster.hook(t, self.state)
        if self.state.clock.fault != Fault.NONE:
            raise self.refusal()

    def completion(self, column: int) -> int:
        """When the job of a column is completed; NEVER if the policy does not run it."""
        steps = FIRST_STEPS
        while self.state.jobs.phase[column] != Phase.DONE:
            if self.over:
                return NEVER
            self.over = not self.advance(steps)
            steps = min(2 * steps, MOST_STEPS)
        return int(self.state.runs.end[self.state.jobs.run[column]])

    def ids(self) -> None:
        """Its columns have no names: the one that is tried is in no log of submissions."""

    def grow(self) -> None:
        super().grow()
        self.tables = ()  # the next copy is made of new ones

    def widen(self) -> None:
        super().widen()
        self.tables = ()


def _alike(source: State, cluster: Cluster) -> State:
    """Empty tables of the same sizes."""
    names = [name for name in source._fields if name not in ("profile", "memory")]
    tables = {name: getattr(source, name) for name in names}
    made = {name: same(table, np.zeros_like(array_of(table))) for name, table in tables.items()}
    made["jobs"].submit[:] = NEVER
    profile = type(source.profile)(*(np.zeros_like(table) for table in source.profile))
    memory = cluster.trial_memory()
    return State(**made, profile=profile, memory=memory)


@kernel
def copy_whole(source: Table, target: Table) -> None:
    """Copy a table of two dimensions."""
    for row in range(source.shape[0]):
        for place in range(source.shape[1]):
            target[row, place] = source[row, place]


@kernel
def copy_part(source: Table, target: Table, begin: int, end: int) -> None:
    """Copy some columns of a table."""
    for row in range(source.shape[0]):
        for column in range(begin, end):
            target[row, column] = source[row, column]


@entry
def copy_changed(
    source: State,
    target: State,
    world: World,
    requested: Table,
    lists: Table,
    first_job: int,
    first_run: int,
    upto: int,
) -> tuple[int, int]:
    """Copy what may have changed since the last copy, of jobs up to column ``upto``.

    Returns the first job and the first run that are not over. In the world of the copy runs last as long as
    was requested; those that the last turn started are foreseen by the engine itself.
    """
    jobs, runs = source.clock.last_new, source.clock.runs
    for place in range(source.clock.shape[0]):
        target.clock[place] = source.clock[place]
    for place in range(len(source.keys)):
        target.keys[place] = source.keys[place]
    copy_whole(source.pools.table, target.pools.table)
    copy_whole(source.queue.table, target.queue.table)
    copy_whole(source.lists.table, target.lists.table)
    copy_whole(source.changes.table, target.changes.table)
    copy_whole(source.profile.steps, target.profile.steps)
    copy_whole(source.profile.blocks, target.profile.blocks)
    copy_part(source.jobs.table, target.jobs.table, first_job, upto)
    for i in range(len(lists)):
        for column in range(first_job):
            target.jobs[lists[i], column] = source.jobs[lists[i], column]
    copy_part(source.runs.table, target.runs.table, first_run, runs)
    for column in range(first_job, upto):
        world.runtime[column] = requested[column]
    while first_job < jobs and not is_here(source.jobs.phase[first_job]):
        first_job += 1
    while first_run < runs and source.runs.end[first_run] != OPEN:
        first_run += 1
    target.clock.fresh = runs
    count = 0
    for run in range(first_run, runs):
        if target.runs.end[run] == OPEN:
            job = target.runs.job[run]
            needed = target.runs.lead[run] + requested[job] - target.jobs.kept[job]
            end = target.runs.start[run] + min(needed, target.runs.limit[run])
            push(world.ends, 0, count, end, run)
            count += 1
    world.size[0] = count
    return first_job, first_run
