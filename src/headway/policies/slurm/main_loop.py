"""The main loop: jobs by priority, and a partition stops at its first job that does not fit."""

from __future__ import annotations

from headway.engine.tables import State
from headway.jit import kernel, routine
from headway.policies.slurm.limits import before_selection, hold_by_limit
from headway.policies.slurm.queue import GONE, close_gaps, holds_back
from headway.policies.slurm.starting import BUSY, LIMITED, MAIN, STARTED, try_start
from headway.policies.slurm.tables import (
    UNSET,
    Clock,
    Holder,
    Job,
    Memory,
    Node,
    Partition,
    Reason,
    Record,
    Scratch,
    Setting,
)


@kernel
def priority_bound(memory: Memory, job: int) -> int:
    """The least priority at which the job's QOS lets a job keep nodes from others; -1: no such bound."""
    qos = memory.jobs[Job.QOS, job]
    return int(UNSET if qos == UNSET else memory.holders[Holder.MIN_PRIORITY, qos])


@kernel
def begin_pass(memory: Memory) -> None:
    """All usable nodes are available, no partition has failed."""
    for node in range(memory.nodes.shape[1]):
        memory.sets[Scratch.AVAILABLE, node] = memory.nodes[Node.USABLE, node]
    for part in range(memory.partitions.shape[1]):
        memory.partitions[Partition.FAILED, part] = memory.partitions[Partition.TESTED, part] = 0
    memory.clock[Clock.PASSES] += 1


@kernel
def fail_partition(memory: Memory, part: int) -> None:
    """No more jobs of this partition in this pass, and none of others on its nodes."""
    memory.partitions[Partition.FAILED, part] = 1
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


@routine
def main_pass(state: State, now: int, full: bool) -> bool:
    """One pass over the queue; whether it changed the jobs' time stamp.

    A job that is met in a partition that has failed does, or one for which too few nodes are left; the first
    one that finds its nodes busy does not.
    """
    memory = state.memory
    begin_pass(memory)
    tested = starts = 0
    stamped = False
    for place in range(memory.clock[Clock.QUEUED]):
        job, part = memory.queue[Record.JOB, place], memory.queue[Record.PARTITION, place]
        if job == GONE or memory.jobs[Job.BEGIN, job] > now:
            continue
        if 0 < memory.settings[Setting.MAX_STARTS] <= starts:
            break
        memory.partitions[Partition.TESTED, part] += 1
        if 0 < memory.settings[Setting.PARTITION_DEPTH] < memory.partitions[Partition.TESTED, part]:
            continue
        if not full and tested > memory.settings[Setting.QUEUE_DEPTH]:
            break
        tested += 1
        if memory.partitions[Partition.FAILED, part] > 0:
            memory.jobs[Job.REASON, job] = Reason.PRIORITY
            stamped = True
            continue
        reason = before_selection(memory, job, part)
        if reason != Reason.NONE:
            hold_by_limit(memory, job, reason)
            continue
        outcome = BUSY
        if available_nodes(memory, part) >= memory.jobs[Job.MIN_NODES, job]:
            outcome = try_start(state, Scratch.AVAILABLE, job, part, now, MAIN)
        else:
            memory.jobs[Job.REASON, job] = Reason.RESOURCES
            stamped = True
        if outcome == STARTED:
            starts += 1
            continue
        if outcome == LIMITED and memory.settings[Setting.LIMIT_STOPS] == 0:
            continue
        if outcome == LIMITED or holds_back(memory, place, now, priority_bound(memory, job)):
            fail_partition(memory, part)
    if starts > 0:
        close_gaps(memory)
    return stamped
