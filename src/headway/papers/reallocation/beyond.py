"""What the paper does not ask: molding itself, the period, the number of clusters, estimates, other policies.

All on one scenario and dedicated clusters, the mean over a few seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from headway.metrics.reallocation import impact
from headway.papers.kept import Numbers
from headway.papers.reallocation.runs import COUPLES, REFERENCE, Runs
from headway.papers.reallocation.scenarios import Scenario, drawn, jobs_of, platform_of
from headway.platform import Cluster, Platform
from headway.policies.grid.description import HEURISTICS
from headway.schedule import Schedule
from headway.simulate import simulate
from headway.workload import Workload
from headway.workload.transform import walltimes

PERIODS = (60, 300, 900, 3600, 14_400, 86_400)
CLUSTERS = (2, 3, 5, 10, 20, 50)
LONGER = (1, 2, 3, 5)
LOADS = (0.6, 0.8, 1.0, 1.2)
POLICIES = (
    "conservative",
    "conservative(compress=fixpoint)",
    "conservative(compress=scratch)",
    "conservative(compress=none)",
    "conservative(hole=open)",
    "fcfs",
    "easy",
)
THRESHOLDS = (60, 300, 900, 3600)
TRANSFERS = (0, 60, 600, 1800, 3600)
MARGINS = (1.0, 1.2, 2.0)
RESERVED = (0.0, 0.25, 0.5)
SHOWN = ("MCT-reg", "MCT-can")


@dataclass
class Beyond:
    """One scenario, some seeds, and the store of results."""

    runs: Runs
    scenario: Scenario
    seeds: Sequence[int]

    def jobs(self, seed: int) -> Workload:
        return drawn(self.runs.jobs(self.scenario), True, seed)

    def machine(self) -> Platform:
        return platform_of(self.scenario, True)

    def mean(self, key: str, make: Callable[[int], Numbers]) -> Numbers:
        """The mean of each number over the seeds."""
        found = [self.runs.other(key, self.scenario, seed, partial(make, seed)) for seed in self.seeds]
        names = [name for name in found[0] if all(one[name] is not None for one in found)]
        return {name: float(np.mean([one[name] for one in found])) for name in names}

    def molding(self) -> list[list[str]]:
        """The same grid with moldable tasks, and with all of them as the log has them."""
        rows = [
            ["tasks", "algorithm", "mean wait (s)", "mean response (s)", "relative response", "moves / task"]
        ]
        for kind in ("moldable", "rigid"):
            for couple in ("reference", *COUPLES):
                n = self.mean(f"{kind} {couple}", partial(self._molded, kind, couple))
                rows.append(
                    [kind, couple, f"{n['wait']:.0f}", f"{n['response']:.0f}",
                     f"{n['relative_response_of_all']:.3f}", f"{n['reallocations']:.3f}"]
                )  # fmt: skip
        return rows

    def _molded(self, kind: str, couple: str, seed: int) -> Numbers:
        jobs = self.jobs(seed)
        if kind == "rigid":
            jobs = jobs.with_columns(parallel_fraction=np.full(len(jobs), np.nan))
        return self._one(jobs, couple)

    def _one(self, jobs: Workload, couple: str, machine: Platform | None = None, **change: Any) -> Numbers:
        """One run against its reference; ``change`` sets parameters of the policy."""
        place = self.machine() if machine is None else machine
        more = "".join(f", {name}={value}" for name, value in change.items())
        local = f", local={change['local']}" if "local" in change else ""
        reference = simulate(jobs, place, REFERENCE.replace(")", f"{local})"))
        run = reference if couple == "reference" else simulate(jobs, place, f"{COUPLES[couple][:-1]}{more})")
        return summary(run, reference)

    def by(
        self, key: str, values: Sequence[Any], run: Callable[[Any, str, int], Numbers]
    ) -> dict[str, list[Any]]:
        """For each couple shown, (value, numbers)."""
        return {
            couple: [
                (value, self.mean(f"{key} {value} {couple}", partial(run, value, couple))) for value in values
            ]
            for couple in SHOWN
        }

    def periods(self, values: Sequence[int] = PERIODS) -> dict[str, list[Any]]:
        """From a minute to a day between events."""
        return self.by("period", values, lambda v, c, seed: self._one(self.jobs(seed), c, period=v))

    def estimates(self, values: Sequence[int] = LONGER) -> dict[str, list[Any]]:
        """Requested times multiplied; run times as they are."""

        def run(factor: int, couple: str, seed: int) -> Numbers:
            jobs = self.jobs(seed)
            return self._one(jobs.with_columns(walltime=jobs.walltime * factor), couple)

        return self.by("walltimes times", values, run)

    def heuristics(self) -> Numbers:
        """Relative response of all tasks under each heuristic, regular mode."""

        def run(name: str, seed: int) -> Numbers:
            jobs, place = self.jobs(seed), self.machine()
            reference = simulate(jobs, place, REFERENCE)
            return summary(simulate(jobs, place, f"reallocation(heuristic={name})"), reference)

        return {
            name: self.mean(f"heuristic {name}", partial(run, name))["relative_response_of_all"]
            for name in HEURISTICS
        }

    def thresholds(self, values: Sequence[int] = THRESHOLDS) -> dict[str, list[Any]]:
        """A task moves only for a gain that would pay for a transfer of its data."""
        return self.by("threshold", values, lambda v, c, seed: self._one(self.jobs(seed), c, threshold=v))

    def transfers(self, values: Sequence[int] = TRANSFERS) -> dict[str, list[Any]]:
        """A task that moves waits for its data, and both the estimates and the run know it."""
        return self.by("transfer", values, lambda v, c, seed: self._one(self.jobs(seed), c, transfer=v))

    def automatic(self, values: Sequence[float] = MARGINS) -> dict[str, list[Any]]:
        """Walltimes that the middleware sets, since it knows its services: the run time and a margin."""

        def run(margin: float, couple: str, seed: int) -> Numbers:
            return self._one(walltimes(self.jobs(seed), margin=margin), couple)

        return self.by("margin", values, run)

    def reserved(self, values: Sequence[float] = RESERVED) -> list[list[str]]:
        """A share of each site for the grid's tasks alone, under a batch scheduler of its own."""
        rows = [
            [
                "reserved for the grid", "grid tasks: mean response (s)", "local jobs: mean response (s)",
                "too wide for what is left to them",
            ]
        ]  # fmt: skip
        for share in values:
            found = self.mean(f"reserved {share:g}", partial(self._reserved, share))
            title = "nothing: all is shared" if share == 0 else f"{100 * share:.0f} % of each site"
            rows.append([title, f"{found['grid']:.0f}", f"{found['local']:.0f}", f"{found['dropped']:.0f}"])
        return rows

    def _reserved(self, share: float, seed: int) -> Numbers:
        jobs = drawn(self.runs.jobs(self.scenario), False, seed)
        both = simulate(jobs, self.machine(), f"{COUPLES['MCT-reg'][:-1]}, reserved={share:g})")
        mine = both.workload.columns["local"] == 0
        means = [float(both.response[rows].mean()) / 1e6 for rows in (mine, ~mine)]
        return {"grid": means[0], "local": means[1], "dropped": len(jobs) - len(both)}

    def policies(self, values: Sequence[str] = POLICIES) -> dict[str, list[Any]]:
        """Other ways to plan on the clusters."""
        return self.by("local", values, lambda v, c, seed: self._one(self.jobs(seed), c, local=v))

    def loads(self, values: Sequence[float] = LOADS) -> dict[str, list[Any]]:
        """Generated logs of another load."""

        def run(load: float, couple: str, seed: int) -> Numbers:
            return self._one(drawn(jobs_of(self.scenario, self.runs.traces, load), True, seed), couple)

        return self.by("load", values, run)

    def clusters(self, values: Sequence[int] = CLUSTERS) -> dict[str, list[Any]]:
        """The processors of the grid in more and more equal clusters of speed 1; as wide as they all fit."""

        def run(count: int, couple: str, seed: int) -> Numbers:
            size = self.machine().total_procs // count
            machine = Platform(tuple(Cluster(f"c{k}", 1.0, size) for k in range(count)))
            return self._one(self.jobs(seed), couple, machine)

        return self.by("clusters", values, run)


