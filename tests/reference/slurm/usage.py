"""What is in use on each node: CPUs, memory, GPUs; a copy serves to imagine job ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .machine import Allocation, Machine, members


class Usage:
    def __init__(self, machine: Machine, running: Iterable[Allocation] = ()) -> None:
        count = len(machine.nodes)
        self.machine = machine
        self.cpus = [0] * count
        self.memory = [0] * count
        self.gpus = [0] * count
        self.in_partition: Counter[tuple[int, str]] = Counter()
        """CPUs of a node in use by a partition's jobs, for MaxCPUsPerNode and OverSubscribe."""
        self.held: list[Allocation] = []
        """Who holds what, where it counts which cores."""
        for held in running:
            self.add(held)

    def copy(self) -> Usage:
        reference = Usage(self.machine)
        reference.cpus, reference.memory, reference.gpus = self.cpus[:], self.memory[:], self.gpus[:]
        reference.in_partition = self.in_partition.copy()
        reference.held = list(self.held)
        return reference

    def add(self, held: Allocation, sign: int = 1, *, keep_memory: bool = False) -> None:
        if self.machine.settings.gang:
            (self.held.append if sign > 0 else self.held.remove)(held)
        for i in members(held.nodes):
            if not held.suspended:
                self.cpus[i] += sign * held.cpus[i]
                self.in_partition[i, held.partition] += sign * held.cpus[i]
            if not keep_memory:
                self.memory[i] += sign * held.memory[i]
                self.gpus[i] += sign * held.job.gpus

    def remove(self, held: Allocation, *, keep_memory: bool = False) -> None:
        self.add(held, -1, keep_memory=keep_memory)

    def busy(self) -> int:
        """Nodes with a CPU in use."""
        return sum(1 << i for i, used in enumerate(self.cpus) if used)
