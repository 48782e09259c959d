"""The main loop: jobs by priority, and a partition stops at its first job that does not fit."""

from __future__ import annotations

from headway.engine.tables import State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.life.starting import BUSY, LIMITED, MAIN, STARTED, try_start
from headway.policies.slurm.limits.independence import (
    array_is_full,
    eligible,
    licences_free,
    refuse_array,
    refused_before,
)
from headway.policies.slurm.limits.limits import before_selection, hold_by_limit, is_of_limit
from headway.policies.slurm.limits.listing import sort_as_slurm
from headway.policies.slurm.limits.submission import by_deadline, cancel, is_hopeless, is_too_late
from headway.policies.slurm.queue.preemption import took_victims
from headway.policies.slurm.queue.queue import (
    GONE,
    adapt,
    close_gaps,
    holds_back,
    minutes_in,
    standing_in,
    waives,
)
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.life import Arrays
from headway.policies.slurm.tables.passes import Scratch
from headway.policies.slurm.tables.reasons import Reason
from headway.policies.slurm.tables.settings import Waiver

TOO_FEW = 4
"""A job for which the pass has too few nodes left in its partition."""
CANCELLED = 5
"""A job whose deadline cannot be met any more."""
NO_LICENCE = 7
"""A job that lacks a licence: it holds up nobody, or, where backfill plans licences, all behind it."""
NOT_ALLOWED = 6
"""A job whose QOS or account may not use the partition: it holds up nobody."""
KNOWN = 8
"""A job that is known to wait for a limit, or for nodes that it names: not tried, it holds up nobody."""


@kernel
def begin_pass(memory: Memory) -> None:
    """All usable nodes are available, no partition has failed."""
    for node in range(memory.nodes.shape[1]):
        memory.sets[Scratch.AVAILABLE, node] = memory.nodes.usable[node] > 0
    for part in range(memory.partitions.shape[1]):
        memory.partitions.failed[part] = memory.partitions.tested[part] = 0
    memory.clock.passes += 1


@kernel
def fail_partition(memory: Memory, part: int) -> None:
    """No more jobs of this partition in this pass, and none of others on its nodes."""
    memory.partitions.failed[part] = 1
    for node in range(memory.nodes.shape[1]):
        if memory.members[part, node] > 0:
            memory.sets[Scratch.AVAILABLE, node] = 0


@kernel
def available_nodes(memory: Memory, part: int) -> int:
    """How many nodes of a partition the pass may still use."""
    count = 0
    for node in range(memory.nodes.shape[1]):
        count += memory.members[part, node] & memory.sets[Scratch.AVAILABLE, node]
    return count


@kernel
def lose_nodes(memory: Memory, row: int) -> None:
    """Nobody else gets the required nodes of a job that waits for them."""
    for node in range(memory.nodes.shape[1]):
        memory.sets[Scratch.AVAILABLE, node] &= 1 - memory.required[row, node]


@kernel
def names_all(memory: Memory, job: int) -> bool:
    """Whether a job requires by name as many nodes as it wants."""
    row, count = memory.jobs.required[job], 0
    for node in range(memory.nodes.shape[1]):
        count += memory.required[row, node]
    return row > 0 and count >= memory.jobs.min_nodes[job]


@kernel
def misses_named(memory: Memory, job: int) -> bool:
    """Whether nodes that a job requires are not available, as was found out before or since they are down."""
    row, known = memory.jobs.required[job], memory.jobs.reason[job] == Reason.NODES_AWAY
    for node in range(memory.nodes.shape[1] if row > 0 else 0):
        lacks = memory.required[row, node] > memory.sets[Scratch.AVAILABLE, node]
        if lacks and (known or memory.nodes.usable[node] <= 0):
            return True
    return False


@routine
def hold_up(memory: Memory, place: int, now: int, stops: bool) -> None:
    """What a job that was not started keeps from the others: the nodes that it names, or, where it ``stops``
    them, its reservation or its partition."""
    job, part = memory.queue.job[place], memory.queue.partition[place]
    mine = memory.jobs.reservation[job]
    if names_all(memory, job):
        lose_nodes(memory, memory.jobs.required[job])
    elif stops and mine != UNSET:
        memory.reservations.failed[mine] = memory.clock.passes
    elif stops and holds_back(memory, place, now):
        fail_partition(memory, part)


@kernel
def is_open(memory: Memory, job: int, part: int) -> bool:
    """Whether the main loop may start a job in a partition: it is up, and its limit allows the job's."""
    if memory.partitions.up[part] == 0:
        memory.jobs.reason[job] = Reason.PARTITION_DOWN
        return False
    longest = memory.partitions.max_minutes[part]
    if longest != UNSET and memory.jobs.limit[job] > longest and not waives(memory, job, Waiver.TIME):
        memory.jobs.reason[job] = Reason.PARTITION_TIME_LIMIT
        return False
    return True


