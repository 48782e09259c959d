"""Choosing nodes, sections 6.1 and 6.2: how many, and what each offers the job."""

from __future__ import annotations

from .best_fit import Want, choose, deal
from .machine import Job, Machine, Partition, members
from .usage import Usage


def wanted(job: Job, partition: Partition) -> Want:
    """Section 6.1: bounds on the number of nodes; every job here names one number."""
    least = max(job.nodes, partition.min_nodes)
    most = max(least, job.nodes)
    if partition.max_nodes is not None:
        most = min(most, partition.max_nodes)
    return Want(least, most, most)


def select(
    machine: Machine, job: Job, partition: Partition, candidates: int, usage: Usage, weights: list[int]
) -> dict[int, int] | None:
    """The nodes for a job among the candidates and its CPUs on each, or None.

    Where jobs are suspended for others it counts which cores they hold.
    """
    if machine.settings.gang:
        from .gang import place

        found = place(machine, job, partition, candidates, usage, weights)
        return found[0] if found is not None else None
    return select_from(machine, job, partition, candidates, usage, weights)


def select_from(
    machine: Machine, job: Job, partition: Partition, candidates: int, usage: Usage, weights: list[int]
) -> dict[int, int] | None:
    """The same on what is free.

    The job must also fit as if no CPU were in use (memory and GPUs are): the original tries that first, until
    24.11 where no jobs share CPUs.
    """
    want = wanted(job, partition)
    if candidates.bit_count() < want.least or job.required & ~candidates:
        return None
    usable = [i for i in members(candidates) if has_room(machine, job, i, usage)]
    if len(usable) < want.least:
        return None
    free = offers_of(machine, job, partition, usable, usage, everything=False)
    if machine.settings.since(26, 5) and want.most == 1:
        return first_that_fits(machine, job, usable, free, weights)
    if job.gpus:
        lighten(machine, job, partition, usable, usage, weights)
    chosen = choose(job, free, want, weights, machine)
    if chosen is None or job.whole or machine.settings.since(24, 11):
        return chosen  # a whole-node job that fits the idle nodes fits all of them
    all_cpus = offers_of(machine, job, partition, usable, usage, everything=True)
    if choose(job, all_cpus, want, weights, machine) is None:
        return None
    return deal(job, chosen, machine)


def first_that_fits(
    machine: Machine, job: Job, usable: list[int], free: dict[int, int], weights: list[int]
) -> dict[int, int] | None:
    """The first node in the order of weights that will do (since 26.05)."""
    for i in sorted(usable, key=lambda i: weights[i]):
        if job.required and not job.required >> i & 1:
            continue
        if free.get(i, 0) >= job.cpus:
            need = -(-max(job.cpus, job.node_cpus) // machine.nodes[i].threads) * machine.nodes[i].threads
            return {i: free[i] if job.whole else need}
    return None


def plain_weight(machine: Machine, i: int) -> int:
    """The weight of a node as configured, above a byte that GPUs lower."""
    return (machine.nodes[i].weight << 16) | 0xFF


COMPLETING = 0x100
"""By what a completing node is heavier in a test for now (since 23.11)."""


def lighten(
    machine: Machine, job: Job, partition: Partition, usable: list[int], usage: Usage, weights: list[int]
) -> None:
    """A job with GPUs makes the nodes that could take it lighter; they stay so for whoever is tested next.

    That is by the GPUs that it would get: on whole nodes all.
    """
    for i in offers_of(machine, job, partition, usable, usage, everything=True):
        gpus = machine.nodes[i].gpus - usage.gpus[i] if job.whole else job.gpus
        weights[i] = (weights[i] & ~0xFF) | (0xFF - gpus)


def offers_of(
    machine: Machine, job: Job, partition: Partition, usable: list[int], usage: Usage, *, everything: bool
) -> dict[int, int]:
    """CPUs that each usable node offers, as it is or as if no CPU were in use."""
    offers = {}
    for i in usable:
        cpus = offer(machine, job, partition, i, usage, everything)
        if cpus:
            offers[i] = cpus
    return offers


def has_room(machine: Machine, job: Job, i: int, usage: Usage) -> bool:
    """Whether memory and GPUs of node i allow at least one task."""
    node = machine.nodes[i]
    if machine.settings.counts_memory:
        need = job.memory * job.cpus_per_task if job.per_cpu else job.memory
        if need and node.memory - usage.memory[i] < need:
            return False
        if not need and usage.memory[i]:
            return False
    if job.gpus and node.gpus - usage.gpus[i] < job.gpus:
        return False
    return job.features <= node.features


def unfit(machine: Machine, job: Job) -> int:
    """Nodes that the job could never have: too few CPUs or too little memory in all, or not its features."""
    need = job.memory * job.node_cpus if job.per_cpu else job.memory
    return sum(
        1 << i
        for i, node in enumerate(machine.nodes)
        if node.cpus < job.node_cpus or node.memory < need or not job.features <= node.features
    )


def has_others(machine: Machine, partition: Partition, i: int, usage: Usage) -> bool:
    """Whether jobs run on node i with whom those of a partition are on no node.

    Jobs that all share their CPUs (FORCE) are not beside any that share none; these not beside jobs of other
    partitions of which two may have the same CPU.
    """
    for other in machine.partitions.values():
        apart = not other.forced if partition.forced else other.sharing > 1 and other.name != partition.name
        if apart and usage.in_partition[i, other.name] > 0:
            return True
    return False


def offer(machine: Machine, job: Job, partition: Partition, i: int, usage: Usage, everything: bool) -> int:
    """CPUs that node i offers the job; 0 keeps it out."""
    if job.whole and usage.cpus[i] and not everything:
        return 0
    if not job.whole and has_others(machine, partition, i, usage):
        return 0
    node = machine.nodes[i]
    used = 0 if everything else -(-usage.cpus[i] // node.threads) * node.threads
    cpus = node.cpus - used
    if partition.max_cpus_per_node is not None:
        mine = usage.in_partition[i, partition.name] if not everything else 0
        if job.whole and cpus + mine > partition.max_cpus_per_node:
            return 0
        cpus = min(cpus, max(0, partition.max_cpus_per_node - mine))
    least = max(job.cpus if job.nodes == 1 else 1, job.node_cpus)
    if cpus < least:
        return 0
    if machine.settings.counts_memory and job.per_cpu:
        free = node.memory - usage.memory[i]
        if job.whole and job.memory * cpus > free:
            return 0
        while cpus > 0 and job.memory * cpus > free:
            cpus = max(0, cpus - node.threads)
    cpus -= cpus % job.cpus_per_task if job.cpus_per_task > 1 else 0
    tasks = cpus // job.cpus_per_task
    if tasks < (job.tasks if job.nodes == 1 else 1):
        return 0
    if job.gpus and (job.nodes == 1 or job.tasks in (1, job.nodes)):  # cores beside GPUs: only those it needs
        cpus = min(cpus, (job.tasks if job.nodes == 1 else 1) * job.cpus_per_task)
    return cpus
