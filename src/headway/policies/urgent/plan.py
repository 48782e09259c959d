"""The plan of UJFB: reservations of all waiting jobs in queue order, urgent ones first, as if from scratch.

Where a waiting urgent job is to run: at the first time at which enough processors have no urgent user,
because regular jobs make room for it then (*preempting*), or beside those that run now (*beside*).

    A urgent  |AAAAAA|            U, urgent, needs all four processors: it can stop R, so it runs at 3,
              |AAAAAA|UUU         and J, which would have to be stopped a second after its start, waits
    R         |RRRRRR|...|RRRR    until 4. Beside R it could not run before R has ended, and J, placed
    free      |      |   |JJ      before that, starts at 2.
              0      3   4

Two profiles: the *base* of what holds processors now, and the plan, which also holds the reservations. The
definition places every waiting job anew at every event. What is done instead:

- Nothing is placed again while nothing has changed in the base: time alone changes no place, nor does a job
  that starts or ends as expected. Newcomers are placed behind the others.
- Jobs of the same size and length that stand one behind the other are placed together, as many as fit; and
  a shape is never looked for earlier than where its last job was placed.
- A plan begun anew ends where nothing more can start now, as long as nobody asks for the rest. Before the
  rest could start something has to end, and then it is asked for; a newcomer, whose start is told, asks for
  all of it, and so does an urgent job, which is measured against the reservations. Where an urgent job is to
  run now and cannot (hosts are full), its reservation alone may be in the way, and all is placed.
"""

from __future__ import annotations

from headway.engine.holes import level_at
from headway.engine.profile import change, clear, lay_over
from headway.engine.queue import find_job, leave, place_for
from headway.engine.reservations import NOT_RESERVED, earliest_start, pin, unpin
from headway.engine.room import least_level
from headway.engine.tables import GONE, Q_FIELDS, JobTable, State, Why
from headway.engine.verbs import start, wake
from headway.jit.kernels import kernel, routine
from headway.policies.queueing.ordering import CLASS_WEIGHT, REGULAR_CLASS, URGENT_CLASS
from headway.policies.urgent.processors import is_urgent, own, record_processors
from headway.policies.urgent.tables import (
    BASE,
    BESIDE,
    MACHINE,
    NO_JOB,
    PREEMPTING_THEN,
    UjfbJobs,
)
from headway.units import NEVER

URGENT_KEY = URGENT_CLASS * CLASS_WEIGHT
REGULAR_KEY = REGULAR_CLASS * CLASS_WEIGHT
"""``Job.KEY`` of urgent jobs, first in the queue, and of the regular ones that follow."""
Q = 2 * MACHINE
ROW = Q_FIELDS * Q


@kernel
def hold(t: int, state: State, end: int, procs: int, plan_too: bool) -> None:
    """Hold processors from now until ``end`` (negative: give them back); the plan is no longer true."""
    if end > t and procs != 0:
        change(state.profile, BASE, t, end, -procs, t)
        if plan_too:
            change(state.profile, MACHINE, t, end, -procs, t)
        state.memory.notes.changed = 1


@kernel
def planned_place(state: State) -> int:
    """The first place in the queue that the plan does not reach."""
    if state.memory.notes.planned_job < 0:
        return int(state.pools.head[Q])
    return place_for(state, Q, state.memory.notes.planned_key, state.memory.notes.planned_job)


@kernel
def is_complete(state: State) -> bool:
    return planned_place(state) == state.pools.tail[Q]


@kernel
def occupy(t: int, state: State, k: int, job: int) -> None:
    """Let the plan, or the base ``k`` of one, hold a job where it is reserved."""
    begin, length = state.jobs.reserved[job], state.jobs.plan[job]
    change(state.profile, k, begin, begin + length, -state.jobs.procs[job], t)
    if length == 0:
        pin(state, k, job)


