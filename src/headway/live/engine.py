"""The engine of one live cluster: a simulation whose jobs are not known before they come.

The policy is prepared for jobs of every kind that may come, and each job gets its column of the tables when
it is submitted. Times are µs on a clock that begins with the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from headway.engine.forgetting import drop_columns, drop_runs
from headway.engine.local import JOIN
from headway.engine.setup import Jobs, grow, make_state
from headway.engine.side_by_side import next_event, open_at
from headway.engine.tables import Fault, Phase, State, Step
from headway.live.task import Task
from headway.platform import Cluster as Site
from headway.platform import Platform
from headway.policies.grid.composed.cluster import Cluster, Shape, Submission
from headway.policies.grid.composed.foresight import Copy
from headway.policies.prepare import UNBOUNDED, Arrivals, Prepared
from headway.policies.spec import Spec
from headway.units import NEVER

PREPARED_FOR = 256
"""Jobs that the notes of a policy are laid out for at first."""
KNOWN_ROWS = 1000
"""Kinds of jobs whose rows are kept."""
MOST_INSTANTS = 200_000
"""Instants that a policy of the user's own is run ahead for."""


@dataclass(frozen=True)
class Job:
    """A job as the policy sees it; times in µs at speed 1 on the task's own size."""

    walltime: int
    shape: Shape
    runtime: int | None = None
    """None: until it is told to have ended."""
    deadline: int = -1
    urgent: bool = False
    memory_kb: int = -1

    @classmethod
    def of(cls, task: Task, shape: Shape, runtime: int | None, epoch: int = 0) -> Job:
        """A task of a size, on a clock whose 0 is ``epoch`` on that of deadlines."""
        deadline = -1 if task.deadline is None else task.deadline - epoch
        memory = -1 if task.memory_mb is None else task.memory_mb * 1024
        return cls(task.walltime, shape, runtime, deadline, task.urgent, memory)


def arrivals_of(jobs: list[Job], site: Site) -> Arrivals:
    """Jobs as the preparation of a policy looks at them."""
    count = len(jobs)
    walltime = np.array([job.shape.time(job.walltime) for job in jobs], np.int64)
    extra: dict[str, Any] = {
        "urgent": np.array([job.urgent for job in jobs], np.bool_),
        "deadline": np.array([job.deadline for job in jobs], np.int64),
        "memory_kb": np.array([job.memory_kb for job in jobs], np.int64),
        "file_place": np.arange(count),
    }
    procs = np.array([job.shape.procs for job in jobs], np.int64)
    return Arrivals(np.zeros(count, np.int64), procs, walltime, walltime, extra, Platform((site,)))


