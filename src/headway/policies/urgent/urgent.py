"""How an urgent job gets its processors: Algorithm 1 of UJFB, preemption included.

Processors without a user come first, those of suspended jobs among them; then regular jobs are stopped: put
aside, so that they keep their processors and go on there later, or killed and sent back to the queue.
"""

from __future__ import annotations

from headway.engine.holes import fits
from headway.engine.queue import enter
from headway.engine.reservations import NOT_RESERVED, first_pin_in_the_way
from headway.engine.tables import Clock, Ended, Job, Pool, State, Why
from headway.engine.verbs import kill, start_late, suspend
from headway.jit.kernels import kernel, routine
from headway.policies.deadline.tables import DbfJob
from headway.policies.urgent.plan import (
    REGULAR_KEY,
    Q,
    hold,
    lift_urgent,
)
from headway.policies.urgent.processors import (
    borrow_idle,
    disown,
    give_back,
    load_hosts,
    record_processors,
    record_stop,
    take_free,
)
from headway.policies.urgent.tables import (
    DEGREE,
    KILL,
    MACHINE,
    NO_JOB,
    NO_PROCESSOR,
    Note,
    Processor,
    Rule,
    UjfbJob,
    count,
)
from headway.policies.urgent.victims import NOT_ENOUGH, longest_swap, select, until_swapped_out
from headway.units import NEVER


@routine
def expect_back(t: int, state: State, plan_too: bool) -> None:
    """Hold the processors of each suspended job until it will have ended, as far as can be known now.

    It comes back when the last user of its processors has ended, is swapped in, and has the rest of its
    walltime.
    """
    for i in range(state.memory.notes[Note.ASIDE]):
        job = state.memory.suspended[i]
        back = t
        p = state.jobs[UjfbJob.FIRST_PROCESSOR, job]
        while p != NO_PROCESSOR:
            user = state.memory.processors[Processor.USER, p]
            if user != NO_JOB:
                back = max(back, state.jobs[UjfbJob.HELD_UNTIL, user])
            p = state.memory.processors[Processor.NEXT_OWNED, p]
        end = (
            back + state.jobs[UjfbJob.SWAP_BACK, job] + state.jobs[Job.WALL, job] - state.jobs[Job.KEPT, job]
        )
        if end != state.jobs[UjfbJob.HELD_UNTIL, job]:
            hold(t, state, state.jobs[UjfbJob.HELD_UNTIL, job], -state.jobs[Job.PROCS, job], plan_too)
            hold(t, state, end, state.jobs[Job.PROCS, job], plan_too)
            state.jobs[UjfbJob.HELD_UNTIL, job] = end


@kernel
def put_aside(t: int, state: State, job: int) -> None:
    """Suspend a victim: its processors stay its own."""
    suspend(state, job)
    i = state.memory.notes[Note.ASIDE]
    state.memory.suspended[i] = job
    state.jobs[UjfbJob.ASIDE_PLACE, job] = i
    state.memory.notes[Note.ASIDE] = i + 1
    state.jobs[UjfbJob.SWAPPED_OUT, job] = t + state.jobs[UjfbJob.SWAP, job]
    count(state, Note.IDLE, state.jobs[Job.PROCS, job])


@kernel
def send_back(t: int, state: State, job: int) -> None:
    """Kill a victim: it waits again, where it stood when it arrived, or behind all others."""
    kill(state, job, Ended.BY_PREEMPTION)
    if state.jobs[UjfbJob.GUEST, job]:
        give_back(state, job)
        state.jobs[UjfbJob.GUEST, job] = 0
    else:
        hold(t, state, state.jobs[UjfbJob.HELD_UNTIL, job], -state.jobs[Job.PROCS, job], True)
        disown(state, job)
    state.jobs[UjfbJob.IN_RECORD, job] = 0
    if state.memory.rules[Rule.TO_THE_END]:
        # Those that wait have smaller keys, those that come later have this one, and larger numbers.
        count(state, Note.REQUEUED, 1)
        state.jobs[Job.KEY, job] = REGULAR_KEY + state.memory.notes[Note.REQUEUED]
    enter(state, Q, job, state.jobs[Job.KEY, job])
    count(state, Note.LOST, 1)