@routine
def place_urgent(t: int, state: State) -> None:
    """Reserve for waiting urgent jobs what others of them do not use; the plan is then to be laid anew.

    One that could start by now and was not let in (its victims found no room in the hosts' memory) moves on
    with time, so that the plan is not true for long.
    """
    jobs = UjfbJobs(state.jobs)
    clear(state.profile, MACHINE, t, state.memory.processors.shape[1])
    state.pools.pin_count[MACHINE] = 0
    for p in range(state.memory.processors.shape[1]):
        user = state.memory.processors.user[p]
        if user != NO_JOB and jobs.first_processor[user] == p and is_urgent(state, user):
            end = jobs.held_until[user]
            if end > t:
                change(state.profile, MACHINE, t, end, -jobs.procs[user], t)
    after = t
    for place in range(state.pools.head[Q], state.pools.tail[Q]):
        if state.queue.key[Q, place] != URGENT_KEY:
            break
        if state.queue.procs[Q, place] == GONE:
            continue
        job = state.queue.job[Q, place]
        jobs.reserved[job] = NOT_RESERVED
        begin = earliest_start(state, MACHINE, job, after, NEVER, 0)
        jobs.reserved[job] = begin
        occupy(t, state, MACHINE, job)
        if not state.memory.rules.overtake:
            after = begin
        if begin == t:
            state.memory.notes.changed = 1
    state.memory.notes.holds_urgent = 1


@routine
def hold_urgent(t: int, state: State) -> None:
    """Let the plan hold the waiting urgent jobs where they are to run by preempting."""
    place_urgent(t, state)
    lay_over(state.profile, BASE, MACHINE, t)
    state.pools.pin_count[MACHINE] = 0
    for place in range(state.pools.head[Q], state.pools.tail[Q]):
        if state.queue.key[Q, place] != URGENT_KEY:
            break
        if state.queue.procs[Q, place] != GONE:
            occupy(t, state, MACHINE, state.queue.job[Q, place])


@kernel
def begin_anew(t: int, state: State) -> None:
    """Forget every reservation of regular jobs, and make those of urgent ones anew."""
    state.memory.notes.planned_key = state.memory.notes.planned_job = -1
    state.memory.notes.next_start = NEVER
    state.memory.notes.changed = state.memory.notes.holds_urgent = 0
    state.memory.notes.plans += 1
    if state.memory.notes.urgent_waiting > 0 and state.memory.rules.reserve == PREEMPTING_THEN:
        hold_urgent(t, state)
    else:
        lay_over(state.profile, BASE, MACHINE, t)
        state.pools.pin_count[MACHINE] = 0


@routine
def plan_on(t: int, state: State, everything: bool, due: int) -> int:
    """Place waiting jobs from where the plan ends; those that are due now go to a list of ``due`` jobs.

    Unless ``everything`` is asked for, stop where no processor is left now. How many are on the list then.
    """
    jobs = UjfbJobs(state.jobs)
    if state.memory.notes.changed:  # by place_urgent: what is reserved now comes free unasked
        everything = True
    place, tail = planned_place(state), state.pools.tail[Q]
    urgent_before = t
    if state.memory.notes.planned_key == URGENT_KEY:
        urgent_before = max(t, jobs.reserved[state.memory.notes.planned_job])
    while place < tail:
        procs, length = state.queue.procs[Q, place], state.queue.plan[Q, place]
        if procs == GONE:
            place += 1
            continue
        if not everything and level_at(state.profile, MACHINE, t) <= 0:
            break
        job, key = state.queue.job[Q, place], state.queue.key[Q, place]
        state.memory.notes.planned_key, state.memory.notes.planned_job = key, job
        if key == URGENT_KEY and state.memory.rules.reserve != BESIDE:
            place += 1
            continue
        shape, after = jobs.shape_number[job], t
        if jobs.shape_plan[shape] == state.memory.notes.plans:
            after = max(t, jobs.shape_start[shape])
        if key == URGENT_KEY and not state.memory.rules.overtake:
            after = max(after, urgent_before)
        jobs.reserved[job] = NOT_RESERVED
        begin = earliest_start(state, MACHINE, job, after, NEVER, 0)
        if key != URGENT_KEY:  # an urgent job may have to stand behind another
            jobs.shape_plan[shape] = state.memory.notes.plans
            jobs.shape_start[shape] = begin
        room = 1
        if length > 0 and state.pools.pin_count[MACHINE] == 0:
            room = least_level(state.profile, MACHINE, begin, begin + length) // procs
        placed = 0
        while placed < room and place < tail:
            if state.queue.procs[Q, place] != GONE:
                same = state.queue.procs[Q, place] == procs and state.queue.key[Q, place] == key
                if not same or state.queue.plan[Q, place] != length:
                    break
                job = state.queue.job[Q, place]
                jobs.reserved[job] = begin
                if begin == t and key != URGENT_KEY:
                    state.lists.scratch[due] = job
                    due += 1
                placed += 1
            place += 1
        state.memory.notes.planned_job = job
        if key == URGENT_KEY:
            state.memory.notes.holds_urgent = 1
            urgent_before = begin
        elif begin > t:
            state.memory.notes.next_start = min(state.memory.notes.next_start, begin)
        change(state.profile, MACHINE, begin, begin + length, -placed * procs, t)
        if length == 0:
            pin(state, MACHINE, job)
    return due


