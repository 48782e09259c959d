"""Redirection against EASY on as many processors in all, per started run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.rates import Row, best, cpu_seconds, logs

THETAS = (5, 10, 25, 125)
ALPHA = 0.15
USED = ("CEA-Curie", "RICC", "SDSC-SP2", "generated")


def on_logs(folder: Path | None, quick: bool) -> Iterator[Row]:
    """A line for each log and theta."""
    for name, log, procs in logs(folder, quick):
        if not name.startswith(USED):
            continue
        easy = best(log, procs + int(ALPHA * procs), "easy")
        for theta in THETAS:
            made = best(log, procs, f"redirection(theta={theta}, alpha={ALPHA})")
            runs = len(made.start) + int(str(made.own["redirections"]))
            per_run = cpu_seconds(made) / runs
            yield {
                "workload": name,
                "theta": theta,
                "jobs": len(made.start),
                "runs": runs,
                "EASY CPU s": round(cpu_seconds(easy), 4),
                "CPU s": round(cpu_seconds(made), 4),
                "ratio": round(per_run / max(cpu_seconds(easy) / len(easy.start), 1e-12), 3),
            }
