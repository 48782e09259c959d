"""The laws that every schedule of plain jobs obeys, checked instant by instant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .jobs import Job, Result


def check_schedule(jobs: Sequence[Job], m: int, results: Sequence[Result]) -> None:
    """Every job runs once, not before it is there, for its time, and at no instant more than m are held.

    Jobs of no length are checked against the jobs running across their instant; those of one instant take
    turns.
    """
    assert len(results) == len(jobs)
    for job, result in zip(jobs, results, strict=True):
        assert result.start >= job.submit
        assert result.end - result.start == job.length
        assert result.killed == (job.runtime > job.walltime)
    for x in {result.start for result in results}:
        held = sum(j.procs for j, r in zip(jobs, results, strict=True) if r.start <= x < r.end)
        assert held <= m, f"{held} processors held at {x}"
        across = sum(j.procs for j, r in zip(jobs, results, strict=True) if r.start < x < r.end)
        for job, result in zip(jobs, results, strict=True):
            if result.start == result.end == x:
                assert across + job.procs <= m, f"job {job.id} of no length does not fit at {x}"


def times(results: Sequence[Result]) -> list[tuple[int, int]]:
    return [(result.start, result.end) for result in results]


def shifted(jobs: Sequence[Job], by: int) -> list[Job]:
    return [
        replace(j, submit=j.submit + by, deadline=None if j.deadline is None else j.deadline + by)
        for j in jobs
    ]


def stretched(jobs: Sequence[Job], k: int) -> list[Job]:
    """All times multiplied by k."""
    return [
        replace(
            j,
            submit=k * j.submit,
            walltime=k * j.walltime,
            runtime=k * j.runtime,
            deadline=None if j.deadline is None else k * j.deadline,
            swap=k * j.swap,
        )
        for j in jobs
    ]


def widened(jobs: Sequence[Job], k: int) -> list[Job]:
    """All processor counts multiplied by k."""
    return [replace(j, procs=k * j.procs) for j in jobs]
