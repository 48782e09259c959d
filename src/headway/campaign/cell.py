"""A cell of a campaign: one simulation; and all cells on one workload."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headway.platform import Platform
from headway.policies.spec import Spec
from headway.workload import Workload

DESCRIBED = frozenset((
    "cell", "workload", "part", "block", "seed", "machine", "procs", "policy", "label", "baseline", "status",
    "changes", "error", "turn",
))  # fmt: skip
"""Columns of the results that say which cell a row is and how it ended: names that no number may have."""


@dataclass(frozen=True)
class Cell:
    """One simulation, and its place in the campaign.

    `widest` is the largest job of the pair it belongs to: a policy and its baseline get the same jobs.
    """

    id: str
    platform: Platform
    spec: Spec
    seed: int
    widest: int
    columns: dict[str, Any] = field(compare=False)
    """What describes it in the results."""
    parameters: dict[str, Any] = field(compare=False)
    policy_key: object = field(compare=False)
    measures_key: tuple[str, ...] = field(compare=False)


@dataclass(frozen=True)
class Batch:
    """One workload and all cells on it."""

    workload: Workload
    cells: list[Cell]
    site: str = ""
    """Digest of the site that the workload is on, before any changes."""