@routine
def execute(t: int, state: State, job: int, why: int, delay: int, victims: int, killing: bool) -> None:
    """Give an urgent job its processors: free ones, then idle ones of suspended jobs, then the victims'."""
    procs = state.jobs[Job.PROCS, job]
    idle = idle_taken(state, procs)
    free = min(procs - idle, state.memory.notes[Note.UNOWNED])
    last = take_free(state, job, Processor.USER, Processor.NEXT_USED, NO_PROCESSOR, free)
    last = borrow_idle(state, job, last, idle)
    for i in range(victims):
        victim = state.memory.candidates[i]
        if not state.jobs[UjfbJob.IN_RECORD, victim]:
            record_processors(state, victim, state.jobs[Job.RUN, victim])
        by = -1 if state.memory.rules[Rule.SWAPS_WHOLE] else state.clock[Clock.RUNS]
        record_stop(state, state.jobs[Job.RUN, victim], by, state.jobs[UjfbJob.SWAP, victim])
        count(state, Note.PREEMPTIBLE, -state.jobs[Job.PROCS, victim])
        state.jobs[UjfbJob.STOPPED_BY, victim] = job
        state.jobs[UjfbJob.STOPPED_TIMES, victim] += 1
        if killing or state.jobs[UjfbJob.GUEST, victim]:
            send_back(t, state, victim)
        else:
            put_aside(t, state, victim)
    rest = procs - free - idle
    if rest > 0:
        lost = min(rest, state.memory.notes[Note.UNOWNED])
        last = take_free(state, job, Processor.USER, Processor.NEXT_USED, last, lost)
        borrow_idle(state, job, last, rest - lost)
        free += lost
    if victims > 0:
        count(state, Note.PREEMPTING, 1)
        count(state, Note.STOPPED, victims)
    start_late(state, job, MACHINE, why, delay, delay + state.jobs[Job.WALL, job])
    record_processors(state, job, state.jobs[Job.RUN, job])
    state.jobs[UjfbJob.OWN_ALONE, job] = free
    state.jobs[UjfbJob.DELAY, job] = delay
    state.jobs[UjfbJob.PREEMPTED_FOR, job] = victims
    end = t + delay + state.jobs[Job.PLAN, job]
    state.jobs[UjfbJob.HELD_UNTIL, job] = end
    state.memory.notes[Note.NEXT_OVERRUN] = min(state.memory.notes[Note.NEXT_OVERRUN], end)
    state.memory.notes[Note.CAME] = job
    hold(t, state, end, free, True)
    if state.memory.notes[Note.ASIDE] > 0:
        expect_back(t, state, True)
    state.memory.notes[Note.CHANGED] = 1


@kernel
def idle_taken(state: State, procs: int) -> int:
    """How many idle processors of suspended jobs an urgent job takes before anybody is stopped for it."""
    if not state.memory.rules[Rule.IDLE_FIRST]:
        procs = max(procs - state.memory.notes[Note.UNOWNED], 0)
    return int(min(procs, state.memory.notes[Note.IDLE]))


@routine
def try_urgent(t: int, state: State, job: int) -> bool:
    """Algorithm 1 for an urgent job: execute it, or preempt and execute, or answer no."""
    procs = state.jobs[Job.PROCS, job]
    missing = procs - state.memory.notes[Note.UNOWNED] - state.memory.notes[Note.IDLE]
    swapping = 0
    if state.memory.rules[Rule.SWAPS_WHOLE] and state.memory.notes[Note.IDLE] > 0:
        swapping = until_swapped_out(t, state, idle_taken(state, procs))
    if missing <= 0:
        if state.memory.notes[Note.HOLDS_URGENT]:
            lift_urgent(t, state)
        state.jobs[Job.RESERVED, job] = NOT_RESERVED
        harmless = fits(state.profile, MACHINE, t, procs, state.jobs[Job.PLAN, job])
        if harmless and state.pools[Pool.PIN_COUNT, MACHINE] > 0:
            plan = state.jobs[Job.PLAN, job]
            harmless = first_pin_in_the_way(state, MACHINE, job, procs, t, plan) == NEVER
        execute(
            t,
            state,
            job,
            Why.URGENT_BACKFILL if harmless and swapping == 0 else Why.URGENT,
            swapping,
            0,
            False,
        )
        return True
    if missing > state.memory.notes[Note.PREEMPTIBLE]:
        return False
    mode = state.memory.rules[Rule.PREEMPT]
    victims = NOT_ENOUGH
    killing = mode == KILL
    delay = swapping
    if mode != KILL:
        victims = select(state, missing, True)
        delay = max(swapping, longest_swap(state, victims))
        due = state.jobs[DbfJob.DEADLINE, job]
        if mode == DEGREE and due >= 0:
            late = delay > swapping and t + delay + state.jobs[Job.PLAN, job] > due
            killing = victims == NOT_ENOUGH or late
            if killing:
                for i in range(victims):
                    victim = state.memory.candidates[i]
                    if state.memory.rules[Rule.HOST_ROOM] >= 0 and not state.jobs[UjfbJob.GUEST, victim]:
                        load_hosts(state, victim, -1, 0)
    if killing:
        victims = select(state, missing, False)
        delay = swapping
    if victims == NOT_ENOUGH:
        return False
    execute(t, state, job, Why.URGENT_PREEMPT, delay, victims, killing)
    return True
