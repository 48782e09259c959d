"""A copy of a cluster that runs on alone: when is a job completed if nothing else comes?

In the copy every job lasts as long as was requested; how long it really runs only the engine knows. The
answer is a fact for policies whose jobs start as planned, and an estimate for all others.

A copy is made again and again, so only what may have changed is copied: of the long tables, those of jobs and
of runs, the part from the first job (or run) on that was not over at the last copy.
"""

from __future__ import annotations

import numpy as np

from headway.engine.driver import Driver
from headway.engine.side_by_side import open_at
from headway.engine.tables import (
    DONE,
    FAULT,
    FRESH,
    GROW,
    KEPT,
    LAST_NEW,
    NONE,
    OPEN,
    PHASE,
    R_END,
    R_JOB,
    R_LEAD,
    R_LIMIT,
    R_START,
    RUN,
    RUNNING,
    RUNS,
    SUBMIT,
    SUSPENDED,
    WAITING,
    State,
    World,
)
from headway.policies.grid.composed.cluster import Cluster, Shape
from headway.units import NEVER

FIRST_STEPS, MOST_STEPS = 16, 4096
"""Instants that a copy is run on before somebody looks whether the job has ended; doubled each time."""


class Copy(Driver):
    """A copy of a cluster at some instant, which can be run on."""

    def __init__(self, cluster: Cluster) -> None:
        self.__dict__.update(vars(cluster))
        self.cluster, self.hook = cluster, cluster.hook_as_value
        self.first_job = self.first_run = self.touched = 0
        self.tables: tuple[int, ...] = ()
        self.over = False

    def renew(self, t: int) -> None:
        """Be the cluster as it is at ``t``, before the policy's turn."""
        source = self.cluster.state
        sizes = tuple(table.shape[1] for table in (source.jobs, source.runs, source.queue, source.changes))
        if self.tables != sizes:
            self.state = _alike(source, self.cluster)
            self.tables, self.first_job, self.first_run = sizes, 0, 0
        state = self.state
        for name in ("clock", "pools", "queue", "lists", "keys", "changes"):
            np.copyto(getattr(state, name), getattr(source, name))
        mine, theirs = (*state.profile, *state.memory), (*source.profile, *source.memory)
        for table, original in zip(mine, theirs, strict=True):
            np.copyto(table, original)
        shorten = self.cluster.kind.trial_options
        np.copyto(state.options, source.options if shorten is None else shorten(source.options))
        jobs, runs = int(source.clock[LAST_NEW]), int(source.clock[RUNS])
        upto = min(max(jobs + 1, self.touched), sizes[0])
        state.jobs[:, self.first_job : upto] = source.jobs[:, self.first_job : upto]
        others = list(self.cluster.kind.not_of_jobs)
        state.jobs[others, :upto] = source.jobs[others, :upto]
        state.runs[:, self.first_run : runs] = source.runs[:, self.first_run : runs]
        phase, ends = source.jobs[PHASE, self.first_job : jobs], source.runs[R_END, self.first_run : runs]
        self.first_job += _leading((phase == WAITING) | (phase == RUNNING) | (phase == SUSPENDED))
        self.first_run += _leading(ends == OPEN)
        self.touched = jobs + 1
        self.world = _as_requested(state, self.cluster, self.first_run, runs)
        self.over = False
        if not self.cluster.is_open:
            while open_at(self.state, self.world, t) == GROW:
                self.grow()

    def begin(self, t: int, job: int | None = None, shape: Shape | None = None) -> int:
        """The policy's turn at ``t``, with one more newcomer if a job is given; its column."""
        column = -1
        if job is not None and shape is not None:
            if self.state.clock[LAST_NEW] == self.state.jobs.shape[1]:
                self.widen()
            column = self.cluster.add(self.state, job, shape)
            self.world.runtime[column] = shape.time(int(self.cluster.jobs.walltime[job]))
        self.turn(t)
        return column

    def turn(self, t: int) -> None:
        """The policy's turn."""
        self.cluster.hook(t, self.state)
        if self.state.clock[FAULT] != NONE:
            raise self.refusal()

    def completion(self, column: int) -> int:
        """When the job of a column is completed; NEVER if the policy does not run it."""
        steps = FIRST_STEPS
        while self.state.jobs[PHASE, column] != DONE:
            if self.over:
                return NEVER
            self.over = not self.advance(steps)
            steps = min(2 * steps, MOST_STEPS)
        return int(self.state.runs[R_END, self.state.jobs[RUN, column]])

    def ids(self) -> None:
        """Its columns have no names: the one that is tried is in no log of submissions."""

    def grow(self) -> None:
        super().grow()
        self.tables = ()  # the next copy is made of new ones

    def widen(self) -> None:
        super().widen()
        self.tables = ()


def _leading(live: np.ndarray) -> int:
    """How many entries stand before the first that is true."""
    return int(np.argmax(live)) if live.any() else len(live)


def _alike(source: State, cluster: Cluster) -> State:
    """Empty tables of the same sizes."""
    shorten = cluster.kind.trial_options
    options = source.options if shorten is None else shorten(source.options)
    names = ("clock", "jobs", "runs", "pools", "queue", "lists", "keys", "nodes", "shares", "changes")
    made = {name: np.zeros_like(getattr(source, name)) for name in names}
    made["jobs"][SUBMIT] = NEVER
    profile = type(source.profile)(*(np.zeros_like(table) for table in source.profile))
    memory = type(source.memory)(*(np.zeros_like(table) for table in source.memory))
    return State(**made, profile=profile, options=np.zeros_like(options), memory=memory)


def _as_requested(state: State, cluster: Cluster, first: int, runs: int) -> World:
    """A world in which the open runs of a state last as long as was requested, and so do those to come.

    Runs that the last turn started are foreseen by the engine itself.
    """
    state.clock[FRESH] = runs
    requested = cluster.requested
    open_runs = first + np.flatnonzero(state.runs[R_END, first:runs] == OPEN)
    job = state.runs[R_JOB, open_runs]
    needed = state.runs[R_LEAD, open_runs] + requested[job] - state.jobs[KEPT, job]
    ends = state.runs[R_START, open_runs] + np.minimum(needed, state.runs[R_LIMIT, open_runs])
    order = np.argsort(ends, kind="stable")  # a sorted list is a heap
    heap = np.zeros_like(cluster.world.ends)
    heap[:, : len(order)] = ends[order], open_runs[order]
    return World(runtime=requested.copy(), ends=heap, size=np.array([len(order)], np.int64))
