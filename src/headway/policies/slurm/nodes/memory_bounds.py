"""What the largest memory of a partition (MaxMemPerCPU, MaxMemPerNode) makes of what jobs ask for.

A job that asks for more memory for each CPU than a partition gives is not refused: it gets as many more CPUs
for each task, and as much less memory for each::

    MaxMemPerCPU=4000    2 tasks, 1 CPU and 10,000 MB each  ->  2 tasks, 3 CPUs each, 3,334 MB for each CPU

A job that asks for memory of each node gets at least so many CPUs there that the bound holds, and with
--ntasks-per-node as many for each task as these are. Only a bound on the memory of a node keeps a job out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headway.engine.tables import Table
from headway.policies.slurm.tables.controller import UNSET
from headway.policies.slurm.tables.jobs import Adapted
from headway.site import Site
from headway.site.model import Partition


class Asked(NamedTuple):
    """What jobs ask for, an entry for each; -1: nothing."""

    cpus: Table
    tasks: Table
    cpus_per_task: Table
    tasks_per_node: Table
    max_nodes: Table
    memory_node: Table
    """MB; 0: all that a node has."""
    memory_cpu: Table
    exclusive: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, column: Callable[[str, int], Table], procs: Table) -> Asked:
        """From the columns of a log; ``column`` gives one, or a value for all where there is none."""
        cpus, per_task = column("cpus", UNSET), np.maximum(column("cpus_per_task", 1), 1)
        cpus, tasks, most = np.where(cpus > 0, cpus, procs), column("tasks", UNSET), column("max_nodes", 0)
        cpus = np.maximum(cpus, column("cpus_with_gpus", 0))
        return cls(
            cpus,
            np.where(tasks > 0, tasks, cpus // per_task),
            per_task,
            column("tasks_per_node", UNSET),
            np.where(most > 0, most, UNSET),
            column("memory_node_mb", UNSET),
            column("memory_cpu_mb", UNSET),
            column("exclusive", 0) > 0,
        )

    def node_cpus(self, per_task: Table) -> Table:
        """CPUs that each node must give a job at least: those of a task, or of all that a node is to get."""
        return per_task * np.where((self.tasks_per_node > 0) & (self.tasks > 1), self.tasks_per_node, 1)

    def memory(self, by_cpu: Table | int, by_node: Table | int) -> tuple[Table, Table]:
        """MB for each CPU (0: it is counted by node) and for each node; who asks for none has the given."""
        none = (self.memory_cpu < 0) & (self.memory_node < 0)
        return (
            np.where(none, by_cpu, np.maximum(self.memory_cpu, 0)),
            np.where(none, by_node, np.maximum(self.memory_node, 0)),
        )

    def of_rows(self, rows: Table) -> Asked:
        """What some of the jobs ask for."""
        return Asked(*(column[rows] for column in self))  # type: ignore[arg-type]


class InPartition(NamedTuple):
    """What jobs ask for in a partition."""

    cpus: Table
    cpus_per_task: Table
    memory_cpu: Table
    node_cpus: Table
    """CPUs of each node at least."""
    allowed: npt.NDArray[np.bool_]


class Idle(NamedTuple):
    """Which jobs leave threads of their cores idle, and how many threads a core has."""

    alone: npt.NDArray[np.bool_]
    """They use one thread of each core."""
    tasks: npt.NDArray[np.bool_]
    """Each of their tasks has cores of its own."""
    threads: int

    @classmethod
    def of(cls, column: Callable[[str, int], Table], site: Site) -> Idle:
        """From the columns of a log, as :meth:`Asked.of`."""
        threads = max((node.threads_per_core for node in site.nodes), default=1)
        everybody = "CR_ONE_TASK_PER_CORE" in site.config.list("SelectTypeParameters")
        some = column("one_thread", 0) > 0, (column("one_task_core", 0) > 0) | everybody
        return cls(some[0] & (threads > 1), some[1] & (threads > 1), threads)

    def whole_cores(self, cpus: Table, per_task: Table) -> Table:
        """CPUs that jobs hold for those that they ask for: all threads of their cores."""
        cores = np.where(self.alone, per_task * self.threads, -(-per_task // self.threads) * self.threads)
        return np.where((self.alone | self.tasks) & (cpus > 0), -(-cpus // per_task) * cores, cpus)

    def of_rows(self, rows: Table | npt.NDArray[np.bool_]) -> Idle:
        """Of some of the jobs."""
        return Idle(self.alone[rows], self.tasks[rows], self.threads)


def bounds(site: Site, partition: Partition) -> tuple[int, int]:
    """MB for each CPU and for each node at most, 0: no bound; the partition's own one before the site's."""
    own = partition.max_mem_per_cpu_mb or 0, partition.max_mem_per_node_mb or 0
    if any(own):
        return own
    return site.config.number("MaxMemPerCPU"), site.config.number("MaxMemPerNode")


def least_memory(site: Site, first: Table, asked: Asked, node_cpus: Table) -> Table:
    """MB that a node must have in all to be of use for a job; ``first`` are the jobs' first partitions."""
    cpu, node = np.array([site.default_memory(one) for one in site.partitions], np.int64).T[:, first]
    by_cpu, by_node = asked.memory(cpu, node)
    return np.where(by_cpu > 0, by_cpu * node_cpus, by_node)


