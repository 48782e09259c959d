"""Every policy by name. Nothing compiled, and nothing heavy imported.

To add a policy, write its class in a folder of its own, and name it in the list below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.policies.agent.policy import Agent
from headway.policies.backfilling.policy import Conservative, Easy
from headway.policies.deadline.policy import Dbf
from headway.policies.grid.policy import Reallocation
from headway.policies.nodes.policy import AreaFilling, BackfillBig, Eft, Lea, Lem, Leo, Score
from headway.policies.policy import Policy
from headway.policies.queueing.policy import ORDERED, Strict
from headway.policies.redirection.policy import Redirection
from headway.policies.slurm.policy import Slurm
from headway.policies.urgent.policy import Ujf, Ujfb

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

KINDS: tuple[type[Policy], ...] = (
    *ORDERED, Strict, Easy, Conservative, Redirection, Dbf, Reallocation,
    Eft, Lea, Leo, Lem, Score, BackfillBig, AreaFilling, Ujf, Ujfb, Slurm, Agent,
)  # fmt: skip
POLICIES = {policy.name: policy for policy in KINDS}
"""The policies by name, in the order in which they are shown."""

ALIASES: dict[str, str] = {alias: policy.name for policy in POLICIES.values() for alias in policy.aliases}
"""Other names of policies."""


def offered() -> dict[str, EntryPoint]:
    """Policies of installed packages (the entry points ``headway.policies``); nothing is imported for it."""
    from importlib.metadata import entry_points

    points = entry_points(group="headway.policies")
    return {point.name: point for point in sorted(points, key=lambda point: point.name)}
