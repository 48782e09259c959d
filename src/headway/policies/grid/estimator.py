"""EASY on a cluster of a grid. It promises nothing, so completions are estimated, and may turn out wrong.

The estimator plans as conservative backfilling would from here: beside what runs, every waiting job in queue
order gets the earliest start that leaves those ahead of it where they are. The plan is in a profile of its
own, cluster k's in pool k + clusters, and is made anew when an estimate is asked for at another instant or
after a task was cancelled. EASY itself (:mod:`headway.policies.backfilling.depth`) knows nothing of it.
"""

from __future__ import annotations

from headway.engine.holes import earliest
from headway.engine.profile import change, lay_over
from headway.engine.tables import GONE, Q_FIELDS, Clock, Entry, Job, Pool, State
from headway.jit.kernels import kernel, routine
from headway.policies.grid.tables import Server, Task


@kernel
def planned_pool(state: State, k: int) -> int:
    """The pool whose profile holds the plan of cluster ``k``."""
    return int(k + state.memory.servers.shape[1])


@kernel
def hold(state: State, k: int, job: int, begin: int) -> None:
    """Let the plan of cluster ``k`` hold a job's processors from ``begin`` on."""
    state.jobs[Task.PLANNED, job] = begin
    end = begin + state.jobs[Job.PLAN, job]
    change(
        state.profile, planned_pool(state, k), begin, end, -state.jobs[Job.PROCS, job], state.clock[Clock.NOW]
    )


@routine
def plan_again(state: State, k: int) -> None:
    """Make the plan of cluster ``k`` for this instant, unless it is there."""
    now, servers = state.clock[Clock.NOW], state.memory.servers
    if servers[Server.PLANNED_AT, k] == now and not servers[Server.DISTURBED, k]:
        return
    servers[Server.PLANNED_AT, k], servers[Server.DISTURBED, k] = now, 0
    pool, row = planned_pool(state, k), Q_FIELDS * 2 * k
    lay_over(state.profile, k, pool, now)
    for place in range(state.pools[Pool.HEAD, 2 * k], state.pools[Pool.TAIL, 2 * k]):
        if state.queue[row + Entry.PROCS, place] != GONE:
            job = state.queue[row + Entry.JOB, place]
            procs, length = state.jobs[Job.PROCS, job], state.jobs[Job.PLAN, job]
            hold(state, k, job, earliest(state.profile, pool, now, procs, length))
