"""Ratios taken within one run: against the plain reference, of sizes, of loads, of two threads to one."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import headway
from benchmarks.rates import PROCS, Row, best, cpu_seconds, warm_up
from headway.workload import Workload
from headway.workload.models import lublin

TESTS = Path(__file__).parents[1] / "tests"


def against_the_reference(jobs: int) -> Iterator[Row]:
    """The compiled simulator and the naive reference in plain Python, on the same small workload."""
    sys.path.insert(0, str(TESTS))
    from instances import by_reference, jobs_in

    warm_up()
    log = lublin(jobs=jobs, procs=PROCS, seed=1, load=1.0)
    for policy in ("fcfs", "easy", "conservative"):
        begin = time.process_time()
        reference = by_reference(jobs_in(log), PROCS, policy)
        slow = time.process_time() - begin
        made = best(log, PROCS, policy, repeats=5)
        assert [result.start for result in reference] == made.start.tolist(), "the reference disagrees"
        yield ratio(f"{policy}: plain reference / headway, {jobs} jobs", slow, cpu_seconds(made))


def ratio(name: str, first: float, second: float) -> Row:
    """Two times in seconds and the first over the second."""
    first, second = max(first, 1e-9), max(second, 1e-9)
    return {
        "ratio": name,
        "first s": round(first, 4),
        "second s": round(second, 4),
        "value": round(first / second, 2),
    }


def between_sizes(quick: bool) -> Iterator[Row]:
    """Time per job when the workload is ten times as long (1 would be perfect)."""
    warm_up()
    small = 10_000 if quick else 50_000
    for policy in ("easy", "conservative"):
        seconds = [
            per_job(lublin(jobs=n, procs=PROCS, seed=2, load=0.9), policy) for n in (small * 10, small)
        ]
        yield ratio(f"{policy}: s per million jobs, {small * 10} jobs / {small}, load 0.9", *seconds)


def between_loads(quick: bool) -> Iterator[Row]:
    """Time per job when the queue never empties, against a machine with time to spare."""
    jobs = 20_000 if quick else 200_000
    heavy, light = (per_job(lublin(jobs=jobs, procs=PROCS, seed=3, load=load), "easy") for load in (1.1, 0.7))
    yield ratio(f"easy: s per million jobs, load 1.1 / load 0.7, {jobs} jobs", heavy, light)


def per_job(log: Workload, policy: str) -> float:
    """CPU seconds per million jobs."""
    return cpu_seconds(best(log, PROCS, policy)) / len(log) * 1e6


def between_threads(quick: bool) -> Iterator[Row]:
    """Wall time of four simulations one after the other, over that on two threads (2 would be perfect)."""
    warm_up()
    log = lublin(jobs=50_000 if quick else 400_000, procs=PROCS, seed=4, load=0.9)
    seconds = []
    for threads in (1, 2):
        begin = time.perf_counter()
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda _: headway.simulate(log, PROCS, "easy"), range(4)))
        seconds.append(time.perf_counter() - begin)
    yield ratio("easy: wall of 4 simulations, 1 thread / 2 threads", *seconds)


def all_ratios(quick: bool) -> Iterator[Row]:
    """Every ratio."""
    yield from against_the_reference(300 if quick else 1500)
    yield from between_sizes(quick)
    yield from between_loads(quick)
    yield from between_threads(quick)
