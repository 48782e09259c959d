"""Conservative backfilling: every job is given a start when it arrives.

Decisions.
- Compression belongs to the completions, before the arrivals of the same instant.  ``early``, ``fixpoint``
  and ``scratch`` run when some job of the batch ended before its expected end, ``every`` after every batch.
- A sweep removes each job alone and re-inserts it if that is earlier; a job never moves later (this matters
  only for jobs of no length and for open holes, where the old place may no longer be one that a search would
  offer).
- Jobs due at t: those of walltime zero first, then the others, each in queue order, stopping at the first
  that finds its processors still held by a zero-length job; the rest start in the next turn of the same
  instant.
- ``urgent=first``: sweeps and re-placements take urgent jobs before regular ones.  In ``scratch`` mode an
  urgent arrival re-places everything; in the other modes it is placed like any other, so that promises are
  kept.
- ``promise`` is the reservation at arrival.  ``why``: immediate = started in the instant of its submission,
  else reservation.
"""

from __future__ import annotations

from collections.abc import Sequence

from .jobs import Job, Result
from .loop import Machine, Run, simulate
from .profile import Booking, Profile


class Conservative:
    def __init__(
        self, machine: Machine, compress: str = "early", hole: str = "closed", urgent: str = "ignore"
    ) -> None:
        assert compress in ("early", "every", "fixpoint", "scratch", "none")
        self.machine = machine
        self.waiting: list[int] = []  # in arrival order
        self.reserved: dict[int, int] = {}
        self.promises: dict[int, int] = {}
        self.compress, self.hole, self.urgent = compress, hole, urgent

    def queue(self) -> list[int]:
        """The waiting jobs in the order of sweeps and re-placements."""
        if self.urgent == "first":
            return sorted(self.waiting, key=lambda j: not self.machine.jobs[j].urgent)
        return list(self.waiting)

    def bookings(self, without: int | None = None) -> list[Booking]:
        jobs = self.machine.jobs
        booked = [(run.start, run.expected, run.procs) for run in self.machine.running]
        return booked + [
            (s, s + jobs[j].walltime, jobs[j].procs) for j, s in self.reserved.items() if j != without
        ]

    def earliest(self, t: int, j: int) -> int:
        """Earliest start of j at or after t, its own reservation apart."""
        job = self.machine.jobs[j]
        profile = Profile(self.machine.m, self.bookings(without=j))
        return profile.earliest(t, job.procs, job.walltime, self.hole)

    def arrive(self, t: int, j: int) -> None:
        self.waiting.append(j)
        if self.compress == "scratch" and self.urgent == "first" and self.machine.jobs[j].urgent:
            self.replace_all(t)
        else:
            self.reserved[j] = self.earliest(t, j)
        self.promises[j] = self.reserved[j]

    def ended(self, t: int, runs: list[Run]) -> None:
        early = any(run.end < run.expected for run in runs)
        if early or (self.compress == "every" and runs):
            self.compress_now(t)

    def compress_now(self, t: int) -> None:
        if self.compress in ("early", "every"):
            self.sweep(t)
        elif self.compress == "fixpoint":
            while self.sweep(t):
                pass
        elif self.compress == "scratch":
            self.replace_all(t)

    def sweep(self, t: int) -> bool:
        """One sweep; whether any job moved."""
        moved = False
        for j in self.queue():
            s = self.earliest(t, j)
            if s < self.reserved[j]:
                self.reserved[j] = s
                moved = True
        return moved

    def replace_all(self, t: int) -> None:
        self.reserved = {}
        for j in self.queue():
            self.reserved[j] = self.earliest(t, j)

    def schedule(self, t: int) -> None:
        jobs = self.machine.jobs
        due = [j for j in self.queue() if self.reserved[j] <= t]
        assert all(self.reserved[j] == t for j in due), "a reservation was slept through"
        for j in sorted(due, key=lambda j: jobs[j].walltime > 0):
            if jobs[j].procs > self.machine.free:
                return
            self.waiting.remove(j)
            del self.reserved[j]
            self.machine.start(t, j, "immediate" if t == jobs[j].submit else "reservation", self.promises[j])

    def wake(self) -> int | None:
        return min(self.reserved.values(), default=None)


def simulate_conservative(
    jobs: Sequence[Job], m: int, compress: str = "early", hole: str = "closed", urgent: str = "ignore"
) -> list[Result]:
    return simulate(jobs, m, lambda machine: Conservative(machine, compress, hole, urgent))
