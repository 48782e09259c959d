"""Peak memory of a whole simulation, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.rates import PROCS, Row

PROGRAM = """
import json, resource, sys
import headway
from headway.workload.models import lublin
jobs, procs = int(sys.argv[1]), int(sys.argv[2])
log = lublin(jobs=jobs, procs=procs, seed=1, load=0.85)
made_log = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
made = headway.simulate(log, procs, "easy")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([made_log / 1e6, peak / 1e6, made.provenance["timing"]["simulation_cpu_seconds"]]))
"""


def peaks(sizes: tuple[int, ...]) -> Iterator[Row]:
    """Peak resident memory after generating and after simulating, GB (Linux counts it in kB)."""
    for jobs in sizes:
        command = [sys.executable, "-c", PROGRAM, str(jobs), str(PROCS)]
        folder = Path(__file__).parents[1]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
        generated, peak, seconds = json.loads(done.stdout)
        yield {
            "jobs": jobs,
            "policy": "easy",
            "peak GB, workload made": round(generated, 2),
            "peak GB, simulated": round(peak, 2),
            "CPU s": round(seconds, 2),
        }
