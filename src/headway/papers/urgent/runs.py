"""One run after the other, each measured once and kept."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from headway.metrics.own_numbers import urgent
from headway.metrics.sample import Sample, slowdown, utilization
from headway.papers.kept import KeptRuns, Numbers
from headway.papers.log import Log
from headway.papers.urgent.logs import WIDEST, with_urgent
from headway.plain import Notify
from headway.schedule import Schedule
from headway.simulate import simulate
from headway.units import DAY, SECOND
from headway.workload import Workload
from headway.workload.annotations import KB_PER_MB

TABLE, LOG = "table", "log"
"""Where memory sizes come from: drawn from Table 3, or the log's own."""
PERCENT = tuple(range(0, 101, 2))
"""Percentiles kept of the slowdowns."""


@dataclass(frozen=True)
class Run:
    """What is simulated: the policy, the urgent jobs and the machine."""

    policy: str = "ujfb"
    count: int = 100
    seed: int = 1
    sizes: str = ""
    """Where memory sizes come from, table or log; empty for what the reproduction was asked for."""
    per_hour: float = 0
    """Instead of a count: urgent jobs an hour."""
    jobs: int = 0
    """Only so many of the log's jobs, the first ones; 0 for all."""
    part: str = ""
    """``regular``: the regular jobs alone, on what dedicated nodes leave; ``urgent``: the others there."""

    @property
    def key(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    def __str__(self) -> str:
        rate = f", {self.per_hour:g} urgent jobs an hour" if self.per_hour else ""
        sizes = ", sizes of the log" if self.sizes == "log" else ""
        return f"{self.policy}{rate}{sizes}{f', {self.part} jobs apart' if self.part else ''}"


class Runs:
    """The results so far; what is missing is simulated."""

    def __init__(self, folder: Path, say: Notify, sizes: str = TABLE) -> None:
        self.kept, self.sizes = KeptRuns("urgent", folder, say), sizes

    def get(self, log: Log, run: Run) -> Numbers:
        """The numbers of a run on a log."""
        run = replace(run, sizes=run.sizes or self.sizes)
        key, told = f"{log.name} {log.digest} {run.key}", f"{log.title}: {run}"
        return self.kept.get(key, lambda: measure(simulated(log, run)), told)


def simulated(log: Log, run: Run) -> Schedule:
    """The schedule of a run."""
    some, procs = log, log.procs
    if run.jobs and run.jobs < len(log.workload):
        first = log.workload.order[: run.jobs]
        workload = log.workload.select(np.sort(first), rule="window", action="the first jobs only")
        some = Log(log.name, log.title, workload, log.procs)
    workload = with_urgent(some, run.count, run.seed, run.sizes, run.per_hour)
    if run.part:
        workload, procs = apart(workload, run.part, dedicated(log), log.procs)
    return simulate(workload, procs, run.policy)


def dedicated(log: Log) -> int:
    """Nodes set apart for urgent jobs: enough for the widest of them that the machine can run."""
    return max(procs for procs in (128, 256, WIDEST) if procs < log.procs)


def apart(workload: Workload, part: str, nodes: int, procs: int) -> tuple[Workload, int]:
    """The regular or the urgent jobs alone, with the processors that are left for them."""
    rush = workload.urgent
    if part == "urgent":
        return workload.select(rush, rule="apart", action="regular jobs: elsewhere"), nodes
    kept = workload.select(~rush, rule="apart", action="urgent jobs: on dedicated nodes")
    return kept.fit_to(procs - nodes), procs - nodes


def measure(schedule: Schedule) -> Numbers:
    """Lateness of urgent jobs, response (h) and slowdown of regular ones, preemptions, areas."""
    sample = Sample(schedule)
    marked = schedule.workload.get("urgent")
    rush = np.zeros(len(schedule), np.bool_) if marked is None else marked
    found: Numbers = {**urgent(sample), **schedule.own}
    for label, chosen in (("urgent", rush), ("regular", ~rush)):
        slowdowns = slowdown(sample.flow[chosen], sample.run[chosen])
        found[f"{label}_slowdowns"] = (
            [round(float(x), 4) for x in np.percentile(slowdowns, PERCENT)] if len(slowdowns) else []
        )
        if f"{label}_mean_response" not in found and chosen.any():
            found[f"{label}_mean_response"] = float(sample.flow[chosen].mean()) / SECOND
            found[f"{label}_mean_slowdown"] = float(slowdowns.mean())
            found[f"{label}_mean_wait"] = float(sample.wait[chosen].mean()) / SECOND
    begin = int(schedule.submit.min())
    rows = np.flatnonzero(rush).tolist()
    found["urgent_points"] = [
        [
            round((int(schedule.submit[row]) - begin) / DAY, 4),
            int(schedule.procs[row]),
            round(float(schedule.end[row] - schedule.submit[row]) / max(int(schedule.run[row]), 1), 6),
        ]
        for row in rows
    ]
    found["utilization"] = utilization(sample.areas.useful, schedule.capacity, sample.span)
    found["wasted_area"] = sample.areas.wasted
    found["dropped"] = sum(entry.count for entry in schedule.workload.ledger if entry.rule == "too_large")
    found["jobs"] = len(schedule)
    memory = schedule.workload.get("memory_kb")
    found["median_memory_mb"] = (
        None if memory is None or not (~rush).any() else float(np.median(memory[~rush])) / KB_PER_MB
    )
    found["seconds"] = schedule.provenance["timing"]["simulation_cpu_seconds"]
    return found
