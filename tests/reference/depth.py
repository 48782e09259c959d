"""EASY with k reservations (or all), recomputed at each pass on the profile.

The pass walks the queue in order O.  A job that fits now without disturbing a reservation made so far starts;
the others get reservations at their earliest start on running jobs and reservations so far, until k exist.
The remaining jobs, in backfill order B, start if they fit now without disturbing any reservation.
With k = 1 this is section 2's EASY, which knows no profile; a test holds that.

A reservation at s of a job that needs no time still claims the instant s: a job that starts now and would be
running at s (or starts at s = now) must leave room for it, as extra does in EASY; several such jobs at one s
take turns.
"""

from __future__ import annotations

from .easy import Easy, Estimate
from .jobs import SECOND
from .loop import Machine
from .profile import Profile

Reservation = tuple[int, int, int]  # begin, end, procs


class DeepEasy(Easy):
    def __init__(
        self,
        machine: Machine,
        order: str = "fcfs",
        backfill: str | None = None,
        estimate: Estimate = "requested",
        age: int | None = None,
        urgent: str = "ignore",
        second: int = SECOND,
        depth: int | str = 1,
    ) -> None:
        super().__init__(machine, order, backfill, estimate, age, urgent, second)
        self.depth = float("inf") if depth == "all" else int(depth)

    def startable(self, t: int, j: int, reservations: list[Reservation]) -> bool:
        """Whether j can hold its processors now and disturbs no reservation over [t, t + w)."""
        machine = self.machine
        q, end = machine.jobs[j].procs, t + self.w(j)
        if q > machine.free:
            return False
        for x in [t] + [begin for begin, _, _ in reservations]:
            if not t <= x < end:
                continue
            used = sum(run.procs for run in machine.running if self.expected_end(run, t) > x)
            used += sum(p for begin, last, p in reservations if begin <= x < last)
            used += max((p for begin, last, p in reservations if begin == x == last), default=0)
            if used + q > machine.m:
                return False
        return True

    def schedule(self, t: int) -> None:
        machine, jobs = self.machine, self.machine.jobs
        reservations: list[Reservation] = []
        reserved: set[int] = set()
        for j in self.sorted_by(self.order, t):
            if self.startable(t, j, reservations):
                self.start(t, j, "backfill" if reservations else "head")
                continue
            running = [(run.start, self.expected_end(run, t), run.procs) for run in machine.running]
            s = Profile(machine.m, running + reservations).earliest(t, jobs[j].procs, self.w(j))
            if not reservations:
                self.promise(j, s)
            reservations.append((s, s + self.w(j), jobs[j].procs))
            reserved.add(j)
            if len(reservations) >= self.depth:
                break
        for j in self.sorted_by(self.backfill, t):
            if j not in reserved and self.startable(t, j, reservations):
                self.start(t, j, "backfill")
