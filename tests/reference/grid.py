"""Several clusters, an agent that maps grid tasks to the earliest completion, and periodic reallocation.

Decisions.
- A cluster's queue is in the order of submission to that cluster: a task that is moved, or cancelled and
  submitted again, goes to its end.  Submission order among tasks, where a heuristic asks for it, is (submit,
  place in the file).
- The event of instant t comes once, after the arrivals of t; tasks due at t have not started and may still be
  moved.
- regular: the current ECT of a task is its reservation + walltime there, with the size it has; it is not
  tuned again.
- all-cancellation: all are cancelled, then each cluster that lost a task compresses once.
- No answer counts as an infinite ECT: a task that fits one cluster only has infinite sufferage and a gain of
  -infinity.
- MaxGain and MaxRelGain: current ECT - best ECT elsewhere, and that over the processors the task holds now;
  in all-cancellation the ECT and processors it had when the event began, and the best ECT on any cluster now.
- Ties of a selection: submission order.
- ``local``: conservative with a compression mode, or fcfs, where each reservation starts no earlier than the
  one before it in the queue and early ends and cancellations re-place all; or easy, where completions come
  from a plan made anew at each question, which EASY does not keep to, and nothing is promised.
- Data go with a task: they are on the cluster of its first submission at once, on any other a transfer after
  it was moved there, also if they had been there before.  A task starts no earlier than they are there.
- ``reserved``: each cluster is two, one for the tasks of the grid and one for its local jobs.
- ``why``: moved for a task that ever changed its cluster, else as in conservative backfilling; ``promise`` is
  the start told by the cluster that ran it, when it was submitted there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from .conservative import Conservative
from .easy import Easy
from .jobs import SECOND, Job, Result
from .loop import Machine, Run, drive, soonest
from .molding import Law, amdahl, downey, moldable, time_on, tune
from .profile import Profile


@dataclass(frozen=True)
class Cluster:
    name: str
    procs: int
    speed: Fraction = Fraction(1)


class ReservingFcfs(Conservative):
    """FCFS as a plan: each job starts as soon as it fits, but not before the one ahead of it."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine, compress="scratch")

    def earliest(self, t: int, j: int) -> int:
        job = self.machine.jobs[j]
        floor = max([t] + [s for k, s in self.reserved.items() if k != j])
        return Profile(self.machine.m, self.bookings(without=j)).earliest(floor, job.procs, job.walltime)


class Data:
    """Where the data of each task are or go to, and when they are there."""

    def __init__(self, transfer: Sequence[int]) -> None:
        self.transfer = transfer
        self.place: dict[int, Site] = {}
        self.ready: dict[int, int] = {}

    def there(self, t: int, j: int, site: Site) -> int:
        """When they are there if j is submitted to the site now."""
        if j not in self.place:
            return t
        return max(t, self.ready[j]) if self.place[j] is site else t + self.transfer[j]

    def go(self, t: int, j: int, site: Site) -> None:
        self.place[j], self.ready[j] = site, self.there(t, j, site)


class Plan(dict[int, int]):
    """Starts of waiting jobs, made anew at each look; a job that is gone already may be taken out."""

    def __delitem__(self, j: int) -> None:
        self.pop(j, None)


class EstimatedEasy(Easy):
    """EASY in order of submission to the cluster, with completions from a plan that it does not keep to."""

    now = 0

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.promising = False

    def sorted_by(self, order: str, t: int) -> list[int]:
        return list(self.waiting)

    def ended(self, t: int, runs: list[Run]) -> None:
        self.now = t

    def profile(self, t: int, without: int | None = None) -> tuple[Profile, Plan]:
        """What runs, then every waiting job in turn at its earliest start, as in conservative backfilling."""
        jobs, plan = self.machine.jobs, Plan()
        running = [(run.start, run.expected, run.procs) for run in self.machine.running]
        profile = Profile(self.machine.m, running)
        for j in self.waiting:
            if j != without:
                plan[j] = profile.earliest(t, jobs[j].procs, jobs[j].walltime)
                profile.add(plan[j], plan[j] + jobs[j].walltime, jobs[j].procs)
        return profile, plan

    def earliest(self, t: int, j: int) -> int:
        job = self.machine.jobs[j]
        return self.profile(t, without=j)[0].earliest(t, job.procs, job.walltime)

    @property
    def reserved(self) -> Plan:
        return self.profile(self.now)[1]

    def compress_now(self, t: int) -> None:
        pass


