"""Prepares a composed grid: a simulation for each cluster under its own policy, and the agent over them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from headway.engine.setup import Jobs, Progress, Setup
from headway.engine.tables import State
from headway.platform import Platform
from headway.policies.grid import tables
from headway.policies.grid.composed import sites
from headway.policies.grid.composed.driver import Grid, Site
from headway.policies.grid.composed.gathering import all_notes, all_sets, gathered, own_numbers
from headway.policies.grid.composed.loop import run_grid
from headway.policies.grid.description import HEURISTICS, LAWS, MODES, TUNINGS
from headway.policies.grid.local_policies import pools_of, widest
from headway.policies.grid.moldability import fraction, job_rows
from headway.policies.grid.notes import Count, Known, Notes, new_notes
from headway.policies.grid.setup import (
    MOVES_AT_FIRST,
    MOVES_PER_TASK,
    counted,
    logged_moves,
    microseconds_of,
    remark_on,
    sites_of,
)
from headway.policies.prepare import Arrivals, Prepared, Sets, Sites, Table
from headway.policies.spec import Spec


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
        moved = self.grid.notes.tasks[Known.TIMES_MOVED]
        return gathered(self.grid, self._first_pools(), self._told(), moved)

    def _log(self, jobs: Jobs) -> Table:
        """[job, field] what the log says of each job."""
        told = (
            tables.Task.TRACE_PROCS,
            tables.Task.OF,
            tables.Task.OUT_OF,
            tables.Task.LIMIT,
            tables.Task.SPEEDUP,
            tables.Task.SPEEDUP_OVER,
            tables.Task.HOME,
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

    def _facts(self) -> Table:
        """What the loop is told."""
        facts = np.zeros(sites.GRID_FACTS, np.int64)
        facts[sites.GridFact.WRONG] = -1
        if self.spec.word("mode") != "none":
            facts[sites.GridFact.PERIOD] = microseconds_of(self.spec, "period")
        facts[sites.GridFact.TUNING] = TUNINGS.index(self.spec.word("tuning"))
        facts[sites.GridFact.LAW] = LAWS.index(self.spec.word("law"))
        facts[sites.GridFact.SIGMA], facts[sites.GridFact.SIGMA_OVER] = fraction(self.spec.number("sigma"))
        return facts

    def again(self, _: State) -> Setup | None:
        """The same with more space for moves or for what a policy wrote down, where it is needed."""
        larger = [
            None if cluster.prepared.again is None else cluster.prepared.again(cluster.state)
            for cluster in self.grid.clusters
        ]
        made = int(self.grid.notes.counts[Count.MOVES])
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
            "grid_tasks": int((self.rows[tables.Task.HOME] < 0).sum()),
            **counted(self.grid.notes),
            "completions": "foreseen",
            "estimates": self.grid.estimates,
            **numbers,
        }

    def notes(self, _: State, ids: Table) -> dict[str, Table]:
        return {
            "put_back": self.grid.notes.tasks[Known.PUT_BACK],
            **all_notes(self.grid.clusters, len(ids)),
        }

    def sets(self, _: State) -> Sets:
        return all_sets(self.grid.clusters)

    def moves(self, _: State) -> dict[str, Table]:
        """The log of moves by column."""
        return logged_moves(self.grid.notes)
