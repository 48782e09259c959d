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
from headway.policies.slurm.tables.life import Arrays
from headway.policies.slurm.tables.passes import Scratch
from headway.policies.slurm.tables.reasons import Reason


@kernel
def count_search(memory: Memory, job: int, part: int) -> bool:
    """Count a job with its user, partition and association; False where one of them has had enough.

    Jobs without an association are not bounded by one.
    """
    counts, settings = memory.counts, memory.settings
    user, association = memory.jobs.user[job], memory.jobs.association[job]
    both = user * memory.partitions.shape[1] + part
    user_bound = settings.bf_max_user if settings.bf_max_assoc == 0 else 0
    if (
        0 < settings.bf_max_user_part <= counts.user_partition[both]
        or 0 < settings.bf_max_part <= counts.partition[part]
        or (association != UNSET and 0 < settings.bf_max_assoc <= counts.association[association])
        or 0 < user_bound <= counts.user[user]
    ):
        return False
    counts.user_partition[both] += 1
    counts.partition[part] += 1
    if association != UNSET:
        counts.association[association] += 1
    counts.user[user] += 1
    return True


@kernel
def lay_open(state: State, job: int, part: int) -> None:
    """The nodes on which a job might start now into the set WINDOW: those with something free, or, where that
    is known, that will do for it."""
    memory = state.memory
    sets, features = memory.words_sets, memory.jobs.features[job]
    whole = whole_nodes(memory, job, part)
    open_nodes = Scratch.IDLE if whole else Scratch.OPEN
    for word in range(sets.shape[1]):
        here = sets[Scratch.OPEN, word] & sets[open_nodes, word] & memory.words_members[part, word]
        sets[Scratch.WINDOW, word] = here & memory.words_features[features, word]
    if not whole and memory.jobs.adapted[job] == UNSET and looks_by_node(memory, job, part):
        openings = openings_for(state, job, part)
        for word in range(sets.shape[1] if openings >= 0 else 0):
            sets[Scratch.WINDOW, word] &= memory.words_open[openings, word]


@routine
def may_start(state: State, place: int, now: int) -> bool:
    """Whether the job of a record could start now beside the plans made so far; needed, not sufficient.

    It must end before a plan begins on a node, so as many nodes as it wants must be free long enough.
    """
    memory = state.memory
    job, part = memory.queue.job[place], memory.queue.partition[place]
    if job == GONE:
        return False
    if not eligible(memory, job, now):
        return waits_for_a_start(memory, job)
    if memory.jobs.sized[job] < 1 or asks_gres(memory, job) > 0:
        return True  # its search changes its priority, or the weights of nodes
    if suspends(memory) or takes_places(memory, job, part):
        return True  # others make room for it
    if memory.jobs.deadline[job] != UNSET:
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
    clock.cycles += 1
    clock.plans = clock.searched = clock.cycle_starts = 0
    clock.stamped = clock.unsure = 0
    empty(memory.words_sets, Scratch.USABLE)
    for node in range(memory.nodes.shape[1]):
        if memory.nodes.usable[node] > 0:
            put(memory.words_sets, Scratch.USABLE, node)
    for word in range(memory.words_sets.shape[1]):
        memory.words_sets[Scratch.ALLOWED, word] = ALL
    clear_table(memory, now)
    for qos in range(memory.holders.shape[1]):
        memory.holders.blocked[qos] = UNSET
    for row in range(memory.counts.shape[0]):
        for column in range(memory.counts.shape[1]):
            memory.counts[row, column] = 0


@kernel
def is_searched(memory: Memory, job: int, part: int, now: int) -> bool:
    """Whether a start is searched for a job in a partition; where one is not, the job is told why."""
    if job == GONE or not eligible(memory, job, now) or memory.partitions.up[part] == 0:
        return False
    cycle = memory.clock.cycles
    if array_is_full(memory, job, 0) or refused_before(memory, job, part, Arrays["refused_cycle"], cycle):
        return False
    if begun_elsewhere(memory, job, part):
        return False
    if standing_in(memory, job, part) == Reason.QOS_NOT_ALLOWED:
        memory.jobs.reason[job] = Reason.QOS_NOT_ALLOWED
        memory.clock.stamped = 1
        return False
    if memory.settings.limit_stops == 0 and is_limited(memory, job, part):
        return False
    if took_victims(memory, job) or not count_search(memory, job, part):
        return False
    if memory.settings.bf_licences == 0 and not licences_free(memory, job):
        memory.jobs.reason[job] = Reason.LICENCES
        refuse_array(memory, job, part, Arrays["refused_cycle"], cycle)
        return False
    return True


@kernel
def settle_array(memory: Memory, job: int, part: int, place: int) -> None:
    """After a search for a task of an array, whose plan would be at ``place``: is the next one searched?

    Not if as many plans as tasks were made, in whichever partitions.
    """
    enough = memory.clock.plans <= place or memory.plans.end[place] < 0
    if not enough:
        plans = count_array_plan(memory, job)
        enough = plans >= memory.settings.bf_max_array
        if memory.settings.array_limits_plans > 0:
            enough = enough or array_is_full(memory, job, plans)
        if memory.lists[memory.jobs.partitions[job], 1] != UNSET:
            enough = enough or plans >= tasks_in_queue(memory, job, part)
    if enough:
        refuse_array(memory, job, part, Arrays["refused_cycle"], memory.clock.cycles)


@routine
def backfill_cycle(state: State, now: int, whole: bool) -> None:
    """Go through the queue once; as far as a job may start, unless the ``whole`` queue is asked for.

    Plans behind the last job that may start keep nothing from anybody. Whether they change a time stamp is
    then not known (UNSURE).
    """
    memory = state.memory
    begin_cycle(state, now)
    if memory.settings.circles > 0:
        sort_as_slurm(memory, now)
    memory.clock.of_pass = now
    note_nodes(state)
    if memory.settings.reserve_running > 0:
        enter_running(state)
    last, plans, starts, left = memory.clock.queued - 1, -1, 0, 0
    for place in range(memory.clock.queued):
        if memory.clock.searched >= memory.settings.bf_max_test:
            break
        if not whole and (plans != memory.clock.plans or starts != memory.clock.cycle_starts):
            plans, starts = memory.clock.plans, memory.clock.cycle_starts
            while last >= place and not may_start(state, last, now):
                last -= 1
        if place > last:
            memory.clock.unsure = 1 - memory.clock.stamped
            break
        job, part = memory.queue.job[place], memory.queue.partition[place]
        if not is_searched(memory, job, part, now):
            continue
        if is_too_late(memory, job, part, now):
            cancel(state, job, Reason.DEADLINE, now)
            left += 1
            continue
        planned, started = memory.clock.plans, memory.clock.cycle_starts
        if not search(state, place, now):
            break
        if memory.jobs.array[job] != UNSET and memory.clock.cycle_starts == started:
            settle_array(memory, job, part, planned)
        if 0 < memory.settings.bf_max_start <= memory.clock.cycle_starts:
            break
    if memory.clock.cycle_starts + left > 0:
        close_gaps(memory)
