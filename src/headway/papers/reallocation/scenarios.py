"""The seven scenarios: which sites, how many jobs, how long; from logs, or generated after the counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from headway.errors import UsageError
from headway.platform import Platform
from headway.units import SECOND
from headway.workload import Workload, read
from headway.workload.models import generate
from headway.workload.transform import apply, local, merge, moldable, offered_load

DAY = 86_400
LOAD = 0.9
"""Offered load of generated logs on their own clusters, at the speed and the sizes of the log."""

LONGER = 2.0
"""Times of a generated log are at most so many times those of the model."""

SITES = ("bordeaux", "lyon", "toulouse", "ctc", "sdsc")
"""Names of the logs that may be given."""


ALIASES = {"ctc-sp2": "ctc", "sdsc-sp2": "sdsc"}
"""Names of the archive's logs."""


@dataclass(frozen=True)
class Scenario:
    """Sites of one grid with their number of jobs in so many days, from a day of the logs on."""

    name: str
    platform: str
    jobs: Mapping[str, int]
    days: int
    begin: int = 0

    @property
    def total(self) -> int:
        return sum(self.jobs.values())

    @property
    def label(self) -> str:
        """Its name and its jobs: months and days of one name differ in these."""
        return f"{self.name} {self.total}"


MONTHS = (
    ("January", 31, (13084, 583, 488)),
    ("February", 29, (5822, 2695, 1123)),
    ("March", 31, (11673, 8315, 949)),
    ("April", 30, (33250, 1330, 1461)),
    ("May", 31, (6765, 2179, 1573)),
    ("June", 30, (4094, 3540, 1548)),
)
"""Table 1 of the paper: jobs of Bordeaux, Lyon and Toulouse in the first months of 2008."""
ROW_SUMS = (14155, 9640, 20937, 36041, 10517, 9182)
"""The totals that the table prints."""

GRID5000 = tuple(
    Scenario(
        name,
        "grid5000",
        dict(zip(("bordeaux", "lyon", "toulouse"), counts, strict=True)),
        days,
        sum(other[1] for other in MONTHS[:number]),
    )
    for number, (name, days, counts) in enumerate(MONTHS)
)
PWA = Scenario("PWA-G5K", "pwa-g5k", {"bordeaux": 74647, "ctc": 42873, "sdsc": 15615}, 182)


def shortened(scenario: Scenario, share: float) -> Scenario:
    """The same density of jobs for a share of the time."""
    jobs = {site: max(round(count * share), 2) for site, count in scenario.jobs.items()}
    return replace(scenario, jobs=jobs, days=max(round(scenario.days * share), 1))


SCENARIOS = (*GRID5000, shortened(PWA, 0.25))
"""All of the paper's; of the longest, six months of two sites of the archive, a quarter of the time."""


def platform_of(scenario: Scenario, speeds: bool) -> Platform:
    """The clusters of a scenario, all of speed 1 where their speeds are not wanted."""
    machine = Platform.load(scenario.platform)
    return machine if speeds else Platform(tuple(replace(c, speed=1.0) for c in machine.clusters))


def jobs_of(scenario: Scenario, traces: Mapping[str, str], load: float = LOAD) -> Workload:
    """The jobs of all sites in order of submission, rigid, each at home on its site."""
    sizes = {cluster.name: cluster.procs for cluster in Platform.load(scenario.platform).clusters}
    logs = [
        part_of(traces[site], scenario) if site in traces else generated(scenario, site, sizes[site], load)
        for site in scenario.jobs
    ]
    return merge(logs[0], with_=list(logs[1:]), names=list(scenario.jobs))


def generated(scenario: Scenario, site: str, procs: int, load: float) -> Workload:
    """As many jobs as the scenario says, over its days: sizes, times and daily cycle of Lublin's model.

    Times are multiplied so that the site offers its cluster this load; by at most LONGER, so that few jobs
    stay a small load.
    """
    seed = 100 * scenario.begin + SITES.index(site)
    log = generate(f"lublin(jobs={scenario.jobs[site]}, procs={procs}, seed={seed}, estimates=tsafrir)")
    span = int(log.submit.max() - log.submit.min())
    log = apply(log, f"load(factor={span / (scenario.days * DAY * SECOND)})")
    return faster(log, min(load / offered_load(log, procs), LONGER))


def faster(log: Workload, factor: float) -> Workload:
    """The same jobs with all times multiplied, in whole seconds and at least one."""

    def scaled(times: np.ndarray) -> np.ndarray:
        return np.maximum(np.ceil(times * (factor / SECOND)), 1).astype(np.int64) * SECOND

    return log.with_columns(runtime=scaled(log.runtime), walltime=scaled(log.walltime))


def part_of(path: str, scenario: Scenario) -> Workload:
    """The scenario's days of a log, counted from its first submission."""
    begin, end = scenario.begin * DAY, (scenario.begin + scenario.days) * DAY
    part = apply(read(path), "from_zero", f"window(from={begin}, to={end})", "from_zero")
    if not len(part):
        raise UsageError(f"{path} has no job in days {scenario.begin} to {scenario.begin + scenario.days}")
    return part


def drawn(jobs: Workload, dedicated: bool, seed: int) -> Workload:
    """The types of the tasks, and which jobs are local, drawn with a seed."""
    return moldable(jobs if dedicated else local(jobs, share=2 / 3, seed=seed), seed=seed)


def named(scenarios: Sequence[Scenario]) -> list[str]:
    """The names of scenarios, for axes and tables."""
    return [scenario.name for scenario in scenarios]
