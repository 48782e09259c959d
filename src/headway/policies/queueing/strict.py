"""Strict orders: FCFS, SJF, LXF, ... without backfilling.

Start jobs in the order of the queue while they fit; stop at the first that does not.
"""

from __future__ import annotations

from headway.engine.queue import leave
from headway.engine.tables import (
    FIRST_NEW,
    FREE,
    HEAD,
    IMMEDIATE,
    LAST_NEW,
    Q_COUNT,
    Q_FIELDS,
    Q_HEAD,
    Q_PROCS,
    SUBMIT,
    State,
)
from headway.engine.verbs import start
from headway.jit import kernel
from headway.policies.queueing.ordering import join, sort_queues

MACHINE = 0
"""The pool of a policy that has the whole machine."""


@kernel
def reason(t: int, state: State, job: int) -> int:
    """Why a job at the front of its queue starts: it never waited, or its turn has come."""
    return IMMEDIATE if state.jobs[SUBMIT, job] == t else HEAD


@kernel
def head_fits(state: State, k: int) -> bool:
    """Whether pool ``k`` has a head of the queue that fits into its free processors."""
    q = 2 * k
    head = state.pools[Q_HEAD, q]
    return bool(
        state.pools[Q_COUNT, q] > 0 and state.queue[Q_FIELDS * q + Q_PROCS, head] <= state.pools[FREE, k]
    )


@kernel
def strict_pass(t: int, state: State, k: int) -> None:
    """Start the jobs at the front of pool ``k``'s queue while they fit."""
    sort_queues(t, state, k)
    while head_fits(state, k):
        job = leave(state, 2 * k, state.pools[Q_HEAD, 2 * k])
        start(state, job, k, reason(t, state, job))


def strict(t: int, state: State) -> None:
    """A strict order on the whole machine."""
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        join(state, MACHINE, job)
    strict_pass(t, state, MACHINE)
