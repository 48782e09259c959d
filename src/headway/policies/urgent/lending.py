"""UJFB where regular jobs may be guests on idle processors, or urgent jobs may outlive their request.

Two readings of the paper that the plain form does without:

*Guests.* A suspended job keeps its processors, but what urgent jobs leave of them stands idle. A waiting
regular job may be lent some of it, if by its request it ends before the owner can come back. It is there on
sufferance: it is never suspended, and loses its work if an urgent job stops it.

    processors of v   |vvvvvvvv|out|uuuuuuuuuuuuuu|in|vvvvvvvv|
                      |vvvvvvvv|...|gggggggg|     |in|vvvvvvvv|      g ends before u will have

*Overruns.* An urgent job that has used up its request goes on. Nobody knows until when, so it is expected to
need its request once more, and a minute at least; and so on.
"""

from __future__ import annotations

from headway.engine.queue import find_job, leave
from headway.engine.reservations import NOT_RESERVED
from headway.engine.tables import GONE, JobTable, State, Why
from headway.engine.verbs import start, wake
from headway.jit.kernels import kernel, routine
from headway.policies.urgent.plan import (
    URGENT_KEY,
    Q,
    begin_anew,
    complete_plan,
    hold,
    is_complete,
    plan_on,
    start_due,
)
from headway.policies.urgent.processors import append, is_idle, is_urgent, record_processors
from headway.policies.urgent.tables import (
    MACHINE,
    NO_JOB,
    NO_PROCESSOR,
    Processors,
    UjfbJobs,
)
from headway.policies.urgent.ujfb import (
    admit,
    is_trying,
    newcomers,
    plan_and_start,
    resume_free,
    settle,
)
from headway.policies.urgent.urgent import expect_back
from headway.units import NEVER, SECOND

ONE_MINUTE = 60 * SECOND


@routine
def go_on(t: int, state: State, plan_too: bool) -> None:
    """Urgent jobs that have used up what they were expected to need are expected to need as much again."""
    jobs = UjfbJobs(state.jobs)
    following = NEVER
    for p in range(state.memory.processors.shape[1]):
        job = state.memory.processors.user[p]
        if job == NO_JOB or jobs.first_processor[job] != p or not is_urgent(state, job):
            continue
        if jobs.held_until[job] <= t:
            end = t + max(jobs.plan[job], ONE_MINUTE)
            jobs.held_until[job] = end
            hold(t, state, end, jobs.own_alone[job], plan_too)
            state.memory.notes.came, state.memory.notes.changed = job, 1
        following = min(following, jobs.held_until[job])
    state.memory.notes.next_overrun = following
    if state.memory.notes.aside > 0:
        expect_back(t, state, plan_too)


@kernel
def is_lent_until(t: int, state: State, p: int, until: int) -> bool:
    """Whether a processor stands idle now, and its owner cannot come back before ``until``."""
    jobs = UjfbJobs(state.jobs)
    if not is_idle(state, p):
        return False
    owner = state.memory.processors.owner[p]
    if state.memory.rules.swaps_whole and jobs.swapped_out[owner] > t:
        return False
    rest = jobs.swap_back[owner] + jobs.wall[owner] - jobs.kept[owner]
    return bool(jobs.held_until[owner] - rest >= until)


@routine
def lend(t: int, state: State, job: int) -> bool:
    """Start a waiting job as a guest on idle processors, if there are enough for long enough."""
    jobs = UjfbJobs(state.jobs)
    procs, until = jobs.procs[job], t + jobs.plan[job]
    found = 0
    for p in range(state.memory.processors.shape[1]):
        found += is_lent_until(t, state, p, until)
    if found < procs:
        return False
    last = NO_PROCESSOR
    for p in range(state.memory.processors.shape[1]):
        if procs > 0 and is_lent_until(t, state, p, until):
            append(state, job, Processors["user"], Processors["next_used"], last, p)
            jobs.lent[state.memory.processors.owner[p]] += 1
            last = p
            procs -= 1
    state.memory.notes.idle -= jobs.procs[job]
    state.memory.notes.preemptible += jobs.procs[job]
    leave(state, Q, find_job(state, Q, JobTable["key"], job))
    start(state, job, MACHINE, Why.BACKFILL)
    jobs.reserved[job] = NOT_RESERVED
    jobs.held_until[job], jobs.begun[job], jobs.guest[job] = (
        until,
        t,
        1,
    )
    record_processors(state, job, jobs.run[job])
    return True


@routine
def lend_idle(t: int, state: State) -> bool:
    """Let waiting regular jobs, in queue order, be guests; whether there is one."""
    some = False
    for place in range(state.pools.head[Q], state.pools.tail[Q]):
        if state.memory.notes.idle == 0:
            break
        procs = state.queue.procs[Q, place]
        regular = procs != GONE and state.queue.key[Q, place] != URGENT_KEY
        if regular and procs <= state.memory.notes.idle and lend(t, state, state.queue.job[Q, place]):
            some = True
    return some


@kernel
def wake_for_swaps(t: int, state: State) -> None:
    """Come back when a suspended job will have been swapped out, and some of it may be lent."""
    for i in range(state.memory.notes.aside):
        ready = UjfbJobs(state.jobs).swapped_out[state.memory.suspended[i]]
        if ready > t:
            wake(state, ready)


def ujfb_lending(t: int, state: State) -> None:
    """UJFB with guests, or with urgent jobs that outlive their request."""
    regular = newcomers(state, False)
    overrun = state.memory.rules.finishes != 0 and state.memory.notes.next_overrun <= t
    trying = is_trying(state, regular)
    if trying and not is_complete(state):
        complete_plan(t, state)
    freed = settle(t, state, trying)
    if overrun:
        go_on(t, state, trying)
    admit(t, state)
    if freed and state.memory.notes.aside > 0:
        resume_free(t, state)
    plan_and_start(t, state, regular)
    if state.memory.rules.lending:
        while state.memory.notes.next_start != t and lend_idle(t, state):
            begin_anew(t, state)
            start_due(t, state, plan_on(t, state, False, 0))
        if state.memory.rules.swaps_whole:
            wake_for_swaps(t, state)
    if state.memory.rules.finishes:
        wake(state, state.memory.notes.next_overrun)
