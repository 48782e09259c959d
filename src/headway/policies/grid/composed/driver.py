"""Runs a composed grid: makes the tables, lets the compiled loop run, gives it larger ones when it asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.engine.compiled import hook_signature, state_type
from headway.engine.driver import copied
from headway.engine.forgetting import drop_columns
from headway.engine.local import Local
from headway.engine.setup import Jobs, Progress, grow
from headway.engine.tables import JobTable, Phase, Runs, State, Step, Table, World
from headway.jit import kernels
from headway.jit.rows import array_of
from headway.policies.grid.composed import sites
from headway.policies.grid.composed.cluster import Cluster
from headway.policies.grid.composed.loop import run_grid
from headway.policies.grid.composed.sites import FUTURE, MAIN, TRIAL, Register, Tables
from headway.policies.grid.notes import Notes
from headway.policies.prepare import Prepared
from headway.units import NEVER

TIDY_FROM = 64
"""Columns of jobs that were taken away are taken out of a table when they are at least so many."""
BATCH = 4096
"""Instants between two reports of progress."""

if not kernels.INTERPRETED:
    from headway.jit.addresses import address_by_address, callable_back, laid_down


class Site(Cluster):
    """A cluster whose jobs come and go in the compiled loop."""

    def __init__(
        self, name: str, prepared: Prepared, local: Local, jobs: Jobs, widest: int, speed: tuple[int, int]
    ) -> None:
        super().__init__(name, prepared, local, jobs)
        rows = list(local.not_of_jobs)
        assert rows == list(range(rows[0], rows[0] + len(rows))) if rows else True
        self.columns = np.zeros(self.state.jobs.shape[1], np.int64)
        self.of_job = np.zeros((len(jobs), sites.KEPT_OF_JOB), np.int64)
        self.of_job[:, [sites.Kept.COLUMN, sites.Kept.ASKED]] = -1
        self.facts = np.zeros(sites.FACTS, np.int64)
        self.facts[[sites.Fact.FORESEEN, sites.Fact.ASKED_VERSION]] = -1
        self.facts[sites.Fact.FOLLOWING] = NEVER
        self.facts[sites.Fact.CATCHES_UP], self.facts[sites.Fact.MAY_STOP] = local.catches_up, local.may_stop
        self.facts[sites.Fact.NUMBERED_BY] = local.numbered_by
        self.facts[sites.Fact.LOOKS_AT_NEWCOMERS] = local.looks_at_newcomers
        self.facts[sites.Fact.WIDEST] = widest
        self.facts[sites.Fact.TIDY_FROM] = TIDY_FROM if local.takes_other_numbers else 0
        self.facts[sites.Fact.SPEED], self.facts[sites.Fact.SPEED_OVER] = speed
        self.rows_by_job = np.ascontiguousarray(self.of_log.T)
        self.copies: dict[int, tuple[State, World]] = {}
        self.make_copies()

    def make_copies(self) -> None:
        """Copies in which nothing is yet, one column wider than the table."""
        state, room = self.state, self.state.jobs.shape[1] + 1
        for which in (TRIAL, FUTURE):
            bare = state._replace(
                jobs=JobTable(state.jobs[:, :0]),
                runs=Runs(state.runs[:, :0]),
                memory=self.trial_memory(),
            )
            copy = copied(bare)._replace(
                jobs=JobTable(np.zeros((len(state.jobs), room), np.int64)),
                runs=Runs(np.zeros_like(state.runs.table)),
            )
            copy.jobs.submit[:] = NEVER
            world = World(np.zeros(room, np.int64), np.zeros_like(self.world.ends), np.zeros(1, np.int64))
            self.copies[which] = copy, world
        self.forget_copies()
        self.live = np.zeros((4, max(room, state.runs.shape[1]) + 1), np.int64)

    def widen(self) -> None:
        super().widen()
        self.columns = np.pad(self.columns, (0, self.state.jobs.shape[1] - len(self.columns)))

    def drop_withdrawn(self) -> None:
        """Take the columns of jobs that were taken away out of the tables; those behind them move up."""
        state, last = self.state, int(self.state.clock.last_new)
        stays = state.jobs.phase[:last] != Phase.WITHDRAWN
        if stays.all():
            return
        columns = self.world.runtime, self.requested, self.columns
        drop_columns(state, self.kind, stays, self.columns, columns)
        count = int(state.clock.last_new)
        self.of_job[self.columns[:count], sites.Kept.COLUMN] = np.arange(count)
        self.facts[sites.Fact.WITHDRAWN_HERE] = 0
        self.forget_copies()

    def forget_copies(self) -> None:
        """All of the cluster is new to its copies."""
        for which in (TRIAL, FUTURE):
            for fact in (
                sites.Fact.LIVE_COLUMNS,
                sites.Fact.LIVE_RUNS,
                sites.Fact.SEEN_COLUMNS,
                sites.Fact.SEEN_RUNS,
            ):
                self.facts[fact + which - TRIAL] = 0
        self.facts[sites.Fact.FORESEEN] = -1

    def simulation(self, which: int) -> tuple[State, World]:
        """The tables of the cluster, or of a copy."""
        return (self.state, self.world) if which == MAIN else self.copies[which]

    @property
    def register(self) -> Register:
        """What is kept of the submissions."""
        times, lists = (np.array(rows, np.int64) for rows in (self.kind.times, self.kind.not_of_jobs))
        of_jobs = self.rows_by_job, self.requested, self.columns, self.of_job
        return Register(*of_jobs, times, lists, self.memory_places(), self.live, self.facts)

    def memory_places(self) -> Table:
        """Where the policy's own tables stand here and in the copies, and how much of each is copied."""
        each = (map(array_of, self.simulation(which)[0].memory) for which in (MAIN, TRIAL, FUTURE))
        copied_tables = [tables for tables in zip(*each, strict=True) if tables[TRIAL].size > 0]
        places = np.zeros((len(copied_tables), sites.WORDS + 1), object if kernels.INTERPRETED else np.int64)
        for i, tables in enumerate(copied_tables):
            for which, table in enumerate(tables):
                assert table.itemsize == 8 and table.flags.c_contiguous
                places[i, which] = table if kernels.INTERPRETED else table.ctypes.data
            places[i, sites.WORDS] = tables[TRIAL].size
        return places

    @property
    def is_untidy(self) -> bool:
        """Whether columns of jobs that were taken away are many enough to take them out."""
        return bool(kernels.as_written(sites.is_untidy)(self.facts, int(self.state.clock.last_new)))

    @property
    def submitted(self) -> Table:
        return self.columns[: self.state.clock.last_new]

    def submissions(self) -> tuple[Table, Table, Table]:
        here = np.flatnonzero(self.of_job[:, sites.Kept.COLUMN] >= 0)
        shapes = self.of_job[here][:, [sites.Kept.SIZE, sites.Kept.BY, sites.Kept.OVER]]
        return here, self.of_job[here, sites.Kept.COLUMN], shapes


