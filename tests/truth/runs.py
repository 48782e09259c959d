"""A recorded run: what was asked, what Slurm did, and every pass, plan and priority on the way."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import pytest

from reference.slurm.machine import Job, Machine, node_set

from .conf import Conf, expand, load_machine
from .log import Part

FOLDER = Path(os.environ.get("HEADWAY_SLURM_TRUTH", Path(__file__).parents[3] / "shared" / "slurm" / "truth"))


@dataclass(frozen=True)
class Event:
    t: float
    kind: str
    job: str = ""
    nodes: str = ""


@dataclass(frozen=True)
class Attempt:
    """One row of the schedule: one attempt of a job or of a task."""

    name: str
    """The job's number, with _task for a task of an array."""
    attempt: int
    submit: int
    eligible: int
    start: int
    end: int
    state: str
    nodes: int
    cpus: int
    limit: int
    partition: str
    by: str


@dataclass(frozen=True)
class RecordedPlan:
    job: str
    start: int
    end: int
    nodes: int


@dataclass
class Asked:
    """One line of what was submitted."""

    number: int
    submit: int
    job: Job
    run: tuple[float, ...]
    options: dict[str, str] = field(default_factory=dict)


@dataclass
class Run:
    name: str
    folder: Path
    machine: Machine
    conf: Conf
    asked: dict[int, Asked]
    attempts: list[Attempt]
    events: list[Event]
    plans: dict[int, list[RecordedPlan]]
    """Number of the cycle, from 1 -> its plans in order."""
    priorities: list[tuple[float, str, int, str]]
    """Time, job, priority, partition ("" at submission)."""
    dealt: dict[str, list[dict[int, Part]]] = field(default_factory=dict)
    """Job -> what each of its starts had of each node, where the log was read for that."""

    @cached_property
    def epilogs(self) -> dict[str, list[tuple[float, str]]]:
        """Job -> when its nodes were done with it, and how long that took; as far as the log tells."""
        found: dict[str, list[tuple[float, str]]] = {}
        path = self.folder / "epilogs.csv.gz"
        for row in rows(path) if path.exists() else ():
            found.setdefault(row["job"], []).append((float(row["t"]), row["took"]))
        return found

    @cached_property
    def calculations(self) -> list[tuple[int, int]]:
        """Seconds in which a calculation of usage and priorities began and ended, if the log has them."""
        path = self.folder / "calculations.csv.gz"
        found = rows(path) if path.exists() else ()
        return [(int(float(row["t"])), int(float(row["until"]))) for row in found]

    @cached_property
    def asked_by_name(self) -> dict[str, Asked]:
        return {str(number): asked for number, asked in self.asked.items()}

    @cached_property
    def graced(self) -> frozenset[str]:
        """Jobs that were given a time of grace."""
        return frozenset(event.job for event in self.events if event.kind == "grace")

    @cached_property
    def _place(self) -> dict[str, int]:
        return {node.name: i for i, node in enumerate(self.machine.nodes)}

    @cached_property
    def _sets(self) -> dict[str, int]:
        return {}

    def nodes(self, text: str) -> int:
        if text not in self._sets:
            self._sets[text] = node_set(self._place[name] for name in expand(text))
        return self._sets[text]


