"""What slurmctld's log tells of a recorded run beyond its tables: what starts were dealt, graces, epilogs.

`python -m truth.log FOLDER_OF_THE_RUN RECORDING` (in tests/) reads `slurmctld.log`, which may be compressed,
and `submitted.tsv` of a run and adds `dealt.csv.gz`, `graces.csv.gz`, `epilogs.csv.gz` and
`calculations.csv.gz` to its recording. DebugFlags=CPU_Bind logs CPUs and memory of each node, Gres generic
resources with their types, Priority the calculations of usage, TraceJobs when the nodes of each job are done
with it (else only after more than a minute), and HetJob, from 26.05 on, what backfill started.
"""

from __future__ import annotations

import csv
import gzip
import re
import sys
from calendar import timegm
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import strptime
from typing import TextIO

from .conf import expand

ID = re.compile(r"JobId=(\d+)(?:_(\d+|\*|\[[^\]]*\]))?(?:\((\d+)\))?")
GRACE = re.compile(r"setting (\d+) sec preemption grace time for ")
EPILOG = re.compile(r"cleanup_completing: JobId=\S+(?: completion process took (\d+) seconds)?")
CPUS = re.compile(r"  Mem\(MB\):(\d+):.*CPUs:(\d+):")
GRES = re.compile(r"gres_job_state gres:(\w+)\(\d+\) type:(\S+)\(\d+\) job:(\d+)")
STARTED = re.compile(r"sched: Allocate |_start_job: (?:HETJOB: )?Started ")
COUNT = re.compile(r"gres_cnt_node_alloc\[(\d+)\]:(\d+)")

BUSY = 15
"""Seconds that a calculation takes at most, on a slowed clock."""


@dataclass
class Part:
    """What a job holds of one node."""

    cpus: int
    memory: int
    gres: dict[str, int] | None = None
    """Resource with its type -> how many; None where the log does not tell."""


@dataclass
class Names:
    """The names of jobs as recorded, number or number_task, of the numbers that Slurm gave them."""

    numbers: dict[int, str]
    tasks: dict[int, str] = field(default_factory=dict)

    def of(self, found: re.Match[str]) -> str:
        number, task, own = int(found[1]), found[2], found[3]
        if task and task.isdigit():
            name = f"{self.numbers.get(number, '?')}_{task}"
            if own:
                self.tasks[int(own)] = name
            return name
        return self.numbers.get(number) or self.tasks.get(number) or f"?{number}"


def time_of(line: str) -> float:
    return timegm(strptime(line[1:20], "%Y-%m-%dT%H:%M:%S")) + float("0" + line[20:24])


def graces(lines: Iterable[str], names: Names) -> Iterator[tuple[float, str, str]]:
    """Time, victim, and for whom and how long."""
    for line in lines:
        if found := GRACE.search(line):
            victim, winner = list(ID.finditer(line))[:2]
            yield time_of(line), names.of(victim), f"for {names.of(winner)} {found[1]}"


def epilogs(lines: Iterable[str], names: Names) -> Iterator[tuple[float, str, str]]:
    """Time, job, and how many seconds ago it ended, where the log tells."""
    for line in lines:
        if (found := EPILOG.search(line)) and (job := ID.search(line)):
            yield time_of(line), names.of(job), found[1] or ""


def calculations(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """When usage was calculated, and until when: a job that ends meanwhile adds its last period again."""
    began = last = 0.0
    for line in lines:
        if "Decay factor over" in line:
            if began:
                yield f"{began:.3f}", f"{last:.3f}"
            began = last = time_of(line)
        elif began == last and "_get_priority_internal" in line and time_of(line) < began + BUSY:
            last = time_of(line)
    if began:
        yield f"{began:.3f}", f"{last:.3f}"


def starts(lines: Iterable[str], names: Names) -> Iterator[tuple[str, dict[str, Part]]]:
    """Each start in order: the job and its part of each of its nodes."""
    seen: dict[str, dict[str, Part]] = {}
    nodes: list[str] = []
    parts: dict[str, Part] = {}
    kind, dealing = "", False
    for line in lines:
        if " nhosts:" in line and (found := ID.search(line)):
            nodes, parts = expand(line.split("nodes=")[1].split()[0]), {}
            seen[names.of(found)] = parts
        elif found := CPUS.search(line):
            parts[nodes[len(parts)]] = Part(int(found[2]), int(found[1]))
        elif "nodeinfo_set: Alloc GRES" in line:
            dealing = True
        elif dealing and (found := GRES.search(line)):
            kind = found[1] if found[2] == "(null)" else f"{found[1]}:{found[2]}"
        elif dealing and (found := COUNT.search(line)):
            part = parts[nodes[int(found[1])]]
            part.gres = {**(part.gres or {}), kind: int(found[2])}
        elif STARTED.search(line):
            dealing = False
            if found := ID.search(line):
                name = names.of(found)
                yield name, seen.get(name, seen.get(name.split("_")[0], {}))


def opened(where: Path) -> TextIO:
    """The log of a run, compressed or not."""
    file = where / "slurmctld.log"
    if file.is_file():
        return file.open(errors="replace")
    return gzip.open(file.with_suffix(".log.gz"), "rt", errors="replace")


def main(where: Path, recording: Path) -> None:
    names = Names({})
    for line in (where / "submitted.tsv").read_text("utf-8").splitlines():
        words = line.split("\t")
        if words[0] != "!" and words[1] != "0":
            names.numbers[int(words[1])] = words[0]
    with gzip.open(recording / "dealt.csv.gz", "wt", newline="") as out, opened(where) as lines:
        table = csv.writer(out)
        table.writerow(["start", "job", "node", "cpus", "memory", "gres"])
        for start, (job, parts) in enumerate(starts(lines, names)):
            for node, part in parts.items():
                gres = "-" if part.gres is None else ",".join(f"{k}={n}" for k, n in part.gres.items())
                table.writerow([start, job, node, part.cpus, part.memory, gres])
    with gzip.open(recording / "graces.csv.gz", "wt", newline="") as out, opened(where) as lines:
        table = csv.writer(out)
        table.writerow(["t", "job", "for"])
        table.writerows(graces(lines, names))
    with gzip.open(recording / "calculations.csv.gz", "wt", newline="") as out, opened(where) as lines:
        table = csv.writer(out)
        table.writerow(["t", "until"])
        table.writerows(calculations(lines))
    with gzip.open(recording / "epilogs.csv.gz", "wt", newline="") as out, opened(where) as lines:
        table = csv.writer(out)
        table.writerow(["t", "job", "took"])
        table.writerows(epilogs(lines, names))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
