"""UJFB against its plain reference, job for job, in every mode; and against conservative backfilling."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headway
from headway.audit import audit
from instances import busy, log_of, results_of
from random_examples import examples
from reference.instances import job_lists
from reference.jobs import SECOND, Job
from reference.urgent import simulate_ujf
from ujfb_reference import check, made

M = 6
SPECS = st.builds(
    "ujfb(preempt={}, victims={}, swap={}, overtake={}, reserve={}, host_memory={}, host_size={}, "
    "idle={}, leftover={}, borrow={}, requeue={}, overrun={}, swap_in={})".format,
    st.sampled_from(["suspend", "suspend", "kill", "degree"]),
    st.sampled_from(["latest", "smallest", "largest"]),
    st.sampled_from(["column", "column", "0", "0.000003"]),
    st.sampled_from(["yes", "no"]),
    st.sampled_from(["preempting", "preempting", "beside", "none"]),
    st.sampled_from(["unlimited", "unlimited", "0.5", "2", "3"]),
    st.integers(1, 4),
    st.sampled_from(["kept", "lent"]),
    st.sampled_from(["free", "swapped"]),
    st.sampled_from(["last", "first"]),
    st.sampled_from(["arrival", "end"]),
    st.sampled_from(["kill", "finish"]),
    st.sampled_from(["1", "1", "0", "0.5", "2"]),
)


def jobs_with_urgent(m: int, jobs: int = 14, horizon: int = 20) -> st.SearchStrategy[list[Job]]:
    """Small instances in which every third job or so is urgent."""
    return job_lists(
        m,
        max_jobs=jobs,
        horizon=horizon,
        urgent=st.sampled_from([True, False, False]),
        swap=st.integers(0, 4),
        memory_gb=st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2)]),
        deadline=st.one_of(st.none(), st.integers(0, 30)),
    )


@examples(200)
@given(jobs=jobs_with_urgent(M), spec=SPECS)
def test_small_instances(jobs: list[Job], spec: str) -> None:
    check(jobs, M, spec)


@examples(60)
@given(jobs=jobs_with_urgent(8, 30, 40), spec=SPECS)
def test_longer_instances(jobs: list[Job], spec: str) -> None:
    check(jobs, 8, spec)


@examples(100)
@given(jobs=jobs_with_urgent(M), spec=SPECS)
def test_every_schedule_stands_the_audit(jobs: list[Job], spec: str) -> None:
    schedule = made(jobs, M, spec)
    verdict = audit(schedule)
    assert verdict.ok, verdict.faults


def busy_jobs(count: int, m: int, load: float, seed: int) -> list[Job]:
    """Deeper queues than small instances reach, runs of equal jobs; one job of twenty is urgent."""
    wl, random = busy(count, m, load, seed), np.random.default_rng(seed)
    alike = np.arange(count) // 4 * 4 * (random.random(count) < 0.6)
    jobs = []
    for i in range(count):
        like = int(alike[i]) or i
        walltime, runtime = int(wl.walltime[like]), int(wl.runtime[i])
        urgent = bool(random.random() < 0.05)
        jobs.append(
            Job(
                i + 1,
                int(wl.submit[i]),
                int(wl.procs[like]),
                max(walltime, 60 * SECOND),
                runtime,
                urgent=urgent,
                deadline=int(wl.submit[i]) + walltime + int(random.integers(0, 60)) * SECOND,
                swap=int(random.integers(0, 100)) * SECOND,
                memory_gb=Fraction(int(random.integers(1, 5)), 4),
            )
        )
    return jobs


@pytest.mark.long
@pytest.mark.parametrize("preempt", ["suspend", "kill", "degree"])
@pytest.mark.parametrize("more", ["", ", host_memory=2, host_size=4", ", victims=smallest, overtake=no"])
def test_a_busy_machine(preempt: str, more: str) -> None:
    jobs = busy_jobs(150, 24, 2, seed=5)
    schedule, expected = check(jobs, 24, f"ujfb(preempt={preempt}{more})")
    assert expected.preempting >= 3
    assert schedule.provenance["max_queue"] >= 30


@examples(100)
@given(jobs=job_lists(M, max_jobs=20, horizon=30))
def test_without_urgent_jobs_it_is_conservative(jobs: list[Job]) -> None:
    """J3: the same schedule as with every reservation made anew after each early end."""
    plain = headway.simulate(log_of(jobs), M, "conservative(compress=scratch)")
    other = made(jobs, M, "ujfb")
    for name in ("start", "end", "killed", "why", "promise"):
        assert np.array_equal(getattr(plain, name), getattr(other, name)), name


def test_without_urgent_jobs_on_a_deep_queue() -> None:
    wl = busy(3000, 64, 1.3, seed=2)
    wl = wl.with_columns(urgent=np.zeros(len(wl), np.bool_))
    plain = headway.simulate(wl, 64, "conservative(compress=scratch)")
    other = headway.simulate(wl, 64, "ujfb")
    for name in ("start", "end", "why", "promise"):
        assert np.array_equal(getattr(plain, name), getattr(other, name)), name
    assert plain.provenance["max_queue"] > 200


@examples(60)
@given(jobs=jobs_with_urgent(M))
def test_ujf_is_its_reference(jobs: list[Job]) -> None:
    found = results_of(headway.simulate(log_of(jobs), M, "ujf"))
    expected = simulate_ujf(jobs, M)
    assert [(r.start, r.end, r.killed) for r in found] == [(r.start, r.end, r.killed) for r in expected]
