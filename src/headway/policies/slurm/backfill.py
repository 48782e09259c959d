"""One backfill cycle: every job that is looked at gets a plan on named nodes, or starts.

Nothing is kept from one cycle to the next: a plan protects a job only from those behind it in the same cycle.
"""

from __future__ import annotations

from headway.engine.tables import State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.backfilling.node_ends import looks_by_node, openings_for
from headway.policies.slurm.backfilling.plan_table import (
    clear_table,
    cut_window,
)
from headway.policies.slurm.backfilling.plans import enter_running
from headway.policies.slurm.backfilling.search import is_limited, minutes_of, note_nodes, search
from headway.policies.slurm.limits.independence import (
    array_is_full,
    begun_elsewhere,
    count_array_plan,
    eligible,
    licences_free,
    refuse_array,
    refused_before,
    tasks_in_queue,
    waits_for_a_start,
)
from headway.policies.slurm.limits.listing import sort_as_slurm
from headway.policies.slurm.limits.submission import cancel, is_too_late
from headway.policies.slurm.nodes.cores import suspends
from headway.policies.slurm.nodes.offers import asks_gres, fewest_nodes, whole_nodes
from headway.policies.slurm.queue.preemption import takes_places, took_victims
from headway.policies.slurm.queue.queue import (
    GONE,
    close_gaps,
    standing_in,
)
from headway.policies.slurm.tables.bits import (
    ALL,
    empty,
    put,
    size_of,
)
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.jobs import SlurmJob
from headway.policies.slurm.tables.life import Array
from headway.policies.slurm.tables.passes import Count, Plan, Record, Scratch, SlurmClock
from headway.policies.slurm.tables.reasons import Reason
from headway.policies.slurm.tables.settings import Setting
from headway.policies.slurm.tables.sites import Holder, Partition, SlurmNode


@kernel
def count_search(memory: Memory, job: int, part: int) -> bool:
    """Count a job with its user, partition and association; False where one of them has had enough.

    Jobs without an association are not bounded by one.
    """
    counts, settings = memory.counts, memory.settings
    user, association = memory.jobs[SlurmJob.USER, job], memory.jobs[SlurmJob.ASSOCIATION, job]
    both = user * memory.partitions.shape[1] + part
    user_bound = settings[Setting.BF_MAX_USER] if settings[Setting.BF_MAX_ASSOC] == 0 else 0
    if (
        0 < settings[Setting.BF_MAX_USER_PART] <= counts[Count.USER_PARTITION, both]
        or 0 < settings[Setting.BF_MAX_PART] <= counts[Count.PARTITION, part]
        or (
            association != UNSET
            and 0 < settings[Setting.BF_MAX_ASSOC] <= counts[Count.ASSOCIATION, association]
        )
        or 0 < user_bound <= counts[Count.USER, user]
    ):
        return False
    counts[Count.USER_PARTITION, both] += 1
    counts[Count.PARTITION, part] += 1
    if association != UNSET:
        counts[Count.ASSOCIATION, association] += 1
    counts[Count.USER, user] += 1
    return True


@kernel
def lay_open(state: State, job: int, part: int) -> None:
    """The nodes on which a job might start now into the set WINDOW: those with something free, or, where that
    is known, that will do for it."""
    memory = state.memory
    sets, features = memory.words_sets, memory.jobs[SlurmJob.FEATURES, job]
    whole = whole_nodes(memory, job, part)
    open_nodes = Scratch.IDLE if whole else Scratch.OPEN
    for word in range(sets.shape[1]):
        here = sets[Scratch.OPEN, word] & sets[open_nodes, word] & memory.words_members[part, word]
        sets[Scratch.WINDOW, word] = here & memory.words_features[features, word]
    if not whole and memory.jobs[SlurmJob.ADAPTED, job] == UNSET and looks_by_node(memory, job, part):
        openings = openings_for(state, job, part)
        for word in range(sets.shape[1] if openings >= 0 else 0):
            sets[Scratch.WINDOW, word] &= memory.words_open[openings, word]


@routine
def may_start(state: State, place: int, now: int) -> bool:
    """Whether the job of a record could start now beside the plans made so far; needed, not sufficient.

    It must end before a plan begins on a node, so as many nodes as it wants must be free long enough.
    """
    memory = state.memory
    job, part = memory.queue[Record.JOB, place], memory.queue[Record.PARTITION, place]
    if job == GONE:
        return False
    if not eligible(memory, job, now):
        return waits_for_a_start(memory, job)
    if memory.jobs[SlurmJob.SIZED, job] < 1 or asks_gres(memory, job) > 0:
        return True  # its search changes its priority, or the weights of nodes
    if suspends(memory) or takes_places(memory, job, part):
        return True  # others make room for it
    if memory.jobs[SlurmJob.DEADLINE, job] != UNSET:
        return True  # it may have to be cancelled
    least, (minutes, _) = fewest_nodes(memory, job, part), minutes_of(memory, job, part, now)
    lay_open(state, job, part)
    if size_of(memory.words_sets, Scratch.WINDOW) < least:
        return False
    cut_window(memory, 0, now + 60 * minutes)
    return size_of(memory.words_sets, Scratch.WINDOW) >= least


