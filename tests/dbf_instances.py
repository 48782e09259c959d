"""DBF on a great many random instances: strict keeps every deadline it accepts, literal does not.

    python tests/dbf_instances.py --instances 100000

Each instance is small and crowded, with ties, early ends, kills and jobs of no length. They follow each other
on one machine, far enough apart that each finds it empty. Those of a seed are always the same. The exit
status is 1 if strict breaks what it told, and the first instances in which it does are printed.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import numpy.typing as npt

import headway
from headway import SECOND, Schedule
from headway.workload import Workload

SIZES = range(1, 9)
"""Processors of the machines."""
COMPRESSIONS = ("early", "every", "fixpoint", "none")
"""Those under which no place is ever given up for a later one."""
APART = 1000
"""Seconds from one instance to the next; none lasts that long."""


@dataclass
class Tally:
    """What was seen."""

    instances: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)
    """The instances in which strict broke what it told, in words."""

    def add(self, name: str, more: int) -> None:
        self.counts[name] = self.counts.get(name, 0) + more


def instances(count: int, procs: int, seed: tuple[int, ...]) -> Workload:
    """So many instances for a machine of ``procs`` processors, one after the other."""
    random = np.random.default_rng(seed)
    of = np.repeat(np.arange(count), random.integers(2, 26, count))
    last = random.choice([0, 3, 10, 40], count)[of]
    slack = random.choice([4, 20, 60], count)[of]
    share = random.choice([0.3, 0.6, 0.9], count)[of]
    jobs = len(of)
    walltime = random.integers(0, 9, jobs)
    runtime = np.where(random.random(jobs) < 0.5, walltime, random.integers(0, 11, jobs))
    submit = of * APART + random.integers(0, last + 1)
    narrow = random.integers(1, procs // 2 + 2, jobs)
    size = np.where(random.random(jobs) < 0.7, narrow, procs).clip(1, procs)
    due = submit + walltime + random.integers(-2, slack)
    deadline = np.where(random.random(jobs) < share, due.clip(0) * SECOND, -1)
    workload = Workload.from_arrays(unit="s", submit=submit, procs=size, walltime=walltime, runtime=runtime)
    return workload.with_columns(deadline=deadline)


def late(schedule: Schedule) -> npt.NDArray[np.bool_]:
    """Which jobs may end, or end, after the latest end that they were told."""
    assert schedule.promise is not None
    return np.asarray(np.maximum(schedule.start + schedule.walltime, schedule.end) > schedule.promise)


def judged(count: int, seed: int) -> Tally:
    """Run so many instances in both forms, spread over machines and ways to compress."""
    tally = Tally()
    kinds = list(product(SIZES, COMPRESSIONS))
    for place, (procs, compress) in enumerate(kinds):
        some = count // len(kinds) + (place < count % len(kinds))
        workload = instances(some, procs, (seed, place))
        strict = headway.simulate(workload, procs, f"dbf(compress={compress})")
        of = strict.submit // (APART * SECOND)
        assert (strict.end < (of + 1) * APART * SECOND).all(), "an instance reaches into the next"
        for number in np.unique(of[late(strict)]).tolist():
            tally.missed.append(described(strict, of == number, f"{procs} processors, compress={compress}"))
        for name, value in strict.own.items():
            tally.add(name, int(str(value)))
        literal = headway.simulate(workload, procs, f"dbf(mode=literal, compress={compress})")
        tally.add("literal_misses", int(late(literal).sum()))
        tally.add("jobs", len(workload))
        tally.instances += some
    return tally


def described(schedule: Schedule, rows: npt.NDArray[np.bool_], title: str) -> str:
    """An instance, times in seconds."""
    lines = [title]
    for name in ("submit", "procs", "walltime", "runtime", "deadline"):
        column = schedule.workload.columns[name][rows]
        lines.append(f"  {name:9} {(column if name == 'procs' else column / SECOND).tolist()}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--instances", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tally = judged(options.instances, options.seed)
    sys.stdout.write(f"{tally.instances:,} instances; in {len(tally.missed)} strict is late\n")
    for name, value in tally.counts.items():
        sys.stdout.write(f"{name:20} {value:>12,}\n")
    sys.stdout.write("".join(f"{text}\n" for text in tally.missed[:5]))
    return 1 if tally.missed else 0


if __name__ == "__main__":
    sys.exit(main())
