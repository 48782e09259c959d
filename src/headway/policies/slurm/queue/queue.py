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
from headway.policies.slurm.tables.jobs import Adapted
from headway.policies.slurm.tables.passes import Records
from headway.policies.slurm.tables.reasons import Reason
from headway.policies.slurm.tables.settings import Mode, Preemption, Waiver

GONE = -1
"""The job of a record whose job has started."""
WAYS = len(Adapted)
FOR_RESERVATION = 1 << 20
"""What the records of a job with a reservation count more than those of others, in tiers."""


@kernel
def may_preempt(memory: Memory, job: int, part: int, other: int, others_part: int) -> bool:
    """Whether a job in a partition may take the place of another one in its partition."""
    kind = memory.settings.preemption
    if kind == Preemption.BY_TIER:
        lower = memory.partitions.tier[others_part] < memory.partitions.tier[part]
        return bool(lower and memory.partitions.preempt[others_part] != Mode.OFF)
    qos, others = memory.jobs.qos[job], memory.jobs.qos[other]
    return bool(
        kind == Preemption.BY_QOS and qos >= 0 and others >= 0 and memory.may_preempt[qos, others] > 0
    )


@kernel
def comes_first(memory: Memory, a: int, b: int) -> bool:
    """Whether the record at place ``a`` comes before the one at ``b``."""
    queue, jobs = memory.queue, memory.jobs
    job, other = queue.job[a], queue.job[b]
    if memory.settings.preemption != Preemption.OFF:
        part, others_part = queue.partition[a], queue.partition[b]
        if may_preempt(memory, job, part, other, others_part):
            return True
        if may_preempt(memory, other, others_part, job, part):
            return False
    if queue.tier[a] != queue.tier[b]:
        return bool(queue.tier[a] > queue.tier[b])
    if queue.priority[a] != queue.priority[b]:
        return bool(queue.priority[a] > queue.priority[b])
    if jobs.entered[job] != jobs.entered[other]:
        return bool(jobs.entered[job] < jobs.entered[other])
    if jobs.first_task[job] != jobs.first_task[other]:
        return bool(jobs.first_task[job] < jobs.first_task[other])
    if queue.place[a] != queue.place[b]:
        return bool(queue.place[a] < queue.place[b])
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
    for row in (Records["listed"], Records["place"]):
        if queue[row, a] != queue[row, b]:
            return bool(queue[row, a] < queue[row, b])
    return bool(queue.job[a] < queue.job[b])


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
    count = memory.clock.queued
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
    if memory.settings.circles == 0:
        sort_records(memory, False)


@kernel
def shortest_limit(memory: Memory, job: int) -> int:
    """The shortest time limit in minutes that a job accepts."""
    shortest = memory.jobs.minutes_min[job]
    return int(memory.jobs.limit[job] if shortest == UNSET else shortest)


@kernel
def waives(memory: Memory, job: int, bound: int) -> bool:
    """Whether the QOS of a job waives a bound of its partitions (:class:`Waiver`)."""
    if memory.settings.waives == 0 or memory.jobs.qos[job] == UNSET:
        return False
    return bool(memory.holders.waives[memory.jobs.qos[job]] & bound)


@kernel
def bound_against(memory: Memory, job: int, part: int) -> int:
    """The bound of a partition that keeps a job out of it for good (:class:`Reason`); 0: none does."""
    partitions, most_asked = memory.partitions, memory.jobs.max_nodes[job]
    nodes, longest = memory.jobs.min_nodes[job], partitions.max_minutes[part]
    most = partitions.max_nodes[part]
    if nodes > partitions.nodes[part]:
        return Reason.PARTITION_NODE_LIMIT
    if nodes < partitions.min_nodes[part] and not waives(memory, job, Waiver.MIN_NODES):
        return Reason.PARTITION_NODE_LIMIT
    if most != UNSET and max(nodes, most_asked) > most and not waives(memory, job, Waiver.MAX_NODES):
        return Reason.PARTITION_NODE_LIMIT
    if longest != UNSET and shortest_limit(memory, job) > longest and not waives(memory, job, Waiver.TIME):
        return Reason.PARTITION_TIME_LIMIT
    return Reason.NONE


