"""Strict orders (FCFS, SJF, ...): start in key order, stop at the first job that does not fit."""

from __future__ import annotations

from collections.abc import Sequence

from .jobs import SECOND, Job, Result
from .loop import Machine, Queue, simulate
from .orders import rank


class Strict(Queue):
    def __init__(
        self, machine: Machine, order: str = "fcfs", urgent: str = "ignore", second: int = SECOND
    ) -> None:
        super().__init__(machine)
        self.order, self.urgent, self.second = order, urgent, second

    def schedule(self, t: int) -> None:
        jobs = self.machine.jobs
        self.waiting.sort(
            key=lambda j: rank(self.order, j, jobs[j], jobs[j].walltime, t, self.urgent, None, self.second)
        )
        while self.waiting and jobs[self.waiting[0]].procs <= self.machine.free:
            j = self.waiting.pop(0)
            self.machine.start(t, j, "immediate" if t == jobs[j].submit else "head")


def simulate_strict(
    jobs: Sequence[Job], m: int, order: str = "fcfs", urgent: str = "ignore", second: int = SECOND
) -> list[Result]:
    return simulate(jobs, m, lambda machine: Strict(machine, order, urgent, second))
