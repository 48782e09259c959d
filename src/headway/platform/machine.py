"""The machine: one or more clusters.

Where processors are interchangeable only their number matters, and ``Platform.procs(240)`` says it all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.errors import InputError, UsageError
from headway.plain import counted
from headway.platform.cluster import MOST_PROCS, Cluster, NodeGroup, check_whole

if TYPE_CHECKING:
    from headway.platform.outages import Outages
    from headway.site.site import Site


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
        check_whole("procs", procs)
        return cls((Cluster("machine", procs=int(procs)),))

    @classmethod
    def load(cls, source: str | Path) -> Platform:
        """A platform from a TOML file, or one of those that come with Headway, by name."""
        from headway.platform.platform_file import read_clusters

        clusters, name = read_clusters(source)
        try:
            return cls(clusters, name)
        except UsageError as error:
            raise InputError(str(error), file=name) from None

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
            described["site"] = self.site.origin()
        if self.outages is not None:
            described["outages"] = self.outages.describe()
        return described

    def __str__(self) -> str:
        procs = counted(self.total_procs, "processor")
        if len(self.clusters) > 1:
            parts = ", ".join(f"{cluster.name} {cluster.procs}" for cluster in self.clusters)
            return f"{procs} in {counted(len(self.clusters), 'cluster')} ({parts})"
        nodes = sum(group.count for group in self.clusters[0].nodes)
        return procs + (f" on {counted(nodes, 'node')}" if nodes else "")
