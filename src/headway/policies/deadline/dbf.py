"""DBF, deadline-based backfilling: tasks that only have a deadline make room for the others while they can.

N'takpé and Suter, Compas 2016 (in French), Algorithm 1.

Waiting tasks are of two lists, both in order of submission. The *definitive* list (LP) holds reservations as
conservative backfilling makes them. The *provisional* list (LN) holds tasks with a deadline; each fits behind
everything that was there when it was placed, and may be placed again.

    definitive   ▓▓▓▓▓▓▓▓                       T arrives:  ▓▓▓▓▓▓▓▓TTTT
    provisional          ░░░░░░  ┊ deadline                         ░░░░░░┊

When a priority task T arrives, the provisional tasks give up their reservations, T is placed behind the
definitive ones alone, and then they are placed again in order. Those that would end too late become
definitive before T (they are *promoted*). ``strict`` repeats that until no provisional task is late;
``literal`` does it once, as the paper prints it, and can miss deadlines. Where compressions have left
provisional tasks with reservations that cannot be found again, they keep them and T goes behind them all:
the safety net, which is counted.

A task that cannot meet its deadline on arrival is a priority task, or is refused.

The definitive list and the running tasks have a profile of their own, the *base*, in a second pool; it is
laid out when a priority task meets provisional ones, and kept as long as there are any. The provisional list
is *canonical* when placing it anew on the base would change nothing: so it is until a task ends early. Then
a priority task for which no provisional task must move changes none of their reservations.
"""

from __future__ import annotations

from headway.engine.planning import settle_runs
from headway.engine.profile import change
from headway.engine.reservations import reserve_by, unpin
from headway.engine.tables import GONE, Q_FIELDS, Clock, Entry, Job, List, Pool, Run, State, Why
from headway.engine.verbs import relabel, turn_away
from headway.jit.kernels import entry, kernel
from headway.policies.backfilling.conservative import Compress, compress, leave_plan, start_due
from headway.policies.deadline.places import place_before
from headway.policies.deadline.tables import (
    BEHIND,
    NO_DEADLINE,
    REFUSE,
    Count,
    DbfJob,
    Lists,
    Rule,
    count,
    first_provisional,
    forget_in_lists,
    is_provisional,
    provisional_tasks,
)
from headway.policies.queueing.ordering import join, option
from headway.policies.queueing.strict import MACHINE
from headway.units import NEVER


@kernel
def place_priority(t: int, state: State, k: int, job: int) -> None:
    """Give a priority task its definitive place; what it was told is when it ends."""
    if state.memory.lists[Lists.WAITING, k] == 0:
        reserve_by(state, k, job, t, option(state, k, Rule.HOLE), NEVER)
    else:
        place_before(t, state, k, job)
    join(state, k, job)
    state.jobs[DbfJob.FIRST_GIVEN, job] = state.jobs[Job.RESERVED, job]
    state.jobs[Job.PROMISE, job] = state.jobs[Job.RESERVED, job] + state.jobs[Job.PLAN, job]


@kernel
def arrive(t: int, state: State, k: int, job: int) -> None:
    """A newcomer joins the provisional list if it can wait, else the definitive one; or it is refused."""
    if state.jobs[DbfJob.DEADLINE, job] != NO_DEADLINE:
        state.jobs[Job.KEY, job] += BEHIND
        begin = reserve_by(state, k, job, t, option(state, k, Rule.HOLE), state.jobs[DbfJob.DEADLINE, job])
        if begin + state.jobs[Job.PLAN, job] <= state.jobs[DbfJob.DEADLINE, job]:
            join(state, k, job)
            state.jobs[DbfJob.FIRST_GIVEN, job] = begin
            state.jobs[Job.PROMISE, job] = state.jobs[DbfJob.DEADLINE, job]
            if state.memory.lists[Lists.WAITING, k] == 0:
                state.memory.lists[Lists.CANONICAL, k] = 1
            provisional_tasks(state, k, 1)
            count(state, Count.ACCEPTED, 1)
            return
        state.jobs[Job.KEY, job] -= BEHIND
        count(state, Count.LATE_ON_ARRIVAL, 1)
        if option(state, k, Rule.LATE) == REFUSE:
            turn_away(state, job)
            return
    place_priority(t, state, k, job)


