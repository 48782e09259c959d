"""Choosing nodes, sections 6.2 and 6.3: what a node offers a job, and best fit over runs of equal weight."""

from __future__ import annotations

from dataclasses import dataclass

from .machine import Job, Machine, Partition, members
from .usage import Usage


@dataclass(frozen=True)
class Want:
    """How many nodes: at least, at most, and the number aimed at."""

    least: int
    most: int
    aim: int


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

    The job must also fit as if no CPU were in use (memory and GPUs are): the original tries that first.
    """
    want = wanted(job, partition)
    if candidates.bit_count() < want.least or job.required & ~candidates:
        return None
    usable = [i for i in members(candidates) if has_room(machine, job, i, usage)]
    if len(usable) < want.least:
        return None
    if job.gpus:
        lighten(machine, job, partition, usable, usage, weights)
    free = offers_of(machine, job, partition, usable, usage, everything=False)
    chosen = choose(job, free, want, weights, machine)
    if chosen is None or job.whole:  # a whole-node job that fits the idle nodes fits all of them
        return chosen
    all_cpus = offers_of(machine, job, partition, usable, usage, everything=True)
    return chosen if choose(job, all_cpus, want, weights, machine) is not None else None


def plain_weight(machine: Machine, i: int) -> int:
    """The weight of a node as configured, above a byte that GPUs lower."""
    return (machine.nodes[i].weight << 8) | 0xFF


def lighten(
    machine: Machine, job: Job, partition: Partition, usable: list[int], usage: Usage, weights: list[int]
) -> None:
    """A job with GPUs makes the nodes that could take it lighter; they stay so for whoever is tested next."""
    for i in offers_of(machine, job, partition, usable, usage, everything=True):
        weights[i] = (weights[i] & ~0xFF) | (0xFF - job.gpus)


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


def offer(machine: Machine, job: Job, partition: Partition, i: int, usage: Usage, everything: bool) -> int:
    """CPUs that node i offers the job; 0 keeps it out."""
    if job.whole and usage.cpus[i] and not everything:
        return 0
    node = machine.nodes[i]
    used = 0 if everything else -(-usage.cpus[i] // node.threads) * node.threads
    cpus = node.cpus - used
    if partition.max_cpus_per_node is not None:
        mine = usage.in_partition[i, partition.name] if not everything else 0
        if job.whole and cpus + mine > partition.max_cpus_per_node:
            return 0
        cpus = min(cpus, max(0, partition.max_cpus_per_node - mine))
    least = job.cpus if job.nodes == 1 else job.cpus_per_task
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


def choose(
    job: Job, offers: dict[int, int], want: Want, weights: list[int], machine: Machine
) -> dict[int, int] | None:
    """Best fit, and where it fails again without the nodes that offer fewest CPUs.

    What an attempt took from a node stays its offer in the next attempt, as in the original.
    """
    if len(offers) < want.least or any(i not in offers for i in members(job.required)):
        return None
    offers = dict(offers)
    pool = set(offers)
    most = want.most
    if job.tasks and most > job.tasks:
        most = max(job.tasks, want.least)
    want = Want(want.least, most, want.aim)
    chosen = best_fit(job, pool, offers, want, weights, machine)
    if chosen is not None:
        return chosen
    left = len(pool)
    if left <= want.least:
        return best_fit(job, pool, offers, want, weights, machine)
    largest = max(offers.values())
    for few in range(1, largest):
        changed = False
        for i in sorted(pool):
            if 0 < offers[i] <= few and not job.required >> i & 1:
                changed = True
                pool.discard(i)
                left -= 1
                if left <= want.least:
                    break
        if not changed and few != 1:
            continue
        chosen = best_fit(job, pool, offers, want, weights, machine)
        if chosen is not None or left <= want.least:
            return chosen
    return None


@dataclass
class Run:
    """Nodes that follow each other by index and have equal weight."""

    weight: int
    nodes: list[int]
    cpus: int = 0
    required: int = -1
    """First required node in it, or -1."""


def runs_of(job: Job, pool: set[int], offers: dict[int, int], weights: list[int]) -> list[Run]:
    """The pool cut into runs; required nodes are already taken but hold a run together."""
    runs: list[Run] = []
    last = -2
    for i in sorted(pool):
        if i != last + 1 or not runs or weights[i] != runs[-1].weight:
            runs.append(Run(weights[i], []))
        last = i
        if job.required >> i & 1:
            if runs[-1].required < 0:
                runs[-1].required = i
            continue
        runs[-1].nodes.append(i)
        runs[-1].cpus += offers[i]
    return [run for run in runs if run.nodes]


def best_fit(
    job: Job, pool: set[int], offers: dict[int, int], want: Want, weights: list[int], machine: Machine
) -> dict[int, int] | None:
    """Section 6.3 without topology: fill from the best run, then the next best, until all is found."""
    if len(pool) < want.least:
        return None
    taken: dict[int, int] = {}
    state = Need(job, max(want.least, want.aim), job.cpus, want.least, want.most, machine)
    for i in members(job.required):
        state.take(i, offers, taken)
    if job.required and state.met():
        return taken
    runs = runs_of(job, pool, offers, weights)
    while runs and state.most > 0:
        run = best_run(runs, state)
        fill(run, state, offers, taken)
        if state.met():
            return taken
        runs.remove(run)
    return None


class Need:
    """What is still to be found for a job."""

    def __init__(self, job: Job, nodes: int, cpus: int, least: int, most: int, machine: Machine) -> None:
        self.job = job
        self.nodes = nodes
        self.cpus = cpus
        self.least = least
        self.most = most
        self.machine = machine

    def met(self) -> bool:
        return self.nodes <= 0 and self.cpus <= 0

    def take(self, i: int, offers: dict[int, int], taken: dict[int, int]) -> None:
        """Take node i: all CPUs still needed, but one for each node still to come; whole nodes in full."""
        cpus = offers[i]
        if not self.job.whole:
            spare = max(self.least - 1, 0) * self.machine.nodes[i].threads
            if cpus > self.cpus - spare:
                cpus = max(self.cpus - spare, 1)
                offers[i] = cpus
        taken[i] = cpus
        self.cpus -= cpus
        self.nodes -= 1
        self.least -= 1
        self.most -= 1


def best_run(runs: list[Run], need: Need) -> Run:
    best: Run | None = None
    best_enough = False
    for run in runs:
        enough = run.cpus >= need.cpus and len(run.nodes) >= need.nodes
        if best is None or (best.required < 0 <= run.required) or run.weight < best.weight:
            better = True
        elif run.weight == best.weight:
            better = (enough and (not best_enough or run.cpus < best.cpus)) or (
                not enough and run.cpus > best.cpus
            )
        else:
            better = False
        if better:
            best, best_enough = run, enough
    assert best is not None
    return best


def fill(run: Run, need: Need, offers: dict[int, int], taken: dict[int, int]) -> None:
    """Take nodes of a run: from the low index up, around a required node, or the tightest fit."""
    if run.required >= 0:
        order = [i for i in run.nodes if i > run.required]
        order += [i for i in reversed(run.nodes) if i < run.required]
        for i in order:
            if need.most == 0 or need.met():
                return
            need.take(i, offers, taken)
        return
    order = run.nodes
    if need.nodes <= 1:
        fitting = [i for i in order if offers[i] >= need.cpus]
        if fitting:
            order = [min(fitting, key=lambda i: (offers[i], i))]
    for i in order:
        if need.most == 0 or need.met():
            return
        if need.most == 1 and offers[i] < need.cpus:
            continue
        need.take(i, offers, taken)