class Grid:
    """The clusters and the agent in the course of a run."""

    def __init__(
        self, jobs: Jobs, log: Table, clusters: Sequence[Site], notes: Notes, facts: sites.GridFacts
    ) -> None:
        self.jobs, self.clusters, self.notes, self.facts = jobs, clusters, notes, facts
        self.trouble: BaseException | None = None
        self.at = np.zeros((len(clusters), sites.ENTRIES), object if kernels.INTERPRETED else np.int64)
        self.kept: list[object] = []
        """What stands at addresses that were given."""
        back = self._address_of_answer()
        for k, cluster in enumerate(clusters):
            for which in (MAIN, TRIAL, FUTURE):
                self._lay(k, which)
            self._lay_register(k)
            called: tuple[Any, Any] = cluster.hook, cluster.kind.request
            if not kernels.INTERPRETED:
                number, state = kernels.types.int64, state_type(cluster.state.memory)
                asked = kernels.types.void(number, state, number, number)
                called = (
                    address_by_address(called[0], hook_signature(cluster.state.memory)),
                    address_by_address(called[1], asked),
                )
            self.at[k, sites.HOOK], self.at[k, sites.REQUEST] = called
        self.tables = Tables(self.at, back, log, notes, facts)

    def _address_of_answer(self) -> Table:
        """What the loop calls when it needs larger tables."""
        if kernels.INTERPRETED:
            back = np.zeros(1, object)
            back[0] = self.answer
            return back
        kept, address = callable_back(self.answer)
        self.kept.append(kept)
        return np.array([address], np.int64)

    def _entry(self, given: Register | State | World) -> object:
        """A tuple as it is found in the table."""
        if kernels.INTERPRETED:
            return given
        memory = laid_down(given)
        self.kept += [memory, given]
        return memory.ctypes.data

    def _lay(self, k: int, which: int) -> None:
        state, world = self.clusters[k].simulation(which)
        self.at[k, which], self.at[k, sites.WORLDS + which] = self._entry(state), self._entry(world)

    def _lay_register(self, k: int) -> None:
        self.at[k, sites.REGISTER] = self._entry(self.clusters[k].register)

    def answer(self, k: int, what: int) -> int:
        """Larger tables for the compiled loop; 1 if there is not enough memory."""
        try:
            cluster = self.clusters[k]
            if what in (TRIAL, FUTURE):
                cluster.copies[what] = grow(*cluster.copies[what])
                self._lay(k, what)
                return 0
            if what == sites.TIDIER or (what == sites.WIDER and cluster.is_untidy):
                cluster.drop_withdrawn()
                return 0
            if what == sites.WIDER:
                cluster.widen()
            else:
                cluster.grow()
            cluster.make_copies()
            for which in (MAIN, TRIAL, FUTURE):
                self._lay(k, which)
            self._lay_register(k)
        except BaseException as trouble:  # raised again when the loop has come back
            self.trouble = trouble
            return 1
        return 0

    def run(self, progress: Progress | None = None) -> None:
        """Simulate until nothing more happens."""
        code = -1
        while code != Step.FINISH:
            code = run_grid(self.tables, BATCH)
            if self.trouble is not None:
                raise self.trouble
            if self.facts.wrong >= 0:
                raise self._refusal(int(self.facts.wrong), int(self.facts.wrong_in))
            if progress is not None:
                progress(self.finished(), len(self.jobs))
        for cluster in self.clusters:
            if cluster.kind.takes_other_numbers:
                cluster.drop_withdrawn()

    def _refusal(self, k: int, which: int) -> Exception:
        """The error for a policy that did what it may not, in its cluster or in a copy."""
        cluster = self.clusters[k]
        cluster.state, cluster.world = cluster.simulation(which)
        return cluster.refusal()

    def finished(self) -> int:
        """Jobs that have ended so far."""
        return sum(int(cluster.state.clock.finished) for cluster in self.clusters) + self.not_taken

    @property
    def not_taken(self) -> int:
        """Tasks that no cluster took."""
        return int(self.facts.not_taken)

    @property
    def instants(self) -> int:
        """Instants at which something happened."""
        return int(self.facts.instants_seen)

    @property
    def waits_sum(self) -> int:
        """Who waited before the policies' turns, over all instants."""
        return int(self.facts.waited)

    @property
    def waits_max(self) -> int:
        """The most who waited before the policies' turns."""
        return int(self.facts.most_waited)

    @property
    def estimates(self) -> int:
        """Copies that were run ahead."""
        return sum(int(cluster.facts[sites.Fact.ESTIMATES]) for cluster in self.clusters)
