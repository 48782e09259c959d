"""Strict orders: FCFS, SJF, LXF, ... without backfilling.

Start jobs in the order of the queue while they fit; stop at the first that does not.
"""

from __future__ import annotations

from headway.engine.queue import leave
from headway.engine.tables import FREE, HEAD, IMMEDIATE, Q_COUNT, Q_FIELDS, Q_HEAD, Q_PROCS, SUBMIT, State
from headway.engine.verbs import start
from headway.jit import kernel
from headway.policies.ordering import join_queues

POOL = QUEUE = 0


@kernel
def reason(t: int, state: State, job: int) -> int:
    """Why a job at the front of its queue starts: it never waited, or its turn has come."""
    return IMMEDIATE if state.jobs[SUBMIT, job] == t else HEAD


@kernel
def head_fits(state: State, q: int, pool: int) -> bool:
    """Whether queue ``q`` has a head that fits into the free processors of the pool."""
    head = state.pools[Q_HEAD, q]
    return bool(
        state.pools[Q_COUNT, q] > 0
        and state.queue[Q_FIELDS * q + Q_PROCS, head] <= state.pools[FREE, pool]
    )


def strict(t: int, state: State) -> None:
    """One pass of a strict order."""
    join_queues(t, state)
    while head_fits(state, QUEUE, POOL):
        job = leave(state, QUEUE, state.pools[Q_HEAD, QUEUE])
        start(state, job, POOL, reason(t, state, job))
