"""The two lists of UJFB over DBF: who waits where, and the places of their jobs in the plan."""

from __future__ import annotations

from headway.engine.profile import lay_over
from headway.engine.queue import place_for
from headway.engine.reservations import NOT_RESERVED, earliest_start
from headway.engine.tables import (
    GONE,
    JOB_ROWS,
    PIN_COUNT,
    PLAN,
    Q_HEAD,
    Q_JOB,
    Q_KEY,
    Q_PROCS,
    Q_TAIL,
    RESERVED,
    State,
)
from headway.jit import kernel, routine
from headway.policies.urgent.plan import REGULAR_KEY, ROW, URGENT_KEY, Q, occupy, place_urgent
from headway.policies.urgent.tables import (
    BASE,
    BESIDE,
    BROKEN,
    HOLDS_URGENT,
    LATEST_END,
    MACHINE,
    MORE_ROWS,
    OVERTAKE,
    PREEMPTING_THEN,
    RESERVE,
    URGENT_WAITING,
    count,
)
from headway.units import NEVER

# Further job rows: the reserved start before the plan was made anew; whether the job is to become definitive;
# whether its deadline was accepted, and was given up since; when it became definitive (-1: never); how often
# it was moved to a later start; the first start it was given; by whom its deadline was broken (-1: nobody).
BEFORE, CHOSEN, ACCEPTED, GIVEN_UP, DEFINITIVE_AT, DISPLACED_TIMES, FIRST_GIVEN, BROKEN_BY = (
    JOB_ROWS + MORE_ROWS + i for i in range(8)
)
ROWS = MORE_ROWS + 8

DEFINITIVE, PROVISIONAL = REGULAR_KEY, REGULAR_KEY + 1
"""``KEY`` of the jobs of both lists, which stand one behind the other in the queue."""


@kernel
def waits(state: State, place: int) -> bool:
    return bool(state.queue[ROW + Q_PROCS, place] != GONE)


@kernel
def job_at(state: State, place: int) -> int:
    return int(state.queue[ROW + Q_JOB, place])


@kernel
def first_provisional(state: State) -> int:
    """The place in the queue where the provisional list begins."""
    return place_for(state, Q, DEFINITIVE, NEVER)


@kernel
def first_definitive(state: State) -> int:
    """The place in the queue where the waiting urgent jobs end."""
    return place_for(state, Q, URGENT_KEY, NEVER)


@kernel
def is_late(state: State, job: int) -> bool:
    """Whether a job's reservation ends after a deadline that counts."""
    late = state.jobs[RESERVED, job] + state.jobs[PLAN, job] > state.jobs[LATEST_END, job]
    return bool(late and state.jobs[ACCEPTED, job] and not state.jobs[GIVEN_UP, job])


@routine
def put(t: int, state: State, job: int, after: int) -> None:
    """Place a job as early as it fits from ``after`` on."""
    state.jobs[RESERVED, job] = NOT_RESERVED
    state.jobs[RESERVED, job] = earliest_start(state, MACHINE, job, after, NEVER, 0)
    occupy(t, state, job)


@routine
def lay_definitive(t: int, state: State) -> None:
    """The plan holds what holds processors now, waiting urgent jobs and definitive ones, where they are."""
    lay_over(state.profile, BASE, MACHINE, t)
    state.pools[PIN_COUNT, MACHINE] = 0
    for place in range(state.pools[Q_HEAD, Q], first_provisional(state)):
        if waits(state, place) and state.jobs[RESERVED, job_at(state, place)] != NOT_RESERVED:
            occupy(t, state, job_at(state, place))


@routine
def place_definitive(t: int, state: State) -> None:
    """Place the waiting urgent jobs and the definitive ones anew."""
    for place in range(state.pools[Q_HEAD, Q], state.pools[Q_TAIL, Q]):
        if waits(state, place):
            state.jobs[BEFORE, job_at(state, place)] = state.jobs[RESERVED, job_at(state, place)]
            state.jobs[RESERVED, job_at(state, place)] = NOT_RESERVED
    if state.options[URGENT_WAITING] > 0 and state.options[RESERVE] == PREEMPTING_THEN:
        place_urgent(t, state)
    lay_definitive(t, state)
    before = t
    for place in range(state.pools[Q_HEAD, Q], first_provisional(state)):
        urgent = state.queue[ROW + Q_KEY, place] == URGENT_KEY
        if not waits(state, place) or (urgent and state.options[RESERVE] != BESIDE):
            continue
        job = job_at(state, place)
        if not urgent or state.options[OVERTAKE]:
            put(t, state, job, t)
        else:
            put(t, state, job, before)
            before = state.jobs[RESERVED, job]
        if urgent:
            state.options[HOLDS_URGENT] = 1


@routine
def place_chosen(t: int, state: State, first: int, chosen: int) -> int:
    """Place the provisional jobs that are chosen (1) or the others (0); the place of the last late one."""
    last = -1
    for place in range(first, state.pools[Q_TAIL, Q]):
        if waits(state, place) and state.jobs[CHOSEN, job_at(state, place)] == chosen:
            put(t, state, job_at(state, place), t)
            if is_late(state, job_at(state, place)):
                last = place
    return last


@routine
def choose(state: State, first: int, end: int, late_only: bool) -> int:
    """Choose the provisional jobs in places [first, end), or the late ones there; how many are new."""
    new = 0
    for place in range(first, end):
        job = job_at(state, place)
        if waits(state, place) and not state.jobs[CHOSEN, job] and (not late_only or is_late(state, job)):
            state.jobs[CHOSEN, job] = 1
            new += 1
    return new


@routine
def give_up(state: State, job: int, end: int, urgent: int) -> None:
    """A deadline cannot be kept: an urgent job has broken it, unless it would have been missed already."""
    state.jobs[GIVEN_UP, job] = 1
    if end <= state.jobs[LATEST_END, job]:
        state.jobs[BROKEN_BY, job] = urgent
        count(state, BROKEN, 1)


@kernel
def give_up_late(state: State, first: int, urgent: int) -> None:
    """The chosen jobs that are late even so."""
    for place in range(first, state.pools[Q_TAIL, Q]):
        job = job_at(state, place)
        if waits(state, place) and state.jobs[CHOSEN, job] and is_late(state, job):
            give_up(state, job, state.jobs[BEFORE, job] + state.jobs[PLAN, job], urgent)
