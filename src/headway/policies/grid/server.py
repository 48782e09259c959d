"""A server in front of each cluster, with three requests: submit, cancel, estimate.

These are the simulator's servers: kernels that know its tables. What the agent may rely on is written at
:mod:`headway.policies.grid.agent`; servers of another make answer the same requests.
"""

from __future__ import annotations

from headway.engine.planning import note_room
from headway.engine.profile import change
from headway.engine.queue import find_job, leave
from headway.engine.reservations import forget, give_up, reserve
from headway.engine.tables import Clock, Job, Phase, State
from headway.engine.verbs import reshape
from headway.jit.kernels import kernel, routine
from headway.policies.grid.estimator import hold
from headway.policies.grid.molding import factor, sizes, walltime_on
from headway.policies.grid.notes import NO_ANSWER, STARTED
from headway.policies.grid.plan import data_there, kind, settle_disturbance
from headway.policies.grid.tables import ESTIMATED_EASY, NOWHERE, Note, Rule, Server, Task
from headway.policies.grid.tuning import tune
from headway.policies.queueing.ordering import join


@routine
def estimate(state: State, k: int, task: int) -> tuple[int, int]:
    """When server ``k`` expects to have completed a task, and on how many processors."""
    if state.jobs[Task.PLACE, task] == k:
        if state.jobs[Job.PHASE, task] != Phase.WAITING:
            return STARTED, 0
        settle_disturbance(state, k)
        start = state.jobs[Job.RESERVED, task]
        if kind(state, k) == ESTIMATED_EASY:
            start = state.jobs[Task.PLANNED, task]
        return start + state.jobs[Job.PLAN, task], state.jobs[Job.PROCS, task]
    settle_disturbance(state, k)
    fewest, most = sizes(state, k, task)
    if fewest > most:
        return NO_ANSWER, 0
    method = state.memory.rules[Rule.TUNING]
    completion, procs = tune(state, k, task, fewest, most, method)
    servers = state.memory.servers
    servers[Server.MEMO_TASK, k], servers[Server.MEMO_TIME, k] = task, state.clock[Clock.NOW]
    servers[Server.MEMO_PROCS, k] = procs
    servers[Server.MEMO_START, k] = completion - walltime_on(state, k, task, procs)
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
    begin, length = state.jobs[Job.RESERVED, task], state.jobs[Job.PLAN, task]
    state.jobs[Task.LEAVING, task], state.jobs[Task.LEAVING_START, task] = k, begin
    state.jobs[Task.LEAVING_PLAN, task], state.jobs[Task.LEAVING_PROCS, task] = (
        length,
        state.jobs[Job.PROCS, task],
    )
    if kind(state, k) != ESTIMATED_EASY:
        forget(state, k, task)
    leave(state, 2 * k, find_job(state, 2 * k, Job.KEY, task))


@routine
def submit(state: State, k: int, task: int) -> tuple[int, int]:
    """Submit a task to cluster ``k``, tuned for its load: the expected completion and the processors."""
    settle_disturbance(state, k)
    servers = state.memory.servers
    if servers[Server.MEMO_TASK, k] != task or servers[Server.MEMO_TIME, k] != state.clock[Clock.NOW]:
        estimate(state, k, task)
    procs, begin = servers[Server.MEMO_PROCS, k], servers[Server.MEMO_START, k]
    servers[Server.MEMO_TASK, k] = NOWHERE
    if state.jobs[Task.PLACE, task] != NOWHERE:
        stand_by(state, state.jobs[Task.PLACE, task], task)
    shape(state, k, task, procs)
    # A cluster's queue is in the order of submission there, so a task that comes back stands at its end.
    state.memory.notes[Note.SUBMISSIONS] += 1
    state.jobs[Job.KEY, task] = state.memory.notes[Note.SUBMISSIONS]
    state.jobs[Task.PLACE, task] = k
    state.jobs[Task.READY, task], state.jobs[Task.DATA_AT, task] = data_there(state, k, task), k
    join(state, k, task)
    if kind(state, k) == ESTIMATED_EASY:
        hold(state, k, task, begin)
    else:
        reserve(state, k, task, begin)
        state.jobs[Job.PROMISE, task] = begin
    return begin + state.jobs[Job.PLAN, task], procs


@routine
def cancel(state: State, k: int, task: int) -> bool:
    """Take a waiting task out of cluster ``k``; False if it does not wait there."""
    servers = state.memory.servers
    if state.jobs[Task.LEAVING, task] == k:
        state.jobs[Task.LEAVING, task] = NOWHERE
        if kind(state, k) != ESTIMATED_EASY:
            begin, length = state.jobs[Task.LEAVING_START, task], state.jobs[Task.LEAVING_PLAN, task]
            procs = state.jobs[Task.LEAVING_PROCS, task]
            change(state.profile, k, begin, begin + length, procs, state.clock[Clock.NOW])
            note_room(state, k, begin, begin + length)
    elif state.jobs[Task.PLACE, task] == k and state.jobs[Job.PHASE, task] == Phase.WAITING:
        if kind(state, k) != ESTIMATED_EASY:
            give_up(state, k, task)
        leave(state, 2 * k, find_job(state, 2 * k, Job.KEY, task))
        state.jobs[Task.PLACE, task] = NOWHERE
    else:
        return False
    servers[Server.MEMO_TASK, k] = NOWHERE
    servers[Server.DISTURBED, k] = 1
    return True
