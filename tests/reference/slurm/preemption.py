"""Preemption, section 12: who may take whose place, and the victims that one job needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .accounts import Accounts
from .machine import Allocation, Job, Machine, Partition
from .usage import Usage

Selection = Callable[[Usage], dict[int, int] | None]
"""Nodes for the job when the machine is used like this, and its CPUs on each."""


@dataclass
class Preemption:
    """By QOS or by partition tier; victims are requeued or cancelled, so that they end at once."""

    machine: Machine
    accounts: Accounts | None = None
    begun: dict[int, int] = field(default_factory=dict)
    """Job -> second at which it last took victims."""

    @property
    def by_qos(self) -> bool:
        return self.machine.settings.preempt_type == "qos"

    def may(self, job: Job, partition: Partition, victim: Job, victims_partition: Partition) -> bool:
        """Whether the job may preempt the other."""
        if self.by_qos and self.accounts is not None:
            return (victim.qos or "normal") in self.accounts.qos[job.qos or "normal"].preempts
        return victims_partition.tier < partition.tier and victims_partition.preempt_mode != "OFF"

    def mode(self, held: Allocation) -> str:
        """How the job would go: REQUEUE, CANCEL, SUSPEND or, not at all, OFF."""
        own = "" if self.by_qos else self.machine.partitions[held.partition].preempt_mode
        return own or self.machine.settings.preempt_mode.split(",")[0]

    def exempt_until(self, held: Allocation) -> int:
        """A job may be preempted from this second on."""
        exempt = self.machine.settings.preempt_exempt_time
        if self.accounts is not None:
            own = self.accounts.qos[held.job.qos or "normal"].exempt
            exempt = exempt if own is None else own
        return held.start + exempt

    def candidates(
        self, job: Job, partition: Partition, running: Sequence[Allocation], now: int
    ) -> list[Allocation]:
        """Running jobs that the job may preempt, the cheapest first."""
        found = [
            held
            for held in running
            if held.nodes & partition.nodes
            and self.mode(held) != "OFF"
            and self.may(job, partition, held.job, self.machine.partitions[held.partition])
            and now >= self.exempt_until(held)
        ]
        if self.machine.settings.preempt_youngest_first:
            return sorted(found, key=lambda held: -held.start)
        return sorted(found, key=self.cost)

    def cost(self, held: Allocation) -> int:
        rank = self.machine.partitions[held.partition].tier
        if self.by_qos and self.accounts is not None:
            rank = self.accounts.qos[held.job.qos or "normal"].priority
        return (min(rank, 0xFFFF) << 16) + min(held.nodes.bit_count(), 0xFFFF)

    def pausing(self, job: Job, now: int) -> bool:
        """Whether the job took victims so recently that it takes no more."""
        settings = self.machine.settings
        return self.begun.get(job.id, 0) > now - settings.kill_wait - settings.message_timeout


def victims_for(
    usage: Usage, candidates: list[Allocation], nodes: int, selection: Selection, machine: Machine
) -> tuple[dict[int, int], list[Allocation]] | None:
    """Where the job fits without some of the candidates, and which of them have to go; None if it does not.

    Candidates leave one by one until the job fits.  Then those that free most of the nodes found are put
    first, the last one before them all, and it begins anew: this drops victims that turn out needless.
    """
    order = list(candidates)
    rounds = 0
    while True:
        without = usage.copy()
        usable = {id(held): 0 for held in order}
        chosen = None
        k = 0
        for k, held in enumerate(order):  # noqa: B007 - the place of the last one counts below
            if not held.nodes & nodes:
                continue
            without.remove(held)
            chosen = selection(without)
            if chosen is not None:
                break
        if chosen is None:
            return None
        rounds += 1
        if rounds - 1 > machine.settings.preempt_reorder_count or len(order) <= rounds:
            for held in order[k + 1 :]:
                usable[id(held)] = 1
            break
        last = order[k]
        if machine.settings.preempt_strict_order:
            order = [last, *order[:k], *order[k + 1 :]]
            continue
        picked = sum(1 << i for i in chosen)
        for held in order[:k]:
            usable[id(held)] = (picked & held.nodes).bit_count()
        usable[id(last)] = 99999
        order.sort(key=lambda held: -usable[id(held)])
    picked = sum(1 << i for i in chosen)
    victims = []
    for held in order:
        if not held.nodes & picked:
            continue
        if usable[id(held)]:
            break
        victims.append(held)
    return chosen, victims
