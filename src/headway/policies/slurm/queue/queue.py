"""The waiting jobs in order: who may preempt, a reservation, the partition's tier, priority, arrival.

A job that lists several partitions has a record for each of them. A pass that starts jobs leaves gaps, which
are closed when it is over.
"""

from __future__ import annotations

from headway.engine.tables import State
from headway.engine.verbs import has_room
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.queue.caps import first_qos, second_qos
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.jobs import Adapted, SlurmJob
from headway.policies.slurm.tables.passes import Record, SlurmClock
from headway.policies.slurm.tables.reasons import Reason
from headway.policies.slurm.tables.settings import Mode, Preemption, Setting, Waiver
from headway.policies.slurm.tables.sites import Holder, Partition

GONE = -1
"""The job of a record whose job has started."""
WAYS = len(Adapted)
FOR_RESERVATION = 1 << 20
"""What the records of a job with a reservation count more than those of others, in tiers."""


@kernel
def may_preempt(memory: Memory, job: int, part: int, other: int, others_part: int) -> bool:
    """Whether a job in a partition may take the place of another one in its partition."""
    kind = memory.settings[Setting.PREEMPTION]
    if kind == Preemption.BY_TIER:
        lower = memory.partitions[Partition.TIER, others_part] < memory.partitions[Partition.TIER, part]
        return bool(lower and memory.partitions[Partition.PREEMPT, others_part] != Mode.OFF)
    qos, others = memory.jobs[SlurmJob.QOS, job], memory.jobs[SlurmJob.QOS, other]
    return bool(
        kind == Preemption.BY_QOS and qos >= 0 and others >= 0 and memory.may_preempt[qos, others] > 0
    )


@kernel
def comes_first(memory: Memory, a: int, b: int) -> bool:
    """Whether the record at place ``a`` comes before the one at ``b``."""
    queue, jobs = memory.queue, memory.jobs
    job, other = queue[Record.JOB, a], queue[Record.JOB, b]
    if memory.settings[Setting.PREEMPTION] != Preemption.OFF:
        part, others_part = queue[Record.PARTITION, a], queue[Record.PARTITION, b]
        if may_preempt(memory, job, part, other, others_part):
            return True
        if may_preempt(memory, other, others_part, job, part):
            return False
    if queue[Record.TIER, a] != queue[Record.TIER, b]:
        return bool(queue[Record.TIER, a] > queue[Record.TIER, b])
    if queue[Record.PRIORITY, a] != queue[Record.PRIORITY, b]:
        return bool(queue[Record.PRIORITY, a] > queue[Record.PRIORITY, b])
    if jobs[SlurmJob.ENTERED, job] != jobs[SlurmJob.ENTERED, other]:
        return bool(jobs[SlurmJob.ENTERED, job] < jobs[SlurmJob.ENTERED, other])
    if jobs[SlurmJob.FIRST_TASK, job] != jobs[SlurmJob.FIRST_TASK, other]:
        return bool(jobs[SlurmJob.FIRST_TASK, job] < jobs[SlurmJob.FIRST_TASK, other])
    if queue[Record.PLACE, a] != queue[Record.PLACE, b]:
        return bool(queue[Record.PLACE, a] < queue[Record.PLACE, b])
    return bool(job < other)


@kernel
def move(memory: Memory, source: int, target: int) -> None:
    """Copy the record at one place to another."""
    for row in range(memory.queue.shape[0]):
        memory.queue[row, target] = memory.queue[row, source]


@kernel
def stands_first(memory: Memory, a: int, b: int) -> bool:
    """Whether the record at place ``a`` comes before the one at ``b`` in Slurm's list of jobs."""
    queue = memory.queue
    for row in (Record.LISTED, Record.PLACE):
        if queue[row, a] != queue[row, b]:
            return bool(queue[row, a] < queue[row, b])
    return bool(queue[Record.JOB, a] < queue[Record.JOB, b])