@kernel
def begin_cycle(state: State, now: int) -> None:
    """Forget the last cycle."""
    memory = state.memory
    clock = memory.clock
    clock[SlurmClock.CYCLES] += 1
    clock[SlurmClock.PLANS] = clock[SlurmClock.SEARCHED] = clock[SlurmClock.CYCLE_STARTS] = 0
    clock[SlurmClock.STAMPED] = clock[SlurmClock.UNSURE] = 0
    empty(memory.words_sets, Scratch.USABLE)
    for node in range(memory.nodes.shape[1]):
        if memory.nodes[SlurmNode.USABLE, node] > 0:
            put(memory.words_sets, Scratch.USABLE, node)
    for word in range(memory.words_sets.shape[1]):
        memory.words_sets[Scratch.ALLOWED, word] = ALL
    clear_table(memory, now)
    for qos in range(memory.holders.shape[1]):
        memory.holders[Holder.BLOCKED, qos] = UNSET
    for row in range(memory.counts.shape[0]):
        for column in range(memory.counts.shape[1]):
            memory.counts[row, column] = 0


@kernel
def is_searched(memory: Memory, job: int, part: int, now: int) -> bool:
    """Whether a start is searched for a job in a partition; where one is not, the job is told why."""
    if job == GONE or not eligible(memory, job, now) or memory.partitions[Partition.UP, part] == 0:
        return False
    cycle = memory.clock[SlurmClock.CYCLES]
    if array_is_full(memory, job, 0) or refused_before(memory, job, part, Array.REFUSED_CYCLE, cycle):
        return False
    if begun_elsewhere(memory, job, part):
        return False
    if standing_in(memory, job, part) == Reason.QOS_NOT_ALLOWED:
        memory.jobs[SlurmJob.REASON, job] = Reason.QOS_NOT_ALLOWED
        memory.clock[SlurmClock.STAMPED] = 1
        return False
    if memory.settings[Setting.LIMIT_STOPS] == 0 and is_limited(memory, job, part):
        return False
    if took_victims(memory, job) or not count_search(memory, job, part):
        return False
    if memory.settings[Setting.BF_LICENCES] == 0 and not licences_free(memory, job):
        memory.jobs[SlurmJob.REASON, job] = Reason.LICENCES
        refuse_array(memory, job, part, Array.REFUSED_CYCLE, cycle)
        return False
    return True


@kernel
def settle_array(memory: Memory, job: int, part: int, place: int) -> None:
    """After a search for a task of an array, whose plan would be at ``place``: is the next one searched?

    Not if as many plans as tasks were made, in whichever partitions.
    """
    enough = memory.clock[SlurmClock.PLANS] <= place or memory.plans[Plan.END, place] < 0
    if not enough:
        plans = count_array_plan(memory, job)
        enough = plans >= memory.settings[Setting.BF_MAX_ARRAY]
        if memory.settings[Setting.ARRAY_LIMITS_PLANS] > 0:
            enough = enough or array_is_full(memory, job, plans)
        if memory.lists[memory.jobs[SlurmJob.PARTITIONS, job], 1] != UNSET:
            enough = enough or plans >= tasks_in_queue(memory, job, part)
    if enough:
        refuse_array(memory, job, part, Array.REFUSED_CYCLE, memory.clock[SlurmClock.CYCLES])


@routine
def backfill_cycle(state: State, now: int, whole: bool) -> None:
    """Go through the queue once; as far as a job may start, unless the ``whole`` queue is asked for.

    Plans behind the last job that may start keep nothing from anybody. Whether they change a time stamp is
    then not known (UNSURE).
    """
    memory = state.memory
    begin_cycle(state, now)
    if memory.settings[Setting.CIRCLES] > 0:
        sort_as_slurm(memory, now)
    memory.clock[SlurmClock.OF_PASS] = now
    note_nodes(state)
    if memory.settings[Setting.RESERVE_RUNNING] > 0:
        enter_running(state)
    last, plans, starts, left = memory.clock[SlurmClock.QUEUED] - 1, -1, 0, 0
    for place in range(memory.clock[SlurmClock.QUEUED]):
        if memory.clock[SlurmClock.SEARCHED] >= memory.settings[Setting.BF_MAX_TEST]:
            break
        if not whole and (
            plans != memory.clock[SlurmClock.PLANS] or starts != memory.clock[SlurmClock.CYCLE_STARTS]
        ):
            plans, starts = memory.clock[SlurmClock.PLANS], memory.clock[SlurmClock.CYCLE_STARTS]
            while last >= place and not may_start(state, last, now):
                last -= 1
        if place > last:
            memory.clock[SlurmClock.UNSURE] = 1 - memory.clock[SlurmClock.STAMPED]
            break
        job, part = memory.queue[Record.JOB, place], memory.queue[Record.PARTITION, place]
        if not is_searched(memory, job, part, now):
            continue
        if is_too_late(memory, job, part, now):
            cancel(state, job, Reason.DEADLINE, now)
            left += 1
            continue
        planned, started = memory.clock[SlurmClock.PLANS], memory.clock[SlurmClock.CYCLE_STARTS]
        if not search(state, place, now):
            break
        if memory.jobs[SlurmJob.ARRAY, job] != UNSET and memory.clock[SlurmClock.CYCLE_STARTS] == started:
            settle_array(memory, job, part, planned)
        if 0 < memory.settings[Setting.BF_MAX_START] <= memory.clock[SlurmClock.CYCLE_STARTS]:
            break
    if memory.clock[SlurmClock.CYCLE_STARTS] + left > 0:
        close_gaps(memory)
