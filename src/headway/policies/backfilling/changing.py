"""Strict orders, EASY and conservative backfilling on a machine whose processors come and go.

All of them plan on the profile of free processors over time, in which known maintenance is a time without its
processors. So no job is started that would run into it, and no reservation lies in it:

    procs            maintenance
      │ running ┌────────┐            a may start: it is over by then
      │─────────┘        │            b waits, although there is room for it now
      │ a ───┐           │  b
      │──────┘           │
      └──────────────────┴────────── time

Processors that are down or drained are planned without until they are back: nobody knows when that will be. A
job that wants more than are left gets no reservation meanwhile, and holds nobody back; in a strict order it
still does. A job whose processors fail returns to the place in the queue that it had. Conservative
backfilling plans anew for all who wait, in queue order, when the machine changes: what was promised before
holds no more.
"""

from __future__ import annotations

from headway.engine.holes import fits
from headway.engine.planning import note_room, settle, start_and_book
from headway.engine.profile import change
from headway.engine.queue import leave
from headway.engine.reservations import NOT_RESERVED, give_up
from headway.engine.tables import GONE, State
from headway.jit.kernels import kernel, routine
from headway.policies.backfilling.conservative import arrive, compress, reserve_earliest, start_due
from headway.policies.backfilling.depth import deep_pass
from headway.policies.queueing.ordering import join, sort_queues
from headway.policies.queueing.strict import MACHINE, reason


@routine
def take_changes(t: int, state: State, k: int) -> None:
    """Plan with the processors that there are from now on, as far as that is known."""
    for i in range(state.clock.changes):
        begin, end = max(state.changes.start[i], t), state.changes.end[i]
        change(state.profile, k, begin, end, state.changes.procs[i], t)
        if state.changes.procs[i] > 0:
            note_room(state, k, begin, end)
    state.pools.freed[k] = 1


@kernel
def join_all(state: State, k: int) -> None:
    """Those who lost their processors return, then the newcomers join.

    The search for jobs that come of age passed those over while they ran; it goes back to the first of them.
    """
    for i in range(state.clock.returns):
        job = state.lists.returned[i]
        join(state, k, job)
        state.clock.aged = min(state.clock.aged, job)
    for job in range(state.clock.first_new, state.clock.last_new):
        join(state, k, job)


@kernel
def fits_now(t: int, state: State, k: int, job: int) -> bool:
    """Whether a job can start now and has its processors as long as it is planned to run."""
    procs = state.jobs.procs[job]
    return bool(procs <= state.pools.free[k] and fits(state.profile, k, t, procs, state.jobs.plan[job]))


def strict_changing(t: int, state: State) -> None:
    """A strict order."""
    settle(t, state, MACHINE)
    take_changes(t, state, MACHINE)
    join_all(state, MACHINE)
    sort_queues(t, state, MACHINE)
    while state.pools.count[2 * MACHINE] > 0:
        head = state.pools.head[2 * MACHINE]
        job = state.queue.job[2 * MACHINE, head]
        if not fits_now(t, state, MACHINE, job):
            break
        leave(state, 2 * MACHINE, head)
        start_and_book(state, job, MACHINE, reason(t, state, job))


def easy_changing(t: int, state: State) -> None:
    """EASY with any number of reservations."""
    settle(t, state, MACHINE)
    take_changes(t, state, MACHINE)
    join_all(state, MACHINE)
    deep_pass(t, state, MACHINE)


@routine
def give_up_all(state: State, k: int) -> None:
    """Take the reservations of all who wait out of the plan."""
    q = 2 * k
    for place in range(state.pools.head[2 * k], state.pools.tail[2 * k]):
        job = state.queue.job[q, place]
        if state.queue.procs[q, place] != GONE and state.jobs.reserved[job] != NOT_RESERVED:
            give_up(state, k, job)


@routine
def plan_anew(t: int, state: State, k: int) -> None:
    """Give all who wait, and those who return, new reservations in queue order."""
    q = 2 * k
    give_up_all(state, k)
    take_changes(t, state, k)
    for i in range(state.clock.returns):
        join(state, k, state.lists.returned[i])
    for place in range(state.pools.head[2 * k], state.pools.tail[2 * k]):
        if state.queue.procs[q, place] != GONE:
            job = state.queue.job[q, place]
            reserve_earliest(t, state, k, job)
            state.jobs.promise[job] = state.jobs.reserved[job]


def conservative_changing(t: int, state: State) -> None:
    """Conservative backfilling."""
    early = settle(t, state, MACHINE)
    if state.clock.changes > 0 or state.clock.returns > 0:
        plan_anew(t, state, MACHINE)
    else:
        compress(t, state, MACHINE, early)
    for job in range(state.clock.first_new, state.clock.last_new):
        arrive(t, state, MACHINE, job)
    start_due(t, state, MACHINE)
