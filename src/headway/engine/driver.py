"""One simulation that its owner moves: the only place where the engine's clock is turned from Python.

    driver = Driver(jobs, setup)                 jobs of a log arrive by themselves
    driver.run()                                 to the end, compiled

    while driver.advance(instants): ...          compiled: so many instants, or until the policy asks
    while driver.next(): ...; driver.decide()    one instant at a time, the policy's turn when asked for

    driver = Driver(NO_JOBS, setup, local)       jobs that nobody knows beforehand
    driver.open(t)                               let it be t; what is due ends
    driver.join(rows, runtime)                   a job is submitted; driver.end(job), driver.withdraw(job)
    driver.decide()                              the policy's turn
    driver.following                             when something happens next by itself

Inside one instant the order is: ends, processors that come and go, arrivals, then what the owner reports or
asks in the order in which it does, then the policy's turn. Times are µs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from headway.engine.clock import one_step
from headway.engine.compiled import BATCH, compiled_hook, compiled_loop
from headway.engine.faults import check_finished, refusal
from headway.engine.local import JOIN, WITHDRAW, Local, caught_up, is_behind, only_plan
from headway.engine.setup import EMPTY, Jobs, Progress, Setup, first_room, grow, make_state
from headway.engine.side_by_side import end_now, is_crowded, next_event, open_at
from headway.engine.submissions import Submissions
from headway.engine.tables import (
    Ended,
    Fault,
    JobTable,
    Phase,
    State,
    Step,
    Table,
    World,
    copy_memory,
)
from headway.jit import kernels
from headway.jit.kernels import as_written
from headway.units import NEVER

FIRST_BATCH, OFTEN, SELDOM = 10_000, 0.1, 0.4
"""Instants until the first report; reports that come within so many seconds come too often, later than that
too seldom."""

NO_JOBS = EMPTY
Loop = Callable[[Any, State, World, int], int]


class Driver:
    """A simulation: its tables, its policy, and the ways to move it."""

    def __init__(
        self,
        jobs: Jobs,
        setup: Setup,
        local: Local | None = None,
        room: int | None = None,
        loop: Loop | None = None,
    ) -> None:
        self.jobs, self.setup, self.local, self._loop = jobs, setup, local, loop
        self.hook = compiled_hook(setup.hook, setup.memory)
        self.state, self.world = make_state(jobs, setup, first_room(len(jobs)) if room is None else room)
        if setup.machine is not None:
            setup.machine.begin(self)
        if setup.submissions is not None:
            setup.submissions.begin(self)
        self.now = -1
        self.is_open = False
        self.version = 0
        """Changes whenever something happens here, so that what was foreseen holds no more."""
        self.following = NEVER
        """When something happens next by itself: an end, or a turn that the policy asked for."""

    # ---- with a log: time goes by itself ------------------------------------------------------------------

    def run(self, progress: Progress | None = None, batch: int = BATCH) -> State:
        """Simulate until every job has finished; the state then holds the log of runs.

        Between two reports are at most ``batch`` instants, and fewer where these take long: only there the
        caller can see how far it is, and stop it.
        """
        instants = batch if kernels.INTERPRETED else min(batch, FIRST_BATCH)
        more = True
        while more:
            begin = time.monotonic()
            more = self.advance(instants)
            self.report(progress)
            if not kernels.INTERPRETED:
                instants = paced(instants, time.monotonic() - begin, batch)
        return self.finish()

    def advance(self, instants: int) -> bool:
        """Run the compiled policy for at most so many instants; whether more are to come.

        A policy that asks (:func:`headway.engine.verbs.ask`) stops it: its turn goes on with the next call.
        """
        if self.setup.submissions is not None:
            return self.advance_one_by_one(instants, self.setup.submissions)
        loop = self._loop or compiled_loop(self.setup.memory)
        until, code = int(self.state.clock.instants) + instants, int(Step.EVENT)
        while code in (Step.GROW, Step.EVENT):
            clock = self.state.clock
            is_open = clock.held > 0  # and has been counted
            left = until - int(clock.instants) + int(is_open)
            code = loop(self.hook, self.state, self.world, left)
            if code in (Step.GROW, Step.EVENT):
                self.prepare_for(code)
        if code == Step.BROKEN:
            raise self.refusal()
        return code != Step.FINISH

    def advance_one_by_one(self, instants: int, submissions: Submissions) -> bool:
        """The same where the ends of an instant say who is submitted later."""
        for _ in range(instants):
            if not self.next():
                return False
            submissions.take_ends(self)
            self.decide()
            submissions.take_refusals(self)
        return True

    def run_until(self, t: int, progress: Progress | None = None, batch: int = BATCH) -> None:
        """Run the compiled policy through every instant before ``t``; the table has all jobs until then."""
        self.state.clock.known_until = t
        loop = self._loop or compiled_loop(self.setup.memory)
        while (code := loop(self.hook, self.state, self.world, batch)) not in (Step.PAUSE, Step.FINISH):
            if code == Step.BROKEN:
                raise self.refusal()
            if code in (Step.GROW, Step.EVENT):
                self.prepare_for(code)
            self.report(progress)

    def next(self) -> bool:
        """Close the present instant and open the next: ends, then arrivals. False if none is to come."""
        while (code := one_step(self.state, self.world)) in (Step.GROW, Step.EVENT):
            self.prepare_for(code)
        self.now, self.is_open = int(self.state.clock.now), code != Step.FINISH
        return self.is_open

    def decide(self) -> None:
        """The policy's turn at the present instant."""
        self.settle()
        self.hook(self.now, self.state)
        if self.state.clock.fault != Fault.NONE:
            raise self.refusal()
        self.is_open = False
        self.version += 1

    def finish(self) -> State:
        """The tables at the end, when every job must have had its run."""
        check_finished(self.state, self.ids())
        return self.state

    def report(self, progress: Progress | None) -> None:
        """Tell how many jobs have finished."""
        if progress is not None:
            progress(int(self.state.clock.finished), len(self.jobs))

    def prepare_for(self, code: int) -> None:
        """What must be done before the clock goes on: larger tables, or what the world has to tell."""
        if code == Step.GROW:
            self.grow()
        else:
            assert self.setup.machine is not None
            self.setup.machine.happen(self)

    def grow(self) -> None:
        """Tables for twice as many live jobs."""
        self.state, self.world = grow(self.state, self.world)

    def refusal(self) -> Exception:
        """The error for a verb that was refused."""
        return refusal(self.state, self.ids())

    def ids(self) -> Table | None:
        """The names of the jobs, for messages."""
        if self.jobs.ids is None or self.setup.submissions is None:
            return self.jobs.ids
        return self.jobs.ids[self.setup.submissions.jobs_by_column()]

    # ---- without one: its owner lets time go by, and jobs come and go -------------------------------------

    def open(self, t: int) -> None:
        """Let it be ``t``, no later than ``following``: what is due ends. Nothing if one is open."""
        if self.is_open:
            return
        while open_at(self.state, self.world, t) == Step.GROW:
            self.grow()
        self.now, self.is_open = t, True
        self.version += 1

    def close(self) -> None:
        """The policy's turn, and a look at what comes next."""
        self.decide()
        self.following = int(next_event(self.state, self.world))

    def settle(self) -> None:
        """Put the plan in order from which jobs were taken away."""
        if self.state.pools.left[0] > 0 and self.local is not None and self.local.catches_up:
            self.plan()

    def plan(self) -> None:
        """A turn of the policy for its plans alone."""
        as_written(only_plan)(self.state)
        self.hook(self.now, self.state)
        as_written(caught_up)(self.state)

    def join(self, rows: Table, runtime: int) -> int:
        """A job is submitted at the open instant; ``rows`` is its column of the table of jobs. Its number.

        ``runtime`` (µs) is how long it runs, or more than its walltime if only its end will tell.
        """
        self.make_room()
        job = self.place(self.state, rows)
        self.world.runtime[job] = runtime
        return job

    def make_room(self) -> None:
        """Space for one more job at the open instant."""
        assert self.is_open
        self.settle()
        while is_crowded(self.state, self.world, 1):
            self.grow()
        if self.state.clock.last_new == self.state.jobs.shape[1]:
            self.widen()
        self.version += 1

    def place(self, state: State, rows: Table) -> int:
        """Write a newcomer into the next column of a table of jobs; the column."""
        column = int(state.clock.last_new)
        lists = [] if self.local is None else list(self.local.not_of_jobs)
        kept = state.jobs[lists, column]
        state.jobs[:, column] = rows
        state.jobs[lists, column] = kept
        state.jobs.submit[column], state.jobs.phase[column] = state.clock.now, Phase.WAITING
        state.clock.last_new = column + 1
        state.clock.waits += 1
        if self.local is not None and self.local.looks_at_newcomers:
            self.local.request(int(state.clock.now), state, column, JOIN)
        return column

    def end(self, job: int, how: int = Ended.BY_ITSELF) -> bool:
        """The world reports that a job ended at the open instant; False if it does not run."""
        assert self.is_open
        if self.state.jobs.phase[job] != Phase.RUNNING:
            return False
        end_now(self.state, int(self.state.jobs.run[job]), how)
        self.version += 1
        return True

    def withdraw(self, job: int) -> None:
        """Take a waiting job away."""
        assert self.is_open and self.local is not None
        if self.local.catches_up and as_written(is_behind)(self.state):
            self.plan()
        if job < self.state.clock.first_new:
            self.local.request(self.now, self.state, job, WITHDRAW)
        else:
            self.forget_newcomer(job)
        self.version += 1

    def forget_newcomer(self, job: int) -> None:
        """Take out a job that the policy has not seen; those behind it move up."""
        assert self.local is not None
        last = int(self.state.clock.last_new) - 1
        rows = np.setdiff1d(np.arange(self.state.jobs.shape[0]), self.local.not_of_jobs)
        self.world.runtime[job:last] = self.world.runtime[job + 1 : last + 1]
        self.state.jobs[rows, job:last] = self.state.jobs[rows, job + 1 : last + 1]
        self.state.jobs.submit[last], self.state.jobs.phase[last] = NEVER, 0
        self.state.clock.last_new = last
        self.state.clock.waits -= 1

    def widen(self) -> None:
        """Space for twice as many submissions."""
        old = self.state.jobs.shape[1]
        jobs = JobTable(np.zeros((self.state.jobs.shape[0], 2 * old + 8), np.int64))
        jobs[:, :old] = self.state.jobs.table
        jobs.submit[old:] = NEVER
        jobs[[JobTable["run"], JobTable["promise"]], old:] = -1
        self.state = self.state._replace(jobs=jobs)
        self.world = self.world._replace(runtime=np.pad(self.world.runtime, (0, jobs.shape[1] - old)))

    # ---- copies -------------------------------------------------------------------------------------------

    def snapshot(self) -> Self:
        """A whole copy that can be moved on alone."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.state, copy.world = copied(self.state), World(*(table.copy() for table in self.world))
        return copy


def paced(instants: int, seconds: float, most: int) -> int:
    """How many instants to take next where the last ones took so long.

    >>> paced(10_000, 0.01, most=200_000), paced(200_000, 0.1, most=200_000), paced(10_000, 3.5, most=200_000)
    (20000, 200000, 5000)
    """
    if seconds < OFTEN:
        return min(2 * instants, most)
    return max(instants // 2, 1) if seconds > SELDOM else instants


def run(jobs: Jobs, setup: Setup, progress: Progress | None = None) -> State:
    """Simulate a log until every job has finished, as the policy is to be driven."""
    if setup.drive is not None:
        return setup.drive(jobs, setup, progress)
    return Driver(jobs, setup).run(progress)


def copied(state: State) -> State:
    """Every table of a state, copied."""
    return copy_memory(state)


def counts(state: State) -> dict[str, float]:
    """Instants, and the queue as passes found it: its mean over passes, not over time, and its maximum."""
    clock = state.clock
    instants = int(clock.instants)
    return {
        "passes": instants,
        "events": int(clock.finished + clock.last_new),
        "runs": int(clock.runs),
        "mean_queue_per_pass": round(int(clock.waits_sum) / max(instants, 1), 3),
        "max_queue": int(clock.waits_max),
    }
