"""A grid of three clusters with as many jobs as the paper has: 133,135 over six months, generated."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.rates import Row, cpu_seconds
from headway.papers.reallocation.scenarios import PWA, drawn, jobs_of, platform_of, shortened
from headway.simulate import simulate


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
