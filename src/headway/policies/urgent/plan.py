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
from headway.engine.tables import GONE, Q_FIELDS, Entry, Job, List, Pool, State, Why
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
    Note,
    Processor,
    Rule,
    UjfbJob,
    count,
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
        state.memory.notes[Note.CHANGED] = 1


@kernel
def planned_place(state: State) -> int:
    """The first place in the queue that the plan does not reach."""
    if state.memory.notes[Note.PLANNED_JOB] < 0:
        return int(state.pools[Pool.HEAD, Q])
    return place_for(state, Q, state.memory.notes[Note.PLANNED_KEY], state.memory.notes[Note.PLANNED_JOB])


@kernel
def is_complete(state: State) -> bool:
    return planned_place(state) == state.pools[Pool.TAIL, Q]


@kernel
def occupy(t: int, state: State, k: int, job: int) -> None:
    """Let the plan, or the base ``k`` of one, hold a job where it is reserved."""
    begin, length = state.jobs[Job.RESERVED, job], state.jobs[Job.PLAN, job]
    change(state.profile, k, begin, begin + length, -state.jobs[Job.PROCS, job], t)
    if length == 0:
        pin(state, k, job)


@routine
def place_urgent(t: int, state: State) -> None:
    """Reserve for waiting urgent jobs what others of them do not use; the plan is then to be laid anew.

    One that could start by now and was not let in (its victims found no room in the hosts' memory) moves on
    with time, so that the plan is not true for long.
    """
    clear(state.profile, MACHINE, t, state.memory.processors.shape[1])
    state.pools[Pool.PIN_COUNT, MACHINE] = 0
    for p in range(state.memory.processors.shape[1]):
        user = state.memory.processors[Processor.USER, p]
        if user != NO_JOB and state.jobs[UjfbJob.FIRST_PROCESSOR, user] == p and is_urgent(state, user):
            end = state.jobs[UjfbJob.HELD_UNTIL, user]
            if end > t:
                change(state.profile, MACHINE, t, end, -state.jobs[Job.PROCS, user], t)
    after = t
    for place in range(state.pools[Pool.HEAD, Q], state.pools[Pool.TAIL, Q]):
        if state.queue[ROW + Entry.KEY, place] != URGENT_KEY:
            break
        if state.queue[ROW + Entry.PROCS, place] == GONE:
            continue
        job = state.queue[ROW + Entry.JOB, place]
        state.jobs[Job.RESERVED, job] = NOT_RESERVED
        begin = earliest_start(state, MACHINE, job, after, NEVER, 0)
        state.jobs[Job.RESERVED, job] = begin
        occupy(t, state, MACHINE, job)
        if not state.memory.rules[Rule.OVERTAKE]:
            after = begin
        if begin == t:
            state.memory.notes[Note.CHANGED] = 1
    state.memory.notes[Note.HOLDS_URGENT] = 1


@routine
def hold_urgent(t: int, state: State) -> None:
    """Let the plan hold the waiting urgent jobs where they are to run by preempting."""
    place_urgent(t, state)
    lay_over(state.profile, BASE, MACHINE, t)
    state.pools[Pool.PIN_COUNT, MACHINE] = 0
    for place in range(state.pools[Pool.HEAD, Q], state.pools[Pool.TAIL, Q]):
        if state.queue[ROW + Entry.KEY, place] != URGENT_KEY:
            break
        if state.queue[ROW + Entry.PROCS, place] != GONE:
            occupy(t, state, MACHINE, state.queue[ROW + Entry.JOB, place])


@kernel
def begin_anew(t: int, state: State) -> None:
    """Forget every reservation of regular jobs, and make those of urgent ones anew."""
    state.memory.notes[Note.PLANNED_KEY] = state.memory.notes[Note.PLANNED_JOB] = -1
    state.memory.notes[Note.NEXT_START] = NEVER
    state.memory.notes[Note.CHANGED] = state.memory.notes[Note.HOLDS_URGENT] = 0
    state.memory.notes[Note.PLANS] += 1
    if state.memory.notes[Note.URGENT_WAITING] > 0 and state.memory.rules[Rule.RESERVE] == PREEMPTING_THEN:
        hold_urgent(t, state)
    else:
        lay_over(state.profile, BASE, MACHINE, t)
        state.pools[Pool.PIN_COUNT, MACHINE] = 0


