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
from headway.engine.tables import GONE, State, Why
from headway.engine.verbs import relabel, turn_away
from headway.jit.kernels import entry, kernel
from headway.policies.backfilling.conservative import Compress, compress, leave_plan, start_due
from headway.policies.deadline.places import place_before
from headway.policies.deadline.tables import (
    BEHIND,
    NO_DEADLINE,
    REFUSE,
    DbfJobs,
    Rule,
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
    if state.memory.lists.waiting[k] == 0:
        reserve_by(state, k, job, t, option(state, k, Rule.HOLE), NEVER)
    else:
        place_before(t, state, k, job)
    join(state, k, job)
    DbfJobs(state.jobs).first_given[job] = state.jobs.reserved[job]
    state.jobs.promise[job] = state.jobs.reserved[job] + state.jobs.plan[job]


@kernel
def arrive(t: int, state: State, k: int, job: int) -> None:
    """A newcomer joins the provisional list if it can wait, else the definitive one; or it is refused."""
    jobs = DbfJobs(state.jobs)
    if jobs.deadline[job] != NO_DEADLINE:
        jobs.key[job] += BEHIND
        begin = reserve_by(state, k, job, t, option(state, k, Rule.HOLE), jobs.deadline[job])
        if begin + jobs.plan[job] <= jobs.deadline[job]:
            join(state, k, job)
            jobs.first_given[job] = begin
            jobs.promise[job] = jobs.deadline[job]
            if state.memory.lists.waiting[k] == 0:
                state.memory.lists.canonical[k] = 1
            provisional_tasks(state, k, 1)
            state.memory.counts.accepted += 1
            return
        jobs.key[job] -= BEHIND
        state.memory.counts.late_on_arrival += 1
        if option(state, k, Rule.LATE) == REFUSE:
            turn_away(state, job)
            return
    place_priority(t, state, k, job)


@kernel
def give_back(t: int, state: State, k: int) -> int:
    """Runs that ended early give back what the profile and the base held; how many there were."""
    early = settle_runs(t, state, k)
    if early > 0:
        for i in range(state.clock.ended):
            run = state.lists.ended_runs[i]
            if state.runs.pool[run] == k and state.runs.expected[run] > t:
                leave_base(t, state, k, run)
    return early


@kernel
def leave_base(t: int, state: State, k: int, run: int) -> None:
    """The base no longer holds a run that ended early."""
    if not state.memory.lists.kept_base[k]:
        return
    procs, base = state.jobs.procs[state.runs.job[run]], option(state, k, Rule.BASE)
    change(state.profile, base, t, state.runs.expected[run], procs, t)


@kernel
def follow(t: int, state: State, k: int) -> None:
    """The base holds the definitive tasks where the compression has moved them."""
    jobs = DbfJobs(state.jobs)
    base, q = option(state, k, Rule.BASE), 2 * k
    for place in range(state.pools.head[2 * k], first_provisional(state, k)):
        job = state.queue.job[q, place]
        held, begin = jobs.in_base[job], jobs.reserved[job]
        if state.queue.procs[q, place] != GONE and held != begin:
            plan, procs = jobs.plan[job], jobs.procs[job]
            change(state.profile, base, held, held + plan, procs, t)
            change(state.profile, base, begin, begin + plan, -procs, t)
            jobs.in_base[job] = begin


@kernel
def bring_closer(t: int, state: State, k: int, early: int) -> None:
    """Compress both lists where runs have ended early, and keep the base in step."""
    if early == 0 and (option(state, k, Rule.COMPRESS) != Compress.EVERY or not state.pools.freed[k]):
        return
    state.memory.lists.canonical[k] = 0
    compress(t, state, k, early)
    if state.memory.lists.kept_base[k]:
        follow(t, state, k)


@kernel
def begin_runs(t: int, state: State, k: int) -> None:
    """Start what is due; the base holds every running task."""
    run = state.clock.runs
    start_due(t, state, k)
    while run < state.clock.runs:
        job = state.runs.job[run]
        if is_provisional(state, job):
            if state.memory.lists.kept_base[k]:
                end, base = t + state.jobs.plan[job], option(state, k, Rule.BASE)
                change(state.profile, base, t, end, -state.jobs.procs[job], t)
            provisional_tasks(state, k, -1)
        elif state.jobs.plan[job] == 0 and state.memory.lists.kept_base[k]:
            unpin(state, option(state, k, Rule.BASE), job)
        if DbfJobs(state.jobs).definitive_at[job] >= 0:
            relabel(state, run, Why.PROMOTED)
        run += 1


def dbf(t: int, state: State) -> None:
    """Deadline-based backfilling on the whole machine."""
    bring_closer(t, state, MACHINE, give_back(t, state, MACHINE))
    for job in range(state.clock.first_new, state.clock.last_new):
        arrive(t, state, MACHINE, job)
    begin_runs(t, state, MACHINE)


@entry
def of_dbf(t: int, state: State, job: int, request: int) -> None:
    """A waiting job leaves the lists. A definitive task is in the base too, others are counted."""
    forget_in_lists(t, state, MACHINE, job)
    leave_plan(state, job)
