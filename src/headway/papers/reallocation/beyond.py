"""What the paper does not ask: molding itself, the period, the number of clusters, estimates, other policies.

All on one scenario and dedicated clusters, the mean over a few seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from headway.metrics.own_numbers import impact
from headway.papers.kept import Numbers
from headway.papers.reallocation.runs import COUPLES, REFERENCE, Runs
from headway.papers.reallocation.scenarios import Scenario, drawn, jobs_of, platform_of
from headway.papers.verdicts import mean_of
from headway.platform import Cluster, Platform
from headway.policies.grid.local_policies import HEURISTICS
from headway.schedule import Schedule
from headway.simulate import simulate
from headway.workload import Workload
from headway.workload.transform import walltimes

POLICIES = (
    "conservative",
    "conservative(compress=fixpoint)",
    "conservative(compress=scratch)",
    "conservative(compress=none)",
    "conservative(hole=open)",
    "fcfs",
    "easy",
    "easy(order=saf)",
)
RESERVED = (0.0, 0.25, 0.5)
SHOWN = ("MCT-reg", "MCT-can")
Answers = dict[str, list[tuple[Any, Numbers]]]
"""Of each couple shown, each value with the numbers."""


@dataclass
class Beyond:
    """One scenario, some seeds, and the store of results."""

    runs: Runs
    scenario: Scenario
    seeds: Sequence[int]
    quick: bool = False

    def jobs(self, seed: int) -> Workload:
        return drawn(self.runs.jobs(self.scenario), True, seed)

    def machine(self) -> Platform:
        return platform_of(self.scenario, True)

    def by_seed(self, key: str, make: Callable[[int], Numbers]) -> list[Numbers]:
        """The numbers of each seed."""
        return [self.runs.other(key, self.scenario, seed, partial(make, seed)) for seed in self.seeds]

    def mean(self, key: str, make: Callable[[int], Numbers]) -> Numbers:
        """The mean of each number over the seeds."""
        found = self.by_seed(key, make)
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
        return self.one(jobs, couple)

    def one(self, jobs: Workload, couple: str, machine: Platform | None = None, **change: Any) -> Numbers:
        """One run against its reference; ``change`` sets parameters of the policy."""
        place = self.machine() if machine is None else machine
        more = "".join(f", {name}={value}" for name, value in change.items())
        local = f", local={change['local']}" if "local" in change else ""
        reference = simulate(jobs, place, REFERENCE.replace(")", f"{local})"))
        run = reference if couple == "reference" else simulate(jobs, place, f"{COUPLES[couple][:-1]}{more})")
        return summary(run, reference)

    def answers(self, question: Question) -> Answers:
        """For each couple shown, what comes of each value; of the first and the last one for a quick look."""
        values = [question.values[0], question.values[-1]] if self.quick else question.values
        return {
            couple: [
                (
                    value,
                    self.mean(f"{question.key} {value} {couple}", partial(question.run, self, value, couple)),
                )
                for value in values
            ]
            for couple in SHOWN
        }

    def heuristics(self) -> dict[str, list[float]]:
        """Relative response of all tasks under each heuristic with each seed, regular mode."""

        def run(name: str, seed: int) -> Numbers:
            jobs, place = self.jobs(seed), self.machine()
            reference = simulate(jobs, place, REFERENCE)
            return summary(simulate(jobs, place, f"reallocation(heuristic={name})"), reference)

        return {name: _relative(self.by_seed(f"heuristic {name}", partial(run, name))) for name in HEURISTICS}

    def periods(self) -> dict[int, list[float]]:
        """The same for periods up to an hour, MCT-reg."""
        return {
            period: _relative(
                self.by_seed(f"period {period} MCT-reg", partial(PERIOD.run, self, period, "MCT-reg"))
            )
            for period in PERIOD.values[:4]
        }

    def mappings(self, scenarios: Sequence[Scenario]) -> list[list[str]]:
        """Other ways to map rigid tasks to clusters, none of them moved later, against the reference's."""
        kinds = [(how, local) for local in ("conservative", "easy") for how in MAPPINGS]
        found: dict[tuple[str, str], list[Numbers]] = {kind: [] for kind in kinds}
        for scenario in scenarios:
            for how, local in kinds:
                make = partial(self._mapped, how, local, scenario)
                found[how, local].append(self.runs.other(f"mapping {how} {local}", scenario, 0, make))
        usual = [one["response"] for one in found["completion", "conservative"]]
        rows = [
            ["mapping", "local policy", "mean wait (s)", "mean response (s)", "change of the response (%)"]
        ]
        for (how, local), numbers in found.items():
            change = mean_of([one["response"] / other for one, other in zip(numbers, usual, strict=True)])
            means = (float(np.mean([one[name] for one in numbers])) for name in ("wait", "response"))
            shown = change.scaled(100, -100).text(sign=True) if (how, local) != kinds[0] else "-"
            rows.append([MAPPINGS[how], local, *(f"{value:.0f}" for value in means), shown])
        return rows

    def _mapped(self, how: str, local: str, scenario: Scenario) -> Numbers:
        jobs, machine = drawn(self.runs.jobs(scenario), True, 0), platform_of(scenario, True)
        jobs = jobs.with_columns(parallel_fraction=np.full(len(jobs), np.nan))
        if how != "completion":
            clusters = mapped(jobs, machine, how, 0)
            jobs = jobs.with_columns(cluster=clusters, local=np.ones(len(jobs), np.bool_))
        made = simulate(jobs, machine, REFERENCE.replace(")", f", local={local})"))
        return {"wait": float(made.wait.mean()) / 1e6, "response": float(made.response.mean()) / 1e6}

    def reserved(self) -> list[list[str]]:
        """A share of each site for the grid's tasks alone, under a batch scheduler of its own."""
        rows = [
            [
                "reserved for the grid", "grid tasks: mean response (s)", "local jobs: mean response (s)",
                "too wide for what is left to them",
            ]
        ]  # fmt: skip
        for share in [RESERVED[0], RESERVED[-1]] if self.quick else RESERVED:
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


