"""Every policy by name: what it does, its parameters, who described it first. Pure data, nothing compiled.

To add a policy, write a module here with ``ENTRIES`` and name it in the list below.
"""

from __future__ import annotations

from headway.policies.catalogue import backfilling, dbf, grid, nodes, orders, redirection, urgent
from headway.policies.catalogue.entry import Parameter, PolicyInfo

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
    )
    for entry in module.ENTRIES
}
"""The policies by name, in the order in which they are shown."""

ALIASES: dict[str, str] = {alias: entry.name for entry in POLICIES.values() for alias in entry.aliases}
"""Other names of policies."""

__all__ = ["ALIASES", "POLICIES", "Parameter", "PolicyInfo"]
