"""A year of a large Slurm site, the base and one variant side by side: ``python -m benchmarks.year``.

500,000 jobs on 300 nodes under Slurm's rules, once as the site is and once with ten percent more nodes, one
thread each: what ``headway what-if SITE nodes=+10% --seeds 1`` does. With fewer jobs it is as many days less,
and the time of the year is worked out from the CPU time of a job. The load decides: so near to a full machine
as 0.97 the queue grows to some 10,000 jobs in a year, and the base takes 18 times as long as the variant.
"""

from __future__ import annotations

import argparse
import time

from benchmarks.slurm_site import jobs, site
from headway.changes import Case, changed
from headway.what_if import answer, simulate_all
from headway.what_if.sentences import findings

JOBS, DAYS, NODES, WIDEST, LOAD = 500_000, 365, 300, 64, 0.9


def main() -> None:
    """Run both and print what they took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.year", description=__doc__)
    parser.add_argument("--jobs", type=int, default=JOBS, help="how many jobs of the year")
    parser.add_argument("--load", type=float, default=LOAD, help="the offered load")
    asked = parser.parse_args()
    count = asked.jobs
    workload = jobs(count, size=NODES, days=DAYS * count / JOBS, widest=WIDEST, load=asked.load)
    base = Case(workload, site(NODES).platform(), "slurm(seed=1)")
    cases = [base, changed(base, "nodes=+10%")]
    began = time.perf_counter()
    runs = simulate_all(cases, lambda done, total: print(f"\r{done:,} of {total:,} jobs", end="", flush=True))
    wall = time.perf_counter() - began
    cpu = [run.provenance["timing"]["cpu_seconds"] for run in runs]
    print(f"\n{count:,} jobs twice: {wall:,.0f} s; CPU {cpu[0]:,.0f} s and {cpu[1]:,.0f} s")
    told = runs[0].provenance
    print(f"mean queue {told['mean_queue_per_pass']:,.0f}, longest {told['max_queue']:,}")
    if count < JOBS:
        whole = max(cpu) * JOBS / count / 60
        print(f"so {JOBS:,} jobs take about {whole:.1f} min of two idle cores")
    print(findings(answer("nodes=+10%", runs[:1], runs[1:]))[0])


if __name__ == "__main__":
    main()
