"""Priority: the order of submission, or a weighted sum of factors that is calculated every few minutes."""

from __future__ import annotations

from headway.jit.kernels import kernel, routine
from headway.policies.slurm.limits.limits import count_asked, gres_count
from headway.policies.slurm.nodes.offers import memory_asked
from headway.policies.slurm.queue.fairshare import (
    classic,
    decay,
    fair_share,
    fair_tree,
    forget,
    use,
    use_in_order,
)
from headway.policies.slurm.queue.queue import minutes_in, sift_in, sort_queue
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.jobs import SlurmJob
from headway.policies.slurm.tables.life import Array
from headway.policies.slurm.tables.passes import Record, SlurmClock
from headway.policies.slurm.tables.settings import Preemption, Setting, Weight
from headway.policies.slurm.tables.sites import Factor, Tres

HIGHEST = (1 << 32) - 1
BASIC = 4294901759
"""The first job's priority where priority is the order of submission; each new job gets one less."""


@kernel
def age_factor(memory: Memory, job: int, now: int) -> float:
    """How long a job has been waiting, of the longest age that counts."""
    always = memory.settings[Setting.ACCRUE_ALWAYS] > 0
    since = memory.jobs[SlurmJob.ENTERED if always else SlurmJob.ACCRUED, job]
    if since == UNSET or now <= since:
        return 0.0
    return min((now - since) / memory.settings[Setting.MAX_AGE], 1.0)


@kernel
def size_factor(memory: Memory, job: int, part: int) -> float:
    """How large a job is, of the cluster."""
    nodes, cpus = memory.jobs[SlurmJob.MIN_NODES, job], memory.jobs[SlurmJob.SIZE, job]
    all_nodes, all_cpus = memory.settings[Setting.CLUSTER_NODES], memory.settings[Setting.CLUSTER_CPUS]
    small = memory.settings[Setting.FAVOR_SMALL] > 0
    if memory.settings[Setting.SIZE_BY_TIME] > 0:
        share = max(nodes * all_cpus / all_nodes, cpus) / max(minutes_in(memory, job, part), 1) / all_cpus
        if small:
            share = 1.0 - share
    elif small:
        share = ((all_nodes - nodes) / all_nodes + (all_cpus - cpus) / all_cpus) / 2
    else:
        share = (nodes / all_nodes + cpus / all_cpus) / 2
    return min(max(share, 0.0), 1.0)


@kernel
def resource_part(memory: Memory, job: int, part: int) -> float:
    """What the weights of resources give: requested of what the partition has, or of one each."""
    if memory.settings[Setting.WEIGHS_TRES] == 0:
        return 0.0
    first = memory.lists[memory.jobs[SlurmJob.PARTITIONS, job], 0]
    cpus, nodes = memory.jobs[SlurmJob.CPUS, job], memory.jobs[SlurmJob.MIN_NODES, job]
    mb, total = memory_asked(memory, job, first, cpus, nodes), 0.0
    for tres in range(memory.tres_weights.shape[0]):
        whole = memory.tres_whole[part, tres]
        if memory.tres_weights[tres] != 0 and whole > 0:
            asked = count_asked(memory, job, tres, cpus, mb, nodes, False)
            total += memory.tres_weights[tres] * (asked / whole)
    return total


@routine
def multifactor(memory: Memory, job: int, part: int, now: int) -> int:
    """The priority of a job in a partition."""
    weights, total, share, age = memory.weights, 0.0, 0.0, 0.0
    association, qos = memory.jobs[SlurmJob.ASSOCIATION, job], memory.jobs[SlurmJob.QOS, job]
    accounting = memory.settings[Setting.HAS_ACCOUNTING] > 0
    if accounting:
        age = weights[Weight.AGE] * age_factor(memory, job, now)
        total += age
    if association != UNSET:
        total += weights[Weight.ASSOCIATION] * memory.factors[Factor.ASSOCIATION, association]
        if accounting:
            share = weights[Weight.FAIRSHARE] * fair_share(memory, association)
            total += share
    size = weights[Weight.SIZE] * size_factor(memory, job, part)
    total += size
    memory.jobs[SlurmJob.AGE_POINTS, job] = int(age + 0.5)
    memory.jobs[SlurmJob.FAIRSHARE_POINTS, job] = int(share + 0.5)
    memory.jobs[SlurmJob.SIZE_POINTS, job] = int(size + 0.5)
    total += weights[Weight.PARTITION] * memory.factors[Factor.PARTITION, part]
    if qos != UNSET:
        total += weights[Weight.QOS] * memory.factors[Factor.QOS, qos]
    total += resource_part(memory, job, part)
    total -= memory.jobs[SlurmJob.NICE, job]
    return int(min(max(total, 1.0), float(HIGHEST)))


