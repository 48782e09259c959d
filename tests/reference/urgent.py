"""UJF, and UJFB: urgent jobs first, with backfilling and suspend/resume (or kill/restart) of regular jobs.

Processors are numbered, because a suspended job owns its processors and resumes on them; only urgent jobs may
use them meanwhile.

Decisions.
- Swap time: ``swap`` if given, else the job's own column; kill mode swaps nothing.
- Victims: latest *first* start first (or fewest, or most processors first), ties by submit, then file order.
- Host memory: ``host_memory`` GB for each ``host_size`` processors in number order.  Victims are taken one
  after the other, and one whose processes do not fit beside what is swapped out already (victims chosen
  before it included) is passed over.  The memory is given back when the swap-in begins.
- An urgent job starts (is said to start) when it runs, at t + PD.  A job stopped during its swap-in has to be
  swapped out again in full.
- backfill or precede is judged on the regular reservations of the last pass, on processors that neither a
  regular job owns nor an urgent job uses.
- urgentQ: every job is tried, in order; one that cannot go does not stop the next.  Reservations of urgentQ
  jobs are earliest starts on the same profile; they hold regular jobs back and start nothing themselves.
- ``preempt="degree"``: as suspend, but an urgent job with a deadline kills where it would miss it by waiting
  for the swap (PD > 0 and t + PD + w > deadline), or where suspending cannot give it enough.
- ``overtake=False``: an urgent job waits while one that came before it waits, and its reservation does not
  begin before that one's.  ``reserve=False``: jobs in
  urgentQ hold no reservations.
- ``idle="lent"``: when all that is due has started, waiting regular jobs are looked at in order; one that
  finds enough idle processors whose owners are not expected back before it ends becomes a guest there, on the
  lowest of them.  If there was one, reservations are made anew, and so on.  A guest may be a victim like any
  other running job; it is killed.  ``leftover="swapped"``: nobody runs on processors of a job that is still
  being swapped out.  ``borrow="first"``: idle processors before unowned ones.  ``requeue="end"``: killed jobs
  go to the end of the queue.  ``swap_in``: a factor, rounded up.
- ``overrun="finish"``: urgent jobs are not killed; one that is still there when it was expected to end is
  expected to need its walltime again, and a minute at least.
- ``promise``: the first reservation computed for a regular job (told, not a law); none for urgent jobs.
- ``why``: urgent (preceding), urgent_backfill, urgent_preempt; regular jobs as in conservative backfilling,
  and resumed for a job that was suspended.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from .jobs import SECOND, Job, Result
from .loop import drive, soonest
from .profile import Profile
from .strict import simulate_strict

MINUTE = 60 * SECOND


def simulate_ujf(jobs: Sequence[Job], m: int, overrun: str = "kill") -> list[Result]:
    """FCFS on the queue sorted (urgent first, arrival): strict, no preemption."""
    if overrun == "finish":
        jobs = [replace(j, walltime=max(j.walltime, j.runtime)) if j.urgent else j for j in jobs]
    return simulate_strict(jobs, m, "fcfs", urgent="first")


@dataclass(frozen=True)
class Piece:
    """A stretch of one job's life: running, swap_out, suspended, swap_in, or lost (kill mode)."""

    job: int
    state: str
    start: int
    end: int
    processors: tuple[int, ...]


@dataclass
class Held:
    """A job that holds processors.  Progress counts from ``begin`` on, which lies ahead during a swap-in."""

    job: int
    processors: tuple[int, ...]
    first_start: int
    begin: int
    done: int = 0
    suspended: int | None = None  # since when
    resumed: int | None = None  # when last
    expected: int | None = None  # end, of an urgent job that has outlived its request


@dataclass
class Urgent:
    results: list[Result]
    pieces: list[Piece]
    suspensions: int  # regular jobs stopped, a job counted each time
    preempting: int  # urgent jobs that stopped some
    waste: int  # processors x time lost by kills
    invited: set[int]  # regular jobs that were guests


