"""Prepares a composed grid: a simulation for each cluster under its own policy, and the agent over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from headway.engine.faults import check_finished
from headway.engine.setup import Jobs, Progress, Setup
from headway.engine.tables import (
    POOL_ROWS,
    RUN_ROWS,
    JobTable,
    Runs,
    State,
    Table,
    Why,
    new_state,
)
from headway.jit.rows import zeros
from headway.platform import Platform
from headway.policies.grid import tables
from headway.policies.grid.composed import sites
from headway.policies.grid.composed.cluster import Cluster
from headway.policies.grid.composed.driver import Grid, Site
from headway.policies.grid.composed.loop import run_grid
from headway.policies.grid.local_policies import HEURISTICS, LAWS, MODES, TUNINGS, pools_of, widest
from headway.policies.grid.moldability import fraction, job_rows
from headway.policies.grid.notes import Notes, new_notes
from headway.policies.grid.setup import (
    MOVES_AT_FIRST,
    MOVES_PER_TASK,
    counted,
    logged_moves,
    microseconds_of,
    remark_on,
    sites_of,
)
from headway.policies.prepare import Arrivals, Prepared, Sets, Sites
from headway.policies.spec import Spec


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
    jobs = zeros(JobTable, count)
    jobs[[JobTable["run"], JobTable["promise"]]] = -1
    logs, begun = [np.zeros((RUN_ROWS, 0), np.int64)], 0
    for number, cluster in enumerate(grid.clusters):
        state = cluster.state
        log = Runs(state.runs[:, : state.clock.runs].copy())
        log.job[:] = cluster.submitted[log.job]
        log.pool[:] += first_pool[number]
        waited = (log.why == Why.IMMEDIATE) & (log.start > grid.jobs.submit[log.job])
        log.why[waited] = cluster.kind.in_turn
        log.why[(moved[log.job] > 0) & np.isin(log.why, OF_THE_QUEUE)] = Why.MOVED
        here, columns, shapes = cluster.submissions()
        run = state.jobs.run[columns]
        jobs.run[here] = np.where(run >= 0, run + begun, -1)
        if told[number]:
            jobs.promise[here] = state.jobs.promise[columns]
        jobs.procs[here], jobs.wall[here] = shapes[:, 0], cluster.requested[columns]
        jobs.stretch_by[here] = shapes[:, 1]
        jobs.stretch_over[here] = np.where(shapes[:, 1] == shapes[:, 2], 0, shapes[:, 2])
        logs.append(log.table)
        begun += log.shape[1]
    state = new_state(jobs, np.zeros((POOL_ROWS, 2), np.int64), np.zeros(1, np.int64), 1, 1, 1)
    state.clock.runs, state.clock.last_new = begun, count
    state.clock.finished, state.clock.instants = grid.finished() - grid.not_taken, grid.instants
    state.clock.waits_sum, state.clock.waits_max = grid.waits_sum, grid.waits_max
    return state._replace(runs=Runs(np.concatenate(logs, axis=1)))


def all_sets(clusters: Sequence[Cluster]) -> Sets:
    """The processors of runs, where policies know them."""
    found, begun = Sets(), 0
    for cluster in clusters:
        if cluster.prepared.sets is not None:
            sets = cluster.prepared.sets(cluster.state)
            found.of_run.update({begun + run: ranges for run, ranges in sets.of_run.items()})
            found.borrower.update({begun + run: begun + by for run, by in sets.borrower.items()})
            found.swap_out.update({begun + run: time for run, time in sets.swap_out.items()})
        begun += int(cluster.state.clock.runs)
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


# Prepares a composed grid: a simulation for each cluster under its own policy, and the agent over them.


def composed(spec: Spec, arrivals: Arrivals, local: tuple[Spec, ...]) -> Prepared:
    """A grid in which each cluster has a policy of its own, or parameters that the compiled one lacks."""
    assert arrivals.platform is not None
    run = _Run(spec, arrivals, local)
    names = [cluster.name for cluster in arrivals.platform.clusters]
    return Prepared(
        Setup(tuple(pool.procs for pool in run.pools), run.prepared[0].setup.hook, drive=run.drive),
        arrivals.walltime,
        run.promise_kind(),
        {f"{names[pool.cluster]} {pool.group}": pool.procs for pool in run.pools},
        own=run.own,
        notes=run.notes,
        lead=next((each.lead for each in run.prepared if each.lead), ""),
        sets=run.sets if any(each.sets is not None for each in run.prepared) else None,
        remark=run.remark(),
        again=run.again,
        moves=run.moves,
        sites=run.sites(),
        hooks=tuple({each.setup.hook: each.setup.memory for each in run.prepared}.items()),
        loop=run_grid,
    )


@dataclass
class _Run:
    """What preparing the grid, running it and reading its result share."""

    spec: Spec
    arrivals: Arrivals
    local: tuple[Spec, ...]
    prepared: list[Prepared] = field(init=False)
    rows: dict[int, Table] = field(init=False)
    grid: Grid = field(init=False)

    def __post_init__(self) -> None:
        assert self.arrivals.platform is not None
        clusters = self.arrivals.platform.clusters
        self.platform = self.arrivals.platform
        self.queues = [each.policy.as_local() for each in self.local]  # who cannot be one says so
        self.prepared = [
            each.policy.prepare_joining(replace(self.arrivals, platform=Platform((cluster,))), cluster.procs)
            for each, cluster in zip(self.local, clusters, strict=True)
        ]
        self.pools = pools_of(self.spec, self.platform)
        self.speeds = [fraction(cluster.speed) for cluster in clusters]
        self.rows = job_rows(self.spec, self.arrivals, clusters, self.speeds)
        self.room = MOVES_AT_FIRST + MOVES_PER_TASK * len(self.arrivals.submit)

    # ---- running ------------------------------------------------------------------------------------------

    def drive(self, jobs: Jobs, setup: Setup, progress: Progress | None) -> State:
        """Run the grid; its clusters' tables as one."""
        widths = widest(self.spec, self.platform)
        clusters = [
            Site(site.name, prepared, queue, jobs, width, speed)
            for site, prepared, queue, width, speed in zip(
                self.platform.clusters, self.prepared, self.queues, widths, self.speeds, strict=True
            )
        ]
        self.grid = Grid(jobs, self._log(jobs), clusters, self._notes(), self._facts())
        self.grid.run(progress)
        moved = self.grid.notes.tasks.times_moved
        return gathered(self.grid, self._first_pools(), self._told(), moved)

    def _log(self, jobs: Jobs) -> Table:
        """[job, field] what the log says of each job."""
        told = (
            tables.Tasks["trace_procs"],
            tables.Tasks["of"],
            tables.Tasks["out_of"],
            tables.Tasks["limit"],
            tables.Tasks["speedup"],
            tables.Tasks["speedup_over"],
            tables.Tasks["home"],
        )
        columns = (jobs.submit, jobs.runtime, jobs.walltime, *(self.rows[row] for row in told))
        return np.stack(columns, axis=1).astype(np.int64)

    def _notes(self) -> Notes:
        """The agent's memory at the beginning."""
        return new_notes(
            len(self.local),
            HEURISTICS.index(self.spec.word("heuristic")),
            MODES.index(self.spec.word("mode")),
            microseconds_of(self.spec, "threshold"),
            self.spec.whole("oldest"),
            len(self.arrivals.submit),
            self.room,
        )

    def _facts(self) -> sites.GridFacts:
        """What the loop is told."""
        facts = zeros(sites.GridFacts)
        facts.wrong = -1
        if self.spec.word("mode") != "none":
            facts.period = microseconds_of(self.spec, "period")
        facts.tuning = TUNINGS.index(self.spec.word("tuning"))
        facts.law = LAWS.index(self.spec.word("law"))
        facts.sigma, facts.sigma_over = fraction(self.spec.number("sigma"))
        return facts

    def again(self, _: State) -> Setup | None:
        """The same with more space for moves or for what a policy wrote down, where it is needed."""
        larger = [
            None if cluster.prepared.again is None else cluster.prepared.again(cluster.state)
            for cluster in self.grid.clusters
        ]
        made = int(self.grid.notes.counts.moves)
        if made <= self.room and not any(larger):
            return None
        self.room = max(self.room, made)
        self.prepared = [
            prepared if setup is None else replace(prepared, setup=setup)
            for prepared, setup in zip(self.prepared, larger, strict=True)
        ]
        return Setup(tuple(pool.procs for pool in self.pools), self.prepared[0].setup.hook, drive=self.drive)

    # ---- what it says -------------------------------------------------------------------------------------

    def remark(self) -> str:
        """How completions are known, then what the policies of the clusters remark."""
        names = ", ".join(dict.fromkeys(each.name for each in self.local))
        said = [f"completions are foreseen by running a copy of each cluster ahead ({names})"]
        said += [each.remark for each in self.prepared if each.remark]
        nothing = remark_on(self.rows)
        return "; ".join(dict.fromkeys([*said, nothing] if nothing else said))

    def promise_kind(self) -> str:
        """What the schedule's promises are; where clusters promise different things, starts only."""
        kinds = {each.promise_kind for each in self.prepared}
        if len(kinds) == 1:
            return kinds.pop()
        starts = kinds & {"start", "told"}
        return "" if not starts else "start" if starts == {"start"} else "told"

    def _told(self) -> list[bool]:
        """Whose promises are of the schedule's kind."""
        kinds = [each.promise_kind for each in self.prepared]
        return [len(set(kinds)) == 1 or kind in ("start", "told") for kind in kinds]

    def _first_pools(self) -> list[int]:
        clusters = [pool.cluster for pool in self.pools]
        return [clusters.index(number) for number in range(len(self.local))]

    def sites(self) -> Sites:
        """Cluster and group of each pool."""
        return sites_of(self.pools)

    # ---- the result ---------------------------------------------------------------------------------------

    def own(self, _: State) -> dict[str, object]:
        """The grid's numbers, then those of the clusters' policies."""
        numbers = own_numbers(self.grid.clusters)
        if self.grid.not_taken:  # no cluster took them, and so none has counted them
            numbers["late_on_arrival"] = int(str(numbers.get("late_on_arrival", 0))) + self.grid.not_taken
        return {
            "grid_tasks": int((self.rows[tables.Tasks["home"]] < 0).sum()),
            **counted(self.grid.notes),
            "completions": "foreseen",
            "estimates": self.grid.estimates,
            **numbers,
        }

    def notes(self, _: State, ids: Table) -> dict[str, Table]:
        return {
            "put_back": self.grid.notes.tasks.put_back,
            **all_notes(self.grid.clusters, len(ids)),
        }

    def sets(self, _: State) -> Sets:
        return all_sets(self.grid.clusters)

    def moves(self, _: State) -> dict[str, Table]:
        """The log of moves by column."""
        return logged_moves(self.grid.notes)
