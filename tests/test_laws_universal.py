"""What holds of every schedule of every queue policy, on random instances."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.units import SECOND
from instances import SPECS, simulated
from random_examples import examples
from reference.instances import job_lists
from reference.jobs import Job, Result
from reference.laws import check_schedule, shifted, stretched, times, widened

M = 6
LISTS = job_lists(M, max_jobs=12, urgent=st.booleans())

THRESHOLDS = ("lxf", "wfp3", "unicef", "f1", "f2", "f3", "f4", "age=", "estimate=0", "estimate=1")
"""Orders with a least walltime of a second or a logarithm, age limits and rounded estimates: these do not
scale with time."""
CLOCKS = ("f1", "f2", "f3", "f4")
"""Orders that look at the time of day of a submit."""
SCALING = tuple(spec for spec in SPECS if not any(word in spec for word in THRESHOLDS))
SHIFTING = tuple(spec for spec in SPECS if not any(word in spec for word in CLOCKS))
WIDENING = tuple(spec for spec in SHIFTING if "unicef" not in spec)
"""UNICEF takes the logarithm of the processors."""


@examples(50)
@given(jobs=LISTS)
def test_every_job_runs_once_in_time_and_within_the_machine(jobs: list[Job]) -> None:
    """U1, U2, U3."""
    jobs = stretched(jobs, SECOND)
    for spec in SPECS:
        check_schedule(jobs, M, simulated(jobs, M, spec))


@examples(25)
@given(jobs=LISTS, k=st.sampled_from([2, 3, 1000]))
def test_times_scale(jobs: list[Job], k: int) -> None:
    """U6."""
    for spec in SCALING:
        plain = simulated(jobs, M, spec)
        for one, other in zip(plain, simulated(stretched(jobs, k), M, spec), strict=True):
            promise = None if one.promise is None else k * one.promise
            assert other == Result(k * one.start, k * one.end, one.killed, one.why, promise), spec


@examples(25)
@given(jobs=LISTS, by=st.sampled_from([1, 86_400, 10**9]), k=st.integers(2, 5))
def test_shifting_widening_and_renaming_change_nothing(jobs: list[Job], by: int, k: int) -> None:
    """U4."""
    jobs = stretched(jobs, SECOND)
    renamed = [replace(job, id=10_000 - 7 * job.id) for job in jobs]
    for spec in SPECS:
        plain = simulated(jobs, M, spec)
        assert simulated(renamed, M, spec) == plain, spec
        if spec in SHIFTING:
            later = simulated(shifted(jobs, by * SECOND), M, spec)
            assert [(s - by * SECOND, e - by * SECOND) for s, e in times(later)] == times(plain), spec
        if spec in WIDENING:
            assert simulated(widened(jobs, k), k * M, spec) == plain, spec


def free_at(jobs: list[Job], results: list[Result], x: int) -> int:
    """Processors free from x on, when everything that happens at x has happened."""
    return M - sum(j.procs for j, r in zip(jobs, results, strict=True) if r.start <= x < r.end)


@examples(100)
@given(jobs=LISTS)
def test_no_processor_idles_while_the_head_fits(jobs: list[Job]) -> None:
    """U5: whenever jobs wait, the first of them in FCFS order does not fit (strict FCFS and EASY)."""
    jobs = stretched(jobs, SECOND)
    for spec in ("fcfs", "easy", "easy(backfill=sjf)", "easy(depth=2)", "easy(depth=all)"):
        results = simulated(jobs, M, spec)
        for x in {r.start for r in results} | {r.end for r in results} | {j.submit for j in jobs}:
            waiting = [i for i, job in enumerate(jobs) if job.submit <= x < results[i].start]
            if waiting:
                head = min(waiting, key=lambda i: (jobs[i].submit, i))
                assert jobs[head].procs > free_at(jobs, results, x), spec


@examples(25)
@given(jobs=LISTS)
def test_some_waiting_job_does_not_fit(jobs: list[Job]) -> None:
    """U5 for the other orders: where jobs wait, not all of them fit; the head is one that does not."""
    jobs = stretched(jobs, SECOND)
    for spec in SPECS:
        if spec.startswith("conservative"):
            continue  # there reservations exist
        results = simulated(jobs, M, spec)
        for x in {r.start for r in results} | {r.end for r in results} | {j.submit for j in jobs}:
            waiting = [job for job, r in zip(jobs, results, strict=True) if job.submit <= x < r.start]
            free = free_at(jobs, results, x)
            assert not waiting or any(job.procs > free for job in waiting), spec


@examples(100)
@given(jobs=LISTS)
def test_fcfs_starts_in_order_of_arrival(jobs: list[Job]) -> None:
    jobs = stretched(jobs, SECOND)
    results = simulated(jobs, M, "fcfs")
    queue = sorted(range(len(jobs)), key=lambda i: (jobs[i].submit, i))
    assert [results[i].start for i in queue] == sorted(r.start for r in results)


@examples(100)
@given(jobs=job_lists(M, max_jobs=12, zero=False))
def test_jobs_of_full_width_make_all_policies_fcfs(jobs: list[Job]) -> None:
    """E3, and the same of conservative backfilling where it compresses."""
    jobs = [replace(job, procs=M) for job in stretched(jobs, SECOND)]
    fcfs = times(simulated(jobs, M, "fcfs"))
    modes = ("early", "every", "fixpoint", "scratch")
    for spec in ("easy", "easy(depth=2)", "easy(depth=all)", *(f"conservative(compress={m})" for m in modes)):
        assert times(simulated(jobs, M, spec)) == fcfs, spec


@pytest.mark.parametrize("spec", SPECS)
def test_no_jobs_and_one_job(spec: str) -> None:
    assert simulated([], M, spec) == []
    (only,) = simulated([Job(1, 5, M, 10, 20)], M, spec)
    promise = 5 if spec.startswith("conservative") else None
    assert only == Result(5, 15, True, "immediate", promise)