def _relative(found: Sequence[Numbers]) -> list[float]:
    return [numbers["relative_response_of_all"] for numbers in found]


Run = Callable[[Beyond, Any, str, int], Numbers]
"""From a value, a couple and a seed to the numbers of a run."""


@dataclass(frozen=True)
class Question:
    """What is changed, one value at a time; ``key`` names its runs in the file."""

    title: str
    column: str
    key: str
    values: Sequence[Any]
    run: Run


def _with(parameter: str) -> Run:
    """The paper's setting but for a parameter of the policy."""
    return lambda more, value, couple, seed: more.one(more.jobs(seed), couple, **{parameter: value})


def _clusters(more: Beyond, count: int, couple: str, seed: int) -> Numbers:
    """The processors of the grid in more and more equal clusters of speed 1; as wide as they all fit."""
    size = more.machine().total_procs // count
    machine = Platform(tuple(Cluster(f"c{k}", 1.0, size) for k in range(count)))
    return more.one(more.jobs(seed), couple, machine)


def _longer_requests(more: Beyond, factor: int, couple: str, seed: int) -> Numbers:
    """Requested times multiplied; run times as they are."""
    jobs = more.jobs(seed)
    return more.one(jobs.with_columns(walltime=jobs.walltime * factor), couple)


def _automatic(more: Beyond, margin: float, couple: str, seed: int) -> Numbers:
    """Walltimes that the middleware sets, since it knows its services: the run time and a margin."""
    return more.one(walltimes(more.jobs(seed), margin=margin), couple)


def _load(more: Beyond, load: float, couple: str, seed: int) -> Numbers:
    """Generated logs of another load."""
    return more.one(drawn(jobs_of(more.scenario, more.runs.traces, load), True, seed), couple)


PERIOD = Question("Period", "period (s)", "period", (60, 300, 900, 3600, 14_400, 86_400), _with("period"))
"""From a minute to a day between events."""
CLUSTERS = Question("Clusters", "clusters", "clusters", (2, 3, 5, 10, 20, 50), _clusters)
REQUESTS = Question("Walltimes", "walltimes times", "walltimes times", (1, 2, 3, 5), _longer_requests)
THRESHOLD = Question("Threshold", "threshold (s)", "threshold", (60, 300, 900, 3600), _with("threshold"))
"""A task moves only for a gain that would pay for a transfer of its data."""
TRANSFER = Question("Transfers", "transfer (s)", "transfer", (0, 60, 600, 1800, 3600), _with("transfer"))
"""A task that moves waits for its data, and both the estimates and the run know it."""
AUTOMATIC = Question("Automatic", "walltime / run time", "margin", (1.0, 1.2, 2.0), _automatic)
LOCAL = Question("Local policies", "policy of the clusters", "local", POLICIES, _with("local"))
"""Other ways to plan on the clusters."""
LOAD = Question("Load", "load of each site", "load", (0.6, 0.8, 1.0, 1.2), _load)
QUESTIONS = (PERIOD, CLUSTERS, REQUESTS, THRESHOLD, TRANSFER, AUTOMATIC, LOCAL)


