"""One run of the paper: a scenario, dedicated or not, with speeds or without, a couple, a seed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headway.documents import read_json
from headway.metrics.reallocation import came, grid_tasks, impact
from headway.papers.reallocation.scenarios import Scenario, drawn, jobs_of, platform_of
from headway.schedule import Schedule
from headway.simulate import simulate
from headway.workload import Workload
from headway.writing import write_text

NAME = "runs.json"
Numbers = dict[str, Any]

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
        return f"{self.scenario.name} {self.scenario.total} {kind} {speeds} seed {self.seed}"


@dataclass
class Runs:
    """The results so far, in memory and in a file; what is missing is simulated."""

    folder: Path
    traces: Mapping[str, str]
    say: Callable[[str], None]
    results: dict[str, Numbers] = field(default_factory=dict)
    _jobs: dict[str, Workload] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path.exists():
            self.results = read_json(self.path, "remove it")

    @property
    def path(self) -> Path:
        return self.folder / NAME

    def jobs(self, scenario: Scenario) -> Workload:
        """The rigid jobs of a scenario; only the last one is kept."""
        key = f"{scenario.name} {scenario.total}"
        if key not in self._jobs:
            self._jobs = {key: jobs_of(scenario, self.traces)}
        return self._jobs[key]

    def get(self, setting: Setting) -> dict[str, Numbers]:
        """The numbers of the four couples, each against the reference with the same seed."""
        wanted = {couple: f"{setting.key} {couple}" for couple in COUPLES}
        if not all(key in self.results for key in wanted.values()):
            self.say(f"{setting.key}: {', '.join(COUPLES)}")
            jobs = drawn(self.jobs(setting.scenario), setting.dedicated, setting.seed)
            machine = platform_of(setting.scenario, setting.speeds)
            reference = simulate(jobs, machine, REFERENCE, notify=self.say)
            for couple, key in wanted.items():
                self.results[key] = measure(simulate(jobs, machine, COUPLES[couple]), reference)
            self.save()
        return {couple: self.results[key] for couple, key in wanted.items()}

    def other(self, key: str, make: Callable[[], Numbers]) -> Numbers:
        """The numbers of any other run, by a name of its own."""
        if key not in self.results:
            self.say(key)
            self.results[key] = make()
            self.save()
        return self.results[key]

    def save(self) -> None:
        write_text(self.path, json.dumps(self.results, indent=0))


def measure(schedule: Schedule, reference: Schedule) -> Numbers:
    """The paper's four numbers and some of ours, with the time that the simulation took."""
    tasks = grid_tasks(schedule)
    return {
        **impact(schedule, reference),
        **came(schedule),
        **schedule.own,
        "jobs": len(schedule),
        "reference_response": float(reference.response[tasks].mean()) / 1e6,
        "reference_wait": float(reference.wait[tasks].mean()) / 1e6,
        "seconds": schedule.provenance["timing"]["simulation_cpu_seconds"],
    }


@dataclass(frozen=True)
class Campaign:
    """All runs of one kind: numbers by scenario, couple and seed."""

    scenarios: Sequence[Scenario]
    seeds: Sequence[int]
    numbers: Mapping[tuple[str, str, int], Numbers]

    def values(self, metric: str, couple: str, scenario: str | None = None) -> list[float]:
        """A metric over the seeds, of one scenario or of all."""
        return [
            found[metric]
            for (name, of, _), found in self.numbers.items()
            if of == couple and scenario in (None, name) and found[metric] is not None
        ]

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
    return Campaign(scenarios, seeds, numbers)
