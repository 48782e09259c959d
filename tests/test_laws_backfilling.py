"""What EASY and conservative backfilling guarantee, on random instances."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.engine import driver
from headway.engine.setup import Jobs, Setup
from headway.engine.tables import OPEN, Phase, State
from headway.units import SECOND
from instances import MODES, simulated
from random_examples import examples
from reference.instances import job_lists
from reference.jobs import Job, Result
from reference.laws import stretched, times

M = 6
LISTS = job_lists(M, max_jobs=12)
KEPT = tuple(mode for mode in MODES if mode != "scratch")


# ---- EASY ------------------------------------------------------------------------------------------------


def shadow_of(running: list[tuple[int, int]], procs: int) -> tuple[int, int]:
    """When ``procs`` will be free beside running jobs (expected end, procs), and what more is free then."""
    for x in sorted(end for end, _ in running):
        free = M - sum(q for end, q in running if end > x)
        if free >= procs:
            return x, free - procs
    raise AssertionError("a job that fits was not started")


def heads(jobs: list[Job], results: list[Result]) -> Iterator[tuple[int, int, int]]:
    """(instant, head, its shadow) after each instant at which jobs wait, read off the schedule alone."""
    for x in sorted({r.start for r in results} | {r.end for r in results} | {j.submit for j in jobs}):
        waiting = [i for i, job in enumerate(jobs) if job.submit <= x < results[i].start]
        if waiting:
            head = min(waiting, key=lambda i: (jobs[i].submit, i))
            now = [i for i, r in enumerate(results) if r.start <= x < r.end]
            running = [(results[i].start + jobs[i].walltime, jobs[i].procs) for i in now]
            yield x, head, shadow_of(running, jobs[head].procs)[0]


@examples(120)
@given(jobs=LISTS, backfill=st.sampled_from(["fcfs", "sjf", "laf", "lxf"]))
def test_the_shadow_of_a_head_never_moves_back(jobs: list[Job], backfill: str) -> None:
    """E1: while a job is head its shadow never increases, and it starts no later than any of them."""
    jobs = stretched(jobs, SECOND)
    results = simulated(jobs, M, f"easy(backfill={backfill})")
    told: dict[int, int] = {}
    for _, head, shadow in heads(jobs, results):
        assert shadow <= told.get(head, shadow)
        told[head] = shadow
    for i, result in enumerate(results):
        assert result.promise is None or result.start <= result.promise
        if i in told:
            assert result.promise is not None and result.start <= result.promise <= told[i]


@examples(120)
@given(jobs=job_lists(M, max_jobs=12, zero=False))
def test_backfilled_jobs_keep_to_the_extra_processors(jobs: list[Job]) -> None:
    """E2: those of one pass that outlast the shadow need no more than what the head leaves free then."""
    jobs = [Job(j.id, j.submit, j.procs, j.walltime, max(j.runtime, 1)) for j in jobs]  # one pass per instant
    jobs = stretched(jobs, SECOND)
    results = simulated(jobs, M, "easy")
    for x, head, _ in heads(jobs, results):
        passed = [i for i, r in enumerate(results) if r.start == x and r.why == "backfill"]
        before = [i for i, r in enumerate(results) if r.start <= x < r.end and i not in passed]
        running = [(results[i].start + jobs[i].walltime, jobs[i].procs) for i in before]
        shadow, extra = shadow_of(running, jobs[head].procs)
        assert sum(jobs[i].procs for i in passed if x + jobs[i].walltime > shadow) <= extra


@examples(120)
@given(jobs=job_lists(M, max_jobs=12, exact=True))
def test_with_exact_walltimes_the_head_starts_at_its_shadow(jobs: list[Job]) -> None:
    """E4."""
    for spec in ("easy", "easy(backfill=sjf)", "easy(depth=2)"):
        for result in simulated(stretched(jobs, SECOND), M, spec):
            assert result.promise is None or result.start == result.promise, spec


@examples(60)
@given(jobs=LISTS)
def test_exact_estimates_are_exact_walltimes(jobs: list[Job]) -> None:
    jobs = stretched(jobs, SECOND)
    known = [Job(j.id, j.submit, j.procs, j.length, j.length) for j in jobs]
    for options in ("order=fcfs", "order=sjf, backfill=lxf", "depth=all", "age=3"):
        given_times = simulated(jobs, M, f"easy({options}, estimate=exact)")
        assert times(given_times) == times(simulated(known, M, f"easy({options})")), options


@examples(60)
@given(jobs=job_lists(M, max_jobs=12, zero=False))
def test_all_reservations_at_each_pass_is_conservative_from_scratch(jobs: list[Job]) -> None:
    jobs = stretched(jobs, SECOND)
    deep = times(simulated(jobs, M, "easy(depth=all)"))
    assert deep == times(simulated(jobs, M, "conservative(compress=scratch)"))


# ---- conservative ----------------------------------------------------------------------------------------


@examples(60)
@given(jobs=job_lists(M, max_jobs=12, urgent=st.booleans()))
def test_promises_are_kept(jobs: list[Job]) -> None:
    """P1."""
    jobs = stretched(jobs, SECOND)
    for mode in KEPT:
        for options in ("", ", hole=open", ", urgent=first"):
            for result in simulated(jobs, M, f"conservative(compress={mode}{options})"):
                assert result.promise is not None and result.start <= result.promise


@examples(60)
@given(jobs=job_lists(M, max_jobs=12, exact=True))
def test_with_exact_walltimes_all_modes_agree(jobs: list[Job]) -> None:
    """P3."""
    jobs = stretched(jobs, SECOND)
    reference = simulated(jobs, M, "conservative(compress=none)")
    assert all(result.start == result.promise for result in reference)
    for mode in MODES:
        assert simulated(jobs, M, f"conservative(compress={mode})") == reference


def watched(jobs: list[Job], spec: str, look: Callable[[State], None]) -> None:
    """Simulate one pass at a time and look at the state after each."""

    def run(table: Jobs, setup: Setup, progress: object = None) -> State:
        moved = driver.Driver(table, setup)
        while moved.advance(1):
            look(moved.state)
        return moved.state

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["headway.simulate"], "run", run)
        simulated(jobs, M, spec)


class Onlooker:
    """Checks the reservations after each pass."""

    def __init__(self, jobs: list[Job], mode: str) -> None:
        self.queue = sorted(jobs, key=lambda job: job.submit)  # as the engine numbers them
        self.mode, self.before, self.passes = mode, dict[int, int](), 0

    def __call__(self, state: State) -> None:
        now = int(state.clock.now)
        waiting = {
            int(i): int(state.jobs.reserved[i]) for i in np.flatnonzero(state.jobs.phase == Phase.WAITING)
        }
        held = [(s, s + self.queue[i].walltime, self.queue[i].procs) for i, s in waiting.items()]
        for run in np.flatnonzero(state.runs.end[: state.clock.runs] == OPEN):
            job = self.queue[state.runs.job[run]]
            held.append((now, int(state.runs.expected[run]), job.procs))
        for x, _, _ in held:
            assert sum(q for begin, end, q in held if begin <= x < end) <= M, self.mode
        for i, begin in waiting.items():
            before = self.before.get(i, begin)
            assert begin >= now
            assert self.mode == "scratch" or begin <= before
            assert self.mode != "none" or begin == before
        self.before = waiting
        self.passes += 1


@examples(60)
@given(jobs=LISTS, hole=st.sampled_from(["closed", "open"]))
def test_reservations_fit_and_only_move_forward(jobs: list[Job], hole: str) -> None:
    """P2, P4, P5: looked at after every pass, so arrivals and sweeps are seen one by one."""
    jobs = stretched(jobs, SECOND)
    for mode in MODES:
        onlooker = Onlooker(jobs, mode)
        watched(jobs, f"conservative(compress={mode}, hole={hole})", onlooker)
        assert onlooker.passes > 0


@examples(60)
@given(jobs=LISTS)
def test_a_later_job_changes_no_earlier_promise(jobs: list[Job]) -> None:
    """P4, on whole runs: without compression the last to arrive changes nothing for the others."""
    queue = stretched(sorted(jobs, key=lambda job: job.submit), SECOND)
    spec = "conservative(compress=none)"
    assert simulated(queue, M, spec)[:-1] == simulated(queue[:-1], M, spec)