def rows(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
        lines = csv.reader(file)
        names = next(lines)
        for line in lines:
            yield dict(zip(names, line, strict=False))


def folder(name: str) -> Path:
    found = FOLDER / name
    if not found.is_dir():
        pytest.skip(f"the recorded run {name} is not in {FOLDER}; put it there or set HEADWAY_SLURM_TRUTH")
    return found


@cache
def load(name: str) -> Run:
    where = folder(name)
    machine, conf = load_machine(where / "slurm.conf")
    run = Run(name, where, machine, conf, {}, [], [], {}, [])
    run.asked = dict(read_jobs(where / "jobs.tsv", machine, conf))
    run.attempts = [attempt(run, row) for row in rows(where / "schedule.csv")]
    for row in rows(where / "events.csv.gz"):
        run.events.append(Event(float(row["t"]), row["kind"], row["job"], row["nodes"]))
    more = [*silent_ends(run), *cancellings(run), *graces(where / "graces.csv.gz")]
    run.events = sorted([*run.events, *more], key=lambda event: event.t)
    run.dealt = read_dealt(run)
    cycles = {f"{event.t:.3f}": k for k, event in enumerate(beginnings(run), 1)}
    for row in rows(where / "plans.csv.gz"):
        cycle = int(row["cycle"]) if "cycle" in row else cycles[row["cycle_t"]]
        plan = RecordedPlan(row["job"], int(row["start"]), int(row["reserve_end"]), run.nodes(row["nodes"]))
        run.plans.setdefault(cycle, []).append(plan)
    seen: set[str] = set()
    for row in rows(where / "prio.csv.gz"):
        name = row["job"]
        partition = row.get("partition") or ""
        if "partition" not in row and name in seen:
            partition = run.asked[int(name)].job.partitions[0]
        seen.add(name)
        run.priorities.append((float(row["t"]), name, int(row["priority"]), partition))
    return run


def silent_ends(run: Run) -> list[Event]:
    """Ends that no line of the log tells: jobs killed because a group's minutes were used up."""
    ends = ("done", "timeout", "nodefail", "preempt_killed")
    told = {event.job for event in run.events if event.kind in ends or "requeue" in event.kind}
    silent = [row for row in run.attempts if row.start > 0 and row.nodes and row.name not in told]
    return [Event(row.end + 0.3, "timeout", row.name) for row in silent]


def cancellings(run: Run) -> list[Event]:
    """Jobs that were cancelled while they waited."""
    gone = [row for row in run.attempts if row.state in ("CANCELLED", "DEADLINE") and not row.nodes]
    return [Event(row.end + 0.001, "cancel", row.name) for row in gone]


def graces(path: Path) -> list[Event]:
    """Beginnings of times of grace, where the log was read for them."""
    found = rows(path) if path.exists() else ()
    return [Event(float(row["t"]), "grace", row["job"], row["for"]) for row in found]


def read_dealt(run: Run) -> dict[str, list[dict[int, Part]]]:
    path, last = run.folder / "dealt.csv.gz", ""
    found: dict[str, list[dict[int, Part]]] = {}
    place = {node.name: i for i, node in enumerate(run.machine.nodes)}
    for row in rows(path) if path.exists() else ():
        if row["start"] != last:
            found.setdefault(row["job"], []).append({})
            last = row["start"]
        pairs = (pair.split("=") for pair in row["gres"].split(",") if pair)
        gres = None if row["gres"] == "-" else {kind: int(count) for kind, count in pairs}
        found[row["job"]][-1][place[row["node"]]] = Part(int(row["cpus"]), int(row["memory"]), gres)
    return found


def beginnings(run: Run) -> list[Event]:
    """The backfill cycles in order."""
    return [event for event in run.events if event.kind == "bf"]


def attempt(run: Run, row: dict[str, str]) -> Attempt:
    task = row.get("task") or ""
    nodes = row["nodelist"] if row["nodelist"] not in ("", "(null)") else ""
    return Attempt(
        row["n"] + (f"_{task}" if task else ""),
        int(row.get("try") or 1),
        int(row["submit"]),
        int(row["eligible"]),
        int(row["start"]),
        int(row["end"]),
        row["state"],
        run.nodes(nodes) if nodes else 0,
        int(row["cpus"]),
        0 if row["limit_min"] == "UNLIMITED" else int(row["limit_min"]),
        row.get("started_in") or row["partition"],
        row["started_by"],
    )


def tasks_of(text: str) -> tuple[int, ...]:
    """Task numbers of an array such as 0-9%3."""
    low, _, high = text.partition("%")[0].partition("-")
    return tuple(range(int(low), int(high or low) + 1)) if low else ()


def read_jobs(path: Path, machine: Machine, conf: Conf) -> Iterator[tuple[int, Asked]]:
    default = next(
        (fields["partitionname"] for fields in conf.partitions if fields.get("default", "").upper() == "YES"),
        next(iter(machine.partitions)),
    )
    per_cpu = conf.number("DefMemPerCPU", 0)
    per_node = conf.number("DefMemPerNode", 0)
    for line in path.read_text("utf-8").splitlines():
        fields = line.split("\t")
        if fields[0] == "!" or len(fields) < 11:
            continue
        n, submit, nodes, cpus, limit, run, partition, qos, uid, account, flag = fields[:11]
        pairs = (pair.partition("=") for pair in (fields[11] if len(fields) > 11 else "-").split(";"))
        options = {key: value for key, _, value in pairs if key != "-"}
        options |= {"by_user": ""} if flag == "user" else {}
        names = tuple((default if partition == "-" else partition).split(","))
        exclusive = flag == "excl" or any(machine.partitions[name].exclusive for name in names)
        memory = int(options.get("mem", options.get("mpc", per_node or per_cpu)))
        job = Job(
            int(n),
            int(float(submit)),
            int(nodes),
            int(cpus),
            int(limit),
            names,
            user=uid,
            account="" if account == "-" else account,
            qos="" if qos == "-" else qos,
            whole=exclusive,
            memory=memory,
            per_cpu="mem" not in options and ("mpc" in options or not per_node),
            cpus_per_task=int(options.get("cpt", 1)),
            tasks_per_node=int(options.get("tpn", 0)),
            gpus=int(options["gres"].rpartition(":")[2]) if "gres" in options else 0,
            features=frozenset(filter(None, options.get("feat", "").split("&"))),
            time_min=int(options.get("tmin", 0)),
            reservation=options.get("resv", ""),
            name=options.get("name", f"j{n}"),
            nice=int(options.get("nice", 0)),
            requeue=options.get("requeue", "0") == "1",
            dependency=options.get("dep", "").replace("#", ""),
            begin=int(options.get("begin", 0)),
            array=int(n) if "array" in options else 0,
            waiting_tasks=tasks_of(options.get("array", "")),
            array_limit=int(options.get("array", "").partition("%")[2] or 0),
        )
        yield int(n), Asked(int(n), job.submit, job, tuple(float(part) for part in run.split(",")), options)