def summary(run: Schedule, reference: Schedule) -> Numbers:
    """What the tables show."""
    return {
        **impact(run, reference),
        "wait": float(run.wait.mean()) / 1e6,
        "response": float(run.response.mean()) / 1e6,
        "reference_response": float(reference.response.mean()) / 1e6,
        "moves": float(len(run.moves)) if run.moves is not None else 0.0,
        "starving": float(str(run.own["starving_tasks"])),
        "estimates": float(str(run.own["estimates"])),
        "sequential": float((run.procs == 1).mean()),
        "mean_procs": float(run.procs.mean()),
    }


def table(name: str, found: dict[str, list[Any]]) -> list[list[str]]:
    """A row for each value, columns for each couple."""
    rows = [[name, "reference response (s)"]]
    for couple in found:
        rows[0] += [f"{couple}: relative response", f"{couple}: moves / task", f"{couple}: starving"]
    for place, (value, numbers) in enumerate(next(iter(found.values()))):
        row = [str(value), f"{numbers['reference_response']:.0f}"]
        for points in found.values():
            n = points[place][1]
            row += [
                f"{n['relative_response_of_all']:.3f}",
                f"{n['reallocations']:.3f}",
                f"{n['starving']:.1f}",
            ]
        rows.append(row)
    return rows


def points(found: dict[str, list[Any]]) -> dict[str, list[tuple[float, float]]]:
    """For a figure: value and relative response of all tasks."""
    return {
        couple: [(float(value), n["relative_response_of_all"]) for value, n in values]
        for couple, values in found.items()
    }
