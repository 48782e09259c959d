"""EASY (aggressive) backfilling with one reservation, as a shadow time and extra processors.

Decisions.
- ``estimate``: the time the scheduler plans with, for running and waiting jobs and in the order's keys; the
  kill stays at the walltime.  ``requested``: the walltime.  ``exact``: what the job will get, min(run,
  walltime).  A number f: f * walltime rounded up, f read as the decimal it is written as; above 1 it plans
  beyond the kill.  A job that started before t and is still running at t >= start + estimate has outlived it:
  from then on start + walltime is planned.
  (A job of length zero started in this very pass has outlived nothing.)  No event marks that moment.
- ``promise``: the smallest shadow the job was given as head; only in FCFS order with requested times and
  urgency ignored, where it is a law.
- ``why``: immediate = started in queue order in the instant of its submission; head = in queue order later;
  backfill.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from .jobs import SECOND, Job, Result
from .loop import Machine, Queue, Run, simulate
from .orders import rank

Estimate = str | int | float | Fraction


def planned_time(job: Job, estimate: Estimate) -> int:
    """How long the scheduler believes the job will run."""
    if estimate == "requested":
        return job.walltime
    if estimate == "exact":
        return job.length
    return math.ceil(Fraction(str(estimate)) * job.walltime)


class Easy(Queue):
    def __init__(
        self,
        machine: Machine,
        order: str = "fcfs",
        backfill: str | None = None,
        estimate: Estimate = "requested",
        age: int | None = None,
        urgent: str = "ignore",
        second: int = SECOND,
    ) -> None:
        super().__init__(machine)
        self.order, self.backfill = order, backfill or order
        self.estimate, self.age, self.urgent, self.second = estimate, age, urgent, second
        self.promising = order == "fcfs" and estimate == "requested" and urgent == "ignore"
        self.promises: dict[int, int] = {}

    def w(self, j: int) -> int:
        return planned_time(self.machine.jobs[j], self.estimate)

    def expected_end(self, run: Run, t: int) -> int:
        end = run.start + self.w(run.job)
        outlived = end <= t and run.start < t
        return run.expected if outlived else end

    def sorted_by(self, order: str, t: int) -> list[int]:
        jobs = self.machine.jobs
        return sorted(
            self.waiting,
            key=lambda j: rank(order, j, jobs[j], self.w(j), t, self.urgent, self.age, self.second),
        )

    def start(self, t: int, j: int, why: str) -> None:
        if why == "head" and t == self.machine.jobs[j].submit:
            why = "immediate"
        self.waiting.remove(j)
        self.machine.start(t, j, why, self.promises.get(j))

    def promise(self, j: int, shadow: int) -> None:
        if self.promising:
            self.promises[j] = min(shadow, self.promises.get(j, shadow))

    def schedule(self, t: int) -> None:
        machine, jobs = self.machine, self.machine.jobs
        # 1. heads start while they fit
        while self.waiting:
            head = self.sorted_by(self.order, t)[0]
            if jobs[head].procs > machine.free:
                break
            self.start(t, head, "head")
        if not self.waiting:
            return
        # 2. the head's shadow time, and what it leaves over then
        for shadow in sorted(self.expected_end(run, t) for run in machine.running):
            released = sum(run.procs for run in machine.running if self.expected_end(run, t) <= shadow)
            if machine.free + released >= jobs[head].procs:
                break
        extra = machine.free + released - jobs[head].procs
        self.promise(head, shadow)
        # 3. the others start if they end by the shadow time or fit beside the head
        for j in self.sorted_by(self.backfill, t):
            if j == head or jobs[j].procs > machine.free:
                continue
            if t + self.w(j) <= shadow:
                self.start(t, j, "backfill")
            elif jobs[j].procs <= extra:
                self.start(t, j, "backfill")
                extra -= jobs[j].procs


def simulate_easy(
    jobs: Sequence[Job],
    m: int,
    order: str = "fcfs",
    backfill: str | None = None,
    estimate: Estimate = "requested",
    age: int | None = None,
    depth: int | str = 1,
    urgent: str = "ignore",
    second: int = SECOND,
) -> list[Result]:
    """``age`` in the unit of the jobs' times; ``depth`` a number of reservations or "all"."""
    from .depth import DeepEasy

    def policy(machine: Machine) -> Easy:
        if depth == 1:
            return Easy(machine, order, backfill, estimate, age, urgent, second)
        return DeepEasy(machine, order, backfill, estimate, age, urgent, second, depth=depth)

    return simulate(jobs, m, policy)
