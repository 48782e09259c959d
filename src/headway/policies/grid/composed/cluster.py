"""One cluster of a composed grid: a simulation of its own, which jobs join and leave while it runs.

Its table of jobs has a column for each submission, in the order of submission here. What the policy knows of
a job (its class, its deadline, how long it takes to swap) was prepared for the whole log and is copied from
there; size and times are those that the job has on this cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from headway.engine.drive import Jobs, compiled_hook, grow, hook_as_value, make_state, refusal
from headway.engine.side_by_side import is_crowded, next_event, open_at
from headway.engine.tables import (
    ENDED,
    FAULT,
    FIRST_NEW,
    GROW,
    LAST_NEW,
    NONE,
    NOW,
    PHASE,
    PROCS,
    PROMISE,
    RUN,
    SUBMIT,
    WAITING,
    WAITS,
    State,
    Table,
)
from headway.policies.local import CATCH_UP, NOBODY, PUT_IN_ORDER, WITHDRAW, Local
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


class Cluster:
    """The simulation of one cluster."""

    def __init__(self, name: str, prepared: Prepared, kind: Local, jobs: Jobs) -> None:
        self.name, self.prepared, self.kind, self.jobs = name, prepared, kind, jobs
        self.hook, self.hook_as_value = (f(prepared.setup.hook) for f in (compiled_hook, hook_as_value))
        whole = Jobs(jobs.submit, jobs.procs, jobs.walltime, jobs.runtime, prepared.plan, jobs.ids)
        self.state, world = make_state(whole, prepared.setup, FIRST_ROOM)
        self.of_log = self.state.jobs.copy()
        """[row, job] the policy's rows for every job of the log."""
        self.state.jobs[SUBMIT] = NEVER
        self.state.jobs[PHASE] = 0
        self.world = world._replace(runtime=np.zeros(len(jobs), np.int64))
        self.requested = np.zeros(len(jobs), np.int64)
        """[column] the walltime (µs) with which a job was submitted here."""
        self.of_column: list[int] = []
        """The job of each column."""
        self.here: dict[int, Submission] = {}
        """The jobs that were submitted here and not taken away."""
        self.now = -1
        self.is_open = self.disturbed = False
        self.version = 0
        """Changes whenever something happens here, so that what was foreseen holds no more."""
        self.following = NEVER

    # ---- time ---------------------------------------------------------------------------------------------

    def open(self, t: int) -> None:
        """Let it be ``t`` here: what is due ends. The policy's turn comes with :meth:`close`."""
        if self.is_open:
            return
        while open_at(self.state, self.world, t) == GROW:
            self.state, self.world = grow(self.state, self.world)
        self.now, self.is_open = t, True
        self.version += 1

    def close(self) -> None:
        """The policy's turn at the present instant."""
        self.settle()
        self.hook(self.now, self.state)
        if self.state.clock[FAULT] != NONE:
            raise refusal(self.state, self.ids())
        self.following = int(next_event(self.state, self.world))
        self.is_open = False
        self.version += 1

    def settle(self) -> None:
        """Put the plan in order from which jobs were taken away."""
        if self.disturbed:
            self.kind.request(self.now, self.state, NOBODY, PUT_IN_ORDER)
            self.disturbed = False

    # ---- jobs ---------------------------------------------------------------------------------------------

    def waits(self, job: int) -> bool:
        """Whether a job that was submitted here has not started; one that was stopped has."""
        column = self.here[job].column
        return bool(self.state.jobs[PHASE, column] == WAITING and self.state.jobs[RUN, column] < 0)

    def submit(self, job: int, shape: Shape) -> None:
        """Hand a job to the policy, which sees it in its turn."""
        assert self.is_open
        self.settle()
        while is_crowded(self.state, self.world, 1):
            self.state, self.world = grow(self.state, self.world)
        column = int(self.state.clock[LAST_NEW])
        if column == self.state.jobs.shape[1]:
            self.widen()
        self.here[job] = Submission(column, shape)
        self.of_column.append(job)
        self.add(self.state, job, shape)
        self.world.runtime[column] = shape.time(int(self.jobs.runtime[job]))
        self.requested[column] = shape.time(int(self.jobs.walltime[job]))
        self.version += 1

    def add(self, state: State, job: int, shape: Shape) -> int:
        """Write a newcomer into the next column of a table of jobs; the column."""
        column = int(state.clock[LAST_NEW])
        kept = state.jobs[list(self.kind.not_of_jobs), column]
        state.jobs[:, column] = self.of_log[:, job]
        state.jobs[list(self.kind.not_of_jobs), column] = kept
        state.jobs[SUBMIT, column] = state.clock[NOW]
        state.jobs[PROCS, column] = shape.procs
        for row in self.kind.times:
            state.jobs[row, column] = shape.time(int(self.of_log[row, job]))
        state.jobs[PHASE, column] = WAITING
        if self.kind.newcomer is not None:
            self.kind.newcomer(state.jobs, column)
        state.clock[LAST_NEW] = column + 1
        state.clock[WAITS] += 1
        return column

    def cancel(self, job: int) -> None:
        """Take a waiting job away."""
        assert self.is_open
        clock = self.state.clock
        if self.kind.catches_up and (clock[ENDED] > 0 or clock[FIRST_NEW] < clock[LAST_NEW]):
            self.kind.request(self.now, self.state, NOBODY, CATCH_UP)
        column = self.here.pop(job).column
        if column < self.state.clock[FIRST_NEW]:
            self.kind.request(self.now, self.state, column, WITHDRAW)
            self.disturbed = True
        else:
            self.forget_newcomer(column)
        self.version += 1

    def forget_newcomer(self, column: int) -> None:
        """Take out a job that the policy has not seen; those behind it move up."""
        last = int(self.state.clock[LAST_NEW]) - 1
        rows = np.setdiff1d(np.arange(self.state.jobs.shape[0]), self.kind.not_of_jobs)
        for table in (self.world.runtime, self.requested):
            table[column:last] = table[column + 1 : last + 1]
        self.state.jobs[rows, column:last] = self.state.jobs[rows, column + 1 : last + 1]
        self.state.jobs[SUBMIT, last], self.state.jobs[PHASE, last] = NEVER, 0
        self.state.clock[LAST_NEW] = last
        self.state.clock[WAITS] -= 1
        del self.of_column[column]
        for place, job in enumerate(self.of_column[column:], column):
            self.here[job].column = place

    def widen(self) -> None:
        """Room for twice as many submissions."""
        old = self.state.jobs.shape[1]
        jobs = np.zeros((self.state.jobs.shape[0], 2 * old + 8), np.int64)
        jobs[:, :old] = self.state.jobs
        jobs[SUBMIT, old:] = NEVER
        jobs[[RUN, PROMISE], old:] = -1
        self.state = self.state._replace(jobs=jobs)
        more = (0, jobs.shape[1] - old)
        self.world = self.world._replace(runtime=np.pad(self.world.runtime, more))
        self.requested = np.pad(self.requested, more)

    def ids(self) -> Table:
        """The log's number of the job of each column."""
        numbers = np.arange(len(self.jobs)) if self.jobs.ids is None else self.jobs.ids
        return np.asarray(numbers[self.of_column])
