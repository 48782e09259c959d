"""The engine of a stream: tables for the jobs in the system and one window of arrivals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headway.arrays import Ints
from headway.engine.driver import Driver, counts
from headway.engine.setup import Jobs
from headway.engine.tables import Clock, Ended, Job, Phase, Run
from headway.engine.windows import next_window, still_here
from headway.policies.prepare import Arrivals, Prepared
from headway.simulate import warm
from headway.streams.arriving import COLUMNS, ROW, Window

if TYPE_CHECKING:
    from headway.platform import Platform
    from headway.policies.policy import Policy


class Simulation:
    """A policy on a machine, whose jobs come in windows."""

    def __init__(self, policy: Policy, machine: Platform, origin: int) -> None:
        self._policy, self._machine, self._origin = policy, machine, origin
        self._columns = dict.fromkeys(COLUMNS, np.zeros(0, np.int64))
        """Of the jobs in the tables."""
        self._driver: Driver | None = None
        self._runs = self._first_run = self._first_new = 0
        self._fresh = False
        self.promise_kind = ""

    @property
    def in_system(self) -> int:
        """Jobs that wait or run."""
        return 0 if self._driver is None else len(still_here(self._driver.state))

    def begin(self, window: Window) -> None:
        """Let the jobs that have ended make room for those of a window."""
        live = np.zeros(0, np.int64) if self._driver is None else still_here(self._driver.state)
        self._columns = {
            name: np.concatenate((values[live], window.columns[name]))
            for name, values in self._columns.items()
        }
        prepared = self._prepared()
        submit, procs, walltime, runtime, ids = (
            self._columns[name] for name in ("submit", "procs", "walltime", "runtime", "job")
        )
        jobs = Jobs(submit, procs, walltime, runtime, prepared.plan, ids)
        if self._driver is None:
            warm(prepared)
            self._driver = Driver(jobs, prepared.setup)
            self.promise_kind = prepared.promise_kind
        else:
            next_window(self._driver, live, jobs, prepared.setup)
        self._first_new, self._first_run = len(live), int(self._driver.state.clock[Clock.RUNS])
        self._fresh = True

    def _prepared(self) -> Prepared:
        """The policy for the jobs in the tables."""
        columns = self._columns
        arrivals = Arrivals(
            columns["submit"],
            columns["procs"],
            columns["walltime"],
            np.minimum(columns["runtime"], columns["walltime"]),
            platform=self._machine,
            origin=self._origin,
        )
        return self._policy.prepare(arrivals, self._machine.clusters[0].procs)

    def run_until(self, t: int) -> None:
        """Simulate every instant before ``t``."""
        assert self._driver is not None
        self._driver.run_until(t)

    def collect(self) -> tuple[Ints, dict[str, Ints]]:
        """Rows of the jobs that ended in this window, and what became of them; nothing when asked again."""
        if self._driver is None or not self._fresh:
            return np.zeros(0, np.int64), {}
        state = self._driver.state
        done = np.flatnonzero(state.jobs[Job.PHASE, : state.clock[Clock.LAST_NEW]] == Phase.DONE)
        run = state.jobs[Job.RUN, done]
        self._runs += int(state.clock[Clock.RUNS]) - self._first_run
        self._fresh = False
        return self._columns[ROW][done], {
            "start": state.runs[Run.START, run],
            "end": state.runs[Run.END, run],
            "why": state.runs[Run.WHY, run],
            "killed": (state.runs[Run.ENDED, run] == Ended.AT_WALLTIME).astype(np.int64),
            "promise": state.jobs[Job.PROMISE, done],
        }

    def came_and_went(self) -> tuple[Ints, Ints]:
        """When jobs were submitted in this window, and when jobs started in it."""
        assert self._driver is not None
        state = self._driver.state
        came = self._columns["submit"][self._first_new : int(state.clock[Clock.LAST_NEW])]
        return came, state.runs[Run.START, self._first_run : int(state.clock[Clock.RUNS])]

    def finish(self) -> None:
        """Every job must have had its run."""
        assert self._driver is not None
        self._driver.finish()

    def counts(self) -> dict[str, float]:
        """Instants, events, runs and the queue as passes found it."""
        if self._driver is None:
            return {}
        made = counts(self._driver.state)
        return {**made, "runs": self._runs}
