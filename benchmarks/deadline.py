"""DBF against conservative backfilling on the same log, one third of the jobs flexible."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.rates import Row, best, cpu_seconds, logs
from headway.workload.transform import apply


def on_logs(folder: Path | None, quick: bool) -> Iterator[Row]:
    """Two lines for each log: with the requested and with the exact times."""
    for name, log, procs in logs(folder, quick):
        for kind in ("requested", "exact"):
            if kind == "exact" and name.startswith("RICC") and not quick:
                continue  # whole it takes many minutes
            work = apply(log, *(["exact"] if kind == "exact" else []), "deadlines")
            plain, flexible = (best(work, procs, policy, repeats=3) for policy in ("conservative", "dbf"))
            seconds = cpu_seconds(flexible)
            yield {
                "workload": name if kind == "requested" else f"{name}, exact times",
                "jobs": len(flexible.start),
                "conservative CPU s": round(cpu_seconds(plain), 3),
                "CPU s": round(seconds, 3),
                "jobs/CPU s": round(len(flexible.start) / max(seconds, 1e-9)),
                "ratio": round(cpu_seconds(plain) / max(seconds, 1e-9), 3),
            }
