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
from headway.policies.slurm.tables.jobs import SlurmJobs
from headway.policies.slurm.tables.settings import Preemption
from headway.policies.slurm.tables.sites import Tres

HIGHEST = (1 << 32) - 1
BASIC = 4294901759
"""The first job's priority where priority is the order of submission; each new job gets one less."""


@kernel
def age_factor(memory: Memory, job: int, now: int) -> float:
    """How long a job has been waiting, of the longest age that counts."""
    always = memory.settings.accrue_always > 0
    since = memory.jobs[SlurmJobs["entered"] if always else SlurmJobs["accrued"], job]
    if since == UNSET or now <= since:
        return 0.0
    return min((now - since) / memory.settings.max_age, 1.0)


@kernel
def size_factor(memory: Memory, job: int, part: int) -> float:
    """How large a job is, of the cluster."""
    nodes, cpus = memory.jobs.min_nodes[job], memory.jobs.size[job]
    all_nodes, all_cpus = memory.settings.cluster_nodes, memory.settings.cluster_cpus
    small = memory.settings.favor_small > 0
    if memory.settings.size_by_time > 0:
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
    if memory.settings.weighs_tres == 0:
        return 0.0
    first = memory.lists[memory.jobs.partitions[job], 0]
    cpus, nodes = memory.jobs.cpus[job], memory.jobs.min_nodes[job]
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
    association, qos = memory.jobs.association[job], memory.jobs.qos[job]
    accounting = memory.settings.has_accounting > 0
    if accounting:
        age = weights.age * age_factor(memory, job, now)
        total += age
    if association != UNSET:
        total += weights.association * memory.factors.association[association]
        if accounting:
            share = weights.fairshare * fair_share(memory, association)
            total += share
    size = weights.size * size_factor(memory, job, part)
    total += size
    memory.jobs.age_points[job] = int(age + 0.5)
    memory.jobs.fairshare_points[job] = int(share + 0.5)
    memory.jobs.size_points[job] = int(size + 0.5)
    total += weights.partition * memory.factors.partition[part]
    if qos != UNSET:
        total += weights.qos * memory.factors.qos[qos]
    total += resource_part(memory, job, part)
    total -= memory.jobs.nice[job]
    return int(min(max(total, 1.0), float(HIGHEST)))


@kernel
def next_in_order(memory: Memory, job: int) -> int:
    """The next priority where that is the order of submission; the tasks of an array share one."""
    array, priority = memory.jobs.array[job], memory.clock.basic
    if array != UNSET:
        if memory.arrays.priority[array] != UNSET:
            return int(memory.arrays.priority[array])
        memory.arrays.priority[array] = priority
    memory.clock.basic = priority - 1
    return int(priority)


@routine
def prioritise(memory: Memory, job: int, now: int) -> None:
    """Give a job that arrives its priority."""
    if memory.settings.multifactor > 0:
        part = memory.lists[memory.jobs.partitions[job], 0]
        memory.jobs.priority[job] = multifactor(memory, job, part, now)
        memory.jobs.first_fairshare[job] = memory.jobs.fairshare_points[job]
        memory.jobs.first_size[job] = memory.jobs.size_points[job]
    elif memory.jobs.held[job] > 0:
        memory.jobs.priority[job] = 0
    else:
        memory.jobs.priority[job] = next_in_order(memory, job) - memory.jobs.nice[job]
    memory.jobs.first_priority[job] = memory.jobs.priority[job]


@routine
def renew_records(memory: Memory, first: int, now: int, again: bool) -> None:
    """Calculate the priorities of the records from ``first`` on, and put the queue in order.

    Where they had one before, ``again``, a site may want none to become less (INCR_ONLY).
    """
    kept = again and memory.settings.increases_only > 0
    if memory.settings.multifactor > 0:
        for place in range(first, memory.clock.queued):
            job, part = memory.queue.job[place], memory.queue.partition[place]
            priority = multifactor(memory, job, part, now)
            if kept:
                priority = max(priority, memory.queue.priority[place])
            memory.queue.priority[place] = priority
            if memory.queue.place[place] == 0:
                memory.jobs.priority[job] = priority
    if first == 0 or memory.settings.preemption != Preemption.OFF:
        sort_queue(memory)
        return
    for place in range(first, memory.clock.queued):
        sift_in(memory, place, 1, False)  # those before are in order


@routine
def calculate(memory: Memory, now: int) -> None:
    """One calculation: usage decays and grows, users are ranked, priorities are set anew."""
    tree = memory.settings.fair_tree > 0
    if memory.clock.reset_due > 0:
        memory.clock.reset_due = 0
        forget(memory)
    if not tree:
        classic(memory)  # with the usage of before: accounts lag one period behind
    elapsed = now - memory.clock.priority_last
    if elapsed > 0:
        decay(memory, elapsed)
    if tree:
        for place in range(memory.clock.running):
            use(memory, memory.running[1, place], now)
        fair_tree(memory)
    else:
        use_in_order(memory, now)
    memory.clock.priority_last = now
    renew_records(memory, 0, now, True)


@kernel
def tres_of(memory: Memory, job: int, cpus: int, mb: int, nodes: int, billing: int, whole: bool) -> None:
    """Note what a job holds from now on."""
    memory.jobs[SlurmJobs["holds"] + Tres.CPU, job] = cpus
    memory.jobs[SlurmJobs["holds"] + Tres.MEMORY, job] = mb
    memory.jobs[SlurmJobs["holds"] + Tres.NODE, job] = nodes
    memory.jobs[SlurmJobs["holds"] + Tres.BILLING, job] = billing
    for resource in range(memory.gres_asked.shape[0]):
        tres = memory.gres_tres[resource]
        if tres != UNSET:
            memory.jobs[SlurmJobs["holds"] + tres, job] = gres_count(memory, job, tres, nodes, whole)
