"""UJFB over DBF: regular jobs wait in the two lists of deadline-based backfilling, urgent ones come on top.

Waiting regular jobs are *definitive* or, with a deadline that they can still keep, *provisional* (see dbf).
The plan holds waiting urgent jobs, then the definitive ones, then the provisional ones, each in order of
arrival:

    held now ▒▒▒▒▒▒  urgent ▓▓▓  definitive ████████  provisional ░░░░░░  ┊ deadline

- A newcomer without a deadline is placed behind the definitive jobs by DBF's strict rule: provisional ones
  that would be late for it become definitive before it (they are promoted).
- Where processors are expected to come free at other times than before, the plan is made again.
- Where it is an urgent job that has changed that, the strict rule is applied with the urgent job in the place
  of the newcomer: provisional jobs that would be late go before the others. A deadline that cannot be kept
  even so is given up: the urgent job has broken it, and the job becomes definitive all the same. Broken is
  also the deadline of a definitive job that is moved, or of a running one that is suspended, beyond it; if
  that one is killed later, it waits again as a definitive job.
  Algorithm 1 itself, and the rows and the base that it works on, are those of dbf; a deadline that was not
  accepted, or was given up, is NEVER there.

Without deadlines this is UJFB, without urgent jobs dbf(compress=scratch). Every waiting job is looked at when
something changes, so it is slower than either where queues are long.
"""

from __future__ import annotations

from headway.engine.queue import enter, leave
from headway.engine.reservations import NOT_RESERVED, hold_earliest
from headway.engine.tables import Clock, Job, List, Pool, Run, State, Why
from headway.engine.verbs import relabel, wake
from headway.jit.kernels import routine
from headway.policies.deadline.places import insert, place_by_rule, put, put_behind_all
from headway.policies.deadline.tables import (
    BEHIND,
    NO_DEADLINE,
    NO_WAY,
    DbfJob,
    first_provisional,
    is_provisional,
)
from headway.policies.urgent.lending import go_on, lend_idle, wake_for_swaps
from headway.policies.urgent.lists import (
    first_definitive,
    give_up,
    give_up_late,
    job_at,
    lay_definitive,
    place_definitive,
    waits,
)
from headway.policies.urgent.plan import Q, start_due
from headway.policies.urgent.processors import is_urgent
from headway.policies.urgent.tables import DEFINITIVE_BASE, MACHINE, NO_JOB, Note, Rule, UjfbJob, count
from headway.policies.urgent.ujfb import arrive_urgent, resume_free, settle, try_waiting
from headway.units import NEVER


@routine
def note_and_promote(t: int, state: State) -> None:
    """Count who was moved to a later start, and let the chosen jobs become definitive."""
    chosen = 0
    for place in range(first_provisional(state, MACHINE), state.pools[Pool.TAIL, Q]):
        if not waits(state, place):
            continue
        job = job_at(state, place)
        before = state.jobs[DbfJob.HAD_START, job]
        if before != NOT_RESERVED and state.jobs[Job.RESERVED, job] > before:
            state.jobs[DbfJob.DISPLACED_TIMES, job] += 1
            count(state, Note.DISPLACEMENTS, 1)
        if state.jobs[DbfJob.CHOSEN, job]:
            state.lists[List.SCRATCH, chosen] = leave(state, Q, place)
            chosen += 1
    for i in range(chosen):
        job = state.lists[List.SCRATCH, i]
        state.jobs[Job.KEY, job] -= BEHIND
        state.jobs[DbfJob.DEFINITIVE_AT, job] = t
        enter(state, Q, job, state.jobs[Job.KEY, job])
    count(state, Note.PROMOTIONS, chosen)


@routine
def make_way(t: int, state: State, urgent: int) -> None:
    """An urgent job has come: place the provisional jobs by the strict rule, whatever deadline breaks."""
    lay_definitive(t, state, DEFINITIVE_BASE)
    first, tail = first_provisional(state, MACHINE), state.pools[Pool.TAIL, Q]
    for place in range(first, tail):
        state.jobs[DbfJob.CHOSEN, job_at(state, place)] = 0
    turn = 0
    while place_by_rule(t, state, MACHINE, NO_JOB, first, turn) == NO_WAY:
        give_up_late(state, first, tail, urgent)
        turn = 1
    note_and_promote(t, state)


