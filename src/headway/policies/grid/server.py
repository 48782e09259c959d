"""A server in front of each cluster, with three requests: submit, cancel, estimate.

These are the simulator's servers: kernels that know its tables. What the agent may rely on is written at
:mod:`headway.policies.grid.agent`; servers of another make answer the same requests.
"""

from __future__ import annotations

from headway.engine.planning import note_room
from headway.engine.profile import change
from headway.engine.queue import find_job, leave
from headway.engine.reservations import forget, give_up, reserve
from headway.engine.tables import JobTable, Phase, State
from headway.engine.verbs import reshape
from headway.jit.kernels import kernel, routine
from headway.policies.grid.estimator import hold
from headway.policies.grid.molding import factor, sizes, walltime_on
from headway.policies.grid.notes import NO_ANSWER, STARTED
from headway.policies.grid.plan import data_there, kind, settle_disturbance
from headway.policies.grid.tables import ESTIMATED_EASY, NOWHERE, Tasks
from headway.policies.grid.tuning import tune
from headway.policies.queueing.ordering import join


@routine
def estimate(state: State, k: int, task: int) -> tuple[int, int]:
    """When server ``k`` expects to have completed a task, and on how many processors."""
    jobs = Tasks(state.jobs)
    if jobs.place[task] == k:
        if jobs.phase[task] != Phase.WAITING:
            return STARTED, 0
        settle_disturbance(state, k)
        start = jobs.reserved[task]
        if kind(state, k) == ESTIMATED_EASY:
            start = jobs.planned[task]
        return start + jobs.plan[task], jobs.procs[task]
    settle_disturbance(state, k)
    fewest, most = sizes(state, k, task)
    if fewest > most:
        return NO_ANSWER, 0
    method = state.memory.rules.tuning
    completion, procs = tune(state, k, task, fewest, most, method)
    servers = state.memory.servers
    servers.memo_task[k], servers.memo_time[k] = task, state.clock.now
    servers.memo_procs[k] = procs
    servers.memo_start[k] = completion - walltime_on(state, k, task, procs)
    return completion, procs


@kernel
def shape(state: State, k: int, task: int, procs: int) -> None:
    """Give a task the size and the times it has on so many processors of cluster ``k``."""
    by, over = factor(state, k, task, procs)
    walltime = walltime_on(state, k, task, procs)
    reshape(state, task, procs, walltime, by, over)


@kernel
def stand_by(state: State, k: int, task: int) -> None:
    """Let a task that is submitted elsewhere go on holding its processors in cluster ``k`` for now."""
    jobs = Tasks(state.jobs)
    begin, length = jobs.reserved[task], jobs.plan[task]
    jobs.leaving[task], jobs.leaving_start[task] = k, begin
    jobs.leaving_plan[task], jobs.leaving_procs[task] = (
        length,
        jobs.procs[task],
    )
    if kind(state, k) != ESTIMATED_EASY:
        forget(state, k, task)
    leave(state, 2 * k, find_job(state, 2 * k, JobTable["key"], task))


@routine
def submit(state: State, k: int, task: int) -> tuple[int, int]:
    """Submit a task to cluster ``k``, tuned for its load: the expected completion and the processors."""
    jobs = Tasks(state.jobs)
    settle_disturbance(state, k)
    servers = state.memory.servers
    if servers.memo_task[k] != task or servers.memo_time[k] != state.clock.now:
        estimate(state, k, task)
    procs, begin = servers.memo_procs[k], servers.memo_start[k]
    servers.memo_task[k] = NOWHERE
    if jobs.place[task] != NOWHERE:
        stand_by(state, jobs.place[task], task)
    shape(state, k, task, procs)
    # A cluster's queue is in the order of submission there, so a task that comes back stands at its end.
    state.memory.notes.submissions += 1
    jobs.key[task] = state.memory.notes.submissions
    jobs.place[task] = k
    jobs.ready[task], jobs.data_at[task] = data_there(state, k, task), k
    join(state, k, task)
    if kind(state, k) == ESTIMATED_EASY:
        hold(state, k, task, begin)
    else:
        reserve(state, k, task, begin)
        jobs.promise[task] = begin
    return begin + jobs.plan[task], procs


@routine
def cancel(state: State, k: int, task: int) -> bool:
    """Take a waiting task out of cluster ``k``; False if it does not wait there."""
    jobs = Tasks(state.jobs)
    servers = state.memory.servers
    if jobs.leaving[task] == k:
        jobs.leaving[task] = NOWHERE
        if kind(state, k) != ESTIMATED_EASY:
            begin, length = jobs.leaving_start[task], jobs.leaving_plan[task]
            procs = jobs.leaving_procs[task]
            change(state.profile, k, begin, begin + length, procs, state.clock.now)
            note_room(state, k, begin, begin + length)
    elif jobs.place[task] == k and jobs.phase[task] == Phase.WAITING:
        if kind(state, k) != ESTIMATED_EASY:
            give_up(state, k, task)
        leave(state, 2 * k, find_job(state, 2 * k, JobTable["key"], task))
        jobs.place[task] = NOWHERE
    else:
        return False
    servers.memo_task[k] = NOWHERE
    servers.disturbed[k] = 1
    return True
