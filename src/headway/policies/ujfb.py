"""UJFB, urgent jobs first with backfilling: urgent jobs start at once, and regular ones are stopped for them.

Agung, Watanabe, Weber, Egawa and Takizawa, IEEE Access 9, 2021, Algorithm 1.

When an urgent job arrives it starts now if enough processors have no user, where those of suspended jobs
count too: without any harm to the reservations of regular jobs (*backfill*), or before them (*precede*).
Otherwise regular jobs are *preempted*, if that gives it enough. Else it waits in a queue before all others.

    processors of v   |vvvvvvvv|out|uuuuuuuuuuuuuu|in|vvvvvvvv|      v is swapped out and in again,
                               t   └ u runs                           u waits for it: the preemption delay

A suspended job keeps its processors: only urgent jobs may borrow them, and it goes on when none does. Regular
jobs have reservations as in conservative backfilling, all made anew when something changes (see ujfb_plan).
What else the paper leaves open is decided by parameters: guests on idle processors and urgent jobs that
outlive their request have a hook of their own (ujfb_lending), as have regular jobs with deadlines
(ujfb_deadlines).

One instant: completions; waiting urgent jobs; arrivals in order; suspended jobs resume; reservations, and
those that are due start.
"""

from __future__ import annotations

from headway.engine.profile import fits
from headway.engine.queue import enter, find_job, leave
from headway.engine.reservations import NOT_RESERVED, first_pin_in_the_way
from headway.engine.tables import (
    BY_PREEMPTION,
    ENDED,
    ENDED_RUNS,
    FIRST_NEW,
    GONE,
    KEPT,
    KEY,
    LAST_NEW,
    PIN_COUNT,
    PLAN,
    PROCS,
    PROMISE,
    Q_HEAD,
    Q_JOB,
    Q_KEY,
    Q_PROCS,
    Q_TAIL,
    R_JOB,
    RESERVED,
    RUN,
    RUNS,
    URGENT,
    URGENT_BACKFILL,
    URGENT_PREEMPT,
    WALL,
    State,
)
from headway.engine.verbs import kill, resume, start_late, suspend
from headway.jit import kernel, routine
from headway.policies.ujfb_plan import (
    REGULAR_KEY,
    ROW,
    URGENT_KEY,
    Q,
    begin_anew,
    complete_plan,
    find_due,
    hold,
    is_complete,
    lift_urgent,
    plan_on,
    start_due,
)
from headway.policies.ujfb_processors import (
    borrow_idle,
    disown,
    give_back,
    is_urgent,
    load_hosts,
    record,
    record_stop,
    take_free,
)
from headway.policies.ujfb_tables import (
    ASIDE,
    ASIDE_PLACE,
    CAME,
    CANDIDATES,
    CHANGED,
    DEGREE,
    DELAY,
    FIRST_PROCESSOR,
    GUEST,
    HELD_UNTIL,
    HOLDS_URGENT,
    HOST_ROOM,
    IDLE,
    IDLE_FIRST,
    IN_RECORD,
    KILL,
    LATEST_END,
    LENT,
    LOST,
    MACHINE,
    NEXT_OVERRUN,
    NEXT_OWNED,
    NEXT_START,
    NEXT_USED,
    NO_JOB,
    NO_PROCESSOR,
    OVERTAKE,
    OWN_ALONE,
    PREEMPT,
    PREEMPTED_FOR,
    PREEMPTIBLE,
    PREEMPTING,
    QUEUED,
    REQUEUED,
    STOPPED,
    STOPPED_BY,
    STOPPED_TIMES,
    SUSPENDED_JOBS,
    SWAP,
    SWAP_BACK,
    SWAPPED_OUT,
    SWAPS_WHOLE,
    TO_THE_END,
    UNOWNED,
    URGENT_WAITING,
    USER,
    at,
    count,
    entry,
)
from headway.policies.ujfb_victims import NOT_ENOUGH, longest_swap, select, until_swapped_out
from headway.units import NEVER