@kernel
def sift_in(memory: Memory, place: int, gap: int, listed: bool) -> None:
    """Let the record at ``place`` go forward by steps of ``gap`` while it comes first, as in the queue or as
    ``listed``."""
    spare = memory.queue.shape[1] - 1
    move(memory, place, spare)
    while place >= gap:
        before = place - gap
        if not (stands_first(memory, spare, before) if listed else comes_first(memory, spare, before)):
            break
        move(memory, before, place)
        place = before
    move(memory, spare, place)


@routine
def sort_records(memory: Memory, listed: bool) -> None:
    """Put the records in the order of the queue, or of Slurm's list of jobs; most of them are."""
    count = memory.clock[SlurmClock.QUEUED]
    gap = 1
    while gap < count // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for place in range(gap, count):
            sift_in(memory, place, gap, listed)
        gap //= 3


@kernel
def sort_queue(memory: Memory) -> None:
    """Put the records in order again, unless each pass does so for itself."""
    if memory.settings[Setting.CIRCLES] == 0:
        sort_records(memory, False)


@kernel
def shortest_limit(memory: Memory, job: int) -> int:
    """The shortest time limit in minutes that a job accepts."""
    shortest = memory.jobs[SlurmJob.MINUTES_MIN, job]
    return int(memory.jobs[SlurmJob.LIMIT, job] if shortest == UNSET else shortest)


@kernel
def waives(memory: Memory, job: int, bound: int) -> bool:
    """Whether the QOS of a job waives a bound of its partitions (:class:`Waiver`)."""
    if memory.settings[Setting.WAIVES] == 0 or memory.jobs[SlurmJob.QOS, job] == UNSET:
        return False
    return bool(memory.holders[Holder.WAIVES, memory.jobs[SlurmJob.QOS, job]] & bound)


@kernel
def bound_against(memory: Memory, job: int, part: int) -> int:
    """The bound of a partition that keeps a job out of it for good (:class:`Reason`); 0: none does."""
    partitions, most_asked = memory.partitions, memory.jobs[SlurmJob.MAX_NODES, job]
    nodes, longest = memory.jobs[SlurmJob.MIN_NODES, job], partitions[Partition.MAX_MINUTES, part]
    most = partitions[Partition.MAX_NODES, part]
    if nodes > partitions[Partition.NODES, part]:
        return Reason.PARTITION_NODE_LIMIT
    if nodes < partitions[Partition.MIN_NODES, part] and not waives(memory, job, Waiver.MIN_NODES):
        return Reason.PARTITION_NODE_LIMIT
    if most != UNSET and max(nodes, most_asked) > most and not waives(memory, job, Waiver.MAX_NODES):
        return Reason.PARTITION_NODE_LIMIT
    if longest != UNSET and shortest_limit(memory, job) > longest and not waives(memory, job, Waiver.TIME):
        return Reason.PARTITION_TIME_LIMIT
    return Reason.NONE


@kernel
def adapt(memory: Memory, record: int) -> None:
    """Let the job of a record ask for what its partition makes of its request."""
    job = memory.queue[Record.JOB, record]
    row, first = memory.jobs[SlurmJob.ADAPTED, job], WAYS * memory.queue[Record.PLACE, record]
    if row != UNSET:
        memory.jobs[SlurmJob.CPUS, job] = memory.adapted[first + Adapted.CPUS, row]
        memory.jobs[SlurmJob.CPUS_PER_TASK, job] = memory.adapted[first + Adapted.CPUS_PER_TASK, row]
        memory.jobs[SlurmJob.MEMORY_CPU, job] = memory.adapted[first + Adapted.MEMORY_CPU, row]
        memory.jobs[SlurmJob.NODE_CPUS, job] = memory.adapted[first + Adapted.NODE_CPUS, row]


