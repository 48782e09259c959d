"""One run after the other, each measured once and kept."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from headway.metrics.own_numbers import deadlines
from headway.metrics.sample import Sample, walltime_slowdown
from headway.metrics.statistics import mean_ratio, mean_time, quantile_time
from headway.papers.deadline.logs import Log, labelled, prepared
from headway.papers.kept import KeptRuns, Numbers
from headway.plain import Notify
from headway.schedule import Schedule
from headway.simulate import simulate

KEPT = 3
"""Schedules of conservative backfilling kept in memory: they serve every choice of flexible tasks."""


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
        self.kept = KeptRuns(folder, say)
        self._plain: dict[tuple[str, ...], Schedule] = {}

    def get(self, log: Log, run: Run) -> Numbers:
        """The numbers of a run on a log."""
        zero = "" if run.zero == "kept" else f", jobs of no length: {run.zero}"
        due = f"{run.hours:g} h" if run.until == "horizon" else run.until
        told = f"{log.title}: {run.policy}, {due}, {run.chosen}, {run.times} times{zero}"
        return self.kept.get(f"{log.name} {log.digest} {run.key}", lambda: self._measure(log, run), told)

    def _measure(self, log: Log, run: Run) -> Numbers:
        workload = labelled(prepared(log, run.times, run.zero), run.chosen, run.hours, run.until)
        if not run.policy.startswith("conservative"):
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
    for label, jobs in (("priority", ~flexible), ("flexible", flexible)):
        found[f"{label}_p95_wait"] = quantile_time(sample.wait[jobs], 95) if jobs.any() else None
    for name in [name for name in found if name.endswith("wait") and found[name] is not None]:
        found[name] /= 3600
    found["jobs"] = len(schedule)
    found["seconds"] = schedule.provenance["timing"]["simulation_cpu_seconds"]
    return found