@routine
def plan_on(t: int, state: State, everything: bool, due: int) -> int:
    """Place waiting jobs from where the plan ends; those that are due now go to a list of ``due`` jobs.

    Unless ``everything`` is asked for, stop where no processor is left now. How many are on the list then.
    """
    if state.memory.notes[Note.CHANGED]:  # by place_urgent: what is reserved now comes free unasked
        everything = True
    place, tail = planned_place(state), state.pools[Pool.TAIL, Q]
    urgent_before = t
    if state.memory.notes[Note.PLANNED_KEY] == URGENT_KEY:
        urgent_before = max(t, state.jobs[Job.RESERVED, state.memory.notes[Note.PLANNED_JOB]])
    while place < tail:
        procs, length = state.queue[ROW + Entry.PROCS, place], state.queue[ROW + Entry.PLAN, place]
        if procs == GONE:
            place += 1
            continue
        if not everything and level_at(state.profile, MACHINE, t) <= 0:
            break
        job, key = state.queue[ROW + Entry.JOB, place], state.queue[ROW + Entry.KEY, place]
        state.memory.notes[Note.PLANNED_KEY], state.memory.notes[Note.PLANNED_JOB] = key, job
        if key == URGENT_KEY and state.memory.rules[Rule.RESERVE] != BESIDE:
            place += 1
            continue
        shape, after = state.jobs[UjfbJob.SHAPE, job], t
        if state.jobs[UjfbJob.SHAPE_PLAN, shape] == state.memory.notes[Note.PLANS]:
            after = max(t, state.jobs[UjfbJob.SHAPE_START, shape])
        if key == URGENT_KEY and not state.memory.rules[Rule.OVERTAKE]:
            after = max(after, urgent_before)
        state.jobs[Job.RESERVED, job] = NOT_RESERVED
        begin = earliest_start(state, MACHINE, job, after, NEVER, 0)
        if key != URGENT_KEY:  # an urgent job may have to stand behind another
            state.jobs[UjfbJob.SHAPE_PLAN, shape] = state.memory.notes[Note.PLANS]
            state.jobs[UjfbJob.SHAPE_START, shape] = begin
        room = 1
        if length > 0 and state.pools[Pool.PIN_COUNT, MACHINE] == 0:
            room = least_level(state.profile, MACHINE, begin, begin + length) // procs
        placed = 0
        while placed < room and place < tail:
            if state.queue[ROW + Entry.PROCS, place] != GONE:
                same = (
                    state.queue[ROW + Entry.PROCS, place] == procs
                    and state.queue[ROW + Entry.KEY, place] == key
                )
                if not same or state.queue[ROW + Entry.PLAN, place] != length:
                    break
                job = state.queue[ROW + Entry.JOB, place]
                state.jobs[Job.RESERVED, job] = begin
                if begin == t and key != URGENT_KEY:
                    state.lists[List.SCRATCH, due] = job
                    due += 1
                placed += 1
            place += 1
        state.memory.notes[Note.PLANNED_JOB] = job
        if key == URGENT_KEY:
            state.memory.notes[Note.HOLDS_URGENT] = 1
            urgent_before = begin
        elif begin > t:
            state.memory.notes[Note.NEXT_START] = min(state.memory.notes[Note.NEXT_START], begin)
        change(state.profile, MACHINE, begin, begin + length, -placed * procs, t)
        if length == 0:
            pin(state, MACHINE, job)
    return due


@kernel
def complete_plan(t: int, state: State) -> None:
    """Place the rest of the waiting jobs; those due now are found again by :func:`find_due`."""
    if plan_on(t, state, True, 0) > 0:
        state.memory.notes[Note.NEXT_START] = t


