"""EASY with several reservations: the first k jobs that cannot start get one (k = 0: all of them).

The pass walks the queue. A job that can start now without delaying a reservation starts; the others reserve
their earliest start, until k have. Those that remain are tried in backfill order. Afterwards the reservations
are taken back: the next pass makes them anew.

A reserved job of no length holds nothing in the profile, yet the instant it is to start at is kept for it.
"""

from __future__ import annotations

from headway.engine.planning import settle
from headway.engine.profile import fits, level_at
from headway.engine.reservations import NOT_RESERVED, earliest_start, give_up, reserve
from headway.engine.tables import (
    BACKFILL,
    FREE,
    GONE,
    PLAN,
    PROCS,
    Q_FIELDS,
    Q_HEAD,
    Q_JOB,
    Q_PROCS,
    Q_TAIL,
    RESERVED,
    SCRATCH,
    State,
)
from headway.jit import kernel, routine
from headway.policies.easy import BACKFILL_QUEUE, DEPTH, PROMISES, begin, note_promise
from headway.policies.ordering import AS_ORDER, BACKFILL_ORDER, join_queues
from headway.policies.strict import POOL, QUEUE, reason
from headway.units import NEVER


@routine
def delays_instant(t: int, state: State, job: int, reservations: int) -> bool:
    """Whether a job started now would be in the way of a reserved job of no length."""
    end = t + state.jobs[PLAN, job]
    for i in range(reservations):
        other = state.lists[SCRATCH, i]
        at = state.jobs[RESERVED, other]
        if state.jobs[PLAN, other] == 0 and t <= at < end:
            claimed = 0
            for n in range(reservations):
                rival = state.lists[SCRATCH, n]
                if state.jobs[PLAN, rival] == 0 and state.jobs[RESERVED, rival] == at:
                    claimed += state.jobs[PROCS, rival]
            if level_at(state.profile, POOL, at) - claimed < state.jobs[PROCS, job]:
                return True
    return False


@kernel
def can_start(t: int, state: State, job: int, reservations: int) -> bool:
    """Whether a job can start now and delays no reservation."""
    procs, plan = state.jobs[PROCS, job], state.jobs[PLAN, job]
    if procs > state.pools[FREE, POOL]:
        return False
    if plan == 0:
        return True
    return fits(state.profile, POOL, t, procs, plan) and not delays_instant(t, state, job, reservations)


@routine
def reserve_or_start(t: int, state: State) -> int:
    """Walk the queue in order until enough jobs have reservations; how many have."""
    count = 0
    for place in range(state.pools[Q_HEAD, QUEUE], state.pools[Q_TAIL, QUEUE]):
        if state.queue[Q_PROCS, place] == GONE:
            continue
        job = state.queue[Q_JOB, place]
        if can_start(t, state, job, count):
            begin(t, state, QUEUE, place, BACKFILL if count else reason(t, state, job))
            continue
        at = earliest_start(state, POOL, job, t, NEVER, 0)
        if count == 0 and state.options[PROMISES]:
            note_promise(state, job, at)
        reserve(state, POOL, job, at)
        state.lists[SCRATCH, count] = job
        count += 1
        if count == state.options[DEPTH]:
            break
    return count


def easy_deep(t: int, state: State) -> None:
    """One pass of EASY with several reservations."""
    settle(t, state, POOL)
    join_queues(t, state)
    reservations = reserve_or_start(t, state)
    candidates = QUEUE if state.options[BACKFILL_ORDER] == AS_ORDER else BACKFILL_QUEUE
    for place in range(state.pools[Q_HEAD, candidates], state.pools[Q_TAIL, candidates]):
        if state.queue[Q_FIELDS * candidates + Q_PROCS, place] > state.pools[FREE, POOL]:
            continue
        job = state.queue[Q_FIELDS * candidates + Q_JOB, place]
        if state.jobs[RESERVED, job] == NOT_RESERVED and can_start(t, state, job, reservations):
            begin(t, state, candidates, place, BACKFILL)
    for i in range(reservations):
        give_up(state, POOL, state.lists[SCRATCH, i])