@routine
def expect_back(t: int, state: State, plan_too: bool) -> None:
    """Hold the processors of each suspended job until it will have ended, as far as can be known now.

    It comes back when the last user of its processors has ended, is swapped in, and has the rest of its
    walltime.
    """
    for i in range(state.options[ASIDE]):
        job = entry(state, SUSPENDED_JOBS, i)
        back = t
        p = state.jobs[FIRST_PROCESSOR, job]
        while p != NO_PROCESSOR:
            user = entry(state, USER, p)
            if user != NO_JOB:
                back = max(back, state.jobs[HELD_UNTIL, user])
            p = entry(state, NEXT_OWNED, p)
        end = back + state.jobs[SWAP_BACK, job] + state.jobs[WALL, job] - state.jobs[KEPT, job]
        if end != state.jobs[HELD_UNTIL, job]:
            hold(t, state, state.jobs[HELD_UNTIL, job], -state.jobs[PROCS, job], plan_too)
            hold(t, state, end, state.jobs[PROCS, job], plan_too)
            state.jobs[HELD_UNTIL, job] = end


@routine
def settle(t: int, state: State, plan_too: bool) -> bool:
    """What ended leaves its processors; whether a user of another's was among it."""
    freed = False
    for i in range(state.clock[ENDED]):
        job = state.runs[R_JOB, state.lists[ENDED_RUNS, i]]
        if is_urgent(state, job):
            freed = True
            hold(t, state, state.jobs[HELD_UNTIL, job], -state.jobs[OWN_ALONE, job], plan_too)
            give_back(state, job)
        elif state.jobs[GUEST, job]:
            freed = True
            count(state, PREEMPTIBLE, -state.jobs[PROCS, job])
            give_back(state, job)
        else:
            hold(t, state, state.jobs[HELD_UNTIL, job], -state.jobs[PROCS, job], plan_too)
            count(state, PREEMPTIBLE, -state.jobs[PROCS, job])
            disown(state, job)
    if freed and state.options[ASIDE] > 0:
        expect_back(t, state, plan_too)
    return freed


@kernel
def put_aside(t: int, state: State, job: int) -> None:
    """Suspend a victim: its processors stay its own."""
    suspend(state, job)
    i = state.options[ASIDE]
    state.options[at(state, SUSPENDED_JOBS, i)] = job
    state.jobs[ASIDE_PLACE, job] = i
    state.options[ASIDE] = i + 1
    state.jobs[SWAPPED_OUT, job] = t + state.jobs[SWAP, job]
    count(state, IDLE, state.jobs[PROCS, job])


@kernel
def send_back(t: int, state: State, job: int) -> None:
    """Kill a victim: it waits again, where it stood when it arrived, or behind all others."""
    kill(state, job, BY_PREEMPTION)
    if state.jobs[GUEST, job]:
        give_back(state, job)
        state.jobs[GUEST, job] = 0
    else:
        hold(t, state, state.jobs[HELD_UNTIL, job], -state.jobs[PROCS, job], True)
        disown(state, job)
    state.jobs[IN_RECORD, job] = 0
    if state.options[TO_THE_END]:
        # Those that wait have smaller keys, those that come later have this one, and larger numbers.
        count(state, REQUEUED, 1)
        state.jobs[KEY, job] = REGULAR_KEY + state.options[REQUEUED]
    enter(state, Q, job, state.jobs[KEY, job])
    count(state, LOST, 1)


