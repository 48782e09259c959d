"""Jobs that are suspended for others, and go on when those have ended.

A job starts on top of jobs of lower tiers in the same pass in which it is found to fit; these are suspended,
or go for good where their partition says so. Whenever a job ends it is found out anew who goes on, from the
highest tier down: those who meet nobody who does on any of their cores.

Jobs of a partition that have the same cores take turns (:mod:`headway.policies.slurm.life.turns`).
"""

from __future__ import annotations

from headway.engine.tables import Phase, State
from headway.engine.verbs import resume_on_nodes, suspend_on_nodes
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.life.ending import make_go
from headway.policies.slurm.life.turns import (
    is_below,
    keep_turns,
    nobody_goes,
    note_who_goes,
    take_turns,
)
from headway.policies.slurm.nodes.calendar import seconds_left
from headway.policies.slurm.nodes.cores import add_going, level_in, meets_going, meets_proposed
from headway.policies.slurm.nodes.ends import forget_running, note_running
from headway.policies.slurm.nodes.rows import deal_rows
from headway.policies.slurm.queue.fairshare import use
from headway.policies.slurm.queue.preemption import victim_mode
from headway.policies.slurm.tables.controller import UNSET
from headway.policies.slurm.tables.life import Standing
from headway.policies.slurm.tables.settings import Mode
from headway.units import SECOND


@routine
def put_aside(state: State, job: int, now: int, for_higher: bool) -> None:
    """Suspend a job; ``for_higher`` tiers one that may not be goes for good, or waits again."""
    memory = state.memory
    mode = victim_mode(memory, job)
    if for_higher and mode != Mode.SUSPEND and mode != Mode.OFF:
        make_go(state, job, now)
        return
    use(memory, job, now)
    suspend_on_nodes(state, job)
    memory.jobs.suspended_at[job] = now
    memory.clock.stamp = memory.clock.changed = now


@routine
def waits_for_turn(state: State, job: int, part: int, count: int) -> bool:
    """Whether somebody of its tier or a higher one runs on cores that were proposed for a job."""
    memory = state.memory
    mine = memory.partitions.level[part] + memory.jobs.row[job]
    for place in range(memory.clock.running):
        other = memory.running[1, place]
        not_lower = memory.levels.tier[level_in(memory, other)] >= memory.levels.tier[mine]
        if (
            not_lower
            and state.jobs.phase[other] == Phase.RUNNING
            and meets_proposed(state, other, count, mine)
        ):
            memory.jobs.preempted_by[job] = other
            return True
    return False


@routine
def make_room(state: State, job: int, part: int, count: int, now: int) -> None:
    """Suspend those who have cores that were proposed for a job."""
    memory, place = state.memory, 0
    mine = memory.partitions.level[part] + memory.jobs.row[job]
    while place < memory.clock.running:
        other = memory.running[1, place]
        if state.jobs.phase[other] == Phase.RUNNING and meets_proposed(state, other, count, mine):
            before = memory.clock.running
            memory.jobs.preempted_by[other] = job
            put_aside(state, other, now, True)
            memory.jobs.standing[other] = Standing.WAITS
            memory.clock.unsettled = 1
            if memory.clock.running < before:
                continue
        place += 1


@routine
def go_on(state: State, job: int, now: int) -> None:
    """Let a suspended job run on; what it has waited is added to its end."""
    memory, run = state.memory, state.jobs.run[job]
    left = state.runs.limit[run] - (state.runs.end[run] - state.runs.start[run])
    limit = min(left, seconds_left(memory, job, now) * SECOND)
    end = memory.jobs.ends[job] + now - memory.jobs.suspended_at[job]
    resume_on_nodes(state, job, limit)
    memory.jobs.suspended_at[job], memory.jobs.resumed_at[job] = UNSET, now
    forget_running(memory, job)
    memory.jobs.ends[job] = end
    note_running(memory, job, end)
    memory.clock.stamp = memory.clock.changed = now


@kernel
def find_out(state: State) -> None:
    """Note for each job that runs or is suspended whether it goes on, from the highest level down."""
    memory = state.memory
    nobody_goes(memory)
    for level in range(memory.levels.shape[1] - 1, -1, -1):
        for place in range(memory.clock.running):
            job = memory.running[1, place]
            if level_in(memory, job) == level:
                goes_on = not meets_going(state, job)
                memory.jobs.goes_on[job] = goes_on
                if goes_on:
                    add_going(state, job)


@routine
def settle(state: State, now: int) -> None:
    """Let suspended jobs go on that can, and suspend others under them."""
    memory = state.memory
    if memory.settings.slice > 0 and memory.clock.undealt > 0:
        memory.clock.undealt = 0
        deal_rows(state)
    if state.clock.suspends > 0 and memory.clock.unsettled > 0:
        memory.clock.unsettled = 0
        if memory.settings.slice > 0:
            keep_turns(state)
        else:
            find_out(state)
        let_go_on(state, now)
    if memory.settings.slice > 0 and take_turns(state, now):
        let_go_on(state, now)


@routine
def let_go_on(state: State, now: int) -> None:
    """Suspend those who were found not to go on, then resume those who do."""
    memory, place = state.memory, 0
    while place < memory.clock.running:
        job, before = memory.running[1, place], memory.clock.running
        if memory.jobs.goes_on[job] == 0 and state.jobs.phase[job] == Phase.RUNNING:
            if memory.settings.slice > 0:
                note_who_goes(state, job)
            put_aside(state, job, now, memory.settings.slice == 0 or is_below(state, job))
        if memory.clock.running == before:
            place += 1
    place = 0
    while place < memory.clock.running:
        job = memory.running[1, place]
        if memory.jobs.goes_on[job] > 0 and state.jobs.phase[job] == Phase.SUSPENDED:
            go_on(state, job, now)  # its place in the list changes
        else:
            place += 1