class Site:
    """One cluster with its batch system, and the server that tunes, estimates, submits and cancels."""

    def __init__(
        self,
        cluster: Cluster,
        jobs: Sequence[Job],
        tuning: str,
        local: str,
        compress: str,
        hole: str = "closed",
        law: Law = amdahl,
        data: Data | None = None,
    ) -> None:
        self.data = Data([0] * len(jobs)) if data is None else data
        self.cluster, self.jobs, self.tuning, self.law = cluster, jobs, tuning, law
        self.shapes = list(jobs)  # as submitted here
        self.machine = Machine(self.shapes, cluster.procs)
        self.batch: Conservative | EstimatedEasy = Conservative(self.machine, compress, hole)
        if local == "fcfs":
            self.batch = ReservingFcfs(self.machine)
        elif local == "easy":
            self.batch = EstimatedEasy(self.machine)
        plain = self.batch.earliest
        self.batch.earliest = lambda t, j: plain(self.data.there(t, j, self), j)  # type: ignore[method-assign]

    def shape(self, j: int, n: int) -> Job:
        job, speed = self.jobs[j], self.cluster.speed
        walltime, runtime = (time_on(job, time, n, speed, self.law) for time in (job.walltime, job.runtime))
        return replace(job, procs=n, walltime=walltime, runtime=runtime)

    def completion(self, t: int, j: int, n: int) -> int:
        """ECT of j on n processors if it were submitted here now."""
        before = self.shapes[j]
        self.shapes[j] = self.shape(j, n)
        s = self.batch.earliest(t, j)
        completion = s + self.shapes[j].walltime
        self.shapes[j] = before
        return completion

    def estimate(self, t: int, j: int) -> tuple[int, int] | None:
        """Tuned (ECT, processors), or None where the task does not fit."""
        job = self.jobs[j]
        if moldable(job):
            limit = job.max_procs if job.max_procs is not None else self.cluster.procs
            return tune(lambda n: self.completion(t, j, n), min(limit, self.cluster.procs), self.tuning)
        if job.procs > self.cluster.procs:
            return None
        return self.completion(t, j, job.procs), job.procs

    def submit(self, t: int, j: int, n: int) -> None:
        self.shapes[j] = self.shape(j, n)
        self.data.go(t, j, self)
        self.batch.arrive(t, j)

    def cancel(self, j: int) -> None:
        self.batch.waiting.remove(j)
        del self.batch.reserved[j]

    def current(self, j: int) -> int:
        return self.batch.reserved[j] + self.shapes[j].walltime


@dataclass
class Grid:
    results: list[Result]
    clusters: list[str]
    procs: list[int]
    moves: list[tuple[int, int, str, str]]  # job, time, from, to


@dataclass
class Agent:
    sites: list[Site]
    of_locals: list[Site]
    jobs: Sequence[Job]
    heuristic: str
    mode: str
    threshold: int
    oldest: int
    moves: list[tuple[int, int, str, str]]

    def waiting(self) -> list[int]:
        """Waiting grid tasks, in submission order."""
        here = [j for site in self.sites for j in site.batch.waiting if not self.jobs[j].local]
        return sorted(here, key=lambda j: (self.jobs[j].submit, j))

    def site_of(self, j: int) -> Site:
        (site,) = [site for site in self.sites if j in site.batch.waiting]
        return site

    def answers(self, t: int, j: int, apart: Site | None = None) -> list[tuple[int, int, Site]]:
        """(ECT, processors, site) of the sites that can take j, best first; ties: cluster order."""
        found = []
        for site in self.sites:
            answer = None if site is apart else site.estimate(t, j)
            if answer is not None:
                found.append((*answer, site))
        return sorted(found, key=lambda answer: answer[0])

    def map(self, t: int, j: int) -> None:
        """An arriving task."""
        job = self.jobs[j]
        if job.local:
            (home,) = [site for site in self.of_locals if site.cluster.name == job.cluster]
            home.submit(t, j, job.procs)
        else:
            _, n, site = self.answers(t, j)[0]
            site.submit(t, j, n)

    def urgency(self, ects: list[int], gain: float, n: int) -> float | Fraction:
        """What the heuristic maximises, from the ECTs (best first), the gain and the processors held."""
        if self.heuristic == "minmin":
            return -ects[0]
        if self.heuristic == "maxmin":
            return ects[0]
        if self.heuristic == "sufferage":
            return ects[1] - ects[0] if len(ects) > 1 else math.inf
        if self.heuristic == "maxgain":
            return gain
        assert self.heuristic == "maxrelgain"
        return gain if gain == -math.inf else Fraction(int(gain), n)

    def regular(self, t: int) -> None:
        left = self.waiting()
        if self.heuristic != "mct":
            left = left[: self.oldest]

        def score(j: int) -> float | Fraction:
            home = self.site_of(j)
            now = home.current(j)
            others = [ect for ect, _, _ in self.answers(t, j, apart=home)]
            gain = now - others[0] if others else -math.inf
            return self.urgency(sorted([now, *others]), gain, home.shapes[j].procs)

        while left:
            j = left[0] if self.heuristic == "mct" else max(left, key=score)  # max keeps the first of equals
            left.remove(j)
            home = self.site_of(j)
            others = self.answers(t, j, apart=home)
            if others and home.current(j) - others[0][0] >= self.threshold:
                _, n, site = others[0]
                site.submit(t, j, n)
                home.cancel(j)
                home.batch.compress_now(t)
                self.moves.append((j, t, home.cluster.name, site.cluster.name))

    def cancel_all(self, t: int) -> None:
        everything = self.waiting()
        homes = {j: self.site_of(j) for j in everything}
        held = {j: (homes[j].current(j), homes[j].shapes[j].procs) for j in everything}
        for j in everything:
            homes[j].cancel(j)
        for site in self.sites:
            if site in homes.values():
                site.batch.compress_now(t)

        def score(j: int) -> float | Fraction:
            ects = [ect for ect, _, _ in self.answers(t, j)]
            return self.urgency(ects, held[j][0] - ects[0], held[j][1])

        window = [] if self.heuristic == "mct" else everything[: self.oldest]
        rest = everything[len(window) :]
        while window or rest:
            j = max(window, key=score) if window else rest[0]
            (window if window else rest).remove(j)
            _, n, site = self.answers(t, j)[0]
            site.submit(t, j, n)
            if site is not homes[j]:
                self.moves.append((j, t, homes[j].cluster.name, site.cluster.name))

    def event(self, t: int) -> None:
        if self.mode == "regular":
            self.regular(t)
        else:
            assert self.mode == "cancel"
            self.cancel_all(t)


