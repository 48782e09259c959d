"""A copy of a cluster that runs on alone: when is a job completed if nothing else comes?

In the copy every job lasts as long as was requested; how long it really runs only the engine knows. The
answer is a fact for policies whose jobs start as planned, and an estimate for all others.

A copy is made again and again, so only what may have changed is copied: of the long tables, those of jobs and
of runs, the part from the first job (or run) on that was not over at the last copy.
"""

from __future__ import annotations

import numpy as np

from headway.engine.drive import compiled_loop, grow, refusal
from headway.engine.side_by_side import open_at
from headway.engine.tables import (
    BROKEN,
    DONE,
    FAULT,
    FINISH,
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


class Copy:
    """A copy of a cluster at some instant, which can be run on."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.state: State | None = None
        self.world = World(*(np.zeros(0, np.int64),) * 3)
        self.first_job = self.first_run = self.touched = 0
        self.tables: tuple[int, ...] = ()
        self.over = False

    def renew(self, t: int) -> None:
        """Be the cluster as it is at ``t``, before the policy's turn."""
        source = self.cluster.state
        sizes = (source.jobs.shape[1], source.runs.shape[1], source.queue.shape[1])
        if self.state is None or self.tables != sizes:
            self.state = _alike(source, self.cluster)
            self.tables, self.first_job, self.first_run = sizes, 0, 0
        state = self.state
        for name in ("clock", "pools", "queue", "lists", "keys"):
            np.copyto(getattr(state, name), getattr(source, name))
        for mine, theirs in zip(state.profile, source.profile, strict=True):
            np.copyto(mine, theirs)
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
            while open_at(state, self.world, t) == GROW:
                self._grow()

    def begin(self, t: int, job: int | None = None, shape: Shape | None = None) -> int:
        """The policy's turn at ``t``, with one more newcomer if a job is given; its column."""
        assert self.state is not None
        column = -1
        if job is not None and shape is not None:
            if self.state.clock[LAST_NEW] == self.state.jobs.shape[1]:
                self._widen()
            column = self.cluster.add(self.state, job, shape)
            self.world.runtime[column] = shape.time(int(self.cluster.jobs.walltime[job]))
        self.cluster.hook(t, self.state)
        if self.state.clock[FAULT] != NONE:
            raise refusal(self.state, None)
        return column

    def completion(self, column: int) -> int:
        """When the job of a column is completed; NEVER if the policy does not run it."""
        steps, loop = FIRST_STEPS, compiled_loop()
        while True:
            assert self.state is not None
            if self.state.jobs[PHASE, column] == DONE:
                return int(self.state.runs[R_END, self.state.jobs[RUN, column]])
            if self.over:
                return NEVER
            code = loop(self.cluster.hook_as_value, self.state, self.world, steps)
            steps = min(2 * steps, MOST_STEPS)
            self.over = code == FINISH
            if code == GROW:
                self._grow()
            elif code == BROKEN:
                raise refusal(self.state, None)

    def _grow(self) -> None:
        """Larger tables; the next copy is made of new ones."""
        assert self.state is not None
        self.state, self.world = grow(self.state, self.world)
        self.tables = ()

    def _widen(self) -> None:
        """Room for one more job; the next copy is made of new tables."""
        assert self.state is not None
        jobs = np.pad(self.state.jobs, ((0, 0), (0, 1)))
        self.state = self.state._replace(jobs=jobs)
        self.world = self.world._replace(runtime=np.pad(self.world.runtime, (0, 1)))
        self.tables = ()


def _leading(live: np.ndarray) -> int:
    """How many entries stand before the first that is true."""
    return int(np.argmax(live)) if live.any() else len(live)


def _alike(source: State, cluster: Cluster) -> State:
    """Empty tables of the same sizes."""
    shorten = cluster.kind.trial_options
    options = source.options if shorten is None else shorten(source.options)
    names = ("clock", "jobs", "runs", "pools", "queue", "lists", "keys", "nodes", "shares")
    made = {name: np.zeros_like(getattr(source, name)) for name in names}
    made["jobs"][SUBMIT] = NEVER
    profile = type(source.profile)(*(np.zeros_like(table) for table in source.profile))
    return State(**made, profile=profile, options=np.zeros_like(options), memory=source.memory)


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
