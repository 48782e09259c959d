"""Strict orders: FCFS, SJF, LXF, ... without backfilling.

Start jobs in the order of the queue while they fit; stop at the first that does not.
"""

from __future__ import annotations

from headway.engine.queue import find_job, leave
from headway.engine.tables import JobTable, State, Why
from headway.engine.verbs import start, withdraw
from headway.jit.kernels import entry, kernel
from headway.policies.queueing import ordering
from headway.policies.queueing.ordering import join_newcomers, sort_queues

MACHINE = 0
"""The pool of a policy that has the whole machine."""


@kernel
def reason(t: int, state: State, job: int) -> int:
    """Why a job at the front of its queue starts: it never waited, or its turn has come."""
    return Why.IMMEDIATE if state.jobs.submit[job] == t else Why.HEAD


@kernel
def head_fits(state: State, k: int) -> bool:
    """Whether pool ``k`` has a head of the queue that fits into its free processors."""
    q = 2 * k
    head = state.pools.head[q]
    return bool(state.pools.count[q] > 0 and state.queue.procs[q, head] <= state.pools.free[k])


@kernel
def strict_pass(t: int, state: State, k: int) -> None:
    """Start the jobs at the front of pool ``k``'s queue while they fit."""
    sort_queues(t, state, k)
    while head_fits(state, k):
        job = leave(state, 2 * k, state.pools.head[2 * k])
        start(state, job, k, reason(t, state, job))


def strict(t: int, state: State) -> None:
    """A strict order on the whole machine."""
    join_newcomers(state, MACHINE)
    strict_pass(t, state, MACHINE)


@entry
def of_queue(t: int, state: State, job: int, request: int) -> None:
    """A waiting job leaves a queue whose jobs hold nothing: those behind may start then."""
    q = 2 * MACHINE
    ordering.withdraw(state, MACHINE, q, find_job(state, q, JobTable["key"], job))
    state.pools.freed[MACHINE] = 1
    withdraw(state, job)
