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
from pathlib import Path
import headway
from headway.workload.models import lublin

def peak():
    # What getrusage says includes the process that started this one; Linux tells it alone as VmHWM.
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    alone = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    return (alone or [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss])[0] / 1e6

jobs, procs = int(sys.argv[1]), int(sys.argv[2])
log = lublin(jobs=jobs, procs=procs, seed=1, load=0.85)
made_log = peak()
made = headway.simulate(log, procs, "easy")
print(json.dumps([made_log, peak(), made.provenance["timing"]["simulation_cpu_seconds"]]))
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