@kernel
def give_back(t: int, state: State, k: int) -> int:
    """Runs that ended early give back what the profile and the base held; how many there were."""
    early = settle_runs(t, state, k)
    if early > 0:
        for i in range(state.clock[Clock.ENDED]):
            run = state.lists[List.ENDED_RUNS, i]
            if state.runs[Run.POOL, run] == k and state.runs[Run.EXPECTED, run] > t:
                leave_base(t, state, k, run)
    return early


@kernel
def leave_base(t: int, state: State, k: int, run: int) -> None:
    """The base no longer holds a run that ended early."""
    if not state.memory.lists[Lists.KEPT_BASE, k]:
        return
    procs, base = state.jobs[Job.PROCS, state.runs[Run.JOB, run]], option(state, k, Rule.BASE)
    change(state.profile, base, t, state.runs[Run.EXPECTED, run], procs, t)


@kernel
def follow(t: int, state: State, k: int) -> None:
    """The base holds the definitive tasks where the compression has moved them."""
    base, row = option(state, k, Rule.BASE), Q_FIELDS * 2 * k
    for place in range(state.pools[Pool.HEAD, 2 * k], first_provisional(state, k)):
        job = state.queue[row + Entry.JOB, place]
        held, begin = state.jobs[DbfJob.IN_BASE, job], state.jobs[Job.RESERVED, job]
        if state.queue[row + Entry.PROCS, place] != GONE and held != begin:
            plan, procs = state.jobs[Job.PLAN, job], state.jobs[Job.PROCS, job]
            change(state.profile, base, held, held + plan, procs, t)
            change(state.profile, base, begin, begin + plan, -procs, t)
            state.jobs[DbfJob.IN_BASE, job] = begin


@kernel
def bring_closer(t: int, state: State, k: int, early: int) -> None:
    """Compress both lists where runs have ended early, and keep the base in step."""
    if early == 0 and (option(state, k, Rule.COMPRESS) != Compress.EVERY or not state.pools[Pool.FREED, k]):
        return
    state.memory.lists[Lists.CANONICAL, k] = 0
    compress(t, state, k, early)
    if state.memory.lists[Lists.KEPT_BASE, k]:
        follow(t, state, k)


@kernel
def begin_runs(t: int, state: State, k: int) -> None:
    """Start what is due; the base holds every running task."""
    run = state.clock[Clock.RUNS]
    start_due(t, state, k)
    while run < state.clock[Clock.RUNS]:
        job = state.runs[Run.JOB, run]
        if is_provisional(state, job):
            if state.memory.lists[Lists.KEPT_BASE, k]:
                end, base = t + state.jobs[Job.PLAN, job], option(state, k, Rule.BASE)
                change(state.profile, base, t, end, -state.jobs[Job.PROCS, job], t)
            provisional_tasks(state, k, -1)
        elif state.jobs[Job.PLAN, job] == 0 and state.memory.lists[Lists.KEPT_BASE, k]:
            unpin(state, option(state, k, Rule.BASE), job)
        if state.jobs[DbfJob.DEFINITIVE_AT, job] >= 0:
            relabel(state, run, Why.PROMOTED)
        run += 1


def dbf(t: int, state: State) -> None:
    """Deadline-based backfilling on the whole machine."""
    bring_closer(t, state, MACHINE, give_back(t, state, MACHINE))
    for job in range(state.clock[Clock.FIRST_NEW], state.clock[Clock.LAST_NEW]):
        arrive(t, state, MACHINE, job)
    begin_runs(t, state, MACHINE)


@entry
def of_dbf(t: int, state: State, job: int, request: int) -> None:
    """A waiting job leaves the lists. A definitive task is in the base too, others are counted."""
    forget_in_lists(t, state, MACHINE, job)
    leave_plan(state, job)