@dataclass
class Ujfb:
    jobs: Sequence[Job]
    m: int
    preempt: str = "suspend"
    victims: str = "latest"
    swap: int | None = None
    host_memory: Fraction | None = None
    host_size: int = 8
    overtake: bool = True
    reserve: str = "preempting"
    idle: str = "kept"
    leftover: str = "free"
    borrow: str = "last"
    requeue: str = "arrival"
    overrun: str = "kill"
    swap_in: Fraction = Fraction(1)
    guests: dict[int, Held] = field(default_factory=dict)  # regular jobs on processors of suspended ones
    regular: dict[int, Held] = field(default_factory=dict)  # running or suspended: the owners
    urgent: dict[int, Held] = field(default_factory=dict)  # the users
    urgent_queue: list[int] = field(default_factory=list)
    regular_queue: list[int] = field(default_factory=list)
    reserved: dict[int, int] = field(default_factory=dict)
    promises: dict[int, int] = field(default_factory=dict)
    why: dict[int, str] = field(default_factory=dict)
    results: dict[int, Result] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)
    suspensions: int = 0
    preempting: int = 0
    waste: int = 0
    invited: set[int] = field(default_factory=set)
    came: int | None = None  # the last urgent job that started, was queued or outlived its request
    now: int = -1

    # ---- views ----

    def owner(self, p: int) -> Held | None:
        return next((held for held in self.regular.values() if p in held.processors), None)

    def used(self, p: int) -> bool:
        return any(p in held.processors for held in self.users())

    def users(self) -> list[Held]:
        return [*self.urgent.values(), *self.guests.values()]

    def unowned(self) -> list[int]:
        """Free for regular jobs."""
        return [p for p in range(self.m) if self.owner(p) is None and not self.used(p)]

    def lent(self) -> list[int]:
        """Processors of suspended jobs that no urgent job uses."""
        owners = {p: self.owner(p) for p in range(self.m)}
        return [p for p, held in owners.items() if held and held.suspended is not None and not self.used(p)]

    def swap_time(self, j: int) -> int:
        if self.preempt == "kill":
            return 0
        return self.jobs[j].swap if self.swap is None else self.swap

    def swap_back_time(self, j: int) -> int:
        return math.ceil(self.swap_time(j) * self.swap_in)

    def length(self, j: int) -> int:
        job = self.jobs[j]
        return job.runtime if job.urgent and self.overrun == "finish" else job.length

    def end(self, held: Held) -> int:
        return held.begin + self.length(held.job) - held.done

    def back(self, t: int, held: Held) -> int:
        """When a suspended job is expected to have its processors again."""
        users = [u for u in self.users() if set(u.processors) & set(held.processors)]
        return max([t] + [self.expected_end(t, u) for u in users])

    def expected_end(self, t: int, held: Held) -> int:
        left = self.jobs[held.job].walltime - held.done
        if held.expected is not None:
            return held.expected
        if held.suspended is None:
            return held.begin + left
        return self.back(t, held) + self.swap_back_time(held.job) + left

    def swapped_out(self, held: Held) -> int:
        """When a suspended job is out, all of it."""
        assert held.suspended is not None
        return held.suspended + self.swap_time(held.job)

    def profile(self, t: int) -> Profile:
        """When regular jobs can have each processor: after its owner and its user."""
        profile = Profile(self.m)
        for p in range(self.m):
            holders = [h for h in [*self.regular.values(), *self.urgent.values()] if p in h.processors]
            if holders:
                profile.add(t, max(self.expected_end(t, h) for h in holders), 1)
        return profile

    # ---- urgent jobs ----

    def try_urgent(self, t: int, j: int) -> bool:
        """Algorithm 1: execute, or preempt and execute, or answer no."""
        job = self.jobs[j]
        idle = self.lent()
        available = idle + self.unowned() if self.borrow == "first" else self.unowned() + idle
        swapping = 0
        if self.leftover == "swapped":
            taken = [self.owner(p) for p in available[: job.procs] if p in idle]
            swapping = max([0] + [self.swapped_out(held) - t for held in taken if held])
        if len(available) >= job.procs:
            profile = self.profile(t)
            for k, s in self.reserved.items():
                profile.add(s, s + self.jobs[k].walltime, self.jobs[k].procs)
            fits = profile.fits(t, job.walltime, job.procs) and swapping == 0
            self.execute(t, j, available, swapping, "urgent_backfill" if fits else "urgent")
            return True
        killing = self.preempt == "kill"
        chosen = self.select(len(available), job.procs, killing)
        swaps = [self.swap_time(held.job) for held in chosen or [] if held.job not in self.guests]
        delay = max([swapping, *swaps])
        if self.preempt == "degree" and job.deadline is not None:
            killing = chosen is None or (delay > swapping and t + delay + job.walltime > job.deadline)
        if killing:
            chosen, delay = self.select(len(available), job.procs, killing), swapping
        if chosen is None:
            return False
        processors = sorted(p for held in chosen for p in held.processors)
        for held in chosen:
            self.stop(t, held, killing)
        self.preempting += 1
        processors.sort(key=lambda p: self.owner(p) is not None)
        self.execute(t, j, available + processors, delay, "urgent_preempt")
        return True

    def select(self, available: int, needed: int, killing: bool) -> list[Held] | None:
        """The victims, or None if there are not enough."""
        keys: dict[str, Callable[[Held], int]] = {
            "latest": lambda held: -held.first_start,
            "smallest": lambda held: len(held.processors),
            "largest": lambda held: -len(held.processors),
        }
        running = [held for held in self.regular.values() if held.suspended is None]
        running += self.guests.values()
        running.sort(key=lambda h: (keys[self.victims](h), self.jobs[h.job].submit, h.job))
        chosen: list[Held] = []
        for held in running:
            if available + sum(len(h.processors) for h in chosen) >= needed:
                break
            if killing or held.job in self.guests or self.fits_in_hosts([*chosen, held]):
                chosen.append(held)
        if available + sum(len(h.processors) for h in chosen) < needed:
            return None
        for held in list(chosen):
            rest = [h for h in chosen if h is not held]
            if available + sum(len(h.processors) for h in rest) >= needed:
                chosen = rest
        return chosen

    def fits_in_hosts(self, chosen: list[Held]) -> bool:
        if self.host_memory is None:
            return True
        out = [held for held in self.regular.values() if held.suspended is not None]
        out += [held for held in chosen if held.job not in self.guests]
        for host in range(0, self.m, self.host_size):
            here = range(host, host + self.host_size)
            load = sum(self.jobs[h.job].memory_gb * sum(p in here for p in h.processors) for h in out)
            if load > self.host_memory:
                return False
        return True

    def execute(self, t: int, j: int, available: list[int], delay: int, why: str) -> None:
        processors = tuple(available[: self.jobs[j].procs])
        self.urgent[j] = Held(j, processors, t + delay, t + delay)
        self.why[j] = why
        self.came = j

    # ---- regular jobs ----

    def stop(self, t: int, held: Held, killing: bool) -> None:
        self.suspensions += 1
        if killing or held.job in self.guests:
            del (self.guests if held.job in self.guests else self.regular)[held.job]
            self.close(t, held, "lost")
            self.waste += len(held.processors) * held.done
            self.regular_queue.append(held.job)
            if self.requeue == "arrival":
                self.regular_queue.sort(key=lambda j: (self.jobs[j].submit, j))
            return
        self.close(t, held)
        held.suspended = t
        self.why[held.job] = "resumed"

    def close(self, t: int, held: Held, did: str = "running") -> None:
        """Write down what the job did since it was started or resumed."""
        if held.resumed is not None:
            swapped = min(held.begin, t)
            self.pieces.append(Piece(held.job, "swap_in", held.resumed, swapped, held.processors))
        if t >= held.begin:
            self.pieces.append(Piece(held.job, did, held.begin, t, held.processors))
            held.done += t - held.begin

    def resume(self, t: int, held: Held) -> None:
        assert held.suspended is not None
        out = self.swapped_out(held)
        assert out <= t
        self.pieces.append(Piece(held.job, "swap_out", held.suspended, out, held.processors))
        self.pieces.append(Piece(held.job, "suspended", out, t, held.processors))
        held.suspended, held.resumed, held.begin = None, t, t + self.swap_back_time(held.job)

    # ---- the steps of one instant ----

    def complete(self, t: int) -> None:
        for side in (self.urgent, self.guests, self.regular):
            for held in list(side.values()):
                if held.suspended is None and self.end(held) == t:
                    job = self.jobs[held.job]
                    self.close(t, held)
                    killed = job.runtime > self.length(held.job)
                    self.results[held.job] = Result(
                        held.first_start, t, killed, self.why[held.job], self.promises.get(held.job)
                    )
                    del side[held.job]

    def go_on(self, t: int) -> None:
        """Urgent jobs that have outlived their request are expected to need as much again."""
        for held in self.urgent.values():
            if self.overrun == "finish" and self.expected_end(t, held) <= t:
                held.expected = t + max(self.jobs[held.job].walltime, MINUTE)
                self.came = held.job

    def schedule(self, t: int) -> None:
        """Reservations and starts; then guests, after whom reservations are made again."""
        while self.start_due(t) and self.idle == "lent" and self.invite(t):
            pass

    def invite(self, t: int) -> bool:
        """Regular jobs that find room on idle processors for as long as they ask for; whether any did."""
        some = False
        for j in list(self.regular_queue):
            job, free = self.jobs[j], []
            for p in self.lent():
                owner = self.owner(p)
                assert owner is not None
                ready = self.leftover == "free" or self.swapped_out(owner) <= t
                if ready and self.back(t, owner) >= t + job.walltime:
                    free.append(p)
            if len(free) >= job.procs:
                self.regular_queue.remove(j)
                del self.reserved[j]
                self.guests[j] = Held(j, tuple(free[: job.procs]), t, t)
                self.why[j] = "reservation"
                self.invited.add(j)
                some = True
        return some

    def join(self, j: int) -> None:
        """A regular newcomer."""
        self.regular_queue.append(j)

    def plan(self, t: int) -> None:
        """Regular reservations from scratch."""
        profile = self.profile(t)
        self.reserved = {}
        for j, s in self.urgent_places(t).items():
            profile.add(s, s + self.jobs[j].walltime, self.jobs[j].procs)
        for j in self.regular_queue:
            job = self.jobs[j]
            s = profile.earliest(t, job.procs, job.walltime)
            profile.add(s, s + job.walltime, job.procs)
            self.reserved[j] = s
            self.promises.setdefault(j, s)

    def urgent_places(self, t: int) -> dict[int, int]:
        """Where waiting urgent jobs are to run: when enough has no urgent user, or beside all that runs."""
        if self.reserve == "none":
            return {}
        profile = self.profile(t)
        if self.reserve == "preempting":
            profile = Profile(self.m)
            for held in self.urgent.values():
                profile.add(t, self.expected_end(t, held), len(held.processors))
        places: dict[int, int] = {}
        before = t
        for j in self.urgent_queue:
            job = self.jobs[j]
            places[j] = profile.earliest(t if self.overtake else before, job.procs, job.walltime)
            before = places[j]
            profile.add(places[j], places[j] + job.walltime, job.procs)
        return places

    def start_due(self, t: int) -> bool:
        """Plan, and start what is due; False if a job has to wait for its processors."""
        self.plan(t)
        due = [j for j in self.regular_queue if self.reserved[j] == t]
        for j in sorted(due, key=lambda j: self.jobs[j].walltime > 0):
            free = self.unowned()
            if len(free) < self.jobs[j].procs:
                return False
            self.regular_queue.remove(j)
            del self.reserved[j]
            self.regular[j] = Held(j, tuple(free[: self.jobs[j].procs]), t, t)
            self.why[j] = "immediate" if t == self.jobs[j].submit else "reservation"
        return True

    def turn(self, t: int, arrivals: list[int]) -> None:
        self.now = t
        self.complete(t)
        self.go_on(t)
        still: list[int] = []
        for j in self.urgent_queue:
            if (still and not self.overtake) or not self.try_urgent(t, j):
                still.append(j)
        self.urgent_queue = still
        for j in arrivals:
            if not self.jobs[j].urgent:
                self.join(j)
            elif (self.urgent_queue and not self.overtake) or not self.try_urgent(t, j):
                self.urgent_queue.append(j)
                self.came = j
        for held in self.regular.values():
            if held.suspended is not None and not any(self.used(p) for p in held.processors):
                self.resume(t, held)
        self.schedule(t)

    def next_event(self) -> int | None:
        everybody = [*self.users(), *self.regular.values()]
        holders = [h for h in everybody if h.suspended is None]
        ends = [self.end(held) for held in holders]
        swaps = [held.begin for held in holders if held.begin > self.now]
        outs = [self.swapped_out(h) for h in everybody if h.suspended is not None]
        overruns = [self.expected_end(self.now, h) for h in self.urgent.values() if self.overrun == "finish"]
        return soonest(
            *ends, *swaps, *overruns, *(out for out in outs if out > self.now), *self.reserved.values()
        )


def simulate_ujfb(
    jobs: Sequence[Job],
    m: int,
    preempt: str = "suspend",
    victims: str = "latest",
    swap: int | None = None,
    host_memory: Fraction | None = None,
    host_size: int = 8,
    overtake: bool = True,
    reserve: str = "preempting",
    **readings: Any,
) -> Urgent:
    state = Ujfb(jobs, m, preempt, victims, swap, host_memory, host_size, overtake, reserve, **readings)
    drive(jobs, state.next_event, state.turn)
    assert not state.regular and not state.users() and len(state.results) == len(jobs)
    results = [state.results[j] for j in range(len(jobs))]
    return Urgent(results, state.pieces, state.suspensions, state.preempting, state.waste, state.invited)
