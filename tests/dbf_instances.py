"""DBF on a great many random instances: strict keeps every deadline it accepts, literal does not.

    python tests/dbf_instances.py --instances 100000

Each instance is small and crowded, with ties, early ends, kills and jobs of no length. Those of a seed
are always the same. The exit status is 1 if strict breaks what it told, and the instance is printed.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field

import numpy as np

import headway
from headway.schedule import Schedule
from headway.workload import Workload

COMPRESSIONS = ("early", "every", "fixpoint", "none")
"""Those under which no place is ever given up for a later one."""


@dataclass
class Tally:
    """What was seen."""

    instances: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    missed: list[tuple[int, int, str]] = field(default_factory=list)
    """Seed, number and policy of every instance in which strict broke what it told."""

    def add(self, name: str, more: int) -> None:
        self.counts[name] = self.counts.get(name, 0) + more


def instance(seed: int, number: int) -> tuple[Workload, int, str]:
    """A workload with deadlines, the processors of its machine, and a way to compress."""
    random = np.random.default_rng((seed, number))
    jobs, procs = int(random.integers(2, 26)), int(random.integers(1, 9))
    last = int(random.choice([0, 3, 10, 40]))
    walltime = random.integers(0, 9, jobs)
    runtime = np.where(random.random(jobs) < 0.5, walltime, random.integers(0, 11, jobs))
    submit = random.integers(0, last + 1, jobs)
    slack = random.integers(-2, int(random.choice([4, 20, 60])), jobs)
    flexible = random.random(jobs) < random.choice([0.3, 0.6, 0.9])
    size = np.where(random.random(jobs) < 0.7, random.integers(1, procs // 2 + 2, jobs), procs).clip(1, procs)
    workload = Workload.from_arrays(unit="s", submit=submit, procs=size, walltime=walltime, runtime=runtime)
    due = np.where(flexible, (submit + walltime + slack).clip(0) * headway.SECOND, -1)
    return workload.with_columns(deadline=due), procs, str(random.choice(COMPRESSIONS))


def late(schedule: Schedule) -> int:
    """How many jobs may end, or end, after the latest end that they were told."""
    assert schedule.promise is not None
    latest = np.maximum(schedule.start + schedule.walltime, schedule.end)
    return int((latest > schedule.promise).sum())


def judged(count: int, seed: int, tell_every: int = 0) -> Tally:
    """Run so many instances in both forms."""
    tally = Tally()
    for number in range(count):
        workload, procs, compress = instance(seed, number)
        spec = f"dbf(compress={compress})"
        strict = headway.simulate(workload, procs, spec)
        if late(strict):
            tally.missed.append((seed, number, spec))
        for name, value in strict.own.items():
            tally.add(name, int(str(value)))
        literal = headway.simulate(workload, procs, f"dbf(mode=literal, compress={compress})")
        tally.add("literal_misses", late(literal))
        tally.instances += 1
        if tell_every and tally.instances % tell_every == 0:
            sys.stdout.write(f"{tally.instances:,} instances, {len(tally.missed)} in which strict is late\n")
            sys.stdout.flush()
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--instances", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tally = judged(options.instances, options.seed, tell_every=10_000)
    for name, value in tally.counts.items():
        sys.stdout.write(f"{name:20} {value:>12,}\n")
    for seed, number, spec in tally.missed[:5]:
        workload, procs, _ = instance(seed, number)
        sys.stdout.write(f"late: seed {seed}, number {number}, {procs} processors, {spec}\n")
        for name in ("submit", "procs", "walltime", "runtime", "deadline"):
            sys.stdout.write(f"  {name:9} {workload.columns[name].tolist()}\n")
    return 1 if tally.missed else 0


if __name__ == "__main__":
    sys.exit(main())
