"""Workloads made in Python with jobs that no machine can run: a sentence, never a schedule of nonsense."""

from __future__ import annotations

from typing import Any

import pytest

import headway
from headway.errors import InputError
from headway.units import LONGEST, SECOND
from headway.workload import Workload


def two_jobs(unit: Any = "us", **columns: Any) -> Workload:
    given = {"submit": [0, 0], "procs": [1, 1], "walltime": [5, 5], "runtime": [5, 5]}
    return Workload.from_arrays(unit=unit, **(given | columns))


@pytest.mark.parametrize("policy", ["fcfs", "conservative", "redirection"])
@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"submit": [0, -1]}, "the time of submission of job 2 is unknown"),
        ({"submit": [0, LONGEST + 1]}, "the time of submission of job 2 is more than can be kept"),
        ({"procs": [1, 0]}, "the number of processors of job 2 is below 1"),
        ({"procs": [-1, 1]}, "the number of processors of job 1 is unknown"),
        ({"walltime": [5, -1]}, "the walltime of job 2 is unknown"),
        ({"runtime": [-7, 5]}, "the run time of job 1 is below 0"),
        ({"walltime": [5, LONGEST + 1]}, "the walltime of job 2 is more than can be kept"),
        ({"submit": [0, LONGEST], "runtime": [LONGEST, LONGEST]}, "run times .* add up to more"),
        ({"job": [3, 3]}, "two jobs have the number 3"),
    ],
)
def test_jobs_that_no_machine_can_run_are_refused(policy: str, columns: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        headway.simulate(two_jobs(**columns), 1, policy)


def test_numbers_of_jobs_may_be_in_any_order() -> None:
    assert headway.simulate(two_jobs(job=[9, 3]), 1, "fcfs").start.tolist() == [0, 5]


def test_a_time_in_seconds_that_is_none_is_unknown_everywhere_alike() -> None:
    """Not whatever a processor makes of it: 0 on some, the smallest number on others."""
    made = two_jobs("s", deadline=[float("nan"), 7.5])
    assert made.columns["deadline"].tolist() == [-1, 7_500_000]
    with pytest.raises(InputError, match="the run time of job 2 is unknown"):
        headway.simulate(two_jobs("s", runtime=[5, float("nan")]), 1, "fcfs")


@pytest.mark.parametrize("long", [1e300, float("inf"), 2 * LONGEST // SECOND, 2**62])
def test_seconds_beyond_what_can_be_kept_are_refused(long: float) -> None:
    with pytest.raises(ValueError, match="the column runtime holds a time above 1,152,921,504,606 s"):
        two_jobs("s", runtime=[5, long])


def test_whole_seconds_stay_exact() -> None:
    assert two_jobs("s", runtime=[5, 10**12 + 1]).runtime.tolist() == [5_000_000, (10**12 + 1) * SECOND]
