"""Verbs and queues for compiled policies of the user's own: what does not exist is refused, never touched.

A compiled function does not look whether a number is inside its table. Ours are tested for it; a user's hook
is compiled so that it looks, and calls these in the place of the engine's.
"""

from __future__ import annotations

from headway.engine import planning, queue, verbs
from headway.engine.tables import GONE, Ended, Fault, State, Why
from headway.engine.verbs import NOBODY, refuse
from headway.jit.kernels import kernel
from headway.policies.queueing import ordering

REASONS = len(Why)


@kernel
def is_job(state: State, job: int) -> bool:
    """Whether there is a job of this number."""
    return bool(0 <= job < state.jobs.shape[1])


@kernel
def check_pool(state: State, pool: int) -> None:
    """Stop at a pool that does not exist; a policy of the user's own has one."""
    if pool != 0:
        raise IndexError("there is only the pool MACHINE")


@kernel
def check_queue(state: State, q: int) -> None:
    """Stop at a queue that does not exist."""
    if not 0 <= q <= 1:
        raise IndexError("there is only the queue QUEUE")


@kernel
def check_reason(why: int) -> None:
    """Stop at a reason that does not exist: it would have no name in the schedule."""
    if not 0 <= why < REASONS:
        raise IndexError("a job starts for a reason, such as HEAD or reason(t, state, job)")


@kernel
def start(state: State, job: int, pool: int, why: int) -> bool:
    """Start a waiting job now."""
    check_pool(state, pool)
    check_reason(why)
    return verbs.start(state, job, pool, why) if is_job(state, job) else refuse(state, Fault.NOT_WAITING, job)


@kernel
def start_and_book(state: State, job: int, pool: int, why: int) -> bool:
    """Start a waiting job now; the profile holds its processors until its expected end."""
    check_pool(state, pool)
    check_reason(why)
    if not is_job(state, job):
        return refuse(state, Fault.NOT_WAITING, job)
    return planning.start_and_book(state, job, pool, why)


@kernel
def kill(state: State, job: int) -> bool:
    """Stop a running job; its work is lost and it waits again."""
    if not is_job(state, job):
        return refuse(state, Fault.NOT_RUNNING, job)
    return verbs.kill(state, job, Ended.BY_PREEMPTION)


@kernel
def wake(state: State, t: int) -> None:
    """Ask for a pass later; if one at the same instant could be asked for, time might stand still."""
    if t <= state.clock.now:
        refuse(state, Fault.SLEPT, NOBODY)
    else:
        verbs.wake(state, t)


@kernel
def join(state: State, pool: int, job: int) -> None:
    """Let a job join the machine's waiting line."""
    check_pool(state, pool)
    if not is_job(state, job):
        raise IndexError("a job that does not exist cannot join the queue")
    ordering.join(state, pool, job)


@kernel
def enter(state: State, q: int, job: int, key: int) -> int:
    """Let a job join a waiting line where its key belongs; the place it got."""
    check_queue(state, q)
    if not is_job(state, job):
        raise IndexError("a job that does not exist cannot enter the queue")
    return queue.enter(state, q, job, key)


@kernel
def leave(state: State, q: int, place: int) -> int:
    """Take the job at a place out of a waiting line; the job."""
    check_queue(state, q)
    if not state.pools.head[q] <= place < state.pools.tail[q] or state.queue.procs[q, place] == GONE:
        raise IndexError("no job waits at this place of the queue")
    return queue.leave(state, q, place)
