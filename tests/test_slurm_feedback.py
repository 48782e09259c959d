"""Users who wait for results under Slurm's rules, on sites small enough to be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import headway
from headway import Schedule
from headway.workload import Workload
from headway.workload.transform import apply
from slurm_by_hand import BEGAN, MINUTE, UNDISTURBED, log, simulated, site

SECOND = 10**6


def seconds(column: np.ndarray) -> list[int]:
    return [int(value) // SECOND for value in column]


def without_feedback(made: Schedule) -> Workload:
    columns = dict(made.workload.columns)
    for name in ("follows", "think", "trace_submit"):
        del columns[name]
    return Workload(columns, header=made.workload.header, labels=made.workload.labels)


def test_a_job_is_submitted_after_the_simulated_end() -> None:
    """In the log job 2 ran from 1 to 601, and its user submitted job 3 at 900. Here job 1 has all four nodes
    for 20 min, so job 2 ends later, and job 3 is submitted 299 s after that."""
    jobs = log(
        (0, 4, 20, 20), (1, 4, 10, 10), (900, 1, 10, 10), (5000, 1, 10, 10),
        user=[2, 1, 1, 3], wait=[0] * 4,
    )  # fmt: skip
    work = apply(jobs, "feedback")
    assert work.follows.tolist() == [-1, -1, 2, -1] and int(work.think[2]) == (900 - 601) * SECOND
    made = simulated(work, site())
    start, end, submit = seconds(made.start), seconds(made.end), seconds(made.submit)
    assert end[1] - start[1] == 600 and start[1] >= end[0] >= 1200
    assert submit == [0, 1, end[1] + 299, 5000]
    assert submit[2] <= start[2] <= submit[2] + MINUTE
    assert headway.audit(made).ok
    plain = simulated(without_feedback(made), site())
    assert seconds(plain.start) == start and plain.shares is not None and made.shares is not None
    assert plain.shares.node.tolist() == made.shares.node.tolist()


def test_an_array_of_followers_and_one_whose_leader_never_runs() -> None:
    """The tasks of an array are submitted together after job 1. Job 5 depends on a job that failed, and is
    given up a week later; then job 6 is submitted, whose user waited for it."""
    jobs = log(
        (0, 4, 20, 20), (1300, 1, 10, 10), (1300, 1, 10, 10), (1301, 1, 5, 5), (1302, 1, 5, 5),
        (1700, 1, 5, 5),
        array=[-1, 7, 7, -1, -1, -1], array_task=[-1, 0, 1, -1, -1, -1], status=[1, 1, 1, 0, 1, 1],
        dependency=["", "", "", "", "afterok:4", ""], user=[1, 1, 1, 2, 3, 3], wait=[0] * 6,
    )  # fmt: skip
    work = apply(jobs, "feedback")
    assert work.follows.tolist() == [-1, 1, 1, -1, -1, 5]
    made = simulated(work, site())
    assert made.workload.job.tolist() == [1, 2, 3, 4, 6] and seconds(made.submit)[4] > 7 * 24 * 3600
    assert seconds(made.submit)[1:3] == [seconds(made.end)[0] + 100] * 2
    rules = {entry.rule: (entry.jobs, entry.action) for entry in made.workload.ledger if entry.dropped}
    assert rules["dependency"][0] == (5,)
    assert headway.audit(made).ok


@pytest.mark.parametrize("policy", [UNDISTURBED, "easy(nodes=whole)", "conservative(nodes=shared)"])
@pytest.mark.parametrize("seed", range(2))
def test_the_schedule_is_that_of_the_same_submissions_without_feedback(seed: int, policy: str) -> None:
    random = np.random.default_rng(seed)
    count = 14
    submit = np.sort(random.integers(0, 6000, count))
    work = log(
        *zip(
            submit, random.integers(1, 5, count), random.integers(5, 30, count),
            random.integers(1, 20, count), strict=True,
        ),
        user=random.integers(1, 4, count), wait=np.zeros(count, np.int64),
    )  # fmt: skip
    made = headway.simulate(apply(work, "feedback"), site().platform(), policy)
    again = headway.simulate(without_feedback(made), site().platform(), policy)
    assert seconds(made.start) == seconds(again.start) and headway.audit(made).ok
    assert made.summary()["following_jobs"] > 0 and made.unix_start == BEGAN
