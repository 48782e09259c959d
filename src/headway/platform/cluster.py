"""Clusters and their groups of equal nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from headway.errors import UsageError

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
        check_whole("count", self.count)
        check_whole("cores", self.cores)
        check_positive("memory_gb", self.memory_gb)
        check_positive("bandwidth_gb_s", self.bandwidth_gb_s)

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
        check_positive("speed", self.speed)
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
        check_whole("procs", self.procs)

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


def check_whole(name: str, value: object) -> None:
    """A number of processors or nodes; numpy's integers are welcome, booleans and 3.0 are not."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise UsageError(f"{name} must be a whole number, not {value!r}")
    if not 1 <= value.__index__() <= MOST_PROCS:
        raise UsageError(f"{name} must be from 1 to {MOST_PROCS}, not {value!r}")


def check_positive(name: str, value: object) -> None:
    """A number greater than 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{name} must be a number, not {value!r}")
    if not value > 0:
        raise UsageError(f"{name} must be greater than 0, not {value!r}")
