"""FCFS, EASY and conservative backfilling: on counted processors, or inside nodes.

They are inside nodes where the platform has nodes and the workload has files, or where they are given a
parameter of nodes; elsewhere they count processors.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from headway.errors import UsageError
from headway.policies.entry import Parameter
from headway.policies.policy import Policy, Seen

if TYPE_CHECKING:
    from headway.platform import Platform
    from headway.policies.nodes.policy import OnNodes
    from headway.workload import Workload

OF_NODES = {"presence": "contiguous", "match": "fits"}
"""Parameters that these policies have inside nodes only, with their defaults."""

ALLOWED: dict[str, tuple[object, ...]] = {
    "urgent": ("ignore",),
    "order": ("fcfs",),
    "estimate": ("requested",),
    "age": ("none",),
    "depth": (1,),
    "compress": ("early", "scratch"),
    "hole": ("closed",),
}
"""Values that parameters of counted processors may have inside nodes."""


class Baseline(Policy):
    """A policy of counted processors with a form inside nodes."""

    presence = Parameter(
        "on nodes: how long a file stays there",
        choices=("contiguous", "until-next-start", "lru"),
        optional=True,
    )
    match = Parameter(
        "on nodes: whether a job's nodes have at least the memory it needs (fits), the smallest size that "
        "will do (exact), or any",
        choices=("fits", "exact", "any"),
        optional=True,
    )

    form_inside: ClassVar[str]
    """The class of that form, in :mod:`headway.policies.nodes.policy`."""
    of_nodes: ClassVar[dict[str, str]] = OF_NODES
    allowed_inside: ClassVar[dict[str, tuple[object, ...]]] = ALLOWED

    def on(self, platform: Platform, workload: Workload) -> Policy:
        given = [name for name in self.of_nodes if name in self.params]
        if given and not platform.has_nodes:
            raise UsageError(
                f"{self.spec.name} with {given[0]} puts jobs inside nodes and this platform has none; give "
                "one with nodes, such as --platform rackham"
            )
        if given or (platform.has_nodes and _has_files(workload)):
            return self.inside().on(platform, workload)
        return super().on(platform, workload)

    def inside(self) -> OnNodes:
        """The policy inside nodes, with all the parameters that it has there."""
        for name, values in self.allowed_inside.items():
            if name in self.params and self.params[name] not in values:
                raise UsageError(
                    f"{self.spec.name} on nodes is for {name}={values[0]} only, not {self.params[name]}; "
                    f"leave {name} out, or give the number of processors instead of the nodes"
                )
        from headway.policies.spec import Spec

        form: type[OnNodes] = getattr(import_module("headway.policies.nodes.policy"), self.form_inside)
        return form(Spec(self.spec.name, self.params_inside()))

    def params_inside(self) -> dict[str, object]:
        """What it has there: its own parameters behind those of nodes."""
        return {**self.of_nodes, **self.params}

    @property
    def brief(self) -> str:
        from headway.policies.spec import Spec

        usual = self.of_nodes if set(self.of_nodes) <= set(self.params) else {}
        kept = {name: value for name, value in self.params.items() if usual.get(name) != value}
        return Spec(self.spec.name, kept).brief

    def seen_as(self, seen: Seen) -> Policy:
        return self.inside() if "node" in seen.places and "presence" in self.params else self


def _has_files(workload: Workload) -> bool:
    from headway.policies.nodes.placing import has_files

    return has_files(workload)
