"""A grid of three clusters with as many jobs as the paper has: 133,135 over six months, generated."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.rates import Row, best, cpu_seconds
from headway.papers.reallocation.scenarios import PWA, drawn, jobs_of, platform_of, shortened
from headway.simulate import simulate
from headway.workload import Workload


def on_three_clusters(quick: bool) -> Iterator[Row]:
    """MCT and MinMin, with single moves and with all tasks cancelled; the first run warms up."""
    scenario = shortened(PWA, 0.02) if quick else PWA
    machine, jobs = platform_of(scenario, speeds=True), drawn(jobs_of(scenario, {}), dedicated=True, seed=1)
    warm = drawn(jobs_of(shortened(PWA, 0.005), {}), dedicated=True, seed=1)
    for heuristic in ("mct", "minmin"):
        for mode in ("regular", "cancel"):
            policy = f"reallocation(heuristic={heuristic}, mode={mode})"
            simulate(warm, machine, policy)
            made = simulate(jobs, machine, policy)
            yield {
                "heuristic": heuristic,
                "mode": mode,
                "jobs": len(made.start),
                "mean queue per pass": round(float(made.provenance["mean_queue_per_pass"]), 1),
                "CPU s": round(cpu_seconds(made), 3),
            }


COMPOSED = ("dbf", "redirection(theta=10)", "easy(urgent=first)", "easy(order=sjf)")
"""Policies of clusters that are simulated one by one, and run ahead to see when a job is completed."""
SHARES = (0.04, 0.08, 0.16)
"""Of the paper's six months: n, 2 n and 4 n jobs."""


def with_deadlines(share: float) -> Workload:
    """The rigid jobs of a share of the six months; four of ten have a deadline, after 1.5 to 12 walltimes."""
    log, random = jobs_of(shortened(PWA, share), {}), np.random.default_rng(1)
    late = log.submit + (log.walltime * random.uniform(1.5, 12, len(log))).astype(np.int64)
    return log.with_columns(deadline=np.where(random.random(len(log)) < 0.4, late, -1))


def under_any_policy(quick: bool) -> Iterator[Row]:
    """One line for each policy of the clusters: the times with n, 2 n and 4 n jobs."""
    machine = platform_of(PWA, speeds=True)
    logs = [with_deadlines(share / (5 if quick else 1)) for share in SHARES]
    for local in COMPOSED:
        policy = f"reallocation(local={local})"
        simulate(with_deadlines(0.002), machine, policy)
        made = [best(log, machine, policy) for log in logs]
        times = [cpu_seconds(each) for each in made]
        yield {
            "policy": local,
            "n": len(logs[0]),
            "mean queue per pass": round(float(made[-1].provenance["mean_queue_per_pass"]), 1),
            "CPU s, n": round(times[0], 4),
            "CPU s, 2 n": round(times[1], 4),
            "CPU s, 4 n": round(times[2], 4),
            "growth": round(times[2] / max(times[1], 1e-9), 2),
            "jobs/CPU s": round(len(logs[-1]) / times[-1]),
        }
