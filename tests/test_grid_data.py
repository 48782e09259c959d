"""Transfers between the clusters of a grid, and shares of clusters that are reserved for its tasks."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headway
from grid_reference import check, grid_log, made, platform_of
from headway.audit import audit
from headway.errors import UsageError
from headway.units import SECOND
from instances import log_of
from random_examples import examples
from reference.grid import Cluster
from reference.instances import job_lists
from reference.jobs import Job
from reference.laws import stretched
from test_grid_equal import PARALLEL, SITES, busy_tasks

LOCAL = st.sampled_from([False, False, True])
JOBS = job_lists(
    3,
    max_jobs=14,
    horizon=30,
    longest=12,
    parallel_fraction=PARALLEL,
    max_procs=st.sampled_from([None, 1, 2, 4]),
    local=LOCAL,
    cluster=st.sampled_from("abc"),
    file_gb=st.sampled_from([Fraction(0), Fraction(2), Fraction(5)]),
)
NARROW = job_lists(
    1,
    max_jobs=14,
    horizon=30,
    longest=12,
    parallel_fraction=PARALLEL,
    local=LOCAL,
    cluster=st.sampled_from("abc"),
)
PLANS = st.sampled_from(
    ["conservative", "conservative(compress=every)", "conservative(compress=fixpoint)",
     "conservative(compress=none)", "conservative(compress=scratch)", "conservative(hole=open)", "fcfs"]
)  # fmt: skip
WITH_DATA = st.builds(
    "reallocation(heuristic={}, mode={}, period=0.000003, threshold=0.000001, local={}, {})".format,
    st.sampled_from(["mct", "minmin", "sufferage", "maxgain"]),
    st.sampled_from(["regular", "cancel"]),
    PLANS,
    st.sampled_from(
        ["transfer=0.000002", "transfer=0.000009", "link=1000000", "transfer=0.000001, link=400000"]
    ),
)
SHARED = st.builds(
    "reallocation(heuristic={}, mode={}, period=0.000003, threshold=0, local={}, reserved={})".format,
    st.sampled_from(["mct", "minmin", "sufferage"]),
    st.sampled_from(["regular", "cancel"]),
    st.one_of(PLANS, st.just("easy")),
    st.sampled_from([0.25, 0.5]),
)
TWO = (Cluster("a", 1), Cluster("b", 1))


def check_transfers(jobs: list[Job], spec: str) -> None:
    """Job for job as the reference, and no fault."""
    schedule, _ = check(jobs, SITES, spec)
    verdict = audit(schedule)
    assert verdict.ok, verdict.faults
    assert "data" in {law.name for law in verdict.laws}


def check_shares(jobs: list[Job], spec: str) -> None:
    """The same, and each job is where it belongs."""
    schedule, _ = check(jobs, SITES, spec)
    verdict = audit(schedule)
    assert verdict.ok, verdict.faults
    assert "reserved" in {law.name for law in verdict.laws}
    assert schedule.group is not None
    names = np.array(schedule.labels["group"])[schedule.group]
    assert names.tolist() == ["local" if job.local else "grid" for job in jobs]


@examples(30)
@given(jobs=JOBS, spec=WITH_DATA)
def test_transfers_on_small_instances(jobs: list[Job], spec: str) -> None:
    check_transfers(jobs, spec)


@examples(20)
@given(jobs=NARROW, spec=SHARED)
def test_reserved_shares_on_small_instances(jobs: list[Job], spec: str) -> None:
    check_shares(jobs, spec)


@pytest.mark.long
@examples(400)
@given(jobs=JOBS, narrow=NARROW, spec=WITH_DATA, shared=SHARED)
def test_many_small_instances(jobs: list[Job], narrow: list[Job], spec: str, shared: str) -> None:
    check_transfers(jobs, spec)
    check_shares(narrow, shared)


@pytest.mark.parametrize("more", ["transfer=40", "reserved=0.4", "transfer=25, reserved=0.6, mode=cancel"])
def test_a_busy_grid(more: str) -> None:
    sites = (Cluster("a", 24), Cluster("b", 20, Fraction(6, 5)), Cluster("c", 16, Fraction(7, 5)))
    jobs = [dataclasses.replace(job, procs=1 + job.procs % 6) for job in busy_tasks(80, seed=5)]
    spec = f"reallocation(period=60, threshold=10, {more})"
    schedule, _ = check(jobs, sites, spec)
    assert schedule.moves is not None and len(schedule.moves)
    verdict = audit(schedule)
    assert verdict.ok, verdict.faults


def waiting_task(file_gb: int = 0) -> list[Job]:
    """Job 3 waits behind job 1 on a, until 100; job 2 leaves b long before it had to."""
    rows = [(0, 100, 100), (0, 200, 10), (1, 50, 50)]
    jobs = [
        Job(i + 1, submit, 1, walltime, runtime, file_gb=Fraction(file_gb))
        for i, (submit, walltime, runtime) in enumerate(rows)
    ]
    return stretched(jobs, SECOND)


@pytest.mark.parametrize(
    ("more", "start", "cluster"),
    [
        ("transfer=0", 20, 1),
        ("transfer=15", 35, 1),
        ("transfer=20", 40, 1),  # completed at 90 instead of 150: just the threshold
        ("transfer=21", 100, 0),
        ("link=2", 25, 1),  # ten gigabytes
        ("transfer=10, link=2", 35, 1),
        ("link=0.25", 100, 0),
        ("mode=cancel, transfer=79", 99, 1),
        ("mode=cancel, transfer=80", 100, 0),  # no earlier: it stays on the first cluster
    ],
)
def test_a_task_waits_for_its_data(more: str, start: int, cluster: int) -> None:
    schedule, _ = check(waiting_task(file_gb=10), TWO, f"reallocation(period=20, threshold=60, {more})")
    assert schedule.cluster is not None
    assert (int(schedule.start[2]), int(schedule.cluster[2])) == (start * SECOND, cluster)


def test_a_start_before_the_data_is_a_fault() -> None:
    schedule = made(waiting_task(), TWO, "reallocation(period=20, transfer=15)")
    early = schedule.start.copy()
    early[2] -= SECOND
    verdict = audit(dataclasses.replace(schedule, start=early, end=schedule.end - (schedule.start - early)))
    assert any("before its data can have come" in fault.message for fault in verdict.faults)


def test_local_jobs_leave_the_reserved_processors_alone() -> None:
    """Two processors, one reserved: the second local job waits although the other processor is idle."""
    jobs = stretched([Job(i + 1, 0, 1, 10, 10, local=True, cluster="a") for i in range(2)], SECOND)
    jobs.append(dataclasses.replace(jobs[0], id=3, local=False))
    sites = (Cluster("a", 2), Cluster("b", 2, Fraction(1, 2)))
    schedule, _ = check(jobs, sites, "reallocation(reserved=0.5)")
    assert schedule.start.tolist() == [0, 10 * SECOND, 0]
    shared, _ = check(jobs, sites, "reallocation")
    assert shared.start.tolist() == [0, 0, 10 * SECOND]


def test_what_is_too_wide_for_its_part_is_dropped() -> None:
    jobs = stretched(
        [Job(1, 0, 3, 10, 10, local=True, cluster="a"), Job(2, 0, 3, 10, 10), Job(3, 0, 1, 5, 5)], SECOND
    )
    sites = (Cluster("a", 4), Cluster("b", 4))
    schedule = made(jobs, sites, "reallocation(reserved=0.5)")
    assert schedule.workload.job.tolist() == [3]
    assert len(made(jobs, sites, "reallocation(reserved=0.75)")) == 2


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("reallocation(transfer=5, local=easy)", "local=conservative or local=fcfs"),
        ("reallocation(link=1, local=dbf)", "local=conservative or local=fcfs"),
        ("reallocation(reserved=0.5, local=dbf)", "one policy on all clusters"),
        ("reallocation(reserved=0.1)", "leaves no processor of the cluster a"),
        ("reallocation(reserved=1)", "below 1"),
    ],
)
def test_refusals(spec: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        headway.simulate(grid_log(waiting_task(), "ab"), platform_of(TWO), spec)


def test_a_link_needs_files() -> None:
    with pytest.raises(UsageError, match="file_gb"):
        headway.simulate(log_of(waiting_task()), platform_of(TWO), "reallocation(link=1)")


def test_a_link_over_which_a_file_takes_too_long() -> None:
    with pytest.raises(UsageError, match="a file of 10 GB takes longer than can be kept"):
        headway.simulate(
            grid_log(waiting_task(file_gb=10), "ab"), platform_of(TWO), "reallocation(link=1e-15)"
        )


def test_speedups_with_too_many_decimals() -> None:
    log = grid_log(waiting_task(), "ab").with_columns(
        parallel_fraction=np.full(3, 0.5), procs=np.full(3, 2, np.int64)
    )
    for sigma in ("1e-9", "1e-18", "1e-300"):
        with pytest.raises(UsageError, match="too many decimals to compute times exactly; round"):
            headway.simulate(log, platform_of(TWO), f"reallocation(law=downey, sigma={sigma})")
