"""Fair share, sections 7.4 to 7.6: usage that decays, the fair tree, and the classic formula."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from .accounts import Accounts, Association, Qos
from .machine import Allocation


def level_value(one: Association) -> float:
    """Share of its level over share of its parent's usage; no usage is infinitely underserved."""
    if one.shares is None:
        return math.inf if one.user else -1.0
    assert one.parent is not None
    if one.share == 0:
        return 0.0
    used = one.usage / one.parent.usage if one.parent.usage else 0.0
    return one.share / used if used else math.inf


def fair_tree(accounts: Accounts) -> None:
    """Rank all users from the root down; the factor is the rank over the number of users."""
    count = len(accounts.users)
    rank = untied = count

    def walk(parent: Association, tied_above: bool) -> None:
        nonlocal rank, untied
        values = {id(child): level_value(child) for child in parent.children}
        previous: float | None = None
        for k, child in enumerate(sorted(parent.children, key=lambda c: (-values[id(c)], not c.user))):
            value = values[id(child)]
            tied = (k == 0 and tied_above) or value == previous
            if child.user:
                if not tied:
                    rank = untied
                child.factor = rank / count
                untied -= 1
            else:
                walk(child, tied)
            previous = value

    walk(accounts.root, False)


def classic(accounts: Accounts, dampening: float = 1.0) -> None:
    """Two to the minus effective usage over share; usage of the parent is passed down by share."""
    total = accounts.root.usage

    def walk(parent: Association, shares_above: float) -> None:
        for child in parent.children:
            norm = min(child.usage / total, 1.0) if total else 0.0
            if parent.parent is None:
                child.effective = norm
            else:
                child.effective = norm + (parent.effective - norm) * child.share
            shares = shares_above * child.share
            if child.user:
                child.factor = 2 ** (-(child.effective / shares) / dampening) if shares else 0.0
            walk(child, shares)

    walk(accounts.root, 1.0)


@dataclass
class Fairness:
    """Usage of all associations and QOS, moved on at each calculation and at each job's end."""

    accounts: Accounts
    half_life: int = 7 * 86400
    """Seconds; 0 is no decay."""
    tree: bool = True
    last: int = 0
    """Second of the last calculation; 0 before the first."""

    @property
    def factor(self) -> float:
        return 1 - 0.693 / self.half_life if self.half_life else 1.0

    def calculate(self, now: int, running: Iterable[Allocation]) -> None:
        """One calculation: decay, add what ran since the last one, rank."""
        if not self.tree:
            classic(self.accounts)  # the usage of before this calculation: it lags by one period
        if self.last and now > self.last:
            self.decay(max(self.factor ** (now - self.last), sys.float_info.min))
        for held in running:
            self.add(held, now)
        if self.tree:
            fair_tree(self.accounts)
        self.last = self.accounts.calculated = now

    def decay(self, by: float) -> None:
        everyone: list[Association | Qos] = [*self.accounts.root.walk(), *self.accounts.qos.values()]
        for one in everyone:
            if isinstance(one, Qos) and one.no_decay:
                continue
            one.usage *= by
            one.used_wall *= by
            for kind in one.used_seconds:
                one.used_seconds[kind] *= by

    def add(self, held: Allocation, until: int) -> None:
        """What a job used between the last calculation and `until`, to its association and all above."""
        seconds = until - max(held.start, self.last)
        if seconds <= 0:
            return
        decayed = seconds * self.factor**seconds
        counts = {
            "cpu": held.total_cpus,
            "node": held.nodes.bit_count(),
            "gres/gpu": held.job.gpus * held.nodes.bit_count(),
            "mem": sum(held.memory.values()),
        }
        qos = self.accounts.qos.get(held.job.qos or "normal")
        factor = qos.usage_factor if qos else 1.0
        receivers: list[Association | Qos] = list(self.accounts.of(held.job.account, held.job.user).chain())
        if qos:
            receivers.append(qos)
        for one in receivers:
            weight = seconds if isinstance(one, Qos) and one.no_decay else decayed
            one.usage += weight * held.total_cpus * factor
            one.used_wall += weight * factor
            for kind, count in counts.items():
                one.used_seconds[kind] = one.used_seconds.get(kind, 0.0) + weight * factor * count