def adapted(site: Site, partition: Partition, asked: Asked) -> InPartition:
    """What a partition makes of what jobs ask for."""
    per_cpu, per_node = bounds(site, partition)
    each, yes = asked.node_cpus(asked.cpus_per_task), np.ones(len(asked.cpus), np.bool_)
    if not per_cpu and not per_node:
        return InPartition(asked.cpus, asked.cpus_per_task, asked.memory_cpu, each, yes)
    by_cpu, by_node = _memory(site, partition, asked)
    if per_cpu:
        ratio = np.where(by_cpu > per_cpu, -(-by_cpu // per_cpu), 1)
        on_node = np.where(by_cpu > 0, 1, -(-by_node // per_cpu))
        of_task = np.where(asked.tasks_per_node > 0, -(-on_node // np.maximum(asked.tasks_per_node, 1)), 1)
        per_task = np.maximum(asked.cpus_per_task * ratio, of_task)
        return InPartition(
            np.where(ratio > 1, asked.tasks * per_task, asked.cpus),
            per_task,
            np.where(ratio > 1, -(-by_cpu // np.maximum(ratio, 1)), asked.memory_cpu),
            np.maximum(on_node, asked.node_cpus(asked.cpus_per_task * ratio)),
            yes,
        )
    on_node = np.where(by_cpu > 0, by_cpu * _cpus_of_node(site, partition, asked), by_node)
    return InPartition(asked.cpus, asked.cpus_per_task, asked.memory_cpu, each, on_node <= per_node)


def by_place(site: Site, lists: Table, asked: Asked) -> Table:
    """[place x Adapted, job] what each partition of a job's list makes of what it asks for.

    ``lists`` [job, place] are partitions, -1 behind the last; there the first one stands once more.
    """
    lists = np.where(lists < 0, lists[:, :1], lists)
    table = np.zeros((len(Adapted) * lists.shape[1], len(lists)), np.int64)
    for place, parts in enumerate(lists.T):
        for part in np.unique(parts).tolist():
            rows = np.flatnonzero(parts == part)
            made = adapted(site, site.partitions[part], asked.of_rows(rows))
            ways = np.stack([made.cpus, made.cpus_per_task, made.memory_cpu, made.node_cpus])
            ways[Adapted["cpus"]] = np.where(made.allowed, made.cpus, UNSET)
            table[len(Adapted) * place : len(Adapted) * (place + 1), rows] = ways
    return table


def _memory(site: Site, partition: Partition, asked: Asked) -> tuple[Table, Table]:
    """MB for each CPU (0: it is counted by node) and for each node that jobs ask for, or have by default."""
    node = site.nodes[partition.nodes[0]] if partition.nodes else None
    whole = 0 if node is None else node.memory_for_jobs_mb
    by_cpu, by_node = asked.memory(*site.default_memory(partition))
    return by_cpu, np.where(by_node == 0, whole, by_node)


def _cpus_of_node(site: Site, partition: Partition, asked: Asked) -> Table:
    """CPUs that jobs have of a node: as many as the first of the partition where they have whole ones."""
    whole = partition.oversubscribe == "EXCLUSIVE"
    spread = np.where(asked.max_nodes > 0, -(-asked.tasks // np.maximum(asked.max_nodes, 1)), 1)
    tasks = np.maximum(np.maximum(asked.tasks_per_node, 1), spread)
    all_of_it = site.nodes[partition.nodes[0]].cpus if partition.nodes else 0
    return np.where(asked.exclusive | whole, all_of_it, tasks * asked.cpus_per_task)
