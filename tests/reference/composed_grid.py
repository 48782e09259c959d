"""A composed grid in Python: a simulation for each cluster, an agent over servers in Python, one clock.

What the compiled loop of :mod:`headway.policies.grid.composed` does, with nothing left out: every estimate
that the agent asks for is made, on a copy that is run on until the job has ended.

next instant   the first of: something happens on a cluster, a job is submitted, a reallocation event
in it          what is due ends; local jobs go to their cluster, the others to the agent; the event;
               then the policy of each cluster in which something happened has its turn, and starts jobs
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

import numpy as np

from headway.engine.setup import Jobs, Progress, Setup
from headway.engine.tables import State, Table
from headway.jit.kernels import as_written
from headway.policies.grid import molding, tables
from headway.policies.grid import notes as memory
from headway.policies.grid.composed.cluster import Cluster, Shape
from headway.policies.grid.composed.foresight import Copy
from headway.policies.grid.composed.setup import gathered
from headway.policies.grid.local_policies import TUNINGS, widest
from headway.policies.grid.middleware import Agent, searched
from headway.policies.grid.moldability import law_of
from headway.policies.grid.notes import NO_ANSWER, STARTED
from headway.policies.grid.setup import MOVE, microseconds_of
from headway.policies.spec import Spec
from headway.units import NEVER

Answer = tuple[int, int]
AT_THE_AGENT = -1
"""The home of a job that goes through the agent."""


class Shaping:
    """How each job may be molded on each cluster; ``rows`` are those of ``moldability``."""

    def __init__(
        self, spec: Spec, rows: dict[int, Table], speeds: Sequence[tuple[int, int]], widest: Sequence[int]
    ) -> None:
        self.spec, self.rows, self.speeds, self.widest = spec, rows, speeds, widest

    def _of(self, row: int, job: int) -> int:
        return int(self.rows[row][job])

    def sizes(self, cluster: int, job: int) -> tuple[int, int]:
        """The fewest and the most processors of a cluster that a job may have; (1, 0) if it cannot run."""
        room = self.widest[cluster]
        if self._of(tables.Tasks["out_of"], job) == 0:
            procs = self._of(tables.Tasks["trace_procs"], job)
            return (procs, procs) if procs <= room else (1, 0)
        limit = self._of(tables.Tasks["limit"], job)
        return 1, min(limit, room) if limit > 0 else room

    def shape(self, cluster: int, job: int, procs: int) -> Shape:
        """A job on so many processors of a cluster."""
        speed, over = self.speeds[cluster]
        of, out_of = self._of(tables.Tasks["of"], job), self._of(tables.Tasks["out_of"], job)
        if out_of == 0:
            return Shape(procs, over, speed)
        logged = self._of(tables.Tasks["speedup"], job), self._of(tables.Tasks["speedup_over"], job)
        here = law_of(self.spec, of, out_of, procs)
        return Shape(procs, *as_written(molding.stretch)(*logged, *here, speed, over))


class ClusterServer:
    """Answers for one cluster, which is number ``number`` of the grid; tasks are jobs by their number."""

    def __init__(self, number: int, cluster: Cluster, shaping: Shaping, method: int) -> None:
        self.number, self.cluster, self.shaping, self.method = number, cluster, shaping, method
        self.trial, self.future = Copy(cluster), Copy(cluster)
        self.foreseen = -1
        """The version of the cluster that ``future`` is a copy of."""
        self.asked = (-1, -1)
        self.known: dict[tuple[int, int], int] = {}
        """Completions of jobs that are not here on so many processors, as last asked for."""
        self.best: dict[int, Answer] = {}
        self.now = 0
        self.estimates = 0

    def estimate(self, task: int) -> Answer:
        """When the task is expected to be completed here, and on how many processors."""
        if task not in self.cluster.here:
            return self.tuned(task)
        if not self.cluster.waits(task):
            return STARTED, 0
        self.cluster.settle()
        submission = self.cluster.here[task]
        if self.foreseen != self.cluster.version:
            self.foreseen = self.cluster.version
            self.future.renew(self.now)
            self.future.begin(self.now)
            self.estimates += 1
        completion = self.future.completion(submission.column)
        return (completion if completion != NEVER else NO_ANSWER), submission.shape.procs

    def submit(self, task: int) -> Answer:
        """Hand the task to the cluster, with the size with which it is completed first."""
        completion, procs = self.tuned(task)
        self.place(task, procs)
        return completion, procs

    def place(self, task: int, procs: int) -> None:
        """Hand the task to the cluster on so many processors."""
        self.cluster.open(self.now)
        self.cluster.submit(task, self.shaping.shape(self.number, task, procs))

    def cancel(self, task: int) -> bool:
        """Take the task away, if it still waits."""
        if task not in self.cluster.here or not self.cluster.waits(task):
            return False
        self.cluster.open(self.now)
        self.cluster.cancel(task)
        return True

    def tuned(self, task: int) -> Answer:
        """The earliest completion of a task that is not here, and its size."""
        self.cluster.settle()
        if self.asked != (self.cluster.version, self.now):
            self.asked = (self.cluster.version, self.now)
            self.known.clear()
            self.best.clear()
        if task not in self.best:
            fewest, most = self.shaping.sizes(self.number, task)
            found = (NO_ANSWER, 0)
            if fewest <= most:
                found = searched()(self, self.number, task, fewest, most, self.method)
            self.best[task] = found if found[0] != NEVER else (NO_ANSWER, 0)
        return self.best[task]

    def completion(self, task: int, procs: int) -> int:
        """When a task that is not here would be completed on so many processors."""
        if (task, procs) not in self.known:
            self.estimates += 1
            self.trial.renew(self.now)
            column = self.trial.begin(self.now, task, self.shaping.shape(self.number, task, procs))
            self.known[task, procs] = self.trial.completion(column)
        return self.known[task, procs]


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

    def run(self) -> None:
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

    @property
    def watchful(self) -> bool:
        """Whether there are events, and the agent has tasks that may wait."""
        return self.period > 0 and bool(self.agent.memory.counts.tasks > 0)

    def welcome(self, job: int) -> None:
        """A local job goes to its cluster, any other to the agent."""
        home = int(self.homes[job])
        if home != AT_THE_AGENT:
            self.servers[home].place(job, int(self.jobs.procs[job]))
        elif self.agent.arrive(job) is None:
            self.refused.append(job)

    def count(self) -> None:
        """Take note of who waits before the policies' turns."""
        waiting = sum(int(cluster.state.clock.waits) for cluster in self.clusters)
        self.instants += 1
        self.waits_sum += waiting
        self.waits_max = max(self.waits_max, waiting)

    def finished(self) -> int:
        """Jobs that have ended so far."""
        return sum(int(cluster.state.clock.finished) for cluster in self.clusters) + len(self.refused)

    @property
    def not_taken(self) -> int:
        """Tasks that no cluster took."""
        return len(self.refused)

    @property
    def estimates(self) -> int:
        """Copies that were run ahead."""
        return sum(server.estimates for server in self.servers)

    @property
    def notes(self) -> memory.Notes:
        """The agent's memory with an entry for each job of the log."""
        tasks, made = self.agent.tasks, self.agent.moves
        known, columns = self.agent.memory, np.zeros((len(memory.Known), len(self.jobs)), np.int64)
        columns[:, tasks] = known.tasks[:, : len(tasks)]
        counts = memory.Counts(known.counts.table.copy())
        counts.moves = len(made)
        log = [[getattr(move, name) for move in made] for name in ("task", *MOVE[1:])]
        return known._replace(
            counts=counts, tasks=memory.Known(columns), moves=memory.Moves(np.array(log, np.int64))
        )


