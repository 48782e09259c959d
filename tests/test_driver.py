"""The driver around the engine: jobs that come one by one, ends that the world reports, copies."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import headway
from headway.engine import driver as driver_module
from headway.engine.compiled import BATCH
from headway.engine.driver import Driver
from headway.engine.setup import Jobs, Setup
from headway.engine.tables import Phase, State, Why
from headway.engine.verbs import ask, start
from headway.jit import kernels
from headway.platform import Platform
from headway.policies.joining import Joining
from headway.policies.prepare import UNBOUNDED
from headway.units import NEVER, SECOND
from headway.workload import Workload
from instances import busy

PROCS = 32
POLICIES = (
    "fcfs",
    "easy",
    "easy(order=saf, backfill=sjf)",
    "conservative",
    "dbf",
    "ujfb(swap=5)",
    "redirection(theta=1, alpha=0.5)",
)


def log() -> Workload:
    plain, random = busy(60, PROCS, load=1.3, seed=3), np.random.default_rng(4)
    plain = plain.select(
        np.argsort(plain.submit, kind="stable"), rule="order", action="in order of submission"
    )
    late = plain.submit + (plain.walltime * random.uniform(1.5, 12, len(plain))).astype(np.int64)
    return plain.with_columns(
        deadline=np.where(random.random(len(plain)) < 0.4, late, -1), urgent=random.random(len(plain)) < 0.1
    )


def driven(jobs: Workload, policy: str, reported: bool) -> tuple[list[int], list[int]]:
    """Starts and ends where each job is submitted when it comes, and ends are computed or reported."""
    line = Joining(policy, Platform.procs(PROCS))
    driver, number, came = line.driver, dict[int, int](), 0
    while True:
        ends = {
            row: int(driver.state.runs.start[driver.state.jobs.run[job]] + min(jobs.runtime[row], NEVER))
            for row, job in number.items()
            if reported and driver.state.jobs.phase[job] == Phase.RUNNING
        }
        submit = int(jobs.submit[came]) if came < len(jobs) else NEVER
        t = min(submit, driver.following, *ends.values()) if ends else min(submit, driver.following)
        if t == NEVER:
            break
        driver.open(t)
        for row, end in ends.items():
            if end == t:
                driver.end(number[row])
        while came < len(jobs) and jobs.submit[came] == t:
            runtime = UNBOUNDED if reported else int(jobs.runtime[came])
            columns = {name: int(jobs.columns[name][came]) for name in ("deadline", "urgent")}
            size, walltime = int(jobs.procs[came]), int(jobs.walltime[came])
            number[came] = line.submit(size, walltime, runtime, file_place=came, **columns)
            came += 1
        driver.close()
    state = driver.finish()
    last = [state.jobs.run[number[row]] for row in range(len(jobs))]
    return state.runs.start[last].tolist(), state.runs.end[last].tolist()


@pytest.mark.parametrize("policy", POLICIES)
def test_jobs_that_come_one_by_one_are_scheduled_as_those_of_a_log(policy: str) -> None:
    jobs = log()
    whole = headway.simulate(jobs, PROCS, policy)
    starts, ends = driven(jobs, policy, reported=False)
    assert ends == whole.end.tolist()
    if not policy.startswith("ujfb"):  # there a run may be one of several pieces
        assert starts == whole.start.tolist()


@pytest.mark.parametrize("policy", ["easy", "conservative", "dbf"])
def test_reported_ends_are_as_good_as_computed_ones(policy: str) -> None:
    assert driven(log(), policy, reported=True) == driven(log(), policy, reported=False)


def test_a_copy_runs_ahead_and_changes_nothing() -> None:
    line = Joining("easy", Platform.procs(4))
    line.driver.open(0)
    first = line.submit(procs=4, walltime=100 * SECOND, runtime=60 * SECOND)
    second = line.submit(procs=2, walltime=50 * SECOND, runtime=50 * SECOND)
    line.driver.close()
    copy = line.driver.snapshot()
    while copy.next():
        copy.decide()
    assert copy.state.runs.end[copy.state.jobs.run[[first, second]]].tolist() == [
        60 * SECOND,
        110 * SECOND,
    ]
    assert line.driver.state.jobs.phase[second] != Phase.DONE and line.driver.following == 60 * SECOND


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "dbf", "ujfb(swap=5)", "redirection"])
def test_a_cancelled_job_leaves_room(policy: str) -> None:
    """2 of 4 processors run until 10; a job of 4 waits and holds up one of 2; it is cancelled at 5."""
    line = Joining(policy, Platform.procs(4))
    driver = line.driver
    driver.open(0)
    line.submit(procs=2, walltime=10 * SECOND, runtime=10 * SECOND)
    wide = line.submit(procs=4, walltime=10 * SECOND, runtime=10 * SECOND)
    driver.close()
    driver.open(1 * SECOND)
    narrow = line.submit(procs=2, walltime=20 * SECOND, runtime=20 * SECOND)
    driver.close()
    assert driver.state.jobs.run[narrow] < 0
    driver.open(5 * SECOND)
    driver.withdraw(wide)
    driver.close()
    assert driver.state.jobs.phase[wide] == Phase.WITHDRAWN
    assert driver.state.runs.start[driver.state.jobs.run[narrow]] == 5 * SECOND


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("policy", "then"),
    [("conservative", 1), ("dbf", 1), ("redirection(theta=1, group=4, principal=conservative)", 3)],
)
def test_before_its_turn_a_policy_starts_and_stops_nothing(policy: str, then: int) -> None:
    """A job of 4 processors runs until 10, and one waits. At 5 one comes, the one that waited is cancelled,
    and another comes: the second and third that would wait. In the turn the first is redirected for them, and
    so begins anew, and one of them starts."""
    line = Joining(policy, Platform.procs(4))
    driver = line.driver
    driver.open(0)
    first, second = (line.submit(procs=4, walltime=10 * SECOND, runtime=10 * SECOND) for _ in range(2))
    driver.close()
    driver.open(5 * SECOND)
    line.submit(procs=4, walltime=9 * SECOND, runtime=9 * SECOND)
    driver.withdraw(second)
    line.submit(procs=4, walltime=8 * SECOND, runtime=8 * SECOND)
    assert driver.state.clock.runs == 1 and driver.state.jobs.phase[first] == Phase.RUNNING
    driver.close()
    assert driver.state.clock.runs == then


def one_by_one(t: int, state: State) -> None:
    """First come first served, where the owner is asked before each start."""
    job = state.options[0]
    if state.options[1] > 0:
        start(state, job, 0, Why.HEAD)
        job = state.options[0] = job + 1
        state.options[1] = 0
    if job < state.clock.last_new and state.jobs.procs[job] <= state.pools.free[0]:
        ask(state)


def test_a_policy_that_asks_goes_on_in_the_same_instant_when_it_is_answered() -> None:
    jobs = log()
    names = ("submit", "procs", "walltime", "runtime", "walltime")
    driver = Driver(Jobs(*(jobs.columns[name].copy() for name in names)), Setup((PROCS,), one_by_one, (0, 0)))
    asked = []
    while driver.advance(BATCH):
        asked.append(int(driver.state.clock.now))
        driver.state.options[1] = 1
    started = driver.finish().runs.start[driver.state.jobs.run].tolist()
    assert started == headway.simulate(jobs, PROCS, "fcfs").start.tolist() == asked


@pytest.mark.skipif(kernels.INTERPRETED, reason="interpreted runs are rewritten for one batch")
def test_a_run_whose_instants_take_long_reports_after_fewer_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that its progress is seen, and an interrupt heard; the schedule is the same."""
    jobs = log()
    seconds, finished = itertools.count(step=3.0), [0]
    monkeypatch.setattr(driver_module, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    monkeypatch.setattr(driver_module, "FIRST_BATCH", 32)
    result = headway.simulate(jobs, PROCS, "easy", progress=lambda done, _: finished.append(done))
    steps = np.diff(finished)
    assert steps[-1] <= steps[0] / 8 and len(steps) > 30
    monkeypatch.undo()
    assert (result.start == headway.simulate(jobs, PROCS, "easy").start).all()


def test_hundreds_that_join_at_once_stand_in_order() -> None:
    """The shortest starts first, whatever the order of joining."""
    lengths = np.random.default_rng(2).permutation(300) + 1
    line = Joining("sjf", Platform.procs(1))
    line.driver.open(0)
    jobs = [line.submit(procs=1, walltime=n * SECOND, runtime=n * SECOND) for n in lengths.tolist()]
    line.driver.close()
    while line.driver.next():
        line.driver.decide()
    state = line.driver.state
    starts = state.runs.start[state.jobs.run[jobs]]
    assert (lengths[np.argsort(starts)] == np.arange(300) + 1).all()
