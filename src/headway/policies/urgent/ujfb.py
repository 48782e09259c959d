"""UJFB, urgent jobs first with backfilling: urgent jobs start at once, and regular ones are stopped for them.

Agung, Watanabe, Weber, Egawa and Takizawa, IEEE Access 9, 2021, Algorithm 1.

When an urgent job arrives it starts now if enough processors have no user, where those of suspended jobs
count too: without any harm to the reservations of regular jobs (*backfill*), or before them (*precede*).
Otherwise regular jobs are *preempted*, if that gives it enough. Else it waits in a queue before all others.

    processors of v   |vvvvvvvv|out|uuuuuuuuuuuuuu|in|vvvvvvvv|      v is swapped out and in again,
                               t   └ u runs                           u waits for it: the preemption delay

A suspended job keeps its processors: only urgent jobs may borrow them, and it goes on when none does. Regular
jobs have reservations as in conservative backfilling, all made again when something changes (see plan).
What else the paper leaves open is decided by parameters: guests on idle processors and urgent jobs that
outlive their request have a hook of their own (lending), as have regular jobs with deadlines
(deadlines).

One instant: completions; waiting urgent jobs; arrivals in order; suspended jobs resume; reservations, and
those that are due start.
"""

from __future__ import annotations

from headway.engine.queue import enter, find_job, leave
from headway.engine.reservations import NOT_RESERVED
from headway.engine.tables import GONE, JobTable, State
from headway.engine.verbs import resume
from headway.jit.kernels import kernel, routine
from headway.policies.urgent.plan import (
    URGENT_KEY,
    Q,
    begin_anew,
    complete_plan,
    find_due,
    hold,
    is_complete,
    plan_on,
    start_due,
)
from headway.policies.urgent.processors import (
    disown,
    give_back,
    is_urgent,
    load_hosts,
)
from headway.policies.urgent.tables import UjfbJobs
from headway.policies.urgent.urgent import expect_back, try_urgent


@routine
def settle(t: int, state: State, plan_too: bool) -> bool:
    """What ended leaves its processors; whether a user of another's was among it."""
    jobs = UjfbJobs(state.jobs)
    freed = False
    for i in range(state.clock.ended):
        job = state.runs.job[state.lists.ended_runs[i]]
        if is_urgent(state, job):
            freed = True
            hold(t, state, jobs.held_until[job], -jobs.own_alone[job], plan_too)
            if state.memory.notes.urgent_waiting > 0 and jobs.held_until[job] > t:
                state.memory.notes.changed = 1  # it ended early: others can have its processors before
            give_back(state, job)
        elif jobs.guest[job]:
            freed = True
            state.memory.notes.preemptible -= jobs.procs[job]
            give_back(state, job)
        else:
            hold(t, state, jobs.held_until[job], -jobs.procs[job], plan_too)
            state.memory.notes.preemptible -= jobs.procs[job]
            disown(state, job)
    if freed and state.memory.notes.aside > 0:
        expect_back(t, state, plan_too)
    return freed


@kernel
def try_waiting(t: int, state: State) -> None:
    """Try each waiting urgent job in order of arrival."""
    place = state.pools.head[Q]
    while place < state.pools.tail[Q] and state.queue.key[Q, place] == URGENT_KEY:
        job = state.queue.job[Q, place]
        if state.queue.procs[Q, place] != GONE:
            if try_urgent(t, state, job):
                leave(state, Q, find_job(state, Q, JobTable["key"], job))
                state.memory.notes.urgent_waiting -= 1
                # Jobs that were killed may have joined the queue and moved the others.
                place = find_job(state, Q, JobTable["key"], job)
            else:
                if NOT_RESERVED < state.jobs.reserved[job] <= t:
                    state.memory.notes.changed = 1  # hosts are full: its reservation moves on with time
                if not state.memory.rules.overtake:
                    return
        place += 1


@kernel
def arrive_urgent(t: int, state: State, job: int) -> None:
    """An urgent newcomer starts, or waits before all regular jobs."""
    behind = state.memory.notes.urgent_waiting > 0 and not state.memory.rules.overtake
    if behind or not try_urgent(t, state, job):
        state.jobs.reserved[job] = NOT_RESERVED
        enter(state, Q, job, URGENT_KEY)
        state.memory.notes.urgent_waiting += 1
        state.memory.notes.queued += 1
        state.memory.notes.changed = 1
        state.memory.notes.came = job


@routine
def resume_free(t: int, state: State) -> None:
    """Suspended jobs go on whose processors nobody uses any more."""
    jobs = UjfbJobs(state.jobs)
    i = 0
    while i < state.memory.notes.aside:
        job = state.memory.suspended[i]
        if jobs.lent[job] > 0:
            i += 1
            continue
        last = state.memory.notes.aside - 1
        moved = state.memory.suspended[last]
        state.memory.suspended[i] = moved
        jobs.aside_place[moved] = i
        state.memory.notes.aside = last
        if state.memory.rules.host_room >= 0:
            load_hosts(state, job, -1, 0)
        state.memory.notes.idle -= jobs.procs[job]
        state.memory.notes.preemptible += jobs.procs[job]
        resume(state, job, jobs.swap_back[job])


@kernel
def newcomers(state: State, urgent: bool) -> int:
    """How many urgent (or regular) jobs have just arrived."""
    found = 0
    for job in range(state.clock.first_new, state.clock.last_new):
        found += is_urgent(state, job) == urgent
    return found


@kernel
def is_trying(state: State, regular: int) -> bool:
    """Whether an urgent job waits or has just come beside so many regular ones."""
    urgent = state.clock.last_new - state.clock.first_new - regular
    return bool(urgent > 0 or state.memory.notes.urgent_waiting > 0)


@kernel
def admit(t: int, state: State) -> None:
    """Try the waiting urgent jobs, then let the newcomers in one by one."""
    if state.memory.notes.urgent_waiting > 0:
        try_waiting(t, state)
    for job in range(state.clock.first_new, state.clock.last_new):
        if is_urgent(state, job):
            arrive_urgent(t, state, job)
        else:
            state.jobs.reserved[job] = NOT_RESERVED
            state.jobs.key[job] += state.memory.notes.requeued
            enter(state, Q, job, state.jobs.key[job])


@kernel
def plan_and_start(t: int, state: State, regular: int) -> None:
    """Bring the plan up to date, tell the newcomers when they start, and start what is due."""
    due = 0
    if state.memory.notes.changed:
        begin_anew(t, state)
    elif state.memory.notes.next_start == t:
        due = find_due(t, state)
    due = plan_on(t, state, regular > 0, due)
    for job in range(state.clock.first_new, state.clock.last_new):
        if not is_urgent(state, job):
            state.jobs.promise[job] = state.jobs.reserved[job]
    start_due(t, state, due)


def ujfb(t: int, state: State) -> None:
    """Urgent jobs first, with backfilling and preemption, on the whole machine."""
    regular = newcomers(state, False)
    trying = is_trying(state, regular)
    if trying and not is_complete(state):
        complete_plan(t, state)  # urgent jobs are measured against the reservations made before
    freed = settle(t, state, trying)
    admit(t, state)
    if freed and state.memory.notes.aside > 0:
        resume_free(t, state)
    plan_and_start(t, state, regular)
