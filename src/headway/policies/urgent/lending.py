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
from headway.engine.tables import GONE, Entry, Job, Pool, State, Why
from headway.engine.verbs import start, wake
from headway.jit.kernels import kernel, routine
from headway.policies.urgent.plan import (
    ROW,
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
    Note,
    Processor,
    Rule,
    UjfbJob,
    count,
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
    following = NEVER
    for p in range(state.memory.processors.shape[1]):
        job = state.memory.processors[Processor.USER, p]
        if job == NO_JOB or state.jobs[UjfbJob.FIRST_PROCESSOR, job] != p or not is_urgent(state, job):
            continue
        if state.jobs[UjfbJob.HELD_UNTIL, job] <= t:
            end = t + max(state.jobs[Job.PLAN, job], ONE_MINUTE)
            state.jobs[UjfbJob.HELD_UNTIL, job] = end
            hold(t, state, end, state.jobs[UjfbJob.OWN_ALONE, job], plan_too)
            state.memory.notes[Note.CAME], state.memory.notes[Note.CHANGED] = job, 1
        following = min(following, state.jobs[UjfbJob.HELD_UNTIL, job])
    state.memory.notes[Note.NEXT_OVERRUN] = following
    if state.memory.notes[Note.ASIDE] > 0:
        expect_back(t, state, plan_too)


@kernel
def is_lent_until(t: int, state: State, p: int, until: int) -> bool:
    """Whether a processor stands idle now, and its owner cannot come back before ``until``."""
    if not is_idle(state, p):
        return False
    owner = state.memory.processors[Processor.OWNER, p]
    if state.memory.rules[Rule.SWAPS_WHOLE] and state.jobs[UjfbJob.SWAPPED_OUT, owner] > t:
        return False
    rest = state.jobs[UjfbJob.SWAP_BACK, owner] + state.jobs[Job.WALL, owner] - state.jobs[Job.KEPT, owner]
    return bool(state.jobs[UjfbJob.HELD_UNTIL, owner] - rest >= until)


@routine
def lend(t: int, state: State, job: int) -> bool:
    """Start a waiting job as a guest on idle processors, if there are enough for long enough."""
    procs, until = state.jobs[Job.PROCS, job], t + state.jobs[Job.PLAN, job]
    found = 0
    for p in range(state.memory.processors.shape[1]):
        found += is_lent_until(t, state, p, until)
    if found < procs:
        return False
    last = NO_PROCESSOR
    for p in range(state.memory.processors.shape[1]):
        if procs > 0 and is_lent_until(t, state, p, until):
            append(state, job, Processor.USER, Processor.NEXT_USED, last, p)
            state.jobs[UjfbJob.LENT, state.memory.processors[Processor.OWNER, p]] += 1
            last = p
            procs -= 1
    count(state, Note.IDLE, -state.jobs[Job.PROCS, job])
    count(state, Note.PREEMPTIBLE, state.jobs[Job.PROCS, job])
    leave(state, Q, find_job(state, Q, Job.KEY, job))
    start(state, job, MACHINE, Why.BACKFILL)
    state.jobs[Job.RESERVED, job] = NOT_RESERVED
    state.jobs[UjfbJob.HELD_UNTIL, job], state.jobs[UjfbJob.BEGUN, job], state.jobs[UjfbJob.GUEST, job] = (
        until,
        t,
        1,
    )
    record_processors(state, job, state.jobs[Job.RUN, job])
    return True


@routine
def lend_idle(t: int, state: State) -> bool:
    """Let waiting regular jobs, in queue order, be guests; whether there is one."""
    some = False
    for place in range(state.pools[Pool.HEAD, Q], state.pools[Pool.TAIL, Q]):
        if state.memory.notes[Note.IDLE] == 0:
            break
        procs = state.queue[ROW + Entry.PROCS, place]
        regular = procs != GONE and state.queue[ROW + Entry.KEY, place] != URGENT_KEY
        if (
            regular
            and procs <= state.memory.notes[Note.IDLE]
            and lend(t, state, state.queue[ROW + Entry.JOB, place])
        ):
            some = True
    return some


@kernel
def wake_for_swaps(t: int, state: State) -> None:
    """Come back when a suspended job will have been swapped out, and some of it may be lent."""
    for i in range(state.memory.notes[Note.ASIDE]):
        ready = state.jobs[UjfbJob.SWAPPED_OUT, state.memory.suspended[i]]
        if ready > t:
            wake(state, ready)


def ujfb_lending(t: int, state: State) -> None:
    """UJFB with guests, or with urgent jobs that outlive their request."""
    regular = newcomers(state, False)
    overrun = state.memory.rules[Rule.FINISHES] != 0 and state.memory.notes[Note.NEXT_OVERRUN] <= t
    trying = is_trying(state, regular)
    if trying and not is_complete(state):
        complete_plan(t, state)
    freed = settle(t, state, trying)
    if overrun:
        go_on(t, state, trying)
    admit(t, state)
    if freed and state.memory.notes[Note.ASIDE] > 0:
        resume_free(t, state)
    plan_and_start(t, state, regular)
    if state.memory.rules[Rule.LENDING]:
        while state.memory.notes[Note.NEXT_START] != t and lend_idle(t, state):
            begin_anew(t, state)
            start_due(t, state, plan_on(t, state, False, 0))
        if state.memory.rules[Rule.SWAPS_WHOLE]:
            wake_for_swaps(t, state)
    if state.memory.rules[Rule.FINISHES]:
        wake(state, state.memory.notes[Note.NEXT_OVERRUN])