@routine
def main_pass(state: State, now: int, full: bool) -> bool:
    """One pass over the queue; whether it changed the jobs' time stamp.

    A job that is met in a partition that has failed does, or one for which too few nodes are left; the first
    one that finds its nodes busy does not.
    """
    memory = state.memory
    begin_pass(memory)
    if memory.settings.circles > 0:
        sort_as_slurm(memory, now)
    memory.clock.of_pass = now
    tested = starts = left = 0
    number, stamped = memory.clock.passes, False
    for place in range(memory.clock.queued):
        job, part = memory.queue.job[place], memory.queue.partition[place]
        if job == GONE:
            continue
        if not eligible(memory, job, now):
            if is_hopeless(memory, job):
                cancel(state, job, Reason.NEVER_SATISFIED, now)
                left += 1
            continue
        if not is_open(memory, job, part) or took_victims(memory, job):
            continue
        if 0 < memory.settings.max_starts <= starts:
            break
        if refused_before(memory, job, part, Arrays["refused_pass"], number):
            continue
        if array_is_full(memory, job, 0):
            memory.jobs.reason[job] = Reason.ARRAY_LIMIT
            continue
        memory.partitions.tested[part] += 1
        if 0 < memory.settings.partition_depth < memory.partitions.tested[part]:
            refuse_array(memory, job, part, Arrays["refused_pass"], number)
            continue
        if not full and tested > memory.settings.queue_depth:
            break
        tested += 1
        mine = memory.jobs.reservation[job]
        if mine != UNSET:
            if memory.reservations.failed[mine] == number:
                continue
        elif memory.partitions.failed[part] > 0:
            memory.jobs.reason[job] = Reason.PRIORITY
            refuse_array(memory, job, part, Arrays["refused_pass"], number)
            stamped = True
            continue
        outcome = test(state, place, now)
        if outcome == NO_LICENCE and memory.settings.bf_licences > 0:
            stamped = True
            break
        if outcome == STARTED:
            starts += 1
            continue
        if outcome == CANCELLED:
            left += 1
            continue
        refuse_array(memory, job, part, Arrays["refused_pass"], number)
        if outcome in (TOO_FEW, NOT_ALLOWED):
            stamped = True
        if outcome == TOO_FEW:
            fail_partition(memory, part)
        elif outcome not in (KNOWN, NO_LICENCE):
            limit_stops = outcome == LIMITED and memory.settings.limit_stops > 0
            hold_up(memory, place, now, outcome == BUSY or limit_stops)
    if starts + left > 0:
        close_gaps(memory)
    return stamped


@kernel
def larger_partition(memory: Memory, size: int) -> int:
    """How many nodes the smallest partition with more than ``size`` has; -1: none has."""
    found = UNSET
    for part in range(memory.partitions.shape[1]):
        nodes = memory.partitions.nodes[part]
        if nodes > size and (found == UNSET or nodes < found):
            found = nodes
    return int(found)


@routine
def start_who_ran(state: State, first: int, now: int) -> None:
    """Start those of the records from ``first`` on that ran before the simulation began.

    Where the log tells on which nodes a job ran, it has these. Others find theirs in the order of the
    records, those in small partitions before those in large ones, which have more to choose from.
    """
    memory = state.memory
    begin_pass(memory)
    size = larger_partition(memory, 0)
    while size != UNSET:
        for place in range(first, memory.clock.queued):
            job, part = memory.queue.job[place], memory.queue.partition[place]
            here = job != GONE and memory.partitions.nodes[part] == size
            if here and memory.jobs.ran[job] > 0:
                adapt(memory, place)
                try_start(state, Scratch.AVAILABLE, job, part, now, MAIN, minutes_in(memory, job, part))
        size = larger_partition(memory, size)
    close_gaps(memory)


@routine
def test(state: State, place: int, now: int) -> int:
    """Start the job of a record if it can be: STARTED, or why not."""
    memory = state.memory
    job, part = memory.queue.job[place], memory.queue.partition[place]
    if is_too_late(memory, job, part, now):
        cancel(state, job, Reason.DEADLINE, now)
        return CANCELLED
    reason = before_selection(memory, job, part)
    if reason != Reason.NONE:
        known = is_of_limit(memory.jobs.reason[job])
        hold_by_limit(memory, job, reason)
        return KNOWN if known else LIMITED
    if misses_named(memory, job):
        memory.jobs.reason[job] = Reason.NODES_AWAY
        return KNOWN
    if available_nodes(memory, part) < memory.jobs.min_nodes[job]:
        memory.jobs.reason[job] = Reason.RESOURCES
        return TOO_FEW
    if not licences_free(memory, job):
        memory.jobs.reason[job] = Reason.LICENCES
        return NO_LICENCE
    reason = standing_in(memory, job, part)
    if reason != Reason.NONE:
        memory.jobs.reason[job] = reason
        return NOT_ALLOWED
    adapt(memory, place)
    minutes = by_deadline(memory, job, now, minutes_in(memory, job, part))
    return try_start(state, Scratch.AVAILABLE, job, part, now, MAIN, minutes)
