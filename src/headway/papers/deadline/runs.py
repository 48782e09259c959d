"""One run after the other, each measured once and kept."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from headway.metrics.own_numbers import deadlines
from headway.metrics.sample import Sample, walltime_slowdown
from headway.metrics.statistics import mean_ratio, mean_time, quantile_time
from headway.papers.deadline.logs import Log, labelled, prepared
from headway.papers.kept import KeptRuns, Numbers
from headway.papers.verdicts import Estimate, change_of, ratio_of
from headway.plain import Notify
from headway.schedule import Schedule
from headway.simulate import simulate
from headway.units import HOUR, WEEK

KEPT = 3
"""Schedules in memory of policies that look at no deadline: each serves every choice of flexible tasks."""


@dataclass(frozen=True)
class Run:
    """What is simulated: the policy, the deadlines (hours) and how the log is read."""

    policy: str = "dbf"
    hours: float = 24
    chosen: str = "third of three"
    times: str = "exact"
    zero: str = "kept"
    until: str = "horizon"
    """The hours are counted from the submission, or a morning of the calendar stands instead of them."""

    @property
    def key(self) -> str:
        said = asdict(self)
        if self.hours == int(self.hours):
            said["hours"] = int(self.hours)
        if self.until == "horizon":
            del said["until"]
        return json.dumps(said, sort_keys=True)


class Runs:
    """The results so far; what is missing is simulated."""

    def __init__(self, folder: Path, say: Notify) -> None:
        self.kept = KeptRuns("deadline", folder, say)
        self._plain: dict[tuple[str, ...], Schedule] = {}

    def get(self, log: Log, run: Run) -> Numbers:
        """The numbers of a run on a log."""
        zero = "" if run.zero == "kept" else f", jobs of no length: {run.zero}"
        due = f"{run.hours:g} h" if run.until == "horizon" else run.until
        told = f"{log.title}: {run.policy}, {due}, {run.chosen}, {run.times} times{zero}"
        return self.kept.get(f"{log.name} {log.digest} {run.key}", lambda: self._measure(log, run), told)

    def _measure(self, log: Log, run: Run) -> Numbers:
        workload = labelled(prepared(log, run.times, run.zero), run.chosen, run.hours, run.until)
        if "urgent=first" in run.policy:  # two classes: whoever has no deadline goes first
            workload = workload.with_columns(urgent=workload.columns["deadline"] < 0)
        if run.policy.startswith("dbf") or "urgent=first" in run.policy:
            return measure(simulate(workload, log.procs, run.policy))
        kept = (log.name, run.policy, run.times, run.zero)
        if kept not in self._plain:
            while len(self._plain) >= KEPT:
                self._plain.pop(next(iter(self._plain)))
            self._plain[kept] = simulate(workload, log.procs, run.policy)
        return measure(replace(self._plain[kept], workload=workload))


def measure(schedule: Schedule) -> Numbers:
    """Waits in hours, slowdowns, deadlines, for jobs by their label and for all."""
    sample = Sample(schedule)
    found = {**deadlines(sample), **schedule.own}
    found["wait"] = mean_time(sample.wait)
    found["slowdown"] = mean_ratio(walltime_slowdown(sample.wait, sample.walltime))
    flexible = sample.schedule.workload.columns["deadline"] >= 0
    found["weeks"] = {"priority": by_week(sample, ~flexible), "flexible": by_week(sample, flexible)}
    for label, jobs in (("priority", ~flexible), ("flexible", flexible)):
        found[f"{label}_p95_wait"] = quantile_time(sample.wait[jobs], 95) if jobs.any() else None
    for name in [name for name in found if name.endswith("wait") and found[name] is not None]:
        found[name] /= 3600
    found["jobs"] = len(schedule)
    found["seconds"] = schedule.provenance["timing"]["simulation_cpu_seconds"]
    return found


def by_week(sample: Sample, chosen: np.ndarray) -> dict[str, list[float]]:
    """Sums over the chosen jobs of each week: jobs, waits (h), slowdowns and the jobs that have one."""
    submit = sample.column(sample.schedule.submit)
    week = (submit - submit.min()) // WEEK
    count, long = int(week.max()) + 1, chosen & (sample.walltime > 0)
    slowdown = walltime_slowdown(sample.wait[long], sample.walltime[long])
    return {
        "jobs": np.bincount(week[chosen], minlength=count).tolist(),
        "wait": np.bincount(week[chosen], sample.wait[chosen] / HOUR, count).tolist(),
        "long": np.bincount(week[long], minlength=count).tolist(),
        "slowdown": np.bincount(week[long], slowdown, count).tolist(),
    }


DIVISOR = {"wait": "jobs", "slowdown": "long"}
"""What the sum of a number is divided by for its mean."""


def sums(numbers: Numbers, who: str, name: str) -> np.ndarray:
    """The sum of each week, of the priority tasks, the flexible ones or all."""
    labels = ("priority", "flexible") if who == "all" else (who,)
    by_label = np.array([numbers["weeks"][label][name] for label in labels], np.float64)
    return np.asarray(by_label.sum(axis=0))


def mean_estimate(numbers: Numbers, who: str, name: str) -> Estimate:
    """The mean wait (h) or slowdown, with its interval over the weeks of the log."""
    return ratio_of(sums(numbers, who, name), sums(numbers, who, DIVISOR[name]))


def change_estimate(with_: Numbers, without: Numbers, who: str, name: str) -> Estimate:
    """Its change in percent from one policy to another for the same tasks, paired by week."""
    return change_of(sums(with_, who, name), sums(without, who, name))
