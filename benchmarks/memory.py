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
from benchmarks.slurm_site import jobs as of_site, site
from headway.workload.models import lublin

def peak():
    # What getrusage says includes the process that started this one; Linux tells it alone as VmHWM.
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    alone = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    return (alone or [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss])[0] / 1e6

jobs, procs, policy, on_site = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4] == "site"
log = of_site(jobs, load=0.8) if on_site else lublin(jobs=jobs, procs=procs, seed=1, load=0.85)
machine = procs if not on_site else site().cpus if policy == "easy" else site().platform()
made_log = peak()
made = headway.simulate(log, machine, policy)
print(json.dumps([made_log, peak(), made.provenance["timing"]["simulation_cpu_seconds"]]))
"""


ON_SITE = 200_000
"""Jobs of a Slurm site on which its rules are held against EASY."""


def peaks(sizes: tuple[int, ...]) -> Iterator[Row]:
    """Peak resident memory after generating and after simulating, GB (Linux counts it in kB)."""
    for jobs in sizes:
        yield peak(jobs, "easy")
    few = min(ON_SITE, *sizes) // 10
    for policy in ("easy", "easy(nodes=whole)", "slurm"):
        least, most = peak(few, policy, True), peak(min(ON_SITE, *sizes), policy, True)
        grown = 1e9 * (float(most["peak GB, simulated"]) - float(least["peak GB, simulated"]))
        yield most | {"bytes a job": round(grown / (int(most["jobs"]) - few))}


def peak(jobs: int, policy: str, on_site: bool = False) -> Row:
    """One simulation in a process of its own: a drawn log, or one of a Slurm site."""
    command = [sys.executable, "-c", PROGRAM, str(jobs), str(PROCS), policy, "site" if on_site else "drawn"]
    folder = Path(__file__).parents[1]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    generated, most, seconds = json.loads(done.stdout)
    return {
        "jobs": jobs,
        "policy": f"{policy}, a site of Slurm" if on_site else policy,
        "peak GB, workload made": round(generated, 3),
        "peak GB, simulated": round(most, 3),
        "CPU s": round(seconds, 2),
        "bytes a job": 0,
    }
