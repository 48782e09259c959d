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
from headway.engine.tables import State, Why
from headway.engine.verbs import relabel, wake
from headway.jit.kernels import routine
from headway.policies.deadline.places import insert, place_by_rule, put, put_behind_all
from headway.policies.deadline.tables import (
    BEHIND,
    NO_DEADLINE,
    NO_WAY,
    DbfJobs,
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
from headway.policies.urgent.tables import DEFINITIVE_BASE, MACHINE, NO_JOB, UjfbJobs
from headway.policies.urgent.ujfb import arrive_urgent, resume_free, settle, try_waiting
from headway.units import NEVER


@routine
def note_and_promote(t: int, state: State) -> None:
    """Count who was moved to a later start, and let the chosen jobs become definitive."""
    jobs = DbfJobs(state.jobs)
    chosen = 0
    for place in range(first_provisional(state, MACHINE), state.pools.tail[Q]):
        if not waits(state, place):
            continue
        job = job_at(state, place)
        before = jobs.had_start[job]
        if before != NOT_RESERVED and jobs.reserved[job] > before:
            jobs.displaced_times[job] += 1
            state.memory.notes.displacements += 1
        if jobs.chosen[job]:
            state.lists.scratch[chosen] = leave(state, Q, place)
            chosen += 1
    for i in range(chosen):
        job = state.lists.scratch[i]
        jobs.key[job] -= BEHIND
        jobs.definitive_at[job] = t
        enter(state, Q, job, jobs.key[job])
    state.memory.notes.promotions += chosen


@routine
def make_way(t: int, state: State, urgent: int) -> None:
    """An urgent job has come: place the provisional jobs by the strict rule, whatever deadline breaks."""
    lay_definitive(t, state, DEFINITIVE_BASE)
    first, tail = first_provisional(state, MACHINE), state.pools.tail[Q]
    for place in range(first, tail):
        DbfJobs(state.jobs).chosen[job_at(state, place)] = 0
    turn = 0
    while place_by_rule(t, state, MACHINE, NO_JOB, first, turn) == NO_WAY:
        give_up_late(state, first, tail, urgent)
        turn = 1
    note_and_promote(t, state)


@routine
def make_anew(t: int, state: State) -> None:
    """Place all waiting jobs anew; if an urgent job has come, by the strict rule."""
    jobs = UjfbJobs(state.jobs)
    notes = state.memory.notes
    urgent = notes.came
    notes.came, notes.changed, notes.holds_urgent = NO_JOB, 0, 0
    place_definitive(t, state)
    if urgent == NO_JOB:
        for place in range(first_provisional(state, MACHINE), state.pools.tail[Q]):
            if waits(state, place):
                put(t, state, MACHINE, job_at(state, place))
        return
    make_way(t, state, urgent)
    give_up_late(state, first_definitive(state), first_provisional(state, MACHINE), urgent)
    for i in range(state.memory.notes.aside):
        job = state.memory.suspended[i]
        if jobs.held_until[job] > jobs.deadline[job]:
            give_up(state, job, jobs.begun[job] + jobs.plan[job], urgent)
            if is_provisional(state, job):
                jobs.key[job] -= BEHIND


@routine
def place_newcomer(t: int, state: State, job: int) -> None:
    """DBF on arrival: a job that can keep its deadline is provisional, any other one definitive."""
    jobs = DbfJobs(state.jobs)
    jobs.reserved[job] = NOT_RESERVED
    if jobs.deadline[job] != NO_DEADLINE:
        begin = hold_earliest(state, MACHINE, job, t, 0, jobs.deadline[job])
        if begin + jobs.plan[job] <= jobs.deadline[job]:
            jobs.reserved[job] = jobs.first_given[job] = begin
            jobs.key[job] += BEHIND
            enter(state, Q, job, jobs.key[job])
            jobs.promise[job] = jobs.deadline[job]
            state.memory.notes.accepted_jobs += 1
            return
        state.memory.notes.late_on_arrival += 1
    jobs.deadline[job] = NEVER
    lay_definitive(t, state, DEFINITIVE_BASE)
    first = first_provisional(state, MACHINE)
    if insert(t, state, MACHINE, job, first, False) == NO_WAY:
        put_behind_all(t, state, MACHINE, job, first)
        state.memory.notes.safety_net += 1
    else:
        note_and_promote(t, state)
    enter(state, Q, job, jobs.key[job])
    jobs.first_given[job] = jobs.reserved[job]
    jobs.promise[job] = jobs.reserved[job] + jobs.plan[job]


@routine
def start_all_due(t: int, state: State) -> None:
    """Start the regular jobs that are due, and note when the next ones are."""
    due, following = 0, NEVER
    for place in range(first_definitive(state), state.pools.tail[Q]):
        job = job_at(state, place)
        if waits(state, place) and state.jobs.reserved[job] == t:
            state.lists.scratch[due] = job
            due += 1
        elif waits(state, place):
            following = min(following, state.jobs.reserved[job])
    state.memory.notes.next_start = following
    start_due(t, state, due)


def ujfb_deadlines(t: int, state: State) -> None:
    """UJFB over DBF, on the whole machine."""
    freed = settle(t, state, True)
    if state.memory.rules.finishes and state.memory.notes.next_overrun <= t:
        go_on(t, state, True)
    if state.memory.notes.urgent_waiting > 0:
        try_waiting(t, state)
    for job in range(state.clock.first_new, state.clock.last_new):
        if is_urgent(state, job):
            arrive_urgent(t, state, job)
    if freed and state.memory.notes.aside > 0:
        resume_free(t, state)
    run = state.clock.runs
    if state.memory.notes.changed:
        make_anew(t, state)
    for job in range(state.clock.first_new, state.clock.last_new):
        if not is_urgent(state, job):
            place_newcomer(t, state, job)
    start_all_due(t, state)
    if state.memory.rules.lending:
        while state.memory.notes.next_start != t and lend_idle(t, state):
            make_anew(t, state)
            start_all_due(t, state)
        if state.memory.rules.swaps_whole:
            wake_for_swaps(t, state)
    for started in range(run, state.clock.runs):
        if DbfJobs(state.jobs).definitive_at[state.runs.job[started]] >= 0:
            relabel(state, started, Why.PROMOTED)
    if state.memory.rules.finishes:
        wake(state, state.memory.notes.next_overrun)