@kernel
def adapt(memory: Memory, record: int) -> None:
    """Let the job of a record ask for what its partition makes of its request."""
    job = memory.queue.job[record]
    row, place = memory.jobs.adapted[job], memory.queue.place[record]
    if row != UNSET:
        memory.jobs.cpus[job] = memory.adapted.cpus[place, row]
        memory.jobs.cpus_per_task[job] = memory.adapted.cpus_per_task[place, row]
        memory.jobs.memory_cpu[job] = memory.adapted.memory_cpu[place, row]
        memory.jobs.node_cpus[job] = memory.adapted.node_cpus[place, row]


@routine
def enqueue(state: State, job: int) -> None:
    """Give a job its records, each where it belongs."""
    memory = state.memory
    asked = memory.jobs.partitions[job]
    for place in range(memory.lists.shape[1]):
        part = memory.lists[asked, place]
        if part < 0:
            break
        against = bound_against(memory, job, part)
        if memory.standing[asked, place] == Reason.PARTITION_CONFIG:
            against = Reason.PARTITION_CONFIG
        row = memory.jobs.adapted[job]
        if row != UNSET and memory.adapted.cpus[place, row] < 0:
            against = Reason.MEMORY_LIMIT
        if against != Reason.NONE:
            memory.jobs.reason[job] = against
            continue
        end = memory.clock.queued
        if not has_room(state, end + 1, memory.queue):  # the last place is for a record that is being moved
            return
        memory.queue.job[end] = job
        memory.queue.partition[end] = part
        memory.queue.tier[end] = memory.partitions.tier[part]
        if memory.jobs.reservation[job] != UNSET:
            memory.queue.tier[end] += FOR_RESERVATION
        memory.queue.priority[end] = memory.jobs.priority[job]
        memory.queue.place[end] = place
        memory.clock.queued = end + 1


@routine
def leave_queue(memory: Memory, job: int) -> None:
    """Make gaps of a job's records."""
    for place in range(memory.clock.queued):
        if memory.queue.job[place] == job:
            memory.queue.job[place] = GONE


@routine
def close_gaps(memory: Memory) -> None:
    """Move the records together."""
    count = 0
    for place in range(memory.clock.queued):
        if memory.queue.job[place] != GONE:
            if count != place:
                move(memory, place, count)
            count += 1
    memory.clock.queued = count


@kernel
def minutes_in(memory: Memory, job: int, part: int) -> int:
    """A job's time limit in a partition in minutes: its own, at most the partition's; a year without any."""
    longest = memory.partitions.max_minutes[part]
    if longest == UNSET:
        longest = YEAR
    limit = memory.jobs.limit[job]
    if limit == UNSET:
        return int(longest)
    return int(limit if waives(memory, job, Waiver.TIME) else min(limit, longest))


YEAR = 365 * 24 * 60
"""Minutes that a job without any limit is planned for."""


@kernel
def shortest_in(memory: Memory, job: int, part: int) -> int:
    """The time limit in minutes that backfill plans with: the shortest that the job accepts."""
    shortest = memory.jobs.minutes_min[job]
    minutes = minutes_in(memory, job, part)
    return int(minutes if shortest == UNSET else min(minutes, shortest))


@kernel
def standing_in(memory: Memory, job: int, part: int) -> int:
    """Why a job that waits for a partition may not start in it (:class:`Reason`); 0: it may."""
    if memory.settings.restricts == 0:
        return Reason.NONE
    asked = memory.jobs.partitions[job]
    for place in range(memory.lists.shape[1]):
        if memory.lists[asked, place] == part:
            return int(memory.standing[asked, place])
    return Reason.NONE


@kernel
def priority_bound(memory: Memory, job: int, part: int) -> int:
    """The least priority at which a job keeps nodes from others: by a QOS, if limits are enforced, or as the
    site says."""
    bounds, enforced = memory.holders.min_priority, memory.settings.enforce > 0
    for qos in (first_qos(memory, job, part), second_qos(memory, job, part)):
        if enforced and qos != UNSET and bounds[qos] > 0:
            return int(bounds[qos])
    return int(memory.settings.bf_min_priority)


@kernel
def holds_back(memory: Memory, place: int, now: int) -> bool:
    """Whether the job of a record may keep nodes from others: its priority and its age are enough."""
    job, part = memory.queue.job[place], memory.queue.partition[place]
    if memory.queue.priority[place] < priority_bound(memory, job, part):
        return False
    return bool(now - memory.jobs.begin[job] >= memory.settings.bf_min_age)