def simulate_reallocation(
    jobs: Sequence[Job],
    clusters: Sequence[Cluster],
    heuristic: str = "mct",
    mode: str = "regular",
    period: int | None = None,
    threshold: int | None = None,
    oldest: int = 20,
    tuning: str = "binary",
    local: str = "conservative",
    compress: str = "early",
    hole: str = "closed",
    law: str = "amdahl",
    sigma: Fraction = Fraction(1),
    second: int = SECOND,
    transfer: Sequence[int] | None = None,
    reserved: Fraction = Fraction(0),
) -> Grid:
    """``period`` and ``threshold`` in the unit of the jobs' times, by default 3600 s and 60 s."""
    every = 3600 * second if period is None else period
    least = 60 * second if threshold is None else threshold
    speedup = amdahl if law == "amdahl" else partial(downey, sigma=sigma)
    data = Data([0] * len(jobs) if transfer is None else transfer)

    def servers(clusters: Sequence[Cluster]) -> list[Site]:
        return [Site(cluster, jobs, tuning, local, compress, hole, speedup, data) for cluster in clusters]

    kept = [max(1, int(reserved * cluster.procs)) if reserved else cluster.procs for cluster in clusters]
    of_grid = servers([replace(c, procs=n) for c, n in zip(clusters, kept, strict=True)])
    of_locals = of_grid
    if reserved:
        of_locals = servers([replace(c, procs=c.procs - n) for c, n in zip(clusters, kept, strict=True)])
    sites = of_grid + (of_locals if reserved else [])
    agent = Agent(of_grid, of_locals, jobs, heuristic, mode, least, oldest, [])
    last_event = 0
    now = 0

    def turn(t: int, arrivals: list[int]) -> None:
        nonlocal last_event, now
        now = t
        for site in sites:
            site.batch.ended(t, site.machine.complete(t))
        for j in arrivals:
            agent.map(t, j)
        if mode != "none" and t % every == 0 and t > last_event and agent.waiting():
            agent.event(t)
            last_event = t
        for site in sites:
            site.batch.schedule(t)

    def timer() -> int | None:
        return (now // every + 1) * every if mode != "none" and agent.waiting() else None

    def next_event() -> int | None:
        return soonest(timer(), *(soonest(s.machine.next_end(), s.batch.wake()) for s in sites))

    drive(jobs, next_event, turn)
    where = [next(s for s in sites if j in s.machine.results) for j in range(len(jobs))]
    results = [site.machine.results[j] for j, site in enumerate(where)]
    for j in {move[0] for move in agent.moves}:
        results[j].why = "moved"
    procs = [site.shapes[j].procs for j, site in enumerate(where)]
    return Grid(results, [site.cluster.name for site in where], procs, agent.moves)
