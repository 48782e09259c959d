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
from headway.engine.tables import GONE, Clock, Entry, Job, List, Pool, Run, State
from headway.engine.verbs import resume
from headway.jit.kernels import kernel, routine
from headway.policies.urgent.plan import (
    ROW,
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
from headway.policies.urgent.tables import Note, Rule, UjfbJob, count
from headway.policies.urgent.urgent import expect_back, try_urgent


@routine
def settle(t: int, state: State, plan_too: bool) -> bool:
    """What ended leaves its processors; whether a user of another's was among it."""
    freed = False
    for i in range(state.clock[Clock.ENDED]):
        job = state.runs[Run.JOB, state.lists[List.ENDED_RUNS, i]]
        if is_urgent(state, job):
            freed = True
            hold(t, state, state.jobs[UjfbJob.HELD_UNTIL, job], -state.jobs[UjfbJob.OWN_ALONE, job], plan_too)
            if state.memory.notes[Note.URGENT_WAITING] > 0 and state.jobs[UjfbJob.HELD_UNTIL, job] > t:
                state.memory.notes[Note.CHANGED] = 1  # it ended early: others can have its processors before
            give_back(state, job)
        elif state.jobs[UjfbJob.GUEST, job]:
            freed = True
            count(state, Note.PREEMPTIBLE, -state.jobs[Job.PROCS, job])
            give_back(state, job)
        else:
            hold(t, state, state.jobs[UjfbJob.HELD_UNTIL, job], -state.jobs[Job.PROCS, job], plan_too)
            count(state, Note.PREEMPTIBLE, -state.jobs[Job.PROCS, job])
            disown(state, job)
    if freed and state.memory.notes[Note.ASIDE] > 0:
        expect_back(t, state, plan_too)
    return freed


@kernel
def try_waiting(t: int, state: State) -> None:
    """Try each waiting urgent job in order of arrival."""
    place = state.pools[Pool.HEAD, Q]
    while place < state.pools[Pool.TAIL, Q] and state.queue[ROW + Entry.KEY, place] == URGENT_KEY:
        job = state.queue[ROW + Entry.JOB, place]
        if state.queue[ROW + Entry.PROCS, place] != GONE:
            if try_urgent(t, state, job):
                leave(state, Q, find_job(state, Q, Job.KEY, job))
                count(state, Note.URGENT_WAITING, -1)
                # Jobs that were killed may have joined the queue and moved the others.
                place = find_job(state, Q, Job.KEY, job)
            else:
                if NOT_RESERVED < state.jobs[Job.RESERVED, job] <= t:
                    state.memory.notes[Note.CHANGED] = 1  # hosts are full: its reservation moves on with time
                if not state.memory.rules[Rule.OVERTAKE]:
                    return
        place += 1


@kernel
def arrive_urgent(t: int, state: State, job: int) -> None:
    """An urgent newcomer starts, or waits before all regular jobs."""
    behind = state.memory.notes[Note.URGENT_WAITING] > 0 and not state.memory.rules[Rule.OVERTAKE]
    if behind or not try_urgent(t, state, job):
        state.jobs[Job.RESERVED, job] = NOT_RESERVED
        enter(state, Q, job, URGENT_KEY)
        count(state, Note.URGENT_WAITING, 1)
        count(state, Note.QUEUED, 1)
        state.memory.notes[Note.CHANGED] = 1
        state.memory.notes[Note.CAME] = job


@routine
def resume_free(t: int, state: State) -> None:
    """Suspended jobs go on whose processors nobody uses any more."""
    i = 0
    while i < state.memory.notes[Note.ASIDE]:
        job = state.memory.suspended[i]
        if state.jobs[UjfbJob.LENT, job] > 0:
            i += 1
            continue
        last = state.memory.notes[Note.ASIDE] - 1
        moved = state.memory.suspended[last]
        state.memory.suspended[i] = moved
        state.jobs[UjfbJob.ASIDE_PLACE, moved] = i
        state.memory.notes[Note.ASIDE] = last
        if state.memory.rules[Rule.HOST_ROOM] >= 0:
            load_hosts(state, job, -1, 0)
        count(state, Note.IDLE, -state.jobs[Job.PROCS, job])
        count(state, Note.PREEMPTIBLE, state.jobs[Job.PROCS, job])
        resume(state, job, state.jobs[UjfbJob.SWAP_BACK, job])


@kernel
def newcomers(state: State, urgent: bool) -> int:
    """How many urgent (or regular) jobs have just arrived."""
    found = 0
    for job in range(state.clock[Clock.FIRST_NEW], state.clock[Clock.LAST_NEW]):
        found += is_urgent(state, job) == urgent
    return found


@kernel
def is_trying(state: State, regular: int) -> bool:
    """Whether an urgent job waits or has just come beside so many regular ones."""
    urgent = state.clock[Clock.LAST_NEW] - state.clock[Clock.FIRST_NEW] - regular
    return bool(urgent > 0 or state.memory.notes[Note.URGENT_WAITING] > 0)


@kernel
def admit(t: int, state: State) -> None:
    """Try the waiting urgent jobs, then let the newcomers in one by one."""
    if state.memory.notes[Note.URGENT_WAITING] > 0:
        try_waiting(t, state)
    for job in range(state.clock[Clock.FIRST_NEW], state.clock[Clock.LAST_NEW]):
        if is_urgent(state, job):
            arrive_urgent(t, state, job)
        else:
            state.jobs[Job.RESERVED, job] = NOT_RESERVED
            state.jobs[Job.KEY, job] += state.memory.notes[Note.REQUEUED]
            enter(state, Q, job, state.jobs[Job.KEY, job])


@kernel
def plan_and_start(t: int, state: State, regular: int) -> None:
    """Bring the plan up to date, tell the newcomers when they start, and start what is due."""
    due = 0
    if state.memory.notes[Note.CHANGED]:
        begin_anew(t, state)
    elif state.memory.notes[Note.NEXT_START] == t:
        due = find_due(t, state)
    due = plan_on(t, state, regular > 0, due)
    for job in range(state.clock[Clock.FIRST_NEW], state.clock[Clock.LAST_NEW]):
        if not is_urgent(state, job):
            state.jobs[Job.PROMISE, job] = state.jobs[Job.RESERVED, job]
    start_due(t, state, due)


def ujfb(t: int, state: State) -> None:
    """Urgent jobs first, with backfilling and preemption, on the whole machine."""
    regular = newcomers(state, False)
    trying = is_trying(state, regular)
    if trying and not is_complete(state):
        complete_plan(t, state)  # urgent jobs are measured against the reservations made before
    freed = settle(t, state, trying)
    admit(t, state)
    if freed and state.memory.notes[Note.ASIDE] > 0:
        resume_free(t, state)
    plan_and_start(t, state, regular)