@routine
def enqueue(state: State, job: int) -> None:
    """Give a job its records, each where it belongs."""
    memory = state.memory
    asked = memory.jobs[SlurmJob.PARTITIONS, job]
    for place in range(memory.lists.shape[1]):
        part = memory.lists[asked, place]
        if part < 0:
            break
        against = bound_against(memory, job, part)
        if memory.standing[asked, place] == Reason.PARTITION_CONFIG:
            against = Reason.PARTITION_CONFIG
        row = memory.jobs[SlurmJob.ADAPTED, job]
        if row != UNSET and memory.adapted[WAYS * place + Adapted.CPUS, row] < 0:
            against = Reason.MEMORY_LIMIT
        if against != Reason.NONE:
            memory.jobs[SlurmJob.REASON, job] = against
            continue
        end = memory.clock[SlurmClock.QUEUED]
        if not has_room(state, end + 1, memory.queue):  # the last place is for a record that is being moved
            return
        memory.queue[Record.JOB, end] = job
        memory.queue[Record.PARTITION, end] = part
        memory.queue[Record.TIER, end] = memory.partitions[Partition.TIER, part]
        if memory.jobs[SlurmJob.RESERVATION, job] != UNSET:
            memory.queue[Record.TIER, end] += FOR_RESERVATION
        memory.queue[Record.PRIORITY, end] = memory.jobs[SlurmJob.PRIORITY, job]
        memory.queue[Record.PLACE, end] = place
        memory.clock[SlurmClock.QUEUED] = end + 1


@routine
def leave_queue(memory: Memory, job: int) -> None:
    """Make gaps of a job's records."""
    for place in range(memory.clock[SlurmClock.QUEUED]):
        if memory.queue[Record.JOB, place] == job:
            memory.queue[Record.JOB, place] = GONE


@routine
def close_gaps(memory: Memory) -> None:
    """Move the records together."""
    count = 0
    for place in range(memory.clock[SlurmClock.QUEUED]):
        if memory.queue[Record.JOB, place] != GONE:
            if count != place:
                move(memory, place, count)
            count += 1
    memory.clock[SlurmClock.QUEUED] = count


@kernel
def minutes_in(memory: Memory, job: int, part: int) -> int:
    """A job's time limit in a partition in minutes: its own, at most the partition's; a year without any."""
    longest = memory.partitions[Partition.MAX_MINUTES, part]
    if longest == UNSET:
        longest = YEAR
    limit = memory.jobs[SlurmJob.LIMIT, job]
    if limit == UNSET:
        return int(longest)
    return int(limit if waives(memory, job, Waiver.TIME) else min(limit, longest))


YEAR = 365 * 24 * 60
"""Minutes that a job without any limit is planned for."""


@kernel
def shortest_in(memory: Memory, job: int, part: int) -> int:
    """The time limit in minutes that backfill plans with: the shortest that the job accepts."""
    shortest = memory.jobs[SlurmJob.MINUTES_MIN, job]
    minutes = minutes_in(memory, job, part)
    return int(minutes if shortest == UNSET else min(minutes, shortest))


@kernel
def standing_in(memory: Memory, job: int, part: int) -> int:
    """Why a job that waits for a partition may not start in it (:class:`Reason`); 0: it may."""
    if memory.settings[Setting.RESTRICTS] == 0:
        return Reason.NONE
    asked = memory.jobs[SlurmJob.PARTITIONS, job]
    for place in range(memory.lists.shape[1]):
        if memory.lists[asked, place] == part:
            return int(memory.standing[asked, place])
    return Reason.NONE


@kernel
def priority_bound(memory: Memory, job: int, part: int) -> int:
    """The least priority at which a job keeps nodes from others: by a QOS, if limits are enforced, or as the
    site says."""
    bounds, enforced = memory.holders[Holder.MIN_PRIORITY], memory.settings[Setting.ENFORCE] > 0
    for qos in (first_qos(memory, job, part), second_qos(memory, job, part)):
        if enforced and qos != UNSET and bounds[qos] > 0:
            return int(bounds[qos])
    return int(memory.settings[Setting.BF_MIN_PRIORITY])


@kernel
def holds_back(memory: Memory, place: int, now: int) -> bool:
    """Whether the job of a record may keep nodes from others: its priority and its age are enough."""
    job, part = memory.queue[Record.JOB, place], memory.queue[Record.PARTITION, place]
    if memory.queue[Record.PRIORITY, place] < priority_bound(memory, job, part):
        return False
    return bool(now - memory.jobs[SlurmJob.BEGIN, job] >= memory.settings[Setting.BF_MIN_AGE])
