"""How an urgent job gets its processors: Algorithm 1 of UJFB, preemption included.

Processors without a user come first, those of suspended jobs among them; then regular jobs are stopped: put
aside, so that they keep their processors and go on there later, or killed and sent back to the queue.
"""

from __future__ import annotations

from headway.engine.holes import fits
from headway.engine.queue import enter
from headway.engine.reservations import NOT_RESERVED, first_pin_in_the_way
from headway.engine.tables import Ended, State, Why
from headway.engine.verbs import kill, start_late, suspend
from headway.jit.kernels import kernel, routine
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
    Processors,
    UjfbJobs,
)
from headway.policies.urgent.victims import NOT_ENOUGH, longest_swap, select, until_swapped_out
from headway.units import NEVER


@routine
def expect_back(t: int, state: State, plan_too: bool) -> None:
    """Hold the processors of each suspended job until it will have ended, as far as can be known now.

    It comes back when the last user of its processors has ended, is swapped in, and has the rest of its
    walltime.
    """
    jobs = UjfbJobs(state.jobs)
    for i in range(state.memory.notes.aside):
        job = state.memory.suspended[i]
        back = t
        p = jobs.first_processor[job]
        while p != NO_PROCESSOR:
            user = state.memory.processors.user[p]
            if user != NO_JOB:
                back = max(back, jobs.held_until[user])
            p = state.memory.processors.next_owned[p]
        end = back + jobs.swap_back[job] + jobs.wall[job] - jobs.kept[job]
        if end != jobs.held_until[job]:
            hold(t, state, jobs.held_until[job], -jobs.procs[job], plan_too)
            hold(t, state, end, jobs.procs[job], plan_too)
            jobs.held_until[job] = end


@kernel
def put_aside(t: int, state: State, job: int) -> None:
    """Suspend a victim: its processors stay its own."""
    jobs = UjfbJobs(state.jobs)
    suspend(state, job)
    i = state.memory.notes.aside
    state.memory.suspended[i] = job
    jobs.aside_place[job] = i
    state.memory.notes.aside = i + 1
    jobs.swapped_out[job] = t + jobs.swap[job]
    state.memory.notes.idle += jobs.procs[job]


@kernel
def send_back(t: int, state: State, job: int) -> None:
    """Kill a victim: it waits again, where it stood when it arrived, or behind all others."""
    jobs = UjfbJobs(state.jobs)
    kill(state, job, Ended.BY_PREEMPTION)
    if jobs.guest[job]:
        give_back(state, job)
        jobs.guest[job] = 0
    else:
        hold(t, state, jobs.held_until[job], -jobs.procs[job], True)
        disown(state, job)
    jobs.in_record[job] = 0
    if state.memory.rules.to_the_end:
        # Those that wait have smaller keys, those that come later have this one, and larger numbers.
        state.memory.notes.requeued += 1
        jobs.key[job] = REGULAR_KEY + state.memory.notes.requeued
    enter(state, Q, job, jobs.key[job])
    state.memory.notes.lost += 1


@routine
def execute(t: int, state: State, job: int, why: int, delay: int, victims: int, killing: bool) -> None:
    """Give an urgent job its processors: free ones, then idle ones of suspended jobs, then the victims'."""
    jobs = UjfbJobs(state.jobs)
    procs = jobs.procs[job]
    idle = idle_taken(state, procs)
    free = min(procs - idle, state.memory.notes.unowned)
    last = take_free(state, job, Processors["user"], Processors["next_used"], NO_PROCESSOR, free)
    last = borrow_idle(state, job, last, idle)
    for i in range(victims):
        victim = state.memory.candidates[i]
        if not jobs.in_record[victim]:
            record_processors(state, victim, jobs.run[victim])
        by = -1 if state.memory.rules.swaps_whole else state.clock.runs
        record_stop(state, jobs.run[victim], by, jobs.swap[victim])
        state.memory.notes.preemptible -= jobs.procs[victim]
        jobs.stopped_by[victim] = job
        jobs.stopped_times[victim] += 1
        if killing or jobs.guest[victim]:
            send_back(t, state, victim)
        else:
            put_aside(t, state, victim)
    rest = procs - free - idle
    if rest > 0:
        lost = min(rest, state.memory.notes.unowned)
        last = take_free(state, job, Processors["user"], Processors["next_used"], last, lost)
        borrow_idle(state, job, last, rest - lost)
        free += lost
    if victims > 0:
        state.memory.notes.preempting += 1
        state.memory.notes.stopped += victims
    start_late(state, job, MACHINE, why, delay, delay + jobs.wall[job])
    record_processors(state, job, jobs.run[job])
    jobs.own_alone[job] = free
    jobs.delay[job] = delay
    jobs.preempted_for[job] = victims
    end = t + delay + jobs.plan[job]
    jobs.held_until[job] = end
    state.memory.notes.next_overrun = min(state.memory.notes.next_overrun, end)
    state.memory.notes.came = job
    hold(t, state, end, free, True)
    if state.memory.notes.aside > 0:
        expect_back(t, state, True)
    state.memory.notes.changed = 1


@kernel
def idle_taken(state: State, procs: int) -> int:
    """How many idle processors of suspended jobs an urgent job takes before anybody is stopped for it."""
    if not state.memory.rules.idle_first:
        procs = max(procs - state.memory.notes.unowned, 0)
    return int(min(procs, state.memory.notes.idle))


@routine
def try_urgent(t: int, state: State, job: int) -> bool:
    """Algorithm 1 for an urgent job: execute it, or preempt and execute, or answer no."""
    jobs = UjfbJobs(state.jobs)
    procs = jobs.procs[job]
    missing = procs - state.memory.notes.unowned - state.memory.notes.idle
    swapping = 0
    if state.memory.rules.swaps_whole and state.memory.notes.idle > 0:
        swapping = until_swapped_out(t, state, idle_taken(state, procs))
    if missing <= 0:
        if state.memory.notes.holds_urgent:
            lift_urgent(t, state)
        jobs.reserved[job] = NOT_RESERVED
        harmless = fits(state.profile, MACHINE, t, procs, jobs.plan[job])
        if harmless and state.pools.pin_count[MACHINE] > 0:
            plan = jobs.plan[job]
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
    if missing > state.memory.notes.preemptible:
        return False
    mode = state.memory.rules.preempt
    victims = NOT_ENOUGH
    killing = mode == KILL
    delay = swapping
    if mode != KILL:
        victims = select(state, missing, True)
        delay = max(swapping, longest_swap(state, victims))
        due = jobs.deadline[job]
        if mode == DEGREE and due >= 0:
            late = delay > swapping and t + delay + jobs.plan[job] > due
            killing = victims == NOT_ENOUGH or late
            if killing:
                for i in range(victims):
                    victim = state.memory.candidates[i]
                    if state.memory.rules.host_room >= 0 and not jobs.guest[victim]:
                        load_hosts(state, victim, -1, 0)
    if killing:
        victims = select(state, missing, False)
        delay = swapping
    if victims == NOT_ENOUGH:
        return False
    execute(t, state, job, Why.URGENT_PREEMPT, delay, victims, killing)
    return True
