"""Preemption by suspension, section 12 (ii): a job may start on the cores of lower tiers' jobs.

Here it counts which cores a job holds, not only how many: a job on top of a suspended one shares its cores.
A suspended job keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from .machine import Allocation, Job, Machine, Partition, members
from .select import select_from
from .usage import Usage

Cores = list[int]
"""For each node the cores in use, as bits."""


def cores_of(machine: Machine, running: Iterable[Allocation]) -> Cores:
    used = [0] * len(machine.nodes)
    for held in running:
        for i, cores in held.cores.items():
            used[i] |= cores
    return used


def union(one: Cores, other: Cores) -> Cores:
    return [a | b for a, b in zip(one, other, strict=True)]


def place(
    machine: Machine, job: Job, partition: Partition, candidates: int, usage: Usage, weights: list[int]
) -> tuple[dict[int, int], dict[int, int]] | None:
    """CPUs and cores on each node chosen: idle ones, or those of tiers below.

    First cores that nobody holds.  Else cores held by none that the job cannot suspend (higher tiers, its own
    tier, partitions whose jobs may not be preempted), and of those as few tiers below as will do.
    """

    def attempt(used: Cores) -> tuple[dict[int, int], Cores] | None:
        imagined = Usage(machine)
        imagined.memory, imagined.gpus = usage.memory, usage.gpus
        imagined.cpus = [cores.bit_count() for cores in used]
        chosen = select_from(machine, job, partition, candidates, imagined, weights)
        return (chosen, used) if chosen is not None else None

    held = list(usage.held)
    everyone = cores_of(machine, held)
    found = attempt(everyone)
    if found is None:
        firm: list[Allocation] = []
        below: list[Allocation] = []
        for one in held:
            other = machine.partitions[one.partition]
            mine = other.tier >= partition.tier or other.preempt_mode == "OFF"
            (firm if mine else below).append(one)
        found = attempt(cores_of(machine, firm))
        if found is None:
            return None
        for tier in sorted({machine.partitions[one.partition].tier for one in below}, reverse=True):
            level = [one for one in below if machine.partitions[one.partition].tier == tier]
            fewer = attempt(union(found[1], cores_of(machine, level)))
            if fewer is None:
                break
            found = fewer
    chosen, used = found
    return chosen, {i: lowest(machine, used[i], i, count) for i, count in chosen.items()}


def lowest(machine: Machine, used: int, i: int, count: int) -> int:
    """The first cores of node i that are not in use."""
    free = [core for core in range(machine.nodes[i].cpus) if not used >> core & 1]
    return sum(1 << core for core in free[:count])


def spread_cores(machine: Machine, nodes: int, cpus: dict[int, int]) -> dict[int, int]:
    """Cores where nothing better is known: the first of each node."""
    return {i: lowest(machine, 0, i, cpus[i]) for i in members(nodes)}