@routine
def find_due(t: int, state: State) -> int:
    """List the planned regular jobs that are due now; how many there are, and when the next ones are."""
    due, following = 0, NEVER
    for place in range(state.pools[Pool.HEAD, Q], planned_place(state)):
        if state.queue[ROW + Entry.PROCS, place] == GONE or state.queue[ROW + Entry.KEY, place] == URGENT_KEY:
            continue
        job = state.queue[ROW + Entry.JOB, place]
        if state.jobs[Job.RESERVED, job] == t:
            state.lists[List.SCRATCH, due] = job
            due += 1
        else:
            following = min(following, state.jobs[Job.RESERVED, job])
    state.memory.notes[Note.NEXT_START] = following
    return due


@routine
def lift_urgent(t: int, state: State) -> None:
    """Take the reservations of waiting urgent jobs out of the plan, which is to be made again."""
    for place in range(state.pools[Pool.HEAD, Q], state.pools[Pool.TAIL, Q]):
        if state.queue[ROW + Entry.KEY, place] != URGENT_KEY:
            break
        job = state.queue[ROW + Entry.JOB, place]
        if state.queue[ROW + Entry.PROCS, place] == GONE or state.jobs[Job.RESERVED, job] == NOT_RESERVED:
            continue
        begin = state.jobs[Job.RESERVED, job]
        change(
            state.profile, MACHINE, begin, begin + state.jobs[Job.PLAN, job], state.jobs[Job.PROCS, job], t
        )
        if state.jobs[Job.PLAN, job] == 0:
            unpin(state, MACHINE, job)
        state.jobs[Job.RESERVED, job] = NOT_RESERVED
    state.memory.notes[Note.HOLDS_URGENT] = 0
    state.memory.notes[Note.CHANGED] = 1


@kernel
def first_regular(state: State) -> int:
    """The regular job that has waited longest."""
    place = state.pools[Pool.HEAD, Q]
    if state.memory.notes[Note.URGENT_WAITING] > 0:
        place = place_for(state, Q, URGENT_KEY, NEVER)
        while state.queue[ROW + Entry.PROCS, place] == GONE:
            place += 1
    return int(state.queue[ROW + Entry.JOB, place])


@kernel
def start_regular(t: int, state: State, job: int) -> None:
    """Start a job where it was planned: the plan goes on holding its processors."""
    why = Why.RESERVATION
    if first_regular(state) != job:
        why = Why.BACKFILL
    elif state.jobs[Job.SUBMIT, job] == t:
        why = Why.IMMEDIATE
    leave(state, Q, find_job(state, Q, Job.KEY, job))
    start(state, job, MACHINE, why)
    procs, end = state.jobs[Job.PROCS, job], t + state.jobs[Job.PLAN, job]
    change(state.profile, BASE, t, end, -procs, t)
    if end == t:
        unpin(state, MACHINE, job)
    state.jobs[Job.RESERVED, job] = NOT_RESERVED
    state.jobs[UjfbJob.HELD_UNTIL, job] = end
    state.jobs[UjfbJob.BEGUN, job] = t
    own(state, job)
    if state.jobs[UjfbJob.STOPPED_TIMES, job] > 0:
        record_processors(state, job, state.jobs[Job.RUN, job])
    count(state, Note.PREEMPTIBLE, procs)


@routine
def start_due(t: int, state: State, due: int) -> None:
    """Start the jobs on the list, those of no length first.

    One that finds its processors still held by a job of zero length starts in the next turn of this instant.
    """
    for turn in range(2):
        for i in range(due):
            job = state.lists[List.SCRATCH, i]
            if (state.jobs[Job.PLAN, job] > 0) != (turn == 1):
                continue
            if state.jobs[Job.PROCS, job] > state.memory.notes[Note.UNOWNED]:
                state.memory.notes[Note.NEXT_START] = t
                return
            start_regular(t, state, job)
    wake(state, state.memory.notes[Note.NEXT_START])