@routine
def execute(t: int, state: State, job: int, why: int, delay: int, victims: int, killing: bool) -> None:
    """Give an urgent job its processors: free ones, then idle ones of suspended jobs, then the victims'."""
    procs = state.jobs[PROCS, job]
    idle = idle_taken(state, procs)
    free = min(procs - idle, state.options[UNOWNED])
    last = take_free(state, job, USER, NEXT_USED, NO_PROCESSOR, free)
    last = borrow_idle(state, job, last, idle)
    for i in range(victims):
        victim = entry(state, CANDIDATES, i)
        if not state.jobs[IN_RECORD, victim]:
            record(state, victim, state.jobs[RUN, victim])
        by = -1 if state.options[SWAPS_WHOLE] else state.clock[RUNS]
        record_stop(state, state.jobs[RUN, victim], by, state.jobs[SWAP, victim])
        count(state, PREEMPTIBLE, -state.jobs[PROCS, victim])
        state.jobs[STOPPED_BY, victim] = job
        state.jobs[STOPPED_TIMES, victim] += 1
        if killing or state.jobs[GUEST, victim]:
            send_back(t, state, victim)
        else:
            put_aside(t, state, victim)
    rest = procs - free - idle
    if rest > 0:
        lost = min(rest, state.options[UNOWNED])
        last = take_free(state, job, USER, NEXT_USED, last, lost)
        borrow_idle(state, job, last, rest - lost)
        free += lost
    if victims > 0:
        count(state, PREEMPTING, 1)
        count(state, STOPPED, victims)
    start_late(state, job, MACHINE, why, delay, delay + state.jobs[WALL, job])
    record(state, job, state.jobs[RUN, job])
    state.jobs[OWN_ALONE, job] = free
    state.jobs[DELAY, job] = delay
    state.jobs[PREEMPTED_FOR, job] = victims
    end = t + delay + state.jobs[PLAN, job]
    state.jobs[HELD_UNTIL, job] = end
    state.options[NEXT_OVERRUN] = min(state.options[NEXT_OVERRUN], end)
    state.options[CAME] = job
    hold(t, state, end, free, True)
    if state.options[ASIDE] > 0:
        expect_back(t, state, True)
    state.options[CHANGED] = 1


@kernel
def idle_taken(state: State, procs: int) -> int:
    """How many idle processors of suspended jobs an urgent job takes before anybody is stopped for it."""
    if not state.options[IDLE_FIRST]:
        procs = max(procs - state.options[UNOWNED], 0)
    return int(min(procs, state.options[IDLE]))


@routine
def try_urgent(t: int, state: State, job: int) -> bool:
    """Algorithm 1 for an urgent job: execute it, or preempt and execute, or answer no."""
    procs = state.jobs[PROCS, job]
    missing = procs - state.options[UNOWNED] - state.options[IDLE]
    swapping = 0
    if state.options[SWAPS_WHOLE] and state.options[IDLE] > 0:
        swapping = until_swapped_out(t, state, idle_taken(state, procs))
    if missing <= 0:
        if state.options[HOLDS_URGENT]:
            lift_urgent(t, state)
        state.jobs[RESERVED, job] = NOT_RESERVED
        harmless = fits(state.profile, MACHINE, t, procs, state.jobs[PLAN, job])
        if harmless and state.pools[PIN_COUNT, MACHINE] > 0:
            harmless = first_pin_in_the_way(state, MACHINE, job, t) == NEVER
        execute(t, state, job, URGENT_BACKFILL if harmless and swapping == 0 else URGENT, swapping, 0, False)
        return True
    if missing > state.options[PREEMPTIBLE]:
        return False
    mode = state.options[PREEMPT]
    victims = NOT_ENOUGH
    killing = mode == KILL
    delay = swapping
    if mode != KILL:
        victims = select(state, missing, True)
        delay = max(swapping, longest_swap(state, victims))
        due = state.jobs[LATEST_END, job]
        if mode == DEGREE and due >= 0:
            killing = victims == NOT_ENOUGH or t + delay + state.jobs[PLAN, job] > due
            if killing:
                for i in range(victims):
                    victim = entry(state, CANDIDATES, i)
                    if state.options[HOST_ROOM] >= 0 and not state.jobs[GUEST, victim]:
                        load_hosts(state, victim, -1, 0)
    if killing:
        victims = select(state, missing, False)
        delay = swapping
    if victims == NOT_ENOUGH:
        return False
    execute(t, state, job, URGENT_PREEMPT, delay, victims, killing)
    return True


