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
from headway.engine.tables import GONE, Q_FIELDS, Clock, Entry, Job, List, Pool, State, Why
from headway.jit.kernels import kernel, routine
from headway.policies.backfilling.easy import Rule, note_promise
from headway.policies.queueing.ordering import has_backfill_queue, join, option, sort_queues, withdraw
from headway.policies.queueing.strict import MACHINE, reason
from headway.units import NEVER


@routine
def delays_instant(t: int, state: State, k: int, job: int, reservations: int) -> bool:
    """Whether a job started now would be in the way of a reserved job of no length."""
    end = t + state.jobs[Job.PLAN, job]
    for i in range(reservations):
        other = state.lists[List.SCRATCH, i]
        at = state.jobs[Job.RESERVED, other]
        if state.jobs[Job.PLAN, other] == 0 and t <= at < end:
            free = level_at(state.profile, k, at) - state.jobs[Job.PROCS, other]
            if free < state.jobs[Job.PROCS, job]:
                return True
    return False


@kernel
def can_start(t: int, state: State, k: int, job: int, reservations: int) -> bool:
    """Whether a job can start now and delays no reservation."""
    procs, plan = state.jobs[Job.PROCS, job], state.jobs[Job.PLAN, job]
    if procs > state.pools[Pool.FREE, k]:
        return False
    if plan == 0:
        return True
    return fits(state.profile, k, t, procs, plan) and not delays_instant(t, state, k, job, reservations)


@routine
def reserve_or_start(t: int, state: State, k: int) -> int:
    """Walk the queue in order until enough jobs have reservations; how many have."""
    count = 0
    for place in range(state.pools[Pool.HEAD, 2 * k], state.pools[Pool.TAIL, 2 * k]):
        if state.queue[Q_FIELDS * 2 * k + Entry.PROCS, place] == GONE:
            continue
        job = state.queue[Q_FIELDS * 2 * k + Entry.JOB, place]
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
        state.lists[List.SCRATCH, count] = job
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
    for place in range(state.pools[Pool.HEAD, q], state.pools[Pool.TAIL, q]):
        if state.queue[Q_FIELDS * q + Entry.PROCS, place] > state.pools[Pool.FREE, k]:
            continue
        job = state.queue[Q_FIELDS * q + Entry.JOB, place]
        if state.jobs[Job.RESERVED, job] == NOT_RESERVED and can_start(t, state, k, job, reservations):
            withdraw(state, k, q, place)
            start_and_book(state, job, k, Why.BACKFILL)
    for i in range(reservations):
        give_up(state, k, state.lists[List.SCRATCH, i])


def easy_deep(t: int, state: State) -> None:
    """EASY with several reservations on the whole machine."""
    settle(t, state, MACHINE)
    for job in range(state.clock[Clock.FIRST_NEW], state.clock[Clock.LAST_NEW]):
        join(state, MACHINE, job)
    deep_pass(t, state, MACHINE)
