"""The clusters' tables as one, in the order of the log, and what their policies counted and noted."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from headway.engine.faults import check_finished
from headway.engine.setup import Jobs
from headway.engine.tables import JOB_ROWS, POOL_ROWS, RUN_ROWS, Clock, Job, Run, State, Table, Why, new_state
from headway.policies.grid.composed.cluster import Cluster
from headway.policies.prepare import Sets


class Ran(Protocol):
    """A grid that has run to the end."""

    @property
    def jobs(self) -> Jobs: ...
    @property
    def clusters(self) -> Sequence[Cluster]: ...
    @property
    def not_taken(self) -> int: ...
    @property
    def instants(self) -> int: ...
    @property
    def waits_sum(self) -> int: ...
    @property
    def waits_max(self) -> int: ...
    def finished(self) -> int: ...


OF_THE_QUEUE = (Why.IMMEDIATE, Why.HEAD, Why.BACKFILL, Why.RESERVATION)
"""Reasons to start that say less than that the job was moved."""


def gathered(grid: Ran, first_pool: Sequence[int], told: Sequence[bool], moved: Table) -> State:
    """One table of jobs and one of runs, as if there had been one simulation.

    Pools are numbered through all clusters, from ``first_pool`` on for each; ``told`` says which clusters'
    promises the schedule shows, ``moved`` how often each job was moved.
    """
    for cluster in grid.clusters:
        check_finished(cluster.state, cluster.ids())
    count = len(grid.jobs)
    jobs = np.zeros((JOB_ROWS, count), np.int64)
    jobs[[Job.RUN, Job.PROMISE]] = -1
    logs, begun = [np.zeros((RUN_ROWS, 0), np.int64)], 0
    for number, cluster in enumerate(grid.clusters):
        state = cluster.state
        log = state.runs[:, : state.clock[Clock.RUNS]].copy()
        log[Run.JOB] = cluster.submitted[log[Run.JOB]]
        log[Run.POOL] += first_pool[number]
        waited = (log[Run.WHY] == Why.IMMEDIATE) & (log[Run.START] > grid.jobs.submit[log[Run.JOB]])
        log[Run.WHY, waited] = cluster.kind.in_turn
        log[Run.WHY, (moved[log[Run.JOB]] > 0) & np.isin(log[Run.WHY], OF_THE_QUEUE)] = Why.MOVED
        here, columns, shapes = cluster.submissions()
        run = state.jobs[Job.RUN, columns]
        jobs[Job.RUN, here] = np.where(run >= 0, run + begun, -1)
        if told[number]:
            jobs[Job.PROMISE, here] = state.jobs[Job.PROMISE, columns]
        jobs[Job.PROCS, here], jobs[Job.WALL, here] = shapes[:, 0], cluster.requested[columns]
        jobs[Job.STRETCH_BY, here] = shapes[:, 1]
        jobs[Job.STRETCH_OVER, here] = np.where(shapes[:, 1] == shapes[:, 2], 0, shapes[:, 2])
        logs.append(log)
        begun += log.shape[1]
    state = new_state(jobs, np.zeros((POOL_ROWS, 2), np.int64), np.zeros(1, np.int64), 1, 1, 1)
    state.clock[Clock.RUNS], state.clock[Clock.LAST_NEW] = begun, count
    state.clock[Clock.FINISHED], state.clock[Clock.INSTANTS] = grid.finished() - grid.not_taken, grid.instants
    state.clock[Clock.WAITS_SUM], state.clock[Clock.WAITS_MAX] = grid.waits_sum, grid.waits_max
    return state._replace(runs=np.concatenate(logs, axis=1))


def all_sets(clusters: Sequence[Cluster]) -> Sets:
    """The processors of runs, where policies know them."""
    found, begun = Sets(), 0
    for cluster in clusters:
        if cluster.prepared.sets is not None:
            sets = cluster.prepared.sets(cluster.state)
            found.of_run.update({begun + run: ranges for run, ranges in sets.of_run.items()})
            found.borrower.update({begun + run: begun + by for run, by in sets.borrower.items()})
            found.swap_out.update({begun + run: time for run, time in sets.swap_out.items()})
        begun += int(cluster.state.clock[Clock.RUNS])
    return found


MEANS = {"mean_preemption_delay": "preempting_jobs"}
"""Means among the policies' own numbers, and the count that each is taken over."""
OF_THE_LOG = ("swap_assumed",)
"""Numbers that are of the whole log, the same on every cluster."""


def own_numbers(clusters: Sequence[Cluster]) -> dict[str, object]:
    """The policies' own numbers over all clusters: counts add up, of largest values the largest counts."""
    each = [cluster.prepared.own(cluster.state) for cluster in clusters if cluster.prepared.own is not None]
    found: dict[str, object] = {}
    for name in dict.fromkeys(name for numbers in each for name in numbers):
        values: list[Any] = [numbers[name] for numbers in each if numbers.get(name) is not None]
        if not values or not all(isinstance(value, int | float) for value in values):
            found[name] = values[0] if values else None
        elif name in MEANS:
            weights: list[Any] = [numbers[MEANS[name]] for numbers in each if numbers.get(name) is not None]
            total = sum(Fraction(value) * weight for value, weight in zip(values, weights, strict=True))
            found[name] = float(total / sum(weights))  # exact, so that one cluster's mean is its own
        else:
            found[name] = max(values) if name in OF_THE_LOG or name.startswith("max_") else sum(values)
    return found


def all_notes(clusters: Sequence[Cluster], count: int) -> dict[str, Any]:
    """What the policies noted of each job, in the order of the log; -1 or nothing where they did not."""
    found: dict[str, Any] = {}
    for cluster in clusters:
        if cluster.prepared.notes is None:
            continue
        ids = np.full(cluster.state.jobs.shape[1], -1, np.int64)
        ids[: len(cluster.submitted)] = cluster.ids()
        if cluster.kind.renumber is not None:  # notes that are -1 - job find it behind the columns
            ids = np.concatenate([ids, cluster.numbers[::-1]])
        here, columns, _ = cluster.submissions()
        for name, noted in cluster.prepared.notes(cluster.state, ids).items():
            if isinstance(noted, np.ndarray):
                column = found.setdefault(name, np.full(count, -1, noted.dtype))
                column[here] = noted[columns]
            else:
                lists = found.setdefault(name, Lists([[] for _ in range(count)]))
                told = np.isin(columns, noted.told)  # most jobs have nothing to tell
                for job, place in zip(here[told].tolist(), columns[told].tolist(), strict=True):
                    lists[job].extend(noted[place])
    return found


class Lists:
    """A column of notes whose entries are lists."""

    def __init__(self, entries: list[list[Any]]) -> None:
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, place: Any) -> Any:
        """The list of one job, or the column of several."""
        if isinstance(place, int | np.integer):
            return self._entries[place]
        return Lists([self._entries[row] for row in np.arange(len(self))[place].tolist()])
