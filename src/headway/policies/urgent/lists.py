"""The two lists of UJFB over DBF: who waits where, and the places of their jobs in the plan."""

from __future__ import annotations

from headway.engine.profile import lay_over
from headway.engine.queue import place_for
from headway.engine.reservations import NOT_RESERVED
from headway.engine.tables import GONE, State
from headway.jit.kernels import kernel, routine
from headway.policies.deadline.places import put
from headway.policies.deadline.tables import DbfJobs, first_provisional, is_late
from headway.policies.urgent.plan import URGENT_KEY, Q, occupy, place_urgent
from headway.policies.urgent.tables import (
    BASE,
    BESIDE,
    MACHINE,
    PREEMPTING_THEN,
    UjfbJobs,
)
from headway.units import NEVER


@kernel
def waits(state: State, place: int) -> bool:
    return bool(state.queue.procs[Q, place] != GONE)


@kernel
def job_at(state: State, place: int) -> int:
    return int(state.queue.job[Q, place])


@kernel
def first_definitive(state: State) -> int:
    """The place in the queue where the waiting urgent jobs end."""
    return place_for(state, Q, URGENT_KEY, NEVER)


@routine
def lay_definitive(t: int, state: State, k: int) -> None:
    """Profile ``k`` is what holds processors now, waiting urgent jobs and definitive ones, where they are."""
    lay_over(state.profile, BASE, k, t)
    state.pools.pin_count[k] = 0
    for place in range(state.pools.head[Q], first_provisional(state, MACHINE)):
        if waits(state, place) and state.jobs.reserved[job_at(state, place)] != NOT_RESERVED:
            occupy(t, state, k, job_at(state, place))


@routine
def place_definitive(t: int, state: State) -> None:
    """Place the waiting urgent jobs and the definitive ones anew."""
    for place in range(state.pools.head[Q], state.pools.tail[Q]):
        if waits(state, place):
            job = job_at(state, place)
            DbfJobs(state.jobs).had_start[job] = state.jobs.reserved[job]
            state.jobs.reserved[job] = NOT_RESERVED
    if state.memory.notes.urgent_waiting > 0 and state.memory.rules.reserve == PREEMPTING_THEN:
        place_urgent(t, state)
    lay_definitive(t, state, MACHINE)
    before = t
    for place in range(state.pools.head[Q], first_provisional(state, MACHINE)):
        urgent = state.queue.key[Q, place] == URGENT_KEY
        if not waits(state, place) or (urgent and state.memory.rules.reserve != BESIDE):
            continue
        job = job_at(state, place)
        if not urgent or state.memory.rules.overtake:
            put(t, state, MACHINE, job)
        else:
            put(before, state, MACHINE, job)
            before = state.jobs.reserved[job]
        if urgent:
            state.memory.notes.holds_urgent = 1


@routine
def give_up(state: State, job: int, end: int, urgent: int) -> None:
    """A deadline cannot be kept: an urgent job has broken it, unless it would have been missed already."""
    jobs = UjfbJobs(state.jobs)
    if end <= jobs.deadline[job]:
        jobs.broken_by[job] = urgent
        state.memory.notes.broken += 1
    jobs.deadline[job] = NEVER


@routine
def give_up_late(state: State, first: int, end: int, urgent: int) -> None:
    """Give up the deadlines that are not kept of the jobs in places [first, end) that have a reservation."""
    for place in range(first, end):
        job = job_at(state, place)
        if waits(state, place) and state.jobs.reserved[job] != NOT_RESERVED and is_late(state, job):
            give_up(state, job, DbfJobs(state.jobs).had_start[job] + state.jobs.plan[job], urgent)