@kernel
def next_in_order(memory: Memory, job: int) -> int:
    """The next priority where that is the order of submission; the tasks of an array share one."""
    array, priority = memory.jobs[SlurmJob.ARRAY, job], memory.clock[SlurmClock.BASIC]
    if array != UNSET:
        if memory.arrays[Array.PRIORITY, array] != UNSET:
            return int(memory.arrays[Array.PRIORITY, array])
        memory.arrays[Array.PRIORITY, array] = priority
    memory.clock[SlurmClock.BASIC] = priority - 1
    return int(priority)


@routine
def prioritise(memory: Memory, job: int, now: int) -> None:
    """Give a job that arrives its priority."""
    if memory.settings[Setting.MULTIFACTOR] > 0:
        part = memory.lists[memory.jobs[SlurmJob.PARTITIONS, job], 0]
        memory.jobs[SlurmJob.PRIORITY, job] = multifactor(memory, job, part, now)
        memory.jobs[SlurmJob.FIRST_FAIRSHARE, job] = memory.jobs[SlurmJob.FAIRSHARE_POINTS, job]
        memory.jobs[SlurmJob.FIRST_SIZE, job] = memory.jobs[SlurmJob.SIZE_POINTS, job]
    elif memory.jobs[SlurmJob.HELD, job] > 0:
        memory.jobs[SlurmJob.PRIORITY, job] = 0
    else:
        memory.jobs[SlurmJob.PRIORITY, job] = next_in_order(memory, job) - memory.jobs[SlurmJob.NICE, job]
    memory.jobs[SlurmJob.FIRST_PRIORITY, job] = memory.jobs[SlurmJob.PRIORITY, job]


@routine
def renew_records(memory: Memory, first: int, now: int, again: bool) -> None:
    """Calculate the priorities of the records from ``first`` on, and put the queue in order.

    Where they had one before, ``again``, a site may want none to become less (INCR_ONLY).
    """
    kept = again and memory.settings[Setting.INCREASES_ONLY] > 0
    if memory.settings[Setting.MULTIFACTOR] > 0:
        for place in range(first, memory.clock[SlurmClock.QUEUED]):
            job, part = memory.queue[Record.JOB, place], memory.queue[Record.PARTITION, place]
            priority = multifactor(memory, job, part, now)
            if kept:
                priority = max(priority, memory.queue[Record.PRIORITY, place])
            memory.queue[Record.PRIORITY, place] = priority
            if memory.queue[Record.PLACE, place] == 0:
                memory.jobs[SlurmJob.PRIORITY, job] = priority
    if first == 0 or memory.settings[Setting.PREEMPTION] != Preemption.OFF:
        sort_queue(memory)
        return
    for place in range(first, memory.clock[SlurmClock.QUEUED]):
        sift_in(memory, place, 1, False)  # those before are in order


@routine
def calculate(memory: Memory, now: int) -> None:
    """One calculation: usage decays and grows, users are ranked, priorities are set anew."""
    tree = memory.settings[Setting.FAIR_TREE] > 0
    if memory.clock[SlurmClock.RESET_DUE] > 0:
        memory.clock[SlurmClock.RESET_DUE] = 0
        forget(memory)
    if not tree:
        classic(memory)  # with the usage of before: accounts lag one period behind
    elapsed = now - memory.clock[SlurmClock.PRIORITY_LAST]
    if elapsed > 0:
        decay(memory, elapsed)
    if tree:
        for place in range(memory.clock[SlurmClock.RUNNING]):
            use(memory, memory.running[1, place], now)
        fair_tree(memory)
    else:
        use_in_order(memory, now)
    memory.clock[SlurmClock.PRIORITY_LAST] = now
    renew_records(memory, 0, now, True)


@kernel
def tres_of(memory: Memory, job: int, cpus: int, mb: int, nodes: int, billing: int, whole: bool) -> None:
    """Note what a job holds from now on."""
    memory.jobs[SlurmJob.HOLDS + Tres.CPU, job] = cpus
    memory.jobs[SlurmJob.HOLDS + Tres.MEMORY, job] = mb
    memory.jobs[SlurmJob.HOLDS + Tres.NODE, job] = nodes
    memory.jobs[SlurmJob.HOLDS + Tres.BILLING, job] = billing
    for resource in range(memory.gres_asked.shape[0]):
        tres = memory.gres_tres[resource]
        if tres != UNSET:
            memory.jobs[SlurmJob.HOLDS + tres, job] = gres_count(memory, job, tres, nodes, whole)
