"""The clusters of the paper, and the weeks of logs that the campaign runs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headway.errors import UsageError
from headway.papers.log import has_requests
from headway.workload import Workload, read
from headway.workload.models import generate
from headway.workload.transform.weeks import weeks

WEEKS = 20
QUICK_WEEKS = 4
AT_LEAST = 0.7


@dataclass(frozen=True)
class Cluster:
    """A cluster of the paper: the machine's size (None: as the log says) and what the paper reports."""

    title: str
    procs: int | None = None
    bracket: tuple[int, int] | None = None
    """Thetas between which the paper sees the best mean bounded slowdown."""
    gain: float | None = None
    """By how much the paper says the mean bounded slowdown improves."""
    whole_machine: int | None = None
    """Another size that the log's header gives."""


CLUSTERS = {
    "curie": Cluster("Curie", 80_640, (10, 50), 0.10, 93_312),
    "intrepid": Cluster("Intrepid", 163_840, (5, 15), 0.20),
    "ricc": Cluster("RICC", None, (5, 25), 0.40),
}
"""The paper's. Curie's header counts fat and hybrid nodes too; most work runs on the 80,640 thin ones."""

GENERATED = (
    "lublin(jobs=24000, procs=256, load=0.95, estimates=tsafrir, seed=1)",
    "lublin(jobs=6000, procs=256, load=0.95, estimates=tsafrir, seed=1)",
)
"""In place of logs: in full, and for a quick look."""


@dataclass(frozen=True)
class Log:
    """A log with its machine, and how its weeks are cut."""

    name: str
    cluster: Cluster
    workload: Workload
    procs: int
    count: int
    utilization: str = "recorded"

    def weeks_spec(self, procs: int | None = None, **changes: str) -> str:
        """The transformation that cuts the weeks, with some of its arguments changed."""
        arguments: dict[str, Any] = {
            "at_least": AT_LEAST, "procs": procs or self.procs, "count": self.count,
            "utilization": self.utilization,
        } | changes  # fmt: skip
        return f"weeks({', '.join(f'{name}={value}' for name, value in arguments.items())})"

    def source(self, label: str, *apply: str, procs: int | None = None) -> dict[str, Any]:
        """A workload of a campaign: this log under these transformations."""
        return {"workload": self.workload, "name": label, "apply": apply, "procs": procs or self.procs}

    @property
    def has_requests(self) -> bool:
        """Whether users asked for times at all."""
        return has_requests(self.workload)

    def busy_weeks(self, procs: int | None = None) -> int:
        """How many weeks of the log are busy enough, all counted."""
        found = weeks(self.workload, AT_LEAST, procs or self.procs, utilization=self.utilization)  # type: ignore[arg-type]
        return len(found)


def open_logs(traces: Mapping[str, str], quick: bool) -> list[Log]:
    """The logs given, by name, or one generated log."""
    count = QUICK_WEEKS if quick else WEEKS
    if not traces:
        made = generate(GENERATED[quick])
        return [Log("generated", Cluster("Generated weeks"), made, 256, count, "submitted")]
    found = []
    for name, path in traces.items():
        cluster = CLUSTERS.get(name.lower(), Cluster(name.upper()))
        workload = read(path)
        procs = cluster.procs or workload.header.max_procs
        if procs is None:
            raise UsageError(f"{path}: the header has {workload.header.without_procs}; redirection needs one")
        recorded = "wait" in workload and bool((workload.wait >= 0).any())
        found.append(
            Log(name.lower(), cluster, workload, procs, count, "recorded" if recorded else "submitted")
        )
    return found


def of_paper(logs: Sequence[Log]) -> list[Log]:
    """The logs that the paper used; all of them where it used none."""
    return [log for log in logs if log.name in CLUSTERS] or list(logs)
