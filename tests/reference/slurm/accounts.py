"""Associations and QOS: the tree of shares, usage and limits that accounting knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

Counts = dict[str, int]
"""How many of each countable resource: cpu, mem, node, gres/gpu, billing."""


@dataclass(eq=False)
class Association:
    """An account, or a user in an account."""

    account: str
    user: str = ""
    parent: Association | None = None
    shares: int | None = 1
    """None is FairShare=parent."""
    children: list[Association] = field(default_factory=list)
    usage: float = 0.0
    used_seconds: dict[str, float] = field(default_factory=dict)
    """Decayed seconds of each resource, for limits on minutes."""
    used_wall: float = 0.0
    factor: float = 0.0
    """Fair-share factor of a user association."""
    effective: float = 0.0
    grp_tres: Counts = field(default_factory=dict)
    grp_tres_mins: Counts = field(default_factory=dict)
    grp_jobs: int | None = None
    max_jobs: int | None = None
    max_tres: Counts = field(default_factory=dict)
    max_wall: int | None = None

    def add(self, child: Association) -> Association:
        child.parent = self
        self.children.append(child)
        return child

    def chain(self) -> Iterator[Association]:
        """From this association up to the root."""
        here: Association | None = self
        while here is not None:
            yield here
            here = here.parent

    def walk(self) -> Iterator[Association]:
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def share(self) -> float:
        """Its part of the shares of its level."""
        if self.parent is None:
            return 1.0
        level = sum(child.shares or 0 for child in self.parent.children)
        return (self.shares or 0) / level if level else 0.0


@dataclass(eq=False)
class Qos:
    name: str
    priority: int = 0
    usage_factor: float = 1.0
    usage: float = 0.0
    used_seconds: dict[str, float] = field(default_factory=dict)
    used_wall: float = 0.0
    preempts: frozenset[str] = frozenset()
    exempt: int | None = None
    """Seconds a job of this QOS runs before it may be preempted; None is the global value."""
    no_decay: bool = False
    over_partition: bool = False
    grp_tres: Counts = field(default_factory=dict)
    grp_tres_mins: Counts = field(default_factory=dict)
    grp_jobs: int | None = None
    max_jobs_user: int | None = None
    max_jobs_account: int | None = None
    max_tres_user: Counts = field(default_factory=dict)
    max_tres_account: Counts = field(default_factory=dict)
    max_tres_job: Counts = field(default_factory=dict)
    max_wall: int | None = None


class Accounts:
    """The tree, its users, and the QOS by name."""

    def __init__(self, root: Association, qos: dict[str, Qos]) -> None:
        self.root = root
        self.qos = qos
        self.calculated = 0
        """Second of the last calculation of usage."""
        self.users = [one for one in root.walk() if one.user]
        self._by_user = {(one.account, one.user): one for one in self.users}

    def of(self, account: str, user: str) -> Association:
        return self._by_user[account, user]