class Engine(Cluster):
    """The simulation of the cluster, whose jobs are not known beforehand."""

    def __init__(self, site: Site, spec: Spec, prepared: Prepared, may_stop: bool = True) -> None:
        column = np.zeros(PREPARED_FOR, np.int64)
        super().__init__(
            site.name, prepared, spec.policy.as_local(), Jobs(*(column.copy() for _ in range(5)))
        )
        self.site, self.spec = site, spec
        self.rows: dict[tuple[int, int, bool, int], Any] = {}
        """The policy's rows of jobs that are alike but for their size."""
        self.plain_times: bool | None = None
        """Whether all times that the policy knows of a job are its walltime; None: not yet looked."""
        self.live: dict[int, Job] = {}
        self.jobs = SimpleNamespace(walltime={}, runtime={}, ids=None)  # type: ignore[assignment]
        self.tried_last = -1
        """The job that was last put into a column."""
        self.own = spec.policy.live_hook(prepared, self.known, may_stop)
        """A policy of the user's own, in the place of a compiled one."""
        if self.own is not None:
            self.hook = self.own
            self.local = self.kind = replace(self.kind, request=self.own.request)

    def known(self, column: int) -> Mapping[str, int]:
        """What is known of the job of a column beside its size and times."""
        number = self.of_column[column] if column < len(self.of_column) else self.tried_last
        job = self.live.get(number)
        if job is None:
            return {"job": number}
        about = {"deadline": job.deadline, "urgent": int(job.urgent), "requested_memory_kb": job.memory_kb}
        return {"job": number, **about}

    def know(self, number: int, job: Job) -> None:
        """Take note of a job that may be submitted, or only tried."""
        self.live[number] = job
        self.jobs.walltime[number] = job.walltime
        # One that nobody knows is without bound on every size: submitting says so.
        self.jobs.runtime[number] = job.walltime if job.runtime is None else job.runtime

    def forget(self, number: int) -> None:
        """Nothing more will be asked about a job."""
        known: tuple[Any, ...] = (self.live, self.jobs.walltime, self.jobs.runtime, self.here)
        for each in known:
            each.pop(number, None)

    def drop_over(self) -> Any:
        """Take the jobs that are over out of the tables; the new number of each run, -1 if it went."""
        self.settle()
        state = self.state
        stays = np.isin(
            state.jobs.phase[: state.clock.last_new],
            (Phase.WAITING, Phase.RUNNING, Phase.SUSPENDED),
        )
        runs = drop_runs(state, self.world, self.kind, stays[state.runs.job[: state.clock.runs]])
        columns = self.submitted
        drop_columns(state, self.kind, stays, columns, (self.world.runtime, self.requested))
        self.of_column = columns[stays].tolist()
        for number in set(columns.tolist()) - set(self.of_column):  # one that was submitted again stays
            self.forget(number)
        for column, number in enumerate(self.of_column):
            self.here[number].column = column
        self.version += 1
        return runs

    def add(self, state: State, job: int, shape: Shape) -> int:
        self.of_log = _OneColumn(self._rows(job))
        self.tried_last = job
        return super().add(state, job, shape)

    def _rows(self, number: int) -> Any:
        """The policy's rows of a job: as if it were in a log with an urgent job beside it."""
        job = self.live[number]
        if self.plain_times is None:
            made = [self._made_rows(Job(time, Shape(1, 1, 1), memory_kb=1)) for time in (1000, 7000)]
            self.plain_times = [[rows[row] for row in self.kind.times] for rows in made] == [
                [time] * len(self.kind.times) for time in (1000, 7000)
            ]
        alike = (0 if self.plain_times else job.walltime, job.deadline, job.urgent, job.memory_kb)
        if alike not in self.rows:
            if len(self.rows) > KNOWN_ROWS:
                self.rows.clear()
            self.rows[alike] = self._made_rows(job)
        rows = self.rows[alike]
        if self.plain_times:
            rows[list(self.kind.times)] = job.walltime
        if self.spec.name == "redirection":
            from headway.policies.redirection.tables import RedirectionJobs

            rows[RedirectionJobs["file_place"]] = number
        return rows

    def _made_rows(self, job: Job) -> Any:
        plain = Job(job.walltime, Shape(1, 1, 1), None, job.deadline, job.urgent, job.memory_kb)
        beside = Job(job.walltime, Shape(1, 1, 1), None, -1, True, 1)
        arrivals = arrivals_of([plain, beside], self.site)
        prepared = self.spec.policy.prepare_joining(arrivals, self.site.procs)
        walltime, zero = np.array([job.walltime, job.walltime], np.int64), np.zeros(2, np.int64)
        jobs = Jobs(zero, zero + 1, walltime, walltime, prepared.plan)
        return make_state(jobs, prepared.setup, 1)[0].jobs[:, 0].copy()

    def submit(self, job: int, shape: Shape) -> None:
        super().submit(job, shape)
        if self.live[job].runtime is None:
            self.world.runtime[self.here[job].column] = UNBOUNDED

    def submit_all(self, jobs: Sequence[tuple[int, Job]]) -> None:
        """Hand many jobs over at once: what :meth:`submit` does with each, in one go over the tables."""
        assert self.is_open
        self.settle()
        first, count = int(self.state.clock.last_new), len(jobs)
        while self.state.clock.live_room < 2 * (first + count + len(self.here)):
            self.state, self.world = grow(self.state, self.world)
        while self.state.jobs.shape[1] < first + count + 1:
            self.widen()
        table, columns = self.state.jobs, slice(first, first + count)
        rows = np.setdiff1d(np.arange(table.shape[0]), self.kind.not_of_jobs)
        for number, job in jobs:
            self.know(number, job)
        table[rows, columns] = np.stack([self._rows(number).copy() for number, _ in jobs], axis=1)[rows]
        table.submit[columns] = self.state.clock.now
        table.phase[columns] = Phase.WAITING
        table.procs[columns] = [job.shape.procs for _, job in jobs]
        for row in self.kind.times:
            logged = table[row, columns].tolist()
            table[row, columns] = [job.shape.time(time) for (_, job), time in zip(jobs, logged, strict=True)]
        if self.kind.looks_at_newcomers:
            for column in range(first, first + count):
                self.kind.request(int(self.state.clock.now), self.state, column, JOIN)
        self.requested[columns] = [job.shape.time(job.walltime) for _, job in jobs]
        self.world.runtime[columns] = [
            UNBOUNDED if job.runtime is None else job.shape.time(job.runtime) for _, job in jobs
        ]
        self.of_column += [number for number, _ in jobs]
        places = enumerate(jobs, first)
        self.here |= {number: Submission(column, job.shape) for column, (number, job) in places}
        self.state.clock.last_new = first + count
        self.state.clock.waits += count
        self.version += 1


class _OneColumn:
    """A table of job rows in which every job has the same column."""

    def __init__(self, column: Any) -> None:
        self.column = column

    def __getitem__(self, place: tuple[Any, int]) -> Any:
        return self.column[place[0]]


class OwnCopy(Copy):
    """A copy of a cluster under a policy of the user's own, which is copied too."""

    def renew(self, t: int) -> None:
        super().renew(t)
        assert isinstance(self.cluster, Engine) and self.cluster.own is not None
        self.own = self.cluster.own.copied()

    def turn(self, t: int) -> None:
        self.own(t, self.state)
        if self.state.clock.fault != Fault.NONE:
            raise self.refusal()

    def completion(self, column: int) -> int:
        """Each instant is a call of the policy; one that lets a job wait through very many never runs it."""
        for _ in range(MOST_INSTANTS):
            if self.state.jobs.phase[column] == Phase.DONE:
                return int(self.state.runs.end[self.state.jobs.run[column]])
            t = int(next_event(self.state, self.world))
            if t >= NEVER:
                break
            while open_at(self.state, self.world, t) == Step.GROW:
                self.grow()
            self.turn(t)
        return NEVER
