"""UJFB on the archive's logs with a thousand urgent jobs, each alone: the rate, and that none waits for more.

An urgent job that is alone starts within its preemption delay; a row says how many did.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.rates import Row, best, cpu_seconds
from headway.units import SECOND
from headway.workload import Workload, read
from headway.workload.transform import apply

URGENT = 1000
APART = 700
"""Seconds at least between two of them: longer than the longest runs and is swapped for."""


def with_urgent(log: Workload, procs: int, count: int = URGENT) -> Workload:
    """The log with tsunami jobs at equal distances, or smaller ones where the machine is."""
    first, last = int(log.submit.min()) // SECOND, int(log.submit.max()) // SECOND
    gap = max((last - first) // count, APART)
    arrivals = [first + gap * i for i in range(count)]
    jobs = "tsunami" if procs > 128 else "[[16, 600], [32, 390], [64, 240]]"
    return apply(log, f"inject(jobs={jobs}, arrivals={arrivals}, procs={procs})", "memory(source=table)")


def on_logs(folder: Path, quick: bool) -> Iterator[Row]:
    """One line for each log."""
    names = ("LANL-CM5", "KTH-SP2", "HPC2N", "SDSC-SP2", "SDSC-BLUE", "SDSC-Par", "CEA-Curie", "RICC")
    for name in names[:2] if quick else names:
        for path in sorted(folder.glob(f"{name}*.swf.gz")):
            log = read(path)
            procs = log.header.max_procs
            assert procs is not None
            made = best(with_urgent(log, procs), procs, "ujfb", repeats=2)
            urgent = made.workload.urgent
            wait = made.start[urgent] - made.submit[urgent]
            prompt = wait <= made.notes["preemption_delay"][urgent]
            seconds = cpu_seconds(made)
            yield {
                "workload": path.name.removesuffix(".swf.gz"),
                "jobs": len(made.start),
                "procs": procs,
                "urgent": int(urgent.sum()),
                "within delay": int(prompt.sum()),
                "longest wait s": round(float(np.max(wait)) / SECOND, 3),
                "preempting": int(str(made.own["preempting_jobs"])),
                "suspended": int(str(made.own["suspensions"])),
                "CPU s": round(seconds, 3),
                "jobs/CPU s": round(len(made.start) / max(seconds, 1e-9)),
            }
