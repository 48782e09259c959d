"""How a waiting job leaves the queue and the plan of each kind of policy.

A cluster is asked in the middle of an instant: what ended is known, the policy has not had its turn yet. A
policy that keeps reservations first catches up: it takes note of what ended and gives newcomers a place, all
that its turn does but starting jobs. A job that leaves is to it like one that ends early: the others may move
forward, and are put in order when the next one looks.

Each entry is ``(instant, state, job, request)``, on the pool that jobs are submitted to.
"""

from __future__ import annotations

from headway.engine.planning import settle
from headway.engine.profile import change
from headway.engine.queue import find_job, leave
from headway.engine.reservations import NOT_RESERVED, give_up, unpin
from headway.engine.tables import (
    ENDED,
    FIRST_NEW,
    FREED,
    KEY,
    LAST_NEW,
    PHASE,
    PLAN,
    PROCS,
    RESERVED,
    WAITS,
    WITHDRAWN,
    State,
)
from headway.jit import entry, kernel
from headway.policies.backfilling import conservative
from headway.policies.deadline import dbf
from headway.policies.deadline.tables import forget_in_lists
from headway.policies.queueing import ordering
from headway.policies.queueing.strict import MACHINE
from headway.policies.urgent import plan as ujfb_plan
from headway.policies.urgent import tables as ujfb_tables
from headway.policies.urgent.processors import is_urgent

CATCH_UP, WITHDRAW, PUT_IN_ORDER = range(3)
NOBODY = 0
"""The job of a request that concerns none."""


@kernel
def take_away(state: State, job: int) -> None:
    """The job waits here no more."""
    state.jobs[PHASE, job] = WITHDRAWN
    state.clock[WAITS] -= 1


@kernel
def caught_up(state: State) -> None:
    """What ended and who came has been seen to: it is not seen to again at this instant."""
    state.clock[ENDED] = 0
    state.clock[FIRST_NEW] = state.clock[LAST_NEW]


@entry
def of_queue(t: int, state: State, job: int, request: int) -> None:
    """Strict orders and EASY: waiting jobs hold nothing, and those behind may start when one leaves."""
    if request == WITHDRAW:
        q = 2 * MACHINE
        ordering.withdraw(state, MACHINE, q, find_job(state, q, KEY, job))
        state.pools[FREED, MACHINE] = 1
        take_away(state, job)


@entry
def of_conservative(t: int, state: State, job: int, request: int) -> None:
    """Conservative backfilling."""
    if request == CATCH_UP:
        conservative.compress(t, state, MACHINE, settle(t, state, MACHINE))
        for new in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
            conservative.arrive(t, state, MACHINE, new)
        caught_up(state)
    elif request == WITHDRAW:
        give_up(state, MACHINE, job)
        leave(state, 2 * MACHINE, find_job(state, 2 * MACHINE, KEY, job))
        take_away(state, job)
    else:
        state.pools[FREED, MACHINE] = 1
        conservative.compress(t, state, MACHINE, 1)


@entry
def of_dbf(t: int, state: State, job: int, request: int) -> None:
    """Deadline-based backfilling: a definitive task is in the base too, a provisional one is counted."""
    if request == CATCH_UP:
        dbf.bring_closer(t, state, MACHINE, dbf.give_back(t, state, MACHINE))
        for new in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
            dbf.arrive(t, state, MACHINE, new)
        caught_up(state)
    elif request == WITHDRAW:
        forget_in_lists(t, state, MACHINE, job)
        give_up(state, MACHINE, job)
        leave(state, 2 * MACHINE, find_job(state, 2 * MACHINE, KEY, job))
        take_away(state, job)
    else:
        state.pools[FREED, MACHINE] = 1
        dbf.bring_closer(t, state, MACHINE, 1)


@entry
def of_ujfb(t: int, state: State, job: int, request: int) -> None:
    """Urgent jobs first: the plan gives back what it held, and is made anew in the policy's turn."""
    if request != WITHDRAW:
        return
    place, begin = find_job(state, ujfb_plan.Q, KEY, job), state.jobs[RESERVED, job]
    if place < ujfb_plan.planned_place(state) and begin != NOT_RESERVED:
        change(state.profile, MACHINE, begin, begin + state.jobs[PLAN, job], state.jobs[PROCS, job], t)
        if state.jobs[PLAN, job] == 0:
            unpin(state, MACHINE, job)
    leave(state, ujfb_plan.Q, place)
    if is_urgent(state, job):
        ujfb_tables.count(state, ujfb_tables.URGENT_WAITING, -1)
    state.options[ujfb_tables.CHANGED] = 1
    take_away(state, job)
