"""Priority, sections 7.1 to 7.3: the order of submission, or a weighted sum of factors."""

from __future__ import annotations

from dataclasses import dataclass

from .accounts import Accounts
from .machine import Job, Machine

HIGHEST = 2**32 - 1
BASIC = 4294901759
"""The first job's priority under priority/basic; each new job gets one less."""


@dataclass
class Weights:
    age: int = 0
    association: int = 0
    fairshare: int = 0
    size: int = 0
    partition: int = 0
    qos: int = 0
    max_age: int = 7 * 86400
    favour_small: bool = False


def basic(last: int | None, nice: int = 0) -> int:
    return (BASIC if last is None else last - 1) - nice


class Multifactor:
    """Priorities of pending jobs on one machine."""

    def __init__(self, machine: Machine, weights: Weights, accounts: Accounts | None) -> None:
        self.machine = machine
        self.weights = weights
        self.accounts = accounts
        self.all_cpus = sum(node.cpus for node in machine.nodes)
        self.highest_partition = max(part.job_factor for part in machine.partitions.values())

    def age(self, accrued_since: int, now: int) -> float:
        return min(max(now - accrued_since, 0) / self.weights.max_age, 1.0)

    def size(self, job: Job, cpus: int = 0) -> float:
        """`cpus` is what the last selection would have given, where there was one."""
        cpus = cpus or job.cpus
        nodes = len(self.machine.nodes)
        if self.weights.favour_small:
            share = ((nodes - job.nodes) / nodes + (self.all_cpus - cpus) / self.all_cpus) / 2
        else:
            share = (job.nodes / nodes + cpus / self.all_cpus) / 2
        return min(max(share, 0.0), 1.0)

    def qos(self, job: Job) -> float:
        if self.accounts is None:
            return 0.0
        highest = max(qos.priority for qos in self.accounts.qos.values())
        mine = self.accounts.qos[job.qos or "normal"].priority
        return mine / highest if highest else 0.0

    def fairshare(self, job: Job) -> float:
        if self.accounts is None:
            return 0.0
        return self.accounts.of(job.account, job.user).factor

    def priority(self, job: Job, partition: str, now: int, accrued_since: int = 0, cpus: int = 0) -> int:
        """Of a job in one of its partitions; `accrued_since` 0 gives no age."""
        weights = self.weights
        total = weights.size * self.size(job, cpus)
        if self.accounts is not None:  # without accounting, age and fair share count for nothing
            total += weights.age * (self.age(accrued_since, now) if accrued_since else 0.0)
            total += weights.fairshare * self.fairshare(job)
        total += weights.partition * (self.machine.partitions[partition].job_factor / self.highest_partition)
        total += weights.qos * self.qos(job)
        total -= job.nice
        return min(int(max(total, 1.0)), HIGHEST)
