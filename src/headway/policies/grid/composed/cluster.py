"""One cluster of a composed grid: a simulation of its own, which jobs join and leave while it runs.

Its table of jobs has a column for each submission, in the order of submission here. What the policy knows of
a job (its class, its deadline, how long it takes to swap) was prepared for the whole log and is copied from
there; size and times are those that the job has on this cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from headway.engine.compiled import hook_as_value
from headway.engine.driver import Driver
from headway.engine.local import Local
from headway.engine.setup import Jobs
from headway.engine.tables import JobTable, Phase, State, Table, copy_memory
from headway.policies.prepare import Prepared
from headway.units import NEVER

FIRST_ROOM = 32
"""Live jobs that the tables of a cluster hold at first; they double when more come."""


class Shape(NamedTuple):
    """A job's size on a cluster, and by what its times in the log are multiplied there, as a fraction."""

    procs: int
    by: int
    over: int

    def time(self, logged: int) -> int:
        """A time of the log (µs) as it is here, rounded up to the next microsecond."""
        return -(-logged * self.by // self.over)


@dataclass
class Submission:
    """A job that was handed to the cluster: its column, and how it is shaped here."""

    column: int
    shape: Shape


class Cluster(Driver):
    """The simulation of one cluster."""

    def __init__(self, name: str, prepared: Prepared, local: Local, jobs: Jobs) -> None:
        whole = Jobs(jobs.submit, jobs.procs, jobs.walltime, jobs.runtime, prepared.plan, jobs.ids)
        super().__init__(whole, prepared.setup, local, FIRST_ROOM)
        self.name, self.prepared, self.kind, self.jobs = name, prepared, local, jobs
        self.hook_as_value = hook_as_value(prepared.setup.hook, prepared.setup.memory)
        self.of_log = self.state.jobs.table.copy()
        """[row, job] the policy's rows for every job of the log."""
        self.state.jobs.submit[:] = NEVER
        self.state.jobs.phase[:] = 0
        self.world = self.world._replace(runtime=np.zeros(len(jobs), np.int64))
        self.requested = np.zeros(len(jobs), np.int64)
        """[column] the walltime (µs) with which a job was submitted here."""
        self.of_column: list[int] = []
        """The job of each column."""
        self.here: dict[int, Submission] = {}
        """The jobs that were submitted here and not taken away."""

    def trial_memory(self) -> Any:
        """The policy's own tables as a copy that runs ahead needs them."""
        memory, shorten = self.state.memory, self.kind.trial_memory
        return copy_memory(memory if shorten is None else shorten(memory))

    def waits(self, job: int) -> bool:
        """Whether a job that was submitted here has not started; one that was stopped has."""
        column = self.here[job].column
        return bool(self.state.jobs.phase[column] == Phase.WAITING and self.state.jobs.run[column] < 0)

    def submit(self, job: int, shape: Shape) -> None:
        """Hand a job to the policy, which sees it in its turn."""
        self.make_room()
        column = self.add(self.state, job, shape)
        self.here[job] = Submission(column, shape)
        self.of_column.append(job)
        self.world.runtime[column] = shape.time(int(self.jobs.runtime[job]))
        self.requested[column] = shape.time(int(self.jobs.walltime[job]))

    def rows_of(self, job: int, shape: Shape) -> Table:
        """The column of a job with the size and the times that it has here."""
        rows = self.of_log[:, job].copy()
        rows[JobTable["procs"]] = shape.procs
        for row in self.kind.times:
            rows[row] = shape.time(int(rows[row]))
        return rows

    def add(self, state: State, job: int, shape: Shape) -> int:
        """Write a newcomer into the next column of a table of jobs; the column."""
        return self.place(state, self.rows_of(job, shape))

    def cancel(self, job: int) -> None:
        """Take a waiting job away."""
        self.withdraw(self.here.pop(job).column)

    def forget_newcomer(self, column: int) -> None:
        last = int(self.state.clock.last_new) - 1
        self.requested[column:last] = self.requested[column + 1 : last + 1]
        super().forget_newcomer(column)
        del self.of_column[column]
        for place, job in enumerate(self.of_column[column:], column):
            self.here[job].column = place

    def widen(self) -> None:
        super().widen()
        self.requested = np.pad(self.requested, (0, self.state.jobs.shape[1] - len(self.requested)))

    @property
    def submitted(self) -> Table:
        """The job of each column."""
        return np.array(self.of_column, np.int64)

    def submissions(self) -> tuple[Table, Table, Table]:
        """The jobs that stayed here, their columns, and [job, procs | by | over] their shapes."""
        here = np.array(list(self.here), np.int64)
        columns = np.array([each.column for each in self.here.values()], np.int64)
        shapes = np.array([each.shape for each in self.here.values()], np.int64).reshape(-1, 3)
        return here, columns, shapes

    def ids(self) -> Table:
        """The log's number of the job of each column."""
        return np.asarray(self.numbers[self.submitted])

    @property
    def numbers(self) -> Table:
        """The log's number of each of its jobs."""
        return np.arange(len(self.jobs)) if self.jobs.ids is None else self.jobs.ids
