"""Columns leave the tables of a simulation that has no end of its own.

    new = drop_columns(state, local, stays, jobs, more)     jobs that nothing will be asked about again
    new = drop_runs(state, world, local, stays)             their runs, before

Numbers of jobs and runs change, their order does not, so that whatever is decided by a number is decided as
before. Nothing that is to come changes.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from headway.engine.local import Local, Marks
from headway.engine.tables import (
    POOL_LISTS,
    Q_FIELDS,
    Clock,
    JobTable,
    Lists,
    Pools,
    State,
    Table,
    World,
)
from headway.engine.windows import renumbered, take_over_heap
from headway.units import NEVER


def drop_columns(state: State, local: Local, stays: Marks, jobs: Table, more: Iterable[Table]) -> Table:
    """Take columns that neither wait nor run out of the table of jobs; the new number of each column.

    No run of theirs is in the log of runs. ``jobs`` is the job of each column as its owner counts jobs;
    ``more`` are the owner's tables with an entry for each column.
    """
    last = len(stays)
    new: Table = np.cumsum(stays) - stays
    count = int(stays.sum())
    if local.renumber is not None:
        local.renumber(state, new, stays, jobs)
    for row in np.setdiff1d(np.arange(len(state.jobs)), local.not_of_jobs):
        state.jobs[row, :count] = state.jobs[row, :last][stays]
    for column in more:
        column[:count] = column[:last][stays]
    state.jobs.submit[count:last], state.jobs.phase[count:last] = NEVER, 0
    state.jobs[[JobTable["run"], JobTable["promise"]], count:last] = -1
    runs = state.runs.job[: state.clock.runs]
    runs[:] = new[runs]
    for q in range(len(state.queue) // Q_FIELDS):
        waiting = state.queue.job[q, state.pools.head[q] : state.pools.tail[q]]
        waiting[:] = new[waiting]
    for k in range(len(state.queue) // (2 * Q_FIELDS)):
        for row, size in ((Lists["due_job"], Pools["due_count"]), (Lists["pins"], Pools["pin_count"])):
            held = state.lists[row + POOL_LISTS * k, : state.pools[size, k]]
            held[:] = new[held]
    for entry in (Clock["first_new"], Clock["aged"]):
        state.clock[entry] = stays[: state.clock[entry]].sum()
    state.clock.last_new = count
    return new


def drop_runs(state: State, world: World, local: Local, stays: Marks) -> Table:
    """Take runs that are over out of the log of runs, between two instants; the new number of each, or -1."""
    count, used = int(stays.sum()), len(stays)
    new = renumbered(np.flatnonzero(stays), used)
    started = state.jobs.run[: state.clock.last_new]
    started[:] = np.where(started >= 0, new[started], started)
    state.runs[:, :count] = state.runs[:, :used][:, stays]
    world.size[0] = take_over_heap(world.ends, 0, 1, int(world.size[0]), new)
    outlives = int(state.clock.outlives)
    state.clock.outlives = take_over_heap(
        state.lists.table, Lists["outlive_time"], Lists["outlive_run"], outlives, new
    )
    state.clock.runs = state.clock.fresh = count
    if local.renumber_runs is not None:
        local.renumber_runs(state, new)
    return new
