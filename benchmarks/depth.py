"""Deep queues: how the time grows when twice and four times as many jobs wait at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.rates import Row, best, cpu_seconds, warm_up
from headway.workload import Workload

PROCS = 1024
JOBS = 50_000
FEWER = {"conservative": 2_000}
"""Policies whose time does not grow like the number of jobs begin with fewer."""
POLICIES = {
    "fcfs": "fcfs",
    "sjf": "fcfs",
    "saf": "fcfs",
    "easy": "easy",
    "easy(backfill=sjf)": "easy",
    "easy(order=sjf, backfill=sjf)": "easy",
    "conservative": "easy",
}
"""Each policy and the one in order of arrival that it is compared with."""


def burst(jobs: int, seed: int = 1) -> Workload:
    """Jobs that all come at one instant: sizes and times over orders of magnitude, requests too long."""
    random = np.random.default_rng(seed)
    runtime = np.floor(np.exp(random.uniform(3, 10.5, jobs)))
    return Workload.from_arrays(
        unit="s",
        submit=np.zeros(jobs),
        procs=np.floor(2 ** random.uniform(0, np.log2(PROCS) - 1, jobs)),
        runtime=runtime,
        walltime=np.ceil(runtime * random.choice([1, 1.5, 2, 5, 10], jobs) / 300) * 300,
    )


def alike(jobs: int, seed: int = 1) -> Workload:
    """Jobs that all come at one instant and ask for the same: one user's bag of tasks."""
    random = np.random.default_rng(seed)
    return Workload.from_arrays(
        unit="s",
        submit=np.zeros(jobs),
        procs=np.full(jobs, PROCS // 64),
        runtime=np.floor(np.exp(random.uniform(3, 9, jobs))),
        walltime=np.full(jobs, 36_000),
    )


def in_deep_queues(quick: bool) -> Iterator[Row]:
    """One line for each policy: the times with n, 2 n and 4 n jobs, and by how much 4 n exceeds 2 n."""
    warm_up()
    most: dict[str, float] = {}
    cases = [(policy, policy, burst) for policy in POLICIES]
    for name, policy, come in [*cases, ("conservative, jobs alike", "conservative", alike)]:
        plain = POLICIES[policy]
        best(burst(300), PROCS, policy, repeats=1)
        jobs = FEWER.get(policy, JOBS) // (5 if quick else 1)
        times = [cpu_seconds(best(come(jobs * n), PROCS, policy)) for n in (1, 2, 4)]
        most[name] = times[-1]
        yield {
            "policy": name,
            "n": jobs,
            "CPU s, n": round(times[0], 4),
            "CPU s, 2 n": round(times[1], 4),
            "CPU s, 4 n": round(times[2], 4),
            "growth": round(times[2] / max(times[1], 1e-9), 2),
            "plain": plain,
            "over plain": round(times[2] / most[plain], 2) if policy not in FEWER else "",
        }
