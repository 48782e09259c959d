"""One run of the paper: a scenario, dedicated or not, with speeds or without, a couple, a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headway.campaign.identity import workload_digest
from headway.metrics.own_numbers import came, impact
from headway.papers.kept import KeptRuns, Numbers
from headway.papers.reallocation.scenarios import Scenario, drawn, jobs_of, platform_of
from headway.papers.verdicts import Estimate, Floats, mean_of
from headway.plain import Notify
from headway.schedule import Schedule
from headway.simulate import simulate
from headway.workload import Workload

COUPLES = {
    "MCT-reg": "reallocation(heuristic=mct, mode=regular)",
    "MCT-can": "reallocation(heuristic=mct, mode=cancel)",
    "MinMin-reg": "reallocation(heuristic=minmin, mode=regular)",
    "MinMin-can": "reallocation(heuristic=minmin, mode=cancel)",
}
REFERENCE = "reallocation(mode=none)"


@dataclass(frozen=True)
class Setting:
    """What four couples and their reference have in common."""

    scenario: Scenario
    dedicated: bool = True
    speeds: bool = True
    seed: int = 0

    @property
    def key(self) -> str:
        kind = "dedicated" if self.dedicated else "shared"
        speeds = "speeds" if self.speeds else "equal"
        return f"{self.scenario.label} {kind} {speeds} seed {self.seed}"


class Runs:
    """The results so far; what is missing is simulated."""

    def __init__(self, folder: Path, traces: Mapping[str, str], say: Notify) -> None:
        self.kept, self.traces, self.say = KeptRuns("reallocation", folder, say), traces, say
        self._jobs: dict[str, Workload] = {}
        self._digests: dict[str, str] = {}

    def jobs(self, scenario: Scenario) -> Workload:
        """The rigid jobs of a scenario; only the last one is kept."""
        if scenario.label not in self._jobs:
            self._jobs = {scenario.label: jobs_of(scenario, self.traces)}
        return self._jobs[scenario.label]

    def digest(self, scenario: Scenario) -> str:
        """Of its jobs, so that results of another log are not taken for this one's."""
        if scenario.label not in self._digests:
            self._digests[scenario.label] = workload_digest(self.jobs(scenario))
        return self._digests[scenario.label]

    def get(self, setting: Setting) -> dict[str, Numbers]:
        """The numbers of the four couples, each against the reference with the same seed."""
        jobs_here = self.digest(setting.scenario)
        wanted = {couple: f"{setting.key} {jobs_here} {couple}" for couple in COUPLES}
        if not all(key in self.kept.results for key in wanted.values()):
            self.say(f"{setting.key}: {', '.join(COUPLES)}")
            jobs = drawn(self.jobs(setting.scenario), setting.dedicated, setting.seed)
            machine = platform_of(setting.scenario, setting.speeds)
            reference = simulate(jobs, machine, REFERENCE, notify=self.say)
            self.kept.keep(
                {
                    key: measure(simulate(jobs, machine, COUPLES[couple]), reference)
                    for couple, key in wanted.items()
                }
            )
        return {couple: self.kept.results[key] for couple, key in wanted.items()}

    def other(self, name: str, scenario: Scenario, seed: int, make: Callable[[], Numbers]) -> Numbers:
        """The numbers of any other run on a scenario, by a name of its own."""
        told = f"{name}, {scenario.label}, seed {seed}"
        return self.kept.get(f"{told}, {self.digest(scenario)}", make, told)


def measure(schedule: Schedule, reference: Schedule) -> Numbers:
    """The paper's four numbers and some of ours, with the time that the simulation took."""
    return {
        **impact(schedule, reference),
        **came(schedule),
        **schedule.own,
        "jobs": len(schedule),
        "seconds": schedule.provenance["timing"]["simulation_cpu_seconds"],
    }


@dataclass(frozen=True)
class Campaign:
    """All runs of one kind: numbers by scenario, couple and seed."""

    scenarios: Sequence[Scenario]
    numbers: Mapping[tuple[str, str, int], Numbers]

    def values(self, metric: str, couple: str, scenario: str | None = None) -> list[float]:
        """A metric over the seeds, of one scenario or of all."""
        return [
            found[metric]
            for (name, of, _), found in self.numbers.items()
            if of == couple and scenario in (None, name) and found.get(metric) is not None
        ]

    def mean(self, metric: str, couple: str) -> float | None:
        """The mean of a metric over scenarios and seeds; None where no run has one."""
        values = self.values(metric, couple)
        return sum(values) / len(values) if values else None

    def blocks(self, metric: str, *couples: str) -> list[list[float]]:
        """For each scenario the values of some couples and all seeds."""
        names = dict.fromkeys(name for name, _, _ in self.numbers)
        return [[v for couple in couples for v in self.values(metric, couple, name)] for name in names]

    def by_scenario(self, metric: str, couple: str) -> Floats:
        """The mean over the seeds of each scenario."""
        return np.array([np.mean(block) if block else np.nan for block in self.blocks(metric, couple)])

    def estimate(self, metric: str, couple: str) -> Estimate:
        """The mean over scenarios, with its interval."""
        values = self.by_scenario(metric, couple)
        return mean_of(values[~np.isnan(values)])

    def difference(self, metric: str, couple: str, other: str) -> Estimate:
        """By how much a metric is larger for a couple than for another, paired by scenario."""
        values = self.by_scenario(metric, couple) - self.by_scenario(metric, other)
        return mean_of(values[~np.isnan(values)])

    def experiments(self, metric: str) -> Iterator[tuple[str, str, int, float]]:
        """Scenario, couple, seed and value of every run that has one."""
        for (name, couple, seed), found in self.numbers.items():
            if found[metric] is not None:
                yield name, couple, seed, found[metric]


def campaign(
    runs: Runs, scenarios: Sequence[Scenario], seeds: Sequence[int], dedicated: bool, speeds: bool
) -> Campaign:
    """Every scenario and seed."""
    numbers = {}
    for scenario in scenarios:
        for seed in seeds:
            for couple, found in runs.get(Setting(scenario, dedicated, speeds, seed)).items():
                numbers[scenario.name, couple, seed] = found
    return Campaign(scenarios, numbers)