MAPPINGS = {
    "completion": "the earliest completion (the reference)",
    "load": "the smallest load: work sent there and not done yet, over what it can do",
    "drawn": "drawn, in proportion to what the clusters can do",
}


def mapped(jobs: Workload, machine: Platform, how: str, seed: int) -> np.ndarray:
    """The cluster of each rigid job, of those wide enough; load by requested times, as if work flowed."""
    procs = np.array([cluster.procs or 0 for cluster in machine.clusters])
    power = procs * np.array([cluster.speed for cluster in machine.clusters])
    random = np.random.Generator(np.random.PCG64(seed))
    left, last = np.zeros(len(procs)), 0
    found = np.zeros(len(jobs), np.int64)
    for row in np.lexsort((np.arange(len(jobs)), jobs.submit)).tolist():
        left = np.maximum(left - (int(jobs.submit[row]) - last) * power, 0.0)
        last, fits = int(jobs.submit[row]), procs >= jobs.procs[row]
        if how == "load":
            found[row] = int(np.argmin(np.where(fits, left / power, np.inf)))
        else:
            found[row] = int(random.choice(len(procs), p=power * fits / float((power * fits).sum())))
        left[found[row]] += float(jobs.procs[row]) * float(jobs.walltime[row])
    return found


def summary(run: Schedule, reference: Schedule) -> Numbers:
    """What the tables show."""
    return {
        **impact(run, reference),
        "wait": float(run.wait.mean()) / 1e6,
        "response": float(run.response.mean()) / 1e6,
        "reference_response": float(reference.response.mean()) / 1e6,
        "starving": float(str(run.own["starving_tasks"])),
    }


def table(name: str, found: Answers) -> list[list[str]]:
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


def points(found: Answers) -> dict[str, list[tuple[float, float]]]:
    """For a figure: value and relative response of all tasks."""
    return {
        couple: [(float(value), n["relative_response_of_all"]) for value, n in values]
        for couple, values in found.items()
    }


def both_searches(jobs: Workload, machine: Platform, count: int) -> Numbers:
    """The binary search against asking for every size, for the same task in the same state of the grid.

    Two whole runs drift apart: once one task has another size, all that follow find another load. So one run
    is made with the binary search. Then, for each of ``count`` moldable tasks, evenly drawn, all tasks before
    it are given the sizes and clusters that they had there, and only this one is left to choose, once by each
    search. Clusters have equal speeds, so that times need not be scaled back. The shares of these tasks are
    given that get the same size, and that end no later by the binary search.
    """
    whole = simulate(jobs, machine, f"{REFERENCE[:-1]}, tuning=binary)")
    order = np.lexsort((np.arange(len(jobs)), jobs.submit))
    moldable = order[~np.isnan(jobs.parallel_fraction[order]) & (jobs.procs[order] > 1)]
    chosen = moldable[np.unique(np.linspace(0, len(moldable) - 1, count).astype(np.int64))]
    same = as_good = faithful = 0
    for row in chosen.tolist():
        until = order[: int(np.flatnonzero(order == row)[0]) + 1]
        now = fixed(jobs, whole, until, row)
        binary, bounded = (
            simulate(now, machine, f"{REFERENCE[:-1]}, tuning={how})") for how in ("binary", "bounded")
        )
        place = int(np.flatnonzero(now.job == jobs.job[row])[0])
        same += int(binary.procs[place] == bounded.procs[place])
        as_good += int(binary.end[place] <= bounded.end[place])
        faithful += int(binary.procs[place] == whole.procs[row])
    total = max(len(chosen), 1)
    return {
        "same": same / total, "as_good": as_good / total, "faithful": faithful / total, "tasks": len(chosen)
    }  # fmt: skip


def fixed(jobs: Workload, whole: Schedule, until: np.ndarray, row: int) -> Workload:
    """The tasks up to one, all but that one rigid and local, with the size, times and cluster they had."""
    assert whole.cluster is not None
    keep = np.sort(until)
    others = keep != row
    part = jobs.select(keep)

    def taken(own: np.ndarray, given: np.ndarray) -> np.ndarray:
        return np.where(others, given[keep], own)

    return part.with_columns(
        procs=taken(part.procs, whole.procs),
        walltime=taken(part.walltime, whole.walltime),
        runtime=taken(part.runtime, whole.run),
        parallel_fraction=np.where(others, np.nan, part.parallel_fraction),
        local=others,
        cluster=taken(part.cluster, whole.cluster),
    )
