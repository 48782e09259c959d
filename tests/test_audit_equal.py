"""The audit on schedules of the plain references: nothing right is called wrong, a broken EASY is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from headway import Schedule
from headway.audit import Audit, audit
from headway.platform import Platform
from headway.schedule import WHY
from headway.workload import Workload
from reference.conservative import simulate_conservative
from reference.easy import Easy, simulate_easy
from reference.instances import job_lists
from reference.jobs import Job, Result
from reference.loop import simulate
from reference.strict import simulate_strict

M = 6


def verdict(jobs: Sequence[Job], results: Sequence[Result], policy: str, promise_kind: str = "") -> Audit:
    log = Workload.from_arrays(
        unit="us",
        submit=[job.submit for job in jobs],
        procs=[job.procs for job in jobs],
        runtime=[job.runtime for job in jobs],
        walltime=[job.walltime for job in jobs],
        job=[job.id for job in jobs],
    )
    promised = [-1 if result.promise is None else result.promise for result in results]
    return audit(
        Schedule(
            log,
            Platform.procs(M),
            policy,
            np.array([result.start for result in results]),
            np.array([result.end for result in results]),
            np.array([WHY.index(result.why) for result in results]),
            np.array([result.killed for result in results]),
            promise=np.array(promised),
            promise_kind=promise_kind,
        )
    )


def laws(made: Audit) -> set[str]:
    return {law.name for law in made.laws}


@given(jobs=job_lists(M))
def test_first_come_first_served(jobs: list[Job]) -> None:
    made = verdict(jobs, simulate_strict(jobs, M, "fcfs"), "fcfs")
    assert made.ok, made.faults
    assert {"fcfs order", "fcfs head"} <= laws(made)


@pytest.mark.parametrize("order", ["sjf", "laf", "wfp3"])
@given(jobs=job_lists(M))
def test_strict_orders(order: str, jobs: list[Job]) -> None:
    made = verdict(jobs, simulate_strict(jobs, M, order), order)
    assert made.ok, made.faults


@pytest.mark.parametrize(
    "options", [{}, {"backfill": "sjf"}, {"backfill": "laf"}, {"depth": 2}, {"depth": "all"}]
)
@given(jobs=job_lists(M, max_jobs=16))
def test_easy_in_order_of_arrival(options: dict[str, Any], jobs: list[Job]) -> None:
    spec = f"easy({', '.join(f'{key}={value}' for key, value in options.items())})" if options else "easy"
    made = verdict(jobs, simulate_easy(jobs, M, **options), spec, "start")
    assert made.ok, made.faults
    assert {"easy head", "promise"} <= laws(made)


@pytest.mark.parametrize("options", [{"order": "sjf"}, {"estimate": "exact"}, {"estimate": 0.5}, {"age": 5}])
@given(jobs=job_lists(M))
def test_easy_otherwise(options: dict[str, Any], jobs: list[Job]) -> None:
    spec = f"easy({', '.join(f'{key}={value}' for key, value in options.items())})"
    made = verdict(jobs, simulate_easy(jobs, M, **options), spec)
    assert made.ok, made.faults
    assert "easy head" not in laws(made)


@pytest.mark.parametrize("compress", ["early", "every", "fixpoint", "none", "scratch"])
@given(jobs=job_lists(M))
def test_conservative(compress: str, jobs: list[Job]) -> None:
    made = verdict(jobs, simulate_conservative(jobs, M, compress), f"conservative(compress={compress})")
    assert made.ok, made.faults
    assert ("promise" in laws(made)) == (compress != "scratch")


class Greedy(Easy):
    """Backfills whatever fits, with no thought for the head."""

    def schedule(self, t: int) -> None:
        for j in list(self.waiting):
            if self.machine.jobs[j].procs <= self.machine.free:
                self.start(t, j, "backfill")


def late_heads(jobs: Sequence[Job], results: Sequence[Result]) -> set[int]:
    """Heads that start after a shadow time they were given, by the definition; for jobs of some length."""
    late = set()
    pairs = sorted(zip(jobs, results, strict=True), key=lambda pair: pair[0].submit)  # stable: ties by place
    for t in {job.submit for job in jobs} | {result.end for result in results}:
        queue = [(job, result) for job, result in pairs if job.submit <= t < result.start]
        if not queue:
            continue
        head, place = queue[0], pairs.index(queue[0])
        running = [
            (result.start + job.walltime, job.procs)
            for other, (job, result) in enumerate(pairs)
            if t < result.end and (result.start < t or (result.start == t and other < place))
        ]
        free = M - sum(procs for _, procs in running)
        shadow = next(
            e
            for e in [t, *sorted(e for e, _ in running)]
            if free + sum(procs for end, procs in running if end <= e) >= head[0].procs
        )
        if head[1].start > shadow:
            late.add(head[0].id)
    return late


@given(
    jobs=job_lists(M, max_jobs=10, zero=False, longest=12).map(
        lambda jobs: [replace(j, runtime=j.runtime + 1) for j in jobs]
    )
)
def test_a_scheduler_without_regard_for_the_head_is_found_out(jobs: list[Job]) -> None:
    results = simulate(jobs, M, Greedy)
    made = verdict(jobs, results, "easy")
    assert {fault.jobs[0] for fault in made.faults} == late_heads(jobs, results)
    assert {fault.law for fault in made.faults} <= {"easy head"}


def test_the_search_above_is_not_in_vain() -> None:
    # Job 1 (4 of 6) runs 0-9, job 2 (6) is the head with shadow 9, job 3 (2) comes at 1 and runs to 11.
    jobs = [Job(1, 0, 4, 9, 9), Job(2, 0, 6, 3, 3), Job(3, 1, 2, 10, 10)]
    results = simulate(jobs, M, Greedy)
    assert [result.start for result in results] == [0, 11, 1]
    assert late_heads(jobs, results) == {2}
    assert [fault.jobs for fault in verdict(jobs, results, "easy").faults] == [(2,)]
