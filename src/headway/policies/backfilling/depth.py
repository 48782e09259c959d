"""EASY with several reservations: the first k jobs that cannot start get one (k = 0: all of them).

The pass walks the queue. A job that can start now without delaying a reservation starts; the others reserve
their earliest start, until k have. Those that remain are tried in backfill order. Afterwards the reservations
are taken back: the next pass makes them anew.

A reserved job of no length holds nothing in the profile, yet the instant it is to start at is kept for it;
several at one instant take turns.
"""

from __future__ import annotations

from headway.engine.holes import fits, level_at
from headway.engine.planning import settle, start_and_book
from headway.engine.reservations import NOT_RESERVED, earliest_start, give_up, reserve
from headway.engine.tables import GONE, State, Why
from headway.jit.kernels import kernel, routine
from headway.policies.backfilling.easy import Rule, note_promise
from headway.policies.queueing.ordering import has_backfill_queue, join, option, sort_queues, withdraw
from headway.policies.queueing.strict import MACHINE, reason
from headway.units import NEVER


@routine
def delays_instant(t: int, state: State, k: int, job: int, reservations: int) -> bool:
    """Whether a job started now would be in the way of a reserved job of no length."""
    end = t + state.jobs.plan[job]
    for i in range(reservations):
        other = state.lists.scratch[i]
        at = state.jobs.reserved[other]
        if state.jobs.plan[other] == 0 and t <= at < end:
            free = level_at(state.profile, k, at) - state.jobs.procs[other]
            if free < state.jobs.procs[job]:
                return True
    return False


@kernel
def can_start(t: int, state: State, k: int, job: int, reservations: int) -> bool:
    """Whether a job can start now and delays no reservation."""
    procs, plan = state.jobs.procs[job], state.jobs.plan[job]
    if procs > state.pools.free[k]:
        return False
    if plan == 0:
        return True
    return fits(state.profile, k, t, procs, plan) and not delays_instant(t, state, k, job, reservations)


@routine
def reserve_or_start(t: int, state: State, k: int) -> int:
    """Walk the queue in order until enough jobs have reservations; how many have."""
    count = 0
    for place in range(state.pools.head[2 * k], state.pools.tail[2 * k]):
        if state.queue.procs[2 * k, place] == GONE:
            continue
        job = state.queue.job[2 * k, place]
        if can_start(t, state, k, job, count):
            withdraw(state, k, 2 * k, place)
            start_and_book(state, job, k, Why.BACKFILL if count else reason(t, state, job))
            continue
        at = earliest_start(state, k, job, t, NEVER, 0)
        if at == NEVER:  # too few processors are there, and nobody knows for how long
            continue
        if count == 0 and option(state, k, Rule.PROMISES):
            note_promise(state, job, at)
        reserve(state, k, job, at)
        state.lists.scratch[count] = job
        count += 1
        if count == option(state, k, Rule.DEPTH):
            break
    return count


@kernel
def deep_pass(t: int, state: State, k: int) -> None:
    """One pass of EASY with several reservations on pool ``k``."""
    sort_queues(t, state, k)
    reservations = reserve_or_start(t, state, k)
    q = 2 * k + 1 if has_backfill_queue(state, k) else 2 * k
    for place in range(state.pools.head[q], state.pools.tail[q]):
        if state.queue.procs[q, place] > state.pools.free[k]:
            continue
        job = state.queue.job[q, place]
        if state.jobs.reserved[job] == NOT_RESERVED and can_start(t, state, k, job, reservations):
            withdraw(state, k, q, place)
            start_and_book(state, job, k, Why.BACKFILL)
    for i in range(reservations):
        give_up(state, k, state.lists.scratch[i])


def easy_deep(t: int, state: State) -> None:
    """EASY with several reservations on the whole machine."""
    settle(t, state, MACHINE)
    for job in range(state.clock.first_new, state.clock.last_new):
        join(state, MACHINE, job)
    deep_pass(t, state, MACHINE)
