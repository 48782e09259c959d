"""Every policy by name: what it does, its parameters, who described it first. Pure data, nothing compiled.

To add a policy, write its folder, in which ``description`` has ``ENTRIES``, and name that in the list below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.policies.agent import description as agent
from headway.policies.backfilling import description as backfilling
from headway.policies.deadline import description as dbf
from headway.policies.entry import Parameter, PolicyInfo
from headway.policies.grid import description as grid
from headway.policies.nodes import description as nodes
from headway.policies.queueing import description as orders
from headway.policies.redirection import description as redirection
from headway.policies.slurm import description as slurm
from headway.policies.urgent import description as urgent

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

POLICIES: dict[str, PolicyInfo] = {
    entry.name: entry
    for module in (
        orders,
        backfilling,
        redirection,
        dbf,
        grid,
        nodes,
        urgent,
        slurm,
        agent,
    )
    for entry in module.ENTRIES
}
"""The policies by name, in the order in which they are shown."""

ALIASES: dict[str, str] = {alias: entry.name for entry in POLICIES.values() for alias in entry.aliases}
"""Other names of policies."""

GROUP = "headway.policies"
"""The entry point group through which installed packages offer policies."""


def offered() -> dict[str, EntryPoint]:
    """Policies of installed packages by name; nothing of theirs is imported for it."""
    from importlib.metadata import entry_points

    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


__all__ = ["ALIASES", "POLICIES", "Parameter", "PolicyInfo", "offered"]
