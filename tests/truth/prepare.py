"""The state that a recorded pass found, as the reference takes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reference.slurm.limits import AccountLimits
from reference.slurm.machine import Allocation, members
from reference.slurm.preemption import Preemption
from reference.slurm.reservations import Reservations
from reference.slurm.select import has_room, lighten, plain_weight, unfit
from reference.slurm.state import State
from reference.slurm.usage import Usage

from .accounts import load_multifactor
from .follow import Pass
from .priorities import Known
from .runs import Run
from .world import World

PHASE = 100
"""Seconds into a period at which priorities are calculated: what most recorded runs show."""


class Preparer:
    """Makes the state of a pass, with priorities as logged.

    A pass of the main loop may have seen a recalculation that was only logged in the next cycle: `ahead`.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.known = Known(run)
        self.weights: list[int] = []
        """As the last pass left them: they outlive a pass."""
        self.fairness = load_multifactor(run)[1] if "limits" in run.machine.settings.enforce else None
        self.accounts = self.fairness.accounts if self.fairness else None
        period = 60 * int(run.conf.values.get("prioritycalcperiod", 5))
        first, last = int(run.events[0].t), int(run.events[-1].t)
        self.calculations = run.calculations or [
            (t, t) for t in range(first // period * period + PHASE, last + period, period)
        ]
        """When usage is calculated, what is to come last first."""
        self.meanwhile = 0, 0
        """Until when the last calculation went on, and when the one before it was: who ends meanwhile counts
        from then on."""
        self.calculations.sort(reverse=True)

    def use(self, world: World, t: float) -> None:
        """Bring usage up to t: what ended, and the calculations of each period."""
        if self.fairness is None:
            return
        while self.calculations and self.calculations[-1][0] <= t:
            at, until = self.calculations.pop()
            self.settle(world, at)
            self.meanwhile = until, self.fairness.last
            running = [*world.in_order(), *(held for _, held in world.finished)]
            self.fairness.calculate(at, [held for held in running if held.start < at])
        self.settle(world, t)

    def settle(self, world: World, t: float) -> None:
        assert self.fairness is not None
        last = self.fairness.last
        for end, held in [pair for pair in world.finished if pair[0] <= t]:
            self.fairness.last = self.meanwhile[1] if end <= self.meanwhile[0] else last
            self.fairness.add(held, end)
        self.fairness.last = last
        world.finished = [pair for pair in world.finished if pair[0] > t]

    def note_submissions(self, world: World) -> None:
        """A submission tests whether the job could ever run, which sets weights too."""
        machine = self.run.machine
        for name in world.news:
            if not self.weights:
                self.weights = [plain_weight(machine, i) for i in range(len(machine.nodes))]
            job = self.run.asked_by_name[name].job
            listed = sorted(
                (machine.partitions[part] for part in job.partitions), key=lambda one: one.tier, reverse=True
            )
            everywhere = self.run.conf.values.get("enforcepartlimits", "").upper() in ("ALL", "YES")
            for partition in listed if everywhere else listed[:1]:
                for i in members(partition.nodes & ~job.excluded & ~unfit(machine, job)):
                    self.weights[i] = plain_weight(machine, i)
                if job.gpus:
                    idle = Usage(machine)
                    usable = [i for i in members(partition.nodes) if has_room(machine, job, i, idle)]
                    lighten(machine, job, partition, usable, idle, self.weights)
        world.news.clear()

    def state(
        self, world: World, moment: Pass, completing: Sequence[Allocation] = (), *, ahead: bool
    ) -> State:
        t = self.known.end_of_cycle(moment.t) if ahead else moment.t
        if ahead and moment.kind != "bf":
            t = self.known.end_of_cycle(t)
        now = int(moment.t)
        machine = replace(
            self.run.machine,
            partitions={
                name: replace(partition, up=name not in world.closed)
                for name, partition in self.run.machine.partitions.items()
            },
        )
        eligible = world.eligible(now, completing)
        pending = [self.known.apply(name, job, t, world.basic.get(name, 0)) for name, job in eligible.items()]
        pending.sort(key=lambda job: job.made)
        state = State(machine, now, pending, world.in_order(), moments=moment.moments)
        state.weights = list(self.weights or state.weights)
        state.unusable = world.unusable
        for held in completing:
            state.completing |= held.nodes
        if world.reservations:
            state.calendar = Reservations(machine, world.reservations.values(), now)
        if machine.settings.preempt_type:
            state.preemption = Preemption(machine, self.accounts, dict(world.preempted_at))
        if self.accounts is not None:
            state.limits = AccountLimits(self.run.machine, self.accounts, state.running)
        return state
