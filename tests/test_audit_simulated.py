"""The audit on what the simulator makes: every policy and mode, from the object and from its files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import headway
from headway import Schedule
from headway.audit import audit, read_foreign
from headway.platform import Platform
from headway.policies.catalogue import POLICIES
from headway.workload import Workload
from random_examples import examples
from reference.instances import job_lists
from reference.jobs import Job

M = 6

ON_NODES = ("eft", "lea", "leo", "lem", "score", "backfill-big", "area-filling")
"""Policies that need a platform with nodes: audited in test_nodes."""

ON_SITES = ("slurm",)
"""Policies that need a site: audited in test_slurm_policy."""

FROM_FILES = ("agent",)
"""Policies that need a file: audited in test_gym."""

SPECS = [
    *(
        name
        for name in POLICIES
        if name not in ("easy", "conservative", "redirection", *ON_NODES, *ON_SITES, *FROM_FILES)
    ),
    *(f"easy({options})" for options in ("", "backfill=sjf", "order=saf", "depth=2", "depth=all", "age=3")),
    *(f"easy({options})" for options in ("estimate=exact", "estimate=2", "urgent=first")),
    *(f"conservative(compress={mode})" for mode in ("early", "every", "fixpoint", "scratch", "none")),
    "conservative(hole=open)",
    *(f"redirection(theta=1, {options})" for options in ("alpha=0.5", "group=3, restart=checkpoint")),
]


def log_of(jobs: list[Job]) -> Workload:
    return Workload.from_arrays(
        unit="us",
        submit=[job.submit for job in jobs],
        procs=[job.procs for job in jobs],
        runtime=[job.runtime for job in jobs],
        walltime=[job.walltime for job in jobs],
    )


@pytest.mark.long
@pytest.mark.parametrize("spec", SPECS)
@examples(40)
@given(jobs=job_lists(M))
def test_random_instances(spec: str, jobs: list[Job]) -> None:
    made = headway.simulate(log_of(jobs), Platform.procs(M), spec)
    verdict = audit(made)
    assert verdict.ok, verdict.faults
    assert verdict.jobs == len(jobs)


@pytest.fixture(scope="module")
def busy() -> Workload:
    """3,000 jobs on 64 processors with a load near one: deep queues, early ends, kills, no lengths."""
    random = np.random.default_rng(11)
    runtime = np.rint(np.exp(random.uniform(0, 9, 3000))) - 1
    procs = 2 ** random.integers(0, 7, 3000)
    gap = float((np.minimum(runtime, 2000) * procs).sum()) / 64 / 3000
    return Workload.from_arrays(
        unit="s",
        submit=np.floor(np.cumsum(random.exponential(gap, 3000))),
        procs=procs,
        runtime=runtime,
        walltime=np.maximum(np.rint(runtime * random.uniform(0.8, 3, 3000)), 1),
        user=random.integers(0, 20, 3000),
    )


LAWS = {
    "fcfs": {"fcfs order", "fcfs head"},
    "easy": {"easy head"},
    "conservative": {"promise"},
}


@pytest.mark.parametrize("spec", ["fcfs", "easy", pytest.param("conservative", marks=pytest.mark.long)])
def test_a_busy_machine_and_its_files(busy: Workload, spec: str, tmp_path: Path) -> None:
    made = headway.simulate(busy, Platform.procs(64), spec)
    verdict = audit(made)
    assert verdict.ok, verdict.faults
    assert LAWS[spec] <= {law.name for law in verdict.laws}
    made.save(tmp_path / "out")
    assert audit(Schedule.load(tmp_path / "out"), busy).ok
    assert audit(read_foreign(tmp_path / "out" / "schedule.csv", busy, Platform.procs(64)), policy=spec).ok


def test_faults_put_into_a_real_schedule_are_found(busy: Workload) -> None:
    made = headway.simulate(busy, Platform.procs(64), "easy")
    waited = int(np.argmax(made.wait))
    made.start[waited] -= 1
    made.end[waited] -= 1
    assert {fault.law for fault in audit(made, policy="./unknown.py:Policy").faults} == {"capacity"}
