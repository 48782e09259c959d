"""The search for the earliest start of a job, over the ends of running jobs in groups that widen with time.

The bounds of the groups double from the first end: 30, 60, 120 s and so on. A start is the end of the LAST
job of the group that makes room, though an earlier member might have been enough; far in the future groups
are hours wide, so the plans of large jobs lie later than they need to.
"""

from __future__ import annotations

from headway.engine.tables import Job, State
from headway.jit import kernel, routine
from headway.policies.slurm.bits import meet
from headway.policies.slurm.cores import suspends
from headway.policies.slurm.ends import (
    FREE_ENOUGH,
    MANY,
    NEVER,
    copy_nodes,
    idle_in_window,
    imagine_ended,
    imagine_preempted,
    next_staying,
    start_after,
    touches,
)
from headway.policies.slurm.offers import whole_nodes
from headway.policies.slurm.rows import deal_trial
from headway.policies.slurm.selection import select, select_in
from headway.policies.slurm.settings import Preemption, Setting
from headway.policies.slurm.tables import Memory, Partition, Scratch, SlurmClock, SlurmJob
from headway.policies.slurm.whole import idle_after, select_whole


@kernel
def idle_now(state: State, job: int, part: int, by_count: bool) -> int:
    """Nodes of WINDOW on which nothing runs; more than any job wants where it shares them."""
    memory = state.memory
    if by_count:
        return idle_after(memory, -1)
    if whole_nodes(memory, job, part) and not suspends(memory):
        return idle_in_window(state)
    return FREE_ENOUGH


@kernel
def frees(state: State, place: int, by_count: bool) -> bool:
    """Whether the running job at a place of the list has a node among those free of plans."""
    memory = state.memory
    if by_count:
        return meet(memory.words_held, place, memory.words_sets, Scratch.WINDOW)
    return touches(state, state.jobs[Job.RUN, memory.running[1, place]])


@routine
def widened(memory: Memory, width: int, anchor: int, place: int) -> int:
    """The width of the next group: it reaches at least to the job at ``place``."""
    linear = memory.settings[Setting.BF_WINDOW_LINEAR]
    while True:
        width = width + linear if linear > 0 else 2 * width
        if place == memory.clock[SlurmClock.RUNNING] or memory.running[0, place] <= anchor + width:
            return width


@kernel
def select_later(state: State, job: int, part: int, rows: int) -> int:
    """Choose nodes for a job of the set WINDOW on what the trial table has free, in one of the rows of its
    partition that a job may use (``rows``: which of its two numbers of them)."""
    memory = state.memory
    if memory.settings[Setting.SLICE] > 0:
        deal_trial(state)
    return select_in(state, memory.trial, Scratch.WINDOW, job, part, memory.partitions[rows, part])


@routine
def earliest(state: State, job: int, part: int, now: int, only_now: bool, by_count: bool) -> int:
    """When a job could start on the set WINDOW; -1 where it never could.

    Its nodes are in the row TAKEN; in the set TAKEN where it is enough to count nodes (``by_count``).
    """
    memory, least = state.memory, state.memory.jobs[SlurmJob.MIN_NODES, job]
    idle = idle_now(state, job, part, by_count)
    if idle >= least:
        if by_count:
            found = select_whole(state, memory.words_sets, Scratch.IDLE, job, part)
        else:
            found = select(state, state.nodes, Scratch.WINDOW, job, part)
        if found > 0:
            return now
    preempts, rows = memory.settings[Setting.PREEMPTION] != Preemption.OFF, Partition.ROWS
    if only_now and not preempts:
        return NEVER
    if not by_count:
        copy_nodes(state)
    if preempts:
        more, aside = imagine_preempted(state, job, part, now)
        idle += more
        if aside and memory.settings[Setting.PREEMPTION] == Preemption.BY_QOS:
            rows = Partition.ROWS_PREEMPTING
        if select_later(state, job, part, rows) > 0:
            return now
        if only_now:
            return NEVER
    running, count = memory.running, memory.clock[SlurmClock.RUNNING]
    width, anchor, place = 30, 0, next_staying(state, job, part, now, 0)
    while place < count:
        last, taken, many = -1, 0, False
        while place < count:
            this, end = place, running[0, place]
            place = next_staying(state, job, part, now, place + 1)
            if not frees(state, this, by_count):
                continue
            if anchor == 0:
                anchor = end + 30 - end % 30
            last = this
            if not by_count:
                idle += imagine_ended(state, state.jobs[Job.RUN, running[1, this]])
            if place == count or running[0, place] > anchor + width:
                break
            taken += 1
            if taken > MANY:
                many = True
                break
        if last < 0:
            return NEVER
        if many:
            continue
        width = widened(memory, width, anchor, place)
        if by_count:
            idle = idle_after(memory, place - 1)
        if idle >= least:
            if by_count:
                found = select_whole(state, memory.words_over, place - 1, job, part)
            else:
                memory.clock[SlurmClock.LOOKS_AHEAD] = 1
                found = select_later(state, job, part, rows)
                memory.clock[SlurmClock.LOOKS_AHEAD] = 0
            if found > 0:
                return start_after(memory, last, now)
    return NEVER
