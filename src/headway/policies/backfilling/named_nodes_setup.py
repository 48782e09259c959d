"""EASY and conservative backfilling on the named nodes of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headway.engine.setup import Setup
from headway.engine.tables import Job, State
from headway.errors import UsageError
from headway.policies.prepare import Arrivals, OnNodes, Prepared, Table
from headway.policies.slurm.policy import Slurm, site_of

if TYPE_CHECKING:
    from headway.platform import Platform
    from headway.policies.policy import Policy
    from headway.policies.slurm.tables.controller import Memory
    from headway.site import Site
    from headway.workload import Workload

PLANNED = 500
"""Reservations that conservative backfilling makes at each event, for the first jobs of the queue: as many
jobs as Slurm's backfill looks at where nothing else is said (bf_max_job_test)."""
ALLOWED: dict[str, tuple[object, ...]] = {
    "order": ("fcfs",),
    "backfill": ("fcfs",),
    "estimate": ("requested",),
    "age": ("none",),
    "dialect": ("textbook",),
    "urgent": ("ignore",),
    "compress": ("early", "scratch"),
    "hole": ("closed",),
}
"""Values that the other parameters may have on named nodes."""


class OnNamedNodes(Slurm):
    """EASY or conservative backfilling that gives jobs the nodes that Slurm would choose for them."""

    takes_cancelled = False

    @property
    def nodes(self) -> str:
        """Whether nodes are given as a ``whole`` or ``shared``."""
        return str(self.params["nodes"])

    @property
    def depth(self) -> int:
        """Reservations at each event."""
        if self.spec.name == "conservative" or self.params.get("depth") == "all":
            return PLANNED
        return min(self.spec.whole("depth"), PLANNED)

    def on(self, platform: Platform, workload: Workload) -> Policy:
        if platform.site is None:
            raise UsageError(
                f"{self.spec.name} with nodes={self.nodes} needs a site, its nodes and partitions: give the "
                "site's folder in place of the log, or the log and --site DIR"
            )
        for name, values in ALLOWED.items():
            if name in self.params and self.params[name] not in values:
                raise UsageError(
                    f"{self.spec.name} with nodes={self.nodes} is for {name}={values[0]} only, not "
                    f"{self.params[name]}; leave {name} out, or count processors (nodes=count)"
                )
        return super().on(platform, workload)

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.backfilling.named_nodes import backfill_on_nodes
        from headway.policies.slurm.setup.site_tables import node_table

        site = site_of(arrivals)
        memory = tables(site, arrivals, self.nodes == "whole", self.depth)
        return Prepared(
            Setup((site.cpus,), backfill_on_nodes, memory=memory, nodes=node_table(site)),
            arrivals.walltime,
            on_nodes=lambda state: where(state, site),
            refused=lambda state, job: ("nodes", "its nodes never have as much as it asks for: not run"),
        )


def tables(site: Site, arrivals: Arrivals, whole: bool, depth: int) -> Memory:
    """The tables of Slurm's rules as far as the choice of nodes needs them, and room for reservations."""
    from headway.policies.slurm.setup.setup import controller
    from headway.policies.slurm.setup.site_tables import node_table
    from headway.policies.slurm.tables.jobs import SlurmJob
    from headway.policies.slurm.tables.passes import Plan
    from headway.policies.slurm.tables.settings import Preemption, Setting

    memory = controller(site, arrivals, 0)
    memory.settings[Setting.BF_MAX_TEST] = depth
    memory.settings[Setting.PREEMPTION] = Preemption.OFF
    if whole:
        memory.jobs[SlurmJob.EXCLUSIVE] = 1
    memory.jobs[SlurmJob.SWITCHES] = 0  # nobody waits for few switches
    memory.jobs[SlurmJob.PARTITION] = first_partitions(memory)
    rows = node_table(site)
    return memory._replace(
        least=rows.copy(),
        instant=rows.copy(),
        claims=np.zeros((depth * len(rows), len(site.nodes)), np.int64),
        plans=np.zeros((len(Plan), depth), np.int64),
        levels=memory.levels[:, :0].copy(),  # nobody is suspended
    )


def first_partitions(memory: Memory) -> Table:
    """The first partition of each job's list that is large and long enough for it; else the first."""
    from headway.policies.slurm.tables.jobs import SlurmJob
    from headway.policies.slurm.tables.sites import Partition

    lists, partitions, jobs = memory.lists[memory.jobs[SlurmJob.PARTITIONS]], memory.partitions, memory.jobs
    found = np.full(jobs.shape[1], -1, np.int64)
    for column in lists.T:
        nodes, longest = partitions[Partition.NODES, column], partitions[Partition.MAX_MINUTES, column]
        most = partitions[Partition.MAX_NODES, column]
        allows = (column >= 0) & (jobs[SlurmJob.MIN_NODES] <= nodes)
        allows &= (most < 0) | (jobs[SlurmJob.MIN_NODES] <= most)
        allows &= (longest < 0) | (jobs[SlurmJob.LIMIT] <= longest)
        found = np.where((found < 0) & allows, column, found)
    return np.where(found < 0, lists[:, 0], found)


def where(state: State, site: Site) -> OnNodes:
    """Where jobs ran."""
    from headway.policies.slurm.tables.jobs import SlurmJob

    return OnNodes(
        nodes=tuple(node.name for node in site.nodes),
        partition=state.memory.jobs[SlurmJob.PARTITION],
        partitions=tuple(partition.name for partition in site.partitions),
        walltime=state.jobs[Job.WALL],
    )