@contextmanager
def composed_in_python(server: type[ClusterServer] = ClusterServer) -> Iterator[None]:
    """Composed grids are run by this module."""

    def drive(run: object, jobs: Jobs, setup: Setup, progress: Progress | None) -> State:
        spec: Spec = run.spec  # type: ignore[attr-defined]
        clusters = [
            Cluster(site.name, prepared, local.policy.as_local(), jobs)
            for site, prepared, local in zip(run.platform.clusters, run.prepared, run.local, strict=True)  # type: ignore[attr-defined]
        ]
        shaping = Shaping(spec, run.rows, run.speeds, widest(spec, run.platform))  # type: ignore[attr-defined]
        method = TUNINGS.index(spec.word("tuning"))
        servers = [server(k, cluster, shaping, method) for k, cluster in enumerate(clusters)]
        agent = Agent(
            servers,
            spec.word("heuristic"),
            spec.word("mode"),
            microseconds_of(spec, "threshold"),
            spec.whole("oldest"),
        )
        period = 0 if spec.word("mode") == "none" else microseconds_of(spec, "period")
        grid = Grid(jobs, tables.Tasks(run.rows).home, clusters, servers, agent, period)  # type: ignore[attr-defined]
        grid.run()
        run.grid = grid  # type: ignore[attr-defined]
        run.room = max(run.room, len(agent.moves))  # type: ignore[attr-defined]
        moved = grid.notes.tasks.times_moved
        return gathered(grid, run._first_pools(), run._told(), moved)  # type: ignore[attr-defined]

    with patch("headway.policies.grid.composed.setup._Run.drive", drive):
        yield
