"""Reallocation against its plain reference, job for job and move for move."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headway
from grid_reference import check, made
from headway import Schedule
from headway.audit import audit
from headway.units import SECOND
from random_examples import examples
from reference.conservative import Conservative
from reference.grid import Cluster, EstimatedEasy, Plan
from reference.instances import job_lists
from reference.jobs import Job
from reference.loop import Machine, run
from reference.profile import Profile

SITES = (Cluster("a", 5), Cluster("b", 3, Fraction(6, 5)), Cluster("c", 4, Fraction(7, 5)))
PARALLEL = st.sampled_from([None, Fraction(8, 10), Fraction(99, 100), Fraction(1)])
JOBS = job_lists(
    3,
    max_jobs=14,
    horizon=30,
    longest=12,
    parallel_fraction=PARALLEL,
    max_procs=st.sampled_from([None, 1, 2, 4, 6]),
    local=st.sampled_from([False, False, True]),
    cluster=st.sampled_from("abc"),
)
PLANS = (
    "conservative",
    "conservative(compress=every)",
    "conservative(compress=fixpoint)",
    "conservative(compress=none)",
    "conservative(compress=scratch)",
    "conservative(hole=open)",
    "fcfs",
    "easy",
)
SPECS = st.builds(
    "reallocation(heuristic={}, mode={}, period={}, threshold={}, oldest={}, tuning={}, local={}, {})".format,
    st.sampled_from(["mct", "minmin", "maxmin", "sufferage", "maxgain", "maxrelgain"]),
    st.sampled_from(["regular", "cancel", "cancel", "regular", "none"]),
    st.sampled_from(["0.000006", "0.000003"]),
    st.sampled_from(["0.000002", "0", "0.000005"]),
    st.sampled_from([1, 3, 20]),
    st.sampled_from(["binary", "bounded", "exhaustive"]),
    st.sampled_from(PLANS),
    st.sampled_from(["law=amdahl", "law=downey", "law=downey, sigma=0.3", "law=downey, sigma=2.5"]),
)


@examples(300)
@given(jobs=JOBS, spec=SPECS)
def test_small_instances(jobs: list[Job], spec: str) -> None:
    schedule, _ = check(jobs, SITES, spec)
    verdict = audit(schedule)
    assert verdict.ok, verdict.faults


@examples(60)
@given(jobs=JOBS, spec=SPECS)
def test_saved_and_loaded(jobs: list[Job], spec: str) -> None:
    """What the files hold is enough to judge the run again, and to repeat it."""
    schedule = made(jobs, SITES, spec)
    with TemporaryDirectory() as folder:
        schedule.save(Path(folder) / "run")
        again = Schedule.load(Path(folder) / "run")
    verdict = audit(again)
    assert verdict.ok, verdict.faults
    assert {"one place", "events", "molding"} <= {law.name for law in verdict.laws}
    assert schedule.moves is not None and again.moves is not None
    for name in ("job", "time", "source", "target", "before", "after", "procs_before", "procs_after"):
        assert np.array_equal(getattr(schedule.moves, name), getattr(again.moves, name)), name
    repeated = headway.simulate(again.workload, again.platform, again.policy)
    for name in ("start", "end", "procs", "cluster"):
        assert np.array_equal(getattr(schedule, name), getattr(repeated, name)), name


class RunAhead(EstimatedEasy):
    """Its plans are what happens when conservative backfilling goes on from here with all of the cluster."""

    def profile(self, t: int, without: int | None = None) -> tuple[Profile, Plan]:
        profile, plan = super().profile(t, without)
        assert list(plan.values()) == self.run_on(t, list(plan)), plan
        return profile, plan

    def earliest(self, t: int, j: int) -> int:
        start = super().earliest(t, j)
        ahead = [other for other in self.waiting if other != j]
        assert start == self.run_on(t, [*ahead, j])[-1]
        return start

    def run_on(self, t: int, waiting: list[int]) -> list[int]:
        """When these jobs start, in a copy where every job lasts as long as it requested."""
        jobs = [replace(self.machine.jobs[j], submit=t) for j in waiting]
        machine = Machine([replace(job, runtime=job.walltime) for job in jobs], self.machine.m)
        machine.running = [replace(run, end=run.expected) for run in self.machine.running]
        run(machine, Conservative(machine, "none"))
        return [machine.results[place].start for place in range(len(waiting))]


@examples(100)
@given(jobs=JOBS, mode=st.sampled_from(["regular", "cancel"]))
def test_plans_of_easy_are_the_whole_cluster_run_ahead(jobs: list[Job], mode: str) -> None:
    spec = f"reallocation(mode={mode}, local=easy, period=0.000003, threshold=0)"
    with patch("reference.grid.EstimatedEasy", RunAhead):
        check(jobs, SITES, spec)


def busy_tasks(count: int, seed: int) -> list[Job]:
    """Deeper queues than small instances reach: times in seconds, many end early, a third is local."""
    random = np.random.default_rng(seed)
    submit = np.sort(random.integers(0, 20 * count, count))
    jobs = []
    for i in range(count):
        walltime = int(random.integers(30, 900))
        runtime = int(walltime * random.choice([0.2, 0.5, 1.0, 1.3]))
        home = str(random.choice(["a", "b", "c"]))
        procs = int(random.integers(1, {"a": 24, "b": 16, "c": 8}[home] + 1))
        jobs.append(
            Job(
                i + 1, int(submit[i]) * SECOND, procs, walltime * SECOND, runtime * SECOND,
                parallel_fraction=[None, Fraction(8, 10), Fraction(99, 100)][int(random.integers(3))],
                max_procs=int(random.integers(1, 32)), local=bool(random.random() < 0.33), cluster=home,
            )
        )  # fmt: skip
    return jobs


@pytest.mark.parametrize("local", ["conservative", "fcfs", "easy"])
@pytest.mark.parametrize("mode", ["regular", "cancel"])
@pytest.mark.parametrize("heuristic", ["mct", "minmin"])
def test_a_busy_grid(heuristic: str, mode: str, local: str) -> None:
    jobs = busy_tasks(45, seed=4)
    sites = (Cluster("a", 24), Cluster("b", 16, Fraction(6, 5)), Cluster("c", 8, Fraction(7, 5)))
    spec = (
        f"reallocation(heuristic={heuristic}, mode={mode}, local={local}, period=120, threshold=10, oldest=5)"
    )
    schedule, reference = check(jobs, sites, spec)
    assert reference.moves and int(schedule.provenance["max_queue"]) >= 20