@kernel
def complete_plan(t: int, state: State) -> None:
    """Place the rest of the waiting jobs; those due now are found again by :func:`find_due`."""
    if plan_on(t, state, True, 0) > 0:
        state.memory.notes.next_start = t


@routine
def find_due(t: int, state: State) -> int:
    """List the planned regular jobs that are due now; how many there are, and when the next ones are."""
    due, following = 0, NEVER
    for place in range(state.pools.head[Q], planned_place(state)):
        if state.queue.procs[Q, place] == GONE or state.queue.key[Q, place] == URGENT_KEY:
            continue
        job = state.queue.job[Q, place]
        if state.jobs.reserved[job] == t:
            state.lists.scratch[due] = job
            due += 1
        else:
            following = min(following, state.jobs.reserved[job])
    state.memory.notes.next_start = following
    return due


@routine
def lift_urgent(t: int, state: State) -> None:
    """Take the reservations of waiting urgent jobs out of the plan, which is to be made again."""
    for place in range(state.pools.head[Q], state.pools.tail[Q]):
        if state.queue.key[Q, place] != URGENT_KEY:
            break
        job = state.queue.job[Q, place]
        if state.queue.procs[Q, place] == GONE or state.jobs.reserved[job] == NOT_RESERVED:
            continue
        begin = state.jobs.reserved[job]
        change(state.profile, MACHINE, begin, begin + state.jobs.plan[job], state.jobs.procs[job], t)
        if state.jobs.plan[job] == 0:
            unpin(state, MACHINE, job)
        state.jobs.reserved[job] = NOT_RESERVED
    state.memory.notes.holds_urgent = 0
    state.memory.notes.changed = 1


@kernel
def first_regular(state: State) -> int:
    """The regular job that has waited longest."""
    place = state.pools.head[Q]
    if state.memory.notes.urgent_waiting > 0:
        place = place_for(state, Q, URGENT_KEY, NEVER)
        while state.queue.procs[Q, place] == GONE:
            place += 1
    return int(state.queue.job[Q, place])


@kernel
def start_regular(t: int, state: State, job: int) -> None:
    """Start a job where it was planned: the plan goes on holding its processors."""
    jobs = UjfbJobs(state.jobs)
    why = Why.RESERVATION
    if first_regular(state) != job:
        why = Why.BACKFILL
    elif jobs.submit[job] == t:
        why = Why.IMMEDIATE
    leave(state, Q, find_job(state, Q, JobTable["key"], job))
    start(state, job, MACHINE, why)
    procs, end = jobs.procs[job], t + jobs.plan[job]
    change(state.profile, BASE, t, end, -procs, t)
    if end == t:
        unpin(state, MACHINE, job)
    jobs.reserved[job] = NOT_RESERVED
    jobs.held_until[job] = end
    jobs.begun[job] = t
    own(state, job)
    if jobs.stopped_times[job] > 0:
        record_processors(state, job, jobs.run[job])
    state.memory.notes.preemptible += procs


@routine
def start_due(t: int, state: State, due: int) -> None:
    """Start the jobs on the list, those of no length first.

    One that finds its processors still held by a job of zero length starts in the next turn of this instant.
    """
    for turn in range(2):
        for i in range(due):
            job = state.lists.scratch[i]
            if (state.jobs.plan[job] > 0) != (turn == 1):
                continue
            if state.jobs.procs[job] > state.memory.notes.unowned:
                state.memory.notes.next_start = t
                return
            start_regular(t, state, job)
    wake(state, state.memory.notes.next_start)