@routine
def make_anew(t: int, state: State) -> None:
    """Place all waiting jobs anew; if an urgent job has come, by the strict rule."""
    notes = state.memory.notes
    urgent = notes[Note.CAME]
    notes[Note.CAME], notes[Note.CHANGED], notes[Note.HOLDS_URGENT] = NO_JOB, 0, 0
    place_definitive(t, state)
    if urgent == NO_JOB:
        for place in range(first_provisional(state, MACHINE), state.pools[Pool.TAIL, Q]):
            if waits(state, place):
                put(t, state, MACHINE, job_at(state, place))
        return
    make_way(t, state, urgent)
    give_up_late(state, first_definitive(state), first_provisional(state, MACHINE), urgent)
    for i in range(state.memory.notes[Note.ASIDE]):
        job = state.memory.suspended[i]
        if state.jobs[UjfbJob.HELD_UNTIL, job] > state.jobs[DbfJob.DEADLINE, job]:
            give_up(state, job, state.jobs[UjfbJob.BEGUN, job] + state.jobs[Job.PLAN, job], urgent)
            if is_provisional(state, job):
                state.jobs[Job.KEY, job] -= BEHIND


@routine
def place_newcomer(t: int, state: State, job: int) -> None:
    """DBF on arrival: a job that can keep its deadline is provisional, any other one definitive."""
    state.jobs[Job.RESERVED, job] = NOT_RESERVED
    if state.jobs[DbfJob.DEADLINE, job] != NO_DEADLINE:
        begin = hold_earliest(state, MACHINE, job, t, 0, state.jobs[DbfJob.DEADLINE, job])
        if begin + state.jobs[Job.PLAN, job] <= state.jobs[DbfJob.DEADLINE, job]:
            state.jobs[Job.RESERVED, job] = state.jobs[DbfJob.FIRST_GIVEN, job] = begin
            state.jobs[Job.KEY, job] += BEHIND
            enter(state, Q, job, state.jobs[Job.KEY, job])
            state.jobs[Job.PROMISE, job] = state.jobs[DbfJob.DEADLINE, job]
            count(state, Note.ACCEPTED_JOBS, 1)
            return
        count(state, Note.LATE_ON_ARRIVAL, 1)
    state.jobs[DbfJob.DEADLINE, job] = NEVER
    lay_definitive(t, state, DEFINITIVE_BASE)
    first = first_provisional(state, MACHINE)
    if insert(t, state, MACHINE, job, first, False) == NO_WAY:
        put_behind_all(t, state, MACHINE, job, first)
        count(state, Note.SAFETY_NET, 1)
    else:
        note_and_promote(t, state)
    enter(state, Q, job, state.jobs[Job.KEY, job])
    state.jobs[DbfJob.FIRST_GIVEN, job] = state.jobs[Job.RESERVED, job]
    state.jobs[Job.PROMISE, job] = state.jobs[Job.RESERVED, job] + state.jobs[Job.PLAN, job]


@routine
def start_all_due(t: int, state: State) -> None:
    """Start the regular jobs that are due, and note when the next ones are."""
    due, following = 0, NEVER
    for place in range(first_definitive(state), state.pools[Pool.TAIL, Q]):
        job = job_at(state, place)
        if waits(state, place) and state.jobs[Job.RESERVED, job] == t:
            state.lists[List.SCRATCH, due] = job
            due += 1
        elif waits(state, place):
            following = min(following, state.jobs[Job.RESERVED, job])
    state.memory.notes[Note.NEXT_START] = following
    start_due(t, state, due)


def ujfb_deadlines(t: int, state: State) -> None:
    """UJFB over DBF, on the whole machine."""
    freed = settle(t, state, True)
    if state.memory.rules[Rule.FINISHES] and state.memory.notes[Note.NEXT_OVERRUN] <= t:
        go_on(t, state, True)
    if state.memory.notes[Note.URGENT_WAITING] > 0:
        try_waiting(t, state)
    for job in range(state.clock[Clock.FIRST_NEW], state.clock[Clock.LAST_NEW]):
        if is_urgent(state, job):
            arrive_urgent(t, state, job)
    if freed and state.memory.notes[Note.ASIDE] > 0:
        resume_free(t, state)
    run = state.clock[Clock.RUNS]
    if state.memory.notes[Note.CHANGED]:
        make_anew(t, state)
    for job in range(state.clock[Clock.FIRST_NEW], state.clock[Clock.LAST_NEW]):
        if not is_urgent(state, job):
            place_newcomer(t, state, job)
    start_all_due(t, state)
    if state.memory.rules[Rule.LENDING]:
        while state.memory.notes[Note.NEXT_START] != t and lend_idle(t, state):
            make_anew(t, state)
            start_all_due(t, state)
        if state.memory.rules[Rule.SWAPS_WHOLE]:
            wake_for_swaps(t, state)
    for started in range(run, state.clock[Clock.RUNS]):
        if state.jobs[DbfJob.DEFINITIVE_AT, state.runs[Run.JOB, started]] >= 0:
            relabel(state, started, Why.PROMOTED)
    if state.memory.rules[Rule.FINISHES]:
        wake(state, state.memory.notes[Note.NEXT_OVERRUN])
