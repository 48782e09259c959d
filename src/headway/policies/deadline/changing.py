"""DBF on a machine whose processors come and go.

Where the machine stays as it is known to be, everything is as in :mod:`headway.policies.deadline.dbf`, around
known maintenance. When the machine changes, both lists are placed anew: the definitive tasks as early as they
fit, in order, then the provisional ones. Who would end after its deadline now becomes definitive there and
then, as early as it fits: what it was told is broken, and counted. A task whose processors fail returns to
the list that it was in.

A task that wants more processors than are left gets no place and is told nothing, until they are back.
"""

from __future__ import annotations

from headway.engine.holes import level_at
from headway.engine.queue import enter, leave
from headway.engine.reservations import NOT_RESERVED, reserve_by
from headway.engine.tables import GONE, State
from headway.engine.verbs import turn_away
from headway.jit.kernels import kernel, routine
from headway.policies.backfilling.changing import give_up_all, take_changes
from headway.policies.backfilling.conservative import reserve_earliest
from headway.policies.deadline.dbf import arrive, begin_runs, bring_closer, give_back
from headway.policies.deadline.tables import (
    BEHIND,
    NO_DEADLINE,
    REFUSE,
    DbfJobs,
    Rule,
    first_provisional,
    is_provisional,
    provisional_tasks,
)
from headway.policies.queueing.ordering import join, option
from headway.policies.queueing.strict import MACHINE
from headway.units import NEVER


@kernel
def is_too_wide(state: State, k: int, job: int) -> bool:
    """Whether a task wants more processors than there will be for all that is known."""
    return bool(state.jobs.procs[job] > level_at(state.profile, k, NEVER - 1))


@kernel
def forget_places(state: State, k: int) -> None:
    """Nobody who waits has a place."""
    give_up_all(state, k)
    state.memory.lists.kept_base[k] = 0
    state.memory.lists.canonical[k] = 0


@kernel
def take_back(state: State, k: int) -> None:
    """Those who lost their processors return to the list that they were in."""
    for i in range(state.clock.returns):
        job = state.lists.returned[i]
        state.jobs.reserved[job] = NOT_RESERVED
        join(state, k, job)
        if is_provisional(state, job):
            provisional_tasks(state, k, 1)


@kernel
def make_definitive(t: int, state: State, k: int, place: int) -> None:
    """A provisional task becomes definitive, because it would end too late where it is."""
    job = leave(state, 2 * k, place)
    state.jobs.key[job] -= BEHIND
    DbfJobs(state.jobs).definitive_at[job] = t
    provisional_tasks(state, k, -1)
    state.memory.counts.promotions += 1
    reserve_earliest(t, state, k, job)
    enter(state, 2 * k, job, state.jobs.key[job])


@routine
def place_all(t: int, state: State, k: int) -> None:
    """Place the definitive tasks as early as they fit, in order, then the provisional ones."""
    q = 2 * k
    for place in range(state.pools.head[2 * k], first_provisional(state, k)):
        if state.queue.procs[q, place] != GONE:
            reserve_earliest(t, state, k, state.queue.job[q, place])
    late = True
    while late:  # who becomes definitive stands elsewhere in the queue, so it is gone through again
        late = False
        for place in range(first_provisional(state, k), state.pools.tail[2 * k]):
            job = state.queue.job[q, place]
            if state.queue.procs[q, place] == GONE or state.jobs.reserved[job] != NOT_RESERVED:
                continue
            by = DbfJobs(state.jobs).deadline[job]
            if reserve_by(state, k, job, t, option(state, k, Rule.HOLE), by) + state.jobs.plan[job] > by:
                make_definitive(t, state, k, place)
                late = True
                break


@kernel
def arrive_there(t: int, state: State, k: int, job: int) -> None:
    """A newcomer; one that wants more processors than there are joins the definitive list without a place."""
    if not is_too_wide(state, k, job):
        arrive(t, state, k, job)
        return
    if DbfJobs(state.jobs).deadline[job] != NO_DEADLINE:
        state.memory.counts.late_on_arrival += 1
        if option(state, k, Rule.LATE) == REFUSE:
            turn_away(state, job)
            return
    state.jobs.reserved[job] = NOT_RESERVED
    join(state, k, job)


def dbf_changing(t: int, state: State) -> None:
    """Deadline-based backfilling where the machine changes."""
    early = give_back(t, state, MACHINE)
    if state.clock.changes > 0 or state.clock.returns > 0:
        forget_places(state, MACHINE)
        take_changes(t, state, MACHINE)
        take_back(state, MACHINE)
        place_all(t, state, MACHINE)
    else:
        bring_closer(t, state, MACHINE, early)
    for job in range(state.clock.first_new, state.clock.last_new):
        arrive_there(t, state, MACHINE, job)
    begin_runs(t, state, MACHINE)
