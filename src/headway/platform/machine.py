"""What a machine consists of: platform, clusters, groups of equal nodes.

Where processors are interchangeable only their number matters, and ``Platform.procs(240)`` says it all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.errors import UsageError

if TYPE_CHECKING:
    from headway.platform.outages import Outages
    from headway.site.site import Site

FASTEST = 1e6
"""The largest factor between the speeds of two machines."""

MOST_PROCS = 2**31 - 1
"""The largest number of processors a platform may have in all."""


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """``count`` equal nodes of ``cores`` processors each.

    ``memory_gb`` (GB per node) and ``bandwidth_gb_s`` (GB/s from the shared file system to one node) are
    infinite where they are not given: memory then never runs out and files load in no time.
    """

    count: int
    cores: int
    memory_gb: float = math.inf
    bandwidth_gb_s: float = math.inf

    def __post_init__(self) -> None:
        _whole("count", self.count)
        _whole("cores", self.cores)
        _positive("memory_gb", self.memory_gb)
        _positive("bandwidth_gb_s", self.bandwidth_gb_s)

    @property
    def procs(self) -> int:
        """Processors of all nodes of the group."""
        return self.count * self.cores

    def describe(self) -> dict[str, Any]:
        """Plain data; what is infinite is left out."""
        described: dict[str, Any] = {"count": self.count, "cores": self.cores}
        for key, value in (("memory_gb", self.memory_gb), ("bandwidth_gb_s", self.bandwidth_gb_s)):
            if math.isfinite(value):
                described[key] = value
        return described


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster: either ``procs`` interchangeable processors or groups of nodes.

    ``speed`` is relative to the machine on which the log's run times were taken: 1.4 runs a job 1.4 times
    as fast. Where ``nodes`` are given, ``procs`` is their sum of count x cores. ``policy`` is the spec of the
    cluster's own policy in a grid; empty: the one that all clusters have.
    """

    name: str
    speed: float = 1.0
    procs: int = 0
    nodes: tuple[NodeGroup, ...] = ()
    policy: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise UsageError(f"name of a cluster must be a text that is not empty, not {self.name!r}")
        if not isinstance(self.policy, str):
            raise UsageError(f'policy must be a text such as "dbf", not {self.policy!r}')
        _positive("speed", self.speed)
        if math.isinf(self.speed):
            raise UsageError("speed must be finite")
        if not 1 / FASTEST <= self.speed <= FASTEST:
            raise UsageError(f"speed must be from {1 / FASTEST:g} to {FASTEST:g}, not {self.speed:g}")
        object.__setattr__(self, "nodes", tuple(self.nodes))
        if self.nodes:
            held = sum(group.procs for group in self.nodes)
            if self.procs not in (0, held):
                raise UsageError(
                    f"cluster {self.name!r} has procs = {self.procs} and nodes with {held} cores in all; "
                    "give one of the two"
                )
            object.__setattr__(self, "procs", held)
        _whole("procs", self.procs)

    def describe(self) -> dict[str, Any]:
        """Plain data, as a platform file has it."""
        described: dict[str, Any] = {"name": self.name, "speed": self.speed}
        if self.nodes:
            described["nodes"] = [group.describe() for group in self.nodes]
        else:
            described["procs"] = self.procs
        if self.policy:
            described["policy"] = self.policy
        return described


@dataclass(frozen=True, slots=True)
class Platform:
    """One or more clusters, in the order in which ties between them are broken."""

    clusters: tuple[Cluster, ...]
    source: str = field(default="", compare=False)
    """The file it was read from, for messages."""
    site: Site | None = field(default=None, compare=False, repr=False)
    """The Slurm site whose machine it is: nodes, partitions and rules, for policies that know them."""

    outages: Outages | None = None
    """Processors that are not there for a time."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "clusters", tuple(self.clusters))
        if not self.clusters:
            raise UsageError("a platform needs at least one cluster")
        names = [cluster.name for cluster in self.clusters]
        for name in names:
            if names.count(name) > 1:
                raise UsageError(f"two clusters are called {name!r}; their names must differ")
        if self.total_procs > MOST_PROCS:
            raise UsageError(f"{self.total_procs} processors in all are more than the {MOST_PROCS} supported")

    @classmethod
    def procs(cls, procs: int) -> Platform:
        """A machine of so many interchangeable processors."""
        _whole("procs", procs)
        return cls((Cluster("machine", procs=int(procs)),))

    @classmethod
    def load(cls, source: str | Path) -> Platform:
        """A platform from a TOML file, or one of those that come with Headway, by name."""
        from headway.platform.platform_file import load

        return load(source)

    @classmethod
    def from_description(cls, described: Mapping[str, Any]) -> Platform:
        """The machine that ``describe`` described; without its site and outages, which stand elsewhere."""
        return cls(
            tuple(
                Cluster(
                    cluster["name"],
                    speed=cluster.get("speed", 1.0),
                    procs=cluster.get("procs", 0),
                    nodes=tuple(NodeGroup(**group) for group in cluster.get("nodes", ())),
                    policy=cluster.get("policy", ""),
                )
                for cluster in described["cluster"]
            ),
        )

    def with_outages(self, outages: Outages | None) -> Platform:
        """The same machine, whose processors come and go."""
        return replace(self, outages=outages)

    @property
    def total_procs(self) -> int:
        """Processors of all clusters."""
        return sum(cluster.procs for cluster in self.clusters)

    @property
    def has_nodes(self) -> bool:
        """Whether some cluster says which nodes it consists of."""
        return any(cluster.nodes for cluster in self.clusters)

    def describe(self) -> dict[str, Any]:
        """Plain data for ``run.json``: the number of processors and the clusters as in a platform file."""
        described: dict[str, Any] = {
            "total_procs": self.total_procs,
            "cluster": [cluster.describe() for cluster in self.clusters],
        }
        if self.site is not None:
            described["site"] = {"name": self.site.name, "folder": str(self.site.folder or "")}
        if self.outages is not None:
            described["outages"] = self.outages.describe()
        return described

    def __str__(self) -> str:
        if len(self.clusters) > 1:
            parts = ", ".join(f"{cluster.name} {cluster.procs}" for cluster in self.clusters)
            return f"{self.total_procs} processors in {len(self.clusters)} clusters ({parts})"
        nodes = sum(group.count for group in self.clusters[0].nodes)
        return f"{self.total_procs} processors" + (f" on {nodes} nodes" if nodes else "")


def _whole(name: str, value: object) -> None:
    # numpy's integers are welcome, booleans and 3.0 are not.
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise UsageError(f"{name} must be a whole number, not {value!r}")
    if not 1 <= value.__index__() <= MOST_PROCS:
        raise UsageError(f"{name} must be from 1 to {MOST_PROCS}, not {value!r}")


def _positive(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{name} must be a number, not {value!r}")
    if not value > 0:
        raise UsageError(f"{name} must be greater than 0, not {value!r}")