@kernel
def try_waiting(t: int, state: State) -> None:
    """Try each waiting urgent job in order of arrival."""
    place = state.pools[Q_HEAD, Q]
    while place < state.pools[Q_TAIL, Q] and state.queue[ROW + Q_KEY, place] == URGENT_KEY:
        job = state.queue[ROW + Q_JOB, place]
        if state.queue[ROW + Q_PROCS, place] != GONE:
            if try_urgent(t, state, job):
                leave(state, Q, find_job(state, Q, KEY, job))
                count(state, URGENT_WAITING, -1)
                # Jobs that were killed may have joined the queue and moved the others.
                place = find_job(state, Q, KEY, job)
            elif not state.options[OVERTAKE]:
                return
        place += 1


@kernel
def arrive_urgent(t: int, state: State, job: int) -> None:
    """An urgent newcomer starts, or waits before all regular jobs."""
    behind = state.options[URGENT_WAITING] > 0 and not state.options[OVERTAKE]
    if behind or not try_urgent(t, state, job):
        state.jobs[RESERVED, job] = NOT_RESERVED
        enter(state, Q, job, URGENT_KEY)
        count(state, URGENT_WAITING, 1)
        count(state, QUEUED, 1)
        state.options[CHANGED] = 1
        state.options[CAME] = job


@routine
def resume_free(t: int, state: State) -> None:
    """Suspended jobs go on whose processors nobody uses any more."""
    i = 0
    while i < state.options[ASIDE]:
        job = entry(state, SUSPENDED_JOBS, i)
        if state.jobs[LENT, job] > 0:
            i += 1
            continue
        last = state.options[ASIDE] - 1
        moved = entry(state, SUSPENDED_JOBS, last)
        state.options[at(state, SUSPENDED_JOBS, i)] = moved
        state.jobs[ASIDE_PLACE, moved] = i
        state.options[ASIDE] = last
        if state.options[HOST_ROOM] >= 0:
            load_hosts(state, job, -1, 0)
        count(state, IDLE, -state.jobs[PROCS, job])
        count(state, PREEMPTIBLE, state.jobs[PROCS, job])
        resume(state, job, state.jobs[SWAP_BACK, job])


@kernel
def newcomers(state: State, urgent: bool) -> int:
    """How many urgent (or regular) jobs have just arrived."""
    found = 0
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        found += is_urgent(state, job) == urgent
    return found


@kernel
def is_trying(state: State, regular: int) -> bool:
    """Whether an urgent job waits or has just come beside so many regular ones."""
    urgent = state.clock[LAST_NEW] - state.clock[FIRST_NEW] - regular
    return bool(urgent > 0 or state.options[URGENT_WAITING] > 0)


@kernel
def admit(t: int, state: State) -> None:
    """Try the waiting urgent jobs, then let the newcomers in one by one."""
    if state.options[URGENT_WAITING] > 0:
        try_waiting(t, state)
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        if is_urgent(state, job):
            arrive_urgent(t, state, job)
        else:
            state.jobs[RESERVED, job] = NOT_RESERVED
            state.jobs[KEY, job] += state.options[REQUEUED]
            enter(state, Q, job, state.jobs[KEY, job])


@kernel
def plan_and_start(t: int, state: State, regular: int) -> None:
    """Bring the plan up to date, tell the newcomers when they start, and start what is due."""
    due = 0
    if state.options[CHANGED]:
        begin_anew(t, state)
    elif state.options[NEXT_START] == t:
        due = find_due(t, state)
    due = plan_on(t, state, regular > 0, due)
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        if not is_urgent(state, job):
            state.jobs[PROMISE, job] = state.jobs[RESERVED, job]
    start_due(t, state, due)


def ujfb(t: int, state: State) -> None:
    """Urgent jobs first, with backfilling and preemption, on the whole machine."""
    regular = newcomers(state, False)
    trying = is_trying(state, regular)
    if trying and not is_complete(state):
        complete_plan(t, state)  # urgent jobs are measured against the reservations made before
    freed = settle(t, state, trying)
    admit(t, state)
    if freed and state.options[ASIDE] > 0:
        resume_free(t, state)
    plan_and_start(t, state, regular)
