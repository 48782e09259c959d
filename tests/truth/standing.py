"""Priorities of a recorded run by the reference's own formula, from its recorded starts and ends.

Only the phase of the calculations is not recorded; it is one number for a run, because they keep an absolute
timer.
"""

from __future__ import annotations

from collections.abc import Iterator

from reference.slurm.machine import Job

from .accounts import load_multifactor
from .follow import Follower
from .runs import Run
from .world import World


class Standing:
    """Multifactor priorities as they stand between two calculations."""

    def __init__(self, run: Run, phase: int) -> None:
        self.run = run
        self.factors, self.fairness = load_multifactor(run)
        self.period = int(run.conf.values.get("prioritycalcperiod", 5)) * 60
        first = int(run.events[0].t)
        self.next = first - first % self.period + phase
        self.now: dict[str, dict[str, int]] = {}
        """Job -> partition -> priority."""
        self.tested: dict[str, int] = {}
        """Job -> CPUs of its last plan, which the size factor takes from then on."""
        self.accrued: dict[str, int] = {}
        if self.fairness:
            self.fairness.calculate(self.next - self.period, [])

    def submit(self, name: str, job: Job, t: int) -> None:
        self.now[name] = {part: self.factors.priority(job, part, t) for part in job.partitions}

    def advance(self, world: World, t: float) -> None:
        """All calculations up to t."""
        while self.next <= t:
            if self.fairness:
                self.fairness.calculate(self.next, world.in_order())
            for name, job in world.pending.items():
                since = self.accrued.get(name, 0)
                cpus = self.tested.get(name, 0)
                self.now[name] = {
                    part: self.factors.priority(job, part, self.next, since, cpus) for part in job.partitions
                }
            self.next += self.period


def compare_priorities(run: Run, phase: int) -> Iterator[tuple[float, str, str, int, int]]:
    """For each priority logged: time, job, partition ("" at submission), logged and reference's value."""
    standing = Standing(run, phase)
    follower = Follower(run)
    k = 0
    for t, name, value, partition in run.priorities:
        while k < len(run.events) and run.events[k].t <= t:
            event = run.events[k]
            standing.advance(follower.world, event.t)
            ended = follower.apply(event)
            if event.kind == "submit":
                job = follower.world.pending[event.job]
                standing.submit(event.job, job, int(event.t))
                standing.accrued[event.job] = job.submit
            if ended is not None and standing.fairness:
                standing.fairness.add(ended, int(event.t))
            k += 1
        standing.advance(follower.world, t)
        mine = standing.now.get(name, {})
        if mine:
            yield t, name, partition, value, mine.get(partition or next(iter(mine)), 0)
