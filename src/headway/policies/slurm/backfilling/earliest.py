"""The search for the earliest start of a job, over the ends of running jobs in groups that widen with time.

The bounds of the groups double from the first end: 30, 60, 120 s and so on. A start is the end of the LAST
job of the group that makes room, though an earlier member might have been enough; far in the future groups
are hours wide, so the plans of large jobs lie later than they need to.
"""

from __future__ import annotations

from headway.engine.tables import Job, State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.backfilling.node_ends import NOW, enough_open, lay_trial
from headway.policies.slurm.backfilling.whole import enough_over, over_by, select_whole
from headway.policies.slurm.nodes.cores import suspends
from headway.policies.slurm.nodes.ends import (
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
from headway.policies.slurm.nodes.offers import asks_gres, lighten, takes_any_node, whole_nodes
from headway.policies.slurm.nodes.rows import deal_trial
from headway.policies.slurm.nodes.selection import select, select_in
from headway.policies.slurm.queue.preemption import takes_places
from headway.policies.slurm.tables.bits import meet
from headway.policies.slurm.tables.controller import Memory
from headway.policies.slurm.tables.jobs import SlurmJob
from headway.policies.slurm.tables.passes import Scratch, SlurmClock
from headway.policies.slurm.tables.settings import Preemption, Setting
from headway.policies.slurm.tables.sites import Partition

TRIED = -2
"""In place of what was passed over: nothing was."""
ONE_BY_ONE = -1
"""Whatever a job is: every end is imagined, and every group tried."""
BY_COUNT = -2
"""It is enough to count nodes, for a job on whole ones that are alike
(:mod:`~headway.policies.slurm.backfilling.whole`).

For others a row of openings tells when each node will do
(:mod:`~headway.policies.slurm.backfilling.node_ends`)."""


@routine
def widened(memory: Memory, width: int, anchor: int, place: int) -> int:
    """The width of the next group: it reaches at least to the job at ``place``."""
    linear = memory.settings[Setting.BF_WINDOW_LINEAR]
    while True:
        width = width + linear if linear > 0 else 2 * width
        if place == memory.clock[SlurmClock.RUNNING] or memory.running[0, place] <= anchor + width:
            return width


@kernel
def first_bound(end: int) -> int:
    """What the groups are counted from, where the first job ends at ``end``."""
    return end + 30 - end % 30


@kernel
def select_later(state: State, candidates: int, job: int, part: int, rows: int) -> int:
    """Choose nodes for a job of a set on what the trial table has free, in one of the rows of its partition
    that a job may use (``rows``: which of its two numbers of them)."""
    memory = state.memory
    if memory.settings[Setting.SLICE] > 0:
        deal_trial(state)
    return select_in(state, memory.trial, candidates, job, part, memory.partitions[rows, part])


@kernel
def select_ahead(state: State, candidates: int, job: int, part: int, rows: int) -> int:
    """The same after the end of other jobs: nodes in use may come first then."""
    state.memory.clock[SlurmClock.LOOKS_AHEAD] = 1
    found = select_later(state, candidates, job, part, rows)
    state.memory.clock[SlurmClock.LOOKS_AHEAD] = 0
    return found


@routine
def earliest_tried(state: State, job: int, part: int, now: int, only_now: bool) -> int:
    """:func:`earliest` by imagining one end after the other, and trying after every group."""
    memory, least = state.memory, state.memory.jobs[SlurmJob.MIN_NODES, job]
    idle = FREE_ENOUGH
    if whole_nodes(memory, job, part) and not suspends(memory):
        idle = idle_in_window(state)
    if idle >= least and select(state, state.nodes, Scratch.WINDOW, job, part) > 0:
        return now
    preempts, rows = takes_places(memory, job, part), Partition.ROWS
    if only_now and not preempts:
        return NEVER
    copy_nodes(state)
    if preempts:
        more, aside = imagine_preempted(state, job, part, now)
        idle += more
        if aside and memory.settings[Setting.PREEMPTION] == Preemption.BY_QOS:
            rows = Partition.ROWS_PREEMPTING
        if select_later(state, Scratch.WINDOW, job, part, rows) > 0:
            return now
        if only_now:
            return NEVER
    running, count = memory.running, memory.clock[SlurmClock.RUNNING]
    width, anchor, place = 30, 0, next_staying(state, job, part, now, 0)
    linear = memory.settings[Setting.LINEAR] > 0
    while place < count:
        last, taken, many = -1, 0, False
        while place < count:
            this, end = place, running[0, place]
            place = next_staying(state, job, part, now, place + 1)
            if not touches(state, state.jobs[Job.RUN, running[1, this]]):
                continue
            if anchor == 0:
                anchor = first_bound(end)
            last = this
            idle += imagine_ended(state, state.jobs[Job.RUN, running[1, this]])
            if place == count or linear or running[0, place] > anchor + width:
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
        if idle >= least and select_ahead(state, Scratch.WINDOW, job, part, rows) > 0:
            return start_after(memory, last, now)
    return NEVER


@kernel
def frees(state: State, place: int, openings: int) -> bool:
    """Whether the running job at a place of the list has a node among those free of plans."""
    memory = state.memory
    if openings == BY_COUNT:
        return meet(memory.words_held, place, memory.words_sets, Scratch.WINDOW)
    return touches(state, state.jobs[Job.RUN, memory.running[1, place]])


@routine
def next_freeing(state: State, place: int, openings: int) -> int:
    """The first running job from a place on that has a node among those free of plans; behind all if none."""
    count = state.memory.clock[SlurmClock.RUNNING]
    while place < count and not frees(state, place, openings):
        place += 1
    return place


@routine
def group_from(state: State, place: int, bound: int, openings: int) -> tuple[int, int, bool]:
    """The group from a place on up to ``bound``: its last job, what comes behind it, whether it is given up.

    Only a job with a node free of plans ends a group, the first such one behind which a later end comes.
    Under select/linear each is a group of its own.
    """
    memory = state.memory
    if memory.settings[Setting.LINEAR] > 0:
        last = next_freeing(state, place, openings)
        return last if last < memory.clock[SlurmClock.RUNNING] else -1, last + 1, False
    count, within = memory.clock[SlurmClock.RUNNING], max(over_by(memory, bound), place)
    last = next_freeing(state, within, openings)
    if last - place > MANY:
        taken = 0
        for this in range(place, last):
            taken += frees(state, this, openings)
            if taken > MANY:
                return this, this + 1, True
    if last < count:
        return last, last + 1, False
    last = within - 1
    while last >= place and not frees(state, last, openings):
        last -= 1
    return last if last >= place else -1, count, False


@kernel
def select_known(state: State, place: int, job: int, part: int, openings: int) -> int:
    """Choose nodes for a job of the set WINDOW as they are after the end at a place, or NOW."""
    memory = state.memory
    if openings == BY_COUNT:
        if place == NOW:
            return select_whole(state, memory.words_sets, Scratch.IDLE, job, part)
        return select_whole(state, memory.words_over, place, job, part)
    if place == NOW:
        return select(state, state.nodes, Scratch.WINDOW, job, part)
    only_open = whole_nodes(memory, job, part) or takes_any_node(memory, job, part)
    lay_trial(state, openings, place, only_open and asks_gres(memory, job) == 0)
    return select_ahead(state, Scratch.CANDIDATES, job, part, Partition.ROWS)


@kernel
def weigh_untried(state: State, place: int, job: int, part: int, openings: int) -> None:
    """Change the weights of nodes as a try after the end at a place would, or NOW, and all before it."""
    if asks_gres(state.memory, job) == 0 or place == TRIED:
        return
    if place == NOW:
        lighten(state, state.nodes, Scratch.WINDOW, job, part, True)
    else:
        lay_trial(state, openings, place, False)
        lighten(state, state.memory.trial, Scratch.CANDIDATES, job, part, True)


@routine
def earliest_known(state: State, job: int, part: int, now: int, only_now: bool, openings: int) -> int:
    """:func:`earliest` where it is known from which end on enough nodes will do: it is tried only then.

    A try changes the weights of nodes for a job with generic resources, a later one those of more nodes. So
    what was ``passed`` over matters only where no try comes after it.
    """
    memory, least = state.memory, state.memory.jobs[SlurmJob.MIN_NODES, job]
    running, count = memory.running, memory.clock[SlurmClock.RUNNING]
    if openings == BY_COUNT:
        enough = enough_over(memory, Scratch.WINDOW, least)
    else:
        enough = enough_open(memory, openings, least)
    passed = NOW
    if enough == NOW:
        passed = TRIED
        if select_known(state, NOW, job, part, openings) > 0:
            return now
    place = count if only_now else next_freeing(state, 0, openings)
    width, anchor = 30, first_bound(running[0, place]) if place < count else 0
    while place < count:
        last, place, many = group_from(state, place, anchor + width, openings)
        if last < 0:
            break
        if many:
            continue
        width, passed = widened(memory, width, anchor, place), place - 1
        if place > enough:
            passed = TRIED
            if select_known(state, place - 1, job, part, openings) > 0:
                return start_after(memory, last, now)
    weigh_untried(state, passed, job, part, openings)
    return NEVER


@routine
def earliest(state: State, job: int, part: int, now: int, only_now: bool, openings: int) -> int:
    """When a job could start on the set WINDOW; -1 where it never could.

    Its nodes are in the row TAKEN; in the set TAKEN where it is enough to count nodes.
    """
    if openings == ONE_BY_ONE:
        return earliest_tried(state, job, part, now, only_now)
    return earliest_known(state, job, part, now, only_now, openings)
