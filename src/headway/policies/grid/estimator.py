"""EASY on a cluster of a grid. It promises nothing, so completions are estimated, and may turn out wrong.

The estimator plans as conservative backfilling would from here: beside what runs, every waiting job in queue
order gets the earliest start that leaves those ahead of it where they are. The plan is in a profile of its
own, cluster k's in pool k + clusters, and is made again when an estimate is asked for at another instant or
after a task was cancelled. EASY itself (:mod:`headway.policies.backfilling.depth`) knows nothing of it.
"""

from __future__ import annotations

from headway.engine.holes import earliest, level_at
from headway.engine.profile import change, lay_over
from headway.engine.reservations import pin
from headway.engine.tables import GONE, State
from headway.jit.kernels import kernel, routine
from headway.policies.grid.tables import Tasks
from headway.units import NEVER


@kernel
def planned_pool(state: State, k: int) -> int:
    """The pool whose profile holds the plan of cluster ``k``."""
    return int(k + state.memory.servers.shape[1])


@kernel
def hold(state: State, k: int, job: int, begin: int) -> None:
    """Let the plan of cluster ``k`` hold a job's processors from ``begin`` on."""
    pool, end = planned_pool(state, k), begin + state.jobs.plan[job]
    Tasks(state.jobs).planned[job] = begin
    change(state.profile, pool, begin, end, -state.jobs.procs[job], state.clock.now)
    if begin == end:
        pin(state, pool, job)


@routine
def first_pin(state: State, k: int, procs: int, begin: int, length: int) -> int:
    """The first instant planned for a job of no length at which ``procs`` from ``begin`` on leave too few;
    else NEVER."""
    pool, first = planned_pool(state, k), NEVER
    for i in range(state.pools.pin_count[pool]):
        pinned = state.lists.pins[pool, i]
        at = Tasks(state.jobs).planned[pinned]
        in_time = begin < at < min(begin + length, first)
        if in_time and level_at(state.profile, pool, at) - state.jobs.procs[pinned] < procs:
            first = at
    return first


@kernel
def earliest_planned(state: State, k: int, procs: int, length: int) -> int:
    """The earliest start beside the plan of cluster ``k``."""
    pool, begin = planned_pool(state, k), state.clock.now
    while begin < NEVER:
        begin = earliest(state.profile, pool, begin, procs, length)
        after = first_pin(state, k, procs, begin, length)
        if after == NEVER:
            break
        begin = after
    return int(begin)


@routine
def plan_again(state: State, k: int) -> None:
    """Make the plan of cluster ``k`` for this instant, unless it is there."""
    now, servers = state.clock.now, state.memory.servers
    if servers.planned_at[k] == now and not servers.disturbed[k]:
        return
    servers.planned_at[k], servers.disturbed[k] = now, 0
    pool, q = planned_pool(state, k), 2 * k
    lay_over(state.profile, k, pool, now)
    state.pools.pin_count[pool] = 0
    for place in range(state.pools.head[2 * k], state.pools.tail[2 * k]):
        if state.queue.procs[q, place] != GONE:
            job = state.queue.job[q, place]
            procs, length = state.jobs.procs[job], state.jobs.plan[job]
            hold(state, k, job, earliest_planned(state, k, procs, length))
