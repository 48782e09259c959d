"""Thousands of jobs waiting, against a plain scan of the whole queue or a sorted list."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable

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


def scan(log: Workload, procs: int, shortest_first: bool, order: str = "fcfs") -> tuple[Ints, int]:
    """The starts under EASY, and the longest queue. At each event every waiting job is looked at."""
    coming = np.argsort(log.submit, kind="stable")
    submit, size, plan = log.submit[coming], log.procs[coming], log.walltime[coming]
    length = np.minimum(log.runtime, log.walltime)[coming]
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
        if order == "sjf":
            waiting = waiting[np.lexsort((waiting, plan[waiting]))]
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
    in_file_order[coming] = start
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


@pytest.mark.long
def test_the_shortest_first_in_a_very_deep_queue() -> None:
    log = flood(4000, 300, seed=3)
    expected, longest = scan(log, 300, shortest_first=True, order="sjf")
    assert longest > 1000
    assert np.array_equal(headway.simulate(log, 300, "easy(order=sjf, backfill=sjf)").start, expected)


def test_hundreds_at_one_instant_in_two_orders() -> None:
    log = flood(2000, 100, seed=8)
    every = int(log.submit.max()) // 6
    log = log.with_columns(submit=log.submit // every * every)
    expected, longest = scan(log, 100, shortest_first=True, order="sjf")
    assert longest > 1000
    for backfill in ("", ", backfill=sjf"):
        assert np.array_equal(headway.simulate(log, 100, f"easy(order=sjf{backfill})").start, expected)


def strict(log: Workload, procs: int, key: Callable[[int, int], float], changes: bool = False) -> Ints:
    """The starts in a strict order of keys of (time, job): a sorted list, the first waits until it fits.

    Keys that change with time are asked for at each instant, others once.
    """
    submit, size = log.submit.tolist(), log.procs.tolist()
    length = np.minimum(log.runtime, log.walltime).tolist()
    coming = np.argsort(log.submit, kind="stable").tolist()[::-1]
    start = [-1] * len(log)
    line: list[tuple[float, int, int]] = []
    running: list[tuple[int, int]] = []
    while coming or line:
        t = min([end for end, _ in running[:1]] + [submit[j] for j in coming[-1:]])
        running = [each for each in running if each[0] > t]
        while coming and submit[coming[-1]] == t:
            insort(line, (key(t, coming[-1]), t, coming.pop()))
        if changes:
            line = sorted((key(t, j), submit[j], j) for _, _, j in line)
        while line and size[line[0][2]] <= procs - sum(size[j] for _, j in running):
            j = line.pop(0)[2]
            start[j] = t
            insort(running, (t + length[j], j))
    return np.array(start)


@pytest.mark.parametrize(
    ("order", "key"),
    [
        ("sjf", lambda log: log.walltime),
        ("lqf", lambda log: -log.procs),
        ("saf", lambda log: log.walltime * log.procs),
    ],
)
@pytest.mark.parametrize("instants", [None, 12])
def test_a_strict_order_with_thousands_waiting(
    order: str, key: Callable[[Workload], Ints], instants: int | None
) -> None:
    """Jobs come one after the other, or hundreds at one instant while others wait."""
    log = flood(3000, 300, seed=5)
    if instants:
        every = int(log.submit.max()) // instants
        log = log.with_columns(submit=log.submit // every * every)
    made = headway.simulate(log, 300, order)
    keys = key(log).tolist()
    assert np.array_equal(made.start, strict(log, 300, lambda t, j: keys[j]))
    assert made.provenance["max_queue"] > 1000


@pytest.mark.parametrize("jobs", [300, 1000])
def test_an_order_that_changes_with_time_with_hundreds_waiting(jobs: int) -> None:
    """Most of the line stands as it stood, until hundreds come at one instant."""
    log = flood(jobs, 100, seed=6)
    every = int(log.submit.max()) // 3
    submit = np.where(np.arange(jobs) % 2, log.submit, log.submit // every * every)
    log = log.with_columns(submit=submit)
    wall = np.maximum(log.walltime, SECOND).astype(float).tolist()
    expected = strict(log, 100, lambda t, j: -((float(t - submit[j]) + wall[j]) / wall[j]), changes=True)
    made = headway.simulate(log, 100, "lxf")
    assert np.array_equal(made.start, expected)
    assert made.provenance["max_queue"] > 0.7 * jobs
