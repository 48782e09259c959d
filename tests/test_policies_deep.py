"""EASY with thousands of jobs waiting, against a plain scan of the whole queue with array operations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import headway
from headway.units import SECOND
from headway.workload import Workload

Ints = npt.NDArray[np.int64]


def flood(jobs: int, procs: int, seed: int) -> Workload:
    """Nearly all jobs come within a fraction of the time that they take: early ends, all sizes, many ties."""
    random = np.random.default_rng(seed)
    size = np.minimum(np.floor(2 ** random.uniform(0, np.log2(procs) + 0.3, jobs)), procs)
    runtime = np.floor(np.exp(random.uniform(0, 9, jobs)))
    work = float((runtime * size).sum())
    return Workload.from_arrays(
        unit="s",
        submit=np.floor(random.uniform(0, 0.002 * work / procs, jobs)),
        procs=size,
        runtime=runtime,
        walltime=np.ceil(runtime * random.choice([0.9, 1, 2, 5], jobs) / 300) * 300,
    )


def scan(log: Workload, procs: int, shortest_first: bool) -> tuple[Ints, int]:
    """The starts under EASY, and the longest queue. At each event every waiting job is looked at."""
    order = np.argsort(log.submit, kind="stable")
    submit, size, plan = log.submit[order], log.procs[order], log.walltime[order]
    length = np.minimum(log.runtime, log.walltime)[order]
    start = np.full(len(log), -1)
    waiting = np.zeros(len(log), np.int64)[:0]
    running: list[int] = []
    arrived = longest = 0
    free = procs
    while arrived < len(log) or len(waiting):
        ends = [int(start[j] + length[j]) for j in running]
        t = min([*ends, *(int(r) for r in submit[arrived : arrived + 1])])
        free += sum(int(size[j]) for j, end in zip(running, ends, strict=True) if end == t)
        running = [j for j, end in zip(running, ends, strict=True) if end > t]
        last = int(np.searchsorted(submit, t, side="right"))
        waiting = np.concatenate([waiting, np.arange(arrived, last)])
        arrived, longest = last, max(longest, len(waiting))

        def begin(j: int) -> None:
            nonlocal free
            start[j] = t  # noqa: B023
            free -= int(size[j])
            running.append(j)  # noqa: B023

        heads = 0
        while heads < len(waiting) and size[waiting[heads]] <= free:
            begin(int(waiting[heads]))
            heads += 1
        waiting = waiting[heads:]
        if not len(waiting):
            continue
        expected = sorted((int(start[j] + plan[j]), int(size[j])) for j in running)
        room = free + np.cumsum([freed for _, freed in expected])
        shadow = expected[int(np.argmax(room >= size[waiting[0]]))][0]
        extra = free + sum(q for end, q in expected if end <= shadow) - int(size[waiting[0]])
        others = waiting[1:]
        if shortest_first:
            others = others[np.argsort(plan[others], kind="stable")]
        begun = set()
        while True:
            fits = (size[others] <= free) & ((t + plan[others] <= shadow) | (size[others] <= extra))
            if not fits.any():
                break
            place = int(np.argmax(fits))
            j = int(others[place])
            others = others[place + 1 :]  # who was passed over is worse off now
            begin(j)
            begun.add(j)
            if t + plan[j] > shadow:
                extra -= int(size[j])
        waiting = waiting[~np.isin(waiting, list(begun))]
    in_file_order = np.empty(len(log), np.int64)
    in_file_order[order] = start
    return in_file_order, longest


@pytest.mark.long
@pytest.mark.parametrize(("jobs", "procs", "deep"), [(4000, 300, 2000), (2500, 1 << 20, 800)])
@pytest.mark.parametrize("backfill", ["fcfs", "sjf"])
def test_a_very_deep_queue(jobs: int, procs: int, deep: int, backfill: str) -> None:
    log = flood(jobs, procs, seed=jobs)
    expected, longest = scan(log, procs, backfill == "sjf")
    assert longest > deep
    made = headway.simulate(log, procs, f"easy(backfill={backfill})")
    different = np.flatnonzero(made.start != expected)
    assert len(different) == 0, f"{len(different)} jobs, the first in row {different[0]}"
    assert made.provenance["max_queue"] >= deep


def test_every_job_at_once() -> None:
    log = flood(3000, 64, seed=1)
    together = log.with_columns(submit=np.full(len(log), 7 * SECOND))
    expected, longest = scan(together, 64, shortest_first=False)
    assert longest == 3000
    assert np.array_equal(headway.simulate(together, 64, "easy").start, expected)
