"""A campaign of over 1,000 simulations of archive weeks: rate and CPU time with one worker and with two.

    python benchmarks/campaign_workers.py FOLDER_OF_LOGS [--kinds 1 2 processes] [--quick]

Every kind runs the whole campaign into a fresh folder; the results must have the same bytes.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import headway

LOGS = ("KTH-SP2-1996-2.1-cln", "SDSC-SP2-1998-4.2-cln", "HPC2N-2002-2.2-cln")
KINDS: dict[str, dict[str, Any]] = {
    "1": {"workers": 1},
    "2": {"workers": 2},
    "processes": {"workers": 2, "processes": True},
}


LARGE = ("CEA-Curie-2011-2.1-cln", "RICC-2010-2")


def campaign(folder: Path, weeks: int, logs: tuple[str, ...] = LOGS) -> headway.Campaign:
    """Busy weeks of three logs under 18 policies."""
    orders = ["fcfs", "sjf", "saf", "lxf"]
    return headway.Campaign(
        workloads=[{"trace": str(folder / f"{name}.swf.gz"), "name": name} for name in logs],
        apply=[f"weeks(at_least=0.5, count={weeks})", "exact"],
        policies=[
            {"policy": "easy", "grid": {"order": orders, "backfill": orders}},
            "fcfs",
            "conservative",
        ],
        baseline="easy",
        tau=60,
    )


def cpu_seconds() -> float:
    """CPU time of this process and of the workers it has waited for."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument(
        "--large", action="store_true", help="weeks of Curie and RICC, about 10,000 jobs each"
    )
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    logs = LARGE if options.large else LOGS
    weeks = 5 if options.quick else 20
    with tempfile.TemporaryDirectory() as scratch:
        warm = Path(scratch) / "warm"
        campaign(options.folder, 1, logs).run(warm, workers=1)  # compiles what is needed
        heads = ("workers", "cells", "jobs", "wall s", "CPU s", "cells/s", "jobs/s")
        print("{:>9} {:>6} {:>9} {:>8} {:>8} {:>8} {:>10}".format(*heads))
        results = []
        for kind in options.kinds:
            out = Path(scratch) / kind
            begin, cpu = time.perf_counter(), cpu_seconds()
            found = campaign(options.folder, weeks, logs).run(out, **KINDS[kind])
            wall, cpu = time.perf_counter() - begin, cpu_seconds() - cpu
            jobs = int(found.frame["jobs"].sum())
            row = (kind, len(found), jobs, wall, cpu, len(found) / wall, jobs / wall)
            print("{:>9} {:>6} {:>9} {:>8.2f} {:>8.2f} {:>8.1f} {:>10.0f}".format(*row), flush=True)
            results.append((out / "results.parquet").read_bytes())
        print("same bytes" if len(set(results)) == 1 else "THE RESULTS DIFFER")


if __name__ == "__main__":
    main()
