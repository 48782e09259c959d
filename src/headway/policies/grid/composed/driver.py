"""One clock over the clusters of a grid: each is opened at the instant that is chosen for all.

next instant   the first of: something happens on a cluster, a job is submitted, a reallocation event
in it          what is due ends; local jobs go to their cluster, the others to the agent; the event;
               then the policy of each cluster in which something happened has its turn, and starts jobs
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from headway.engine.drive import Jobs, Progress
from headway.engine.tables import FINISHED, WAITS, Table
from headway.policies.grid.composed.cluster import Cluster
from headway.policies.grid.composed.server import ClusterServer
from headway.policies.grid.middleware import Agent
from headway.units import NEVER

LOOK = 64
"""Instants between two reports of progress."""
AT_THE_AGENT = -1
"""The home of a job that goes through the agent."""


@dataclass
class Grid:
    """The clusters, their servers and the agent in the course of a run."""

    jobs: Jobs
    homes: Table
    clusters: Sequence[Cluster]
    servers: Sequence[ClusterServer]
    agent: Agent
    period: int
    """Time between reallocation events (µs); 0: there are none."""
    refused: list[int] = field(default_factory=list)
    """Tasks that no cluster took."""
    instants: int = 0
    waits_sum: int = 0
    waits_max: int = 0
    last_event: int = 0

    def run(self, progress: Progress | None = None) -> None:
        """Simulate until nothing more happens."""
        arrived = t = 0
        while True:
            submit = int(self.jobs.submit[arrived]) if arrived < len(self.jobs) else NEVER
            event = (t // self.period + 1) * self.period if self.watchful else NEVER
            t = min(submit, event, *(cluster.following for cluster in self.clusters))
            if t == NEVER:
                break
            for server in self.servers:
                server.now = t
                if server.cluster.following == t:
                    server.cluster.open(t)
            while arrived < len(self.jobs) and self.jobs.submit[arrived] == t:
                self.welcome(arrived)
                arrived += 1
            if self.watchful and t % self.period == 0 and t > self.last_event:
                self.last_event = t
                self.agent.reallocate(t)
            self.count()
            for cluster in self.clusters:
                if cluster.is_open:
                    cluster.close()
            if progress is not None and self.instants % LOOK == 0:
                progress(self.finished(), len(self.jobs))
        if progress is not None:
            progress(self.finished(), len(self.jobs))

    @property
    def watchful(self) -> bool:
        """Whether there are events, and the agent has tasks that may wait."""
        return self.period > 0 and self.agent.looks_after > 0

    def welcome(self, job: int) -> None:
        """A local job goes to its cluster, any other to the agent."""
        home = int(self.homes[job])
        if home != AT_THE_AGENT:
            self.servers[home].place(job, int(self.jobs.procs[job]))
        elif self.agent.arrive(job) is None:
            self.refused.append(job)

    def count(self) -> None:
        """Take note of who waits before the policies' turns."""
        waiting = sum(int(cluster.state.clock[WAITS]) for cluster in self.clusters)
        self.instants += 1
        self.waits_sum += waiting
        self.waits_max = max(self.waits_max, waiting)

    def finished(self) -> int:
        """Jobs that have ended so far."""
        return sum(int(cluster.state.clock[FINISHED]) for cluster in self.clusters) + len(self.refused)
