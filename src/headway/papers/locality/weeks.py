"""Weeks of jobs with shared input files: generated ones, and weeks of any log that knows its users.

Generated weeks follow a rule: as many jobs and users for each core as the authors report (65,000 jobs a week
and 1,083 users on 9,720 cores), sessions of about eleven jobs (1,493,151 in 136,404), offered loads of 0.5,
0.8 and 1.2, four seeds, and files by the authors' script (same user and width as the job before, within
800 s). Widths and lengths of runs are ours. Load is offered work over what the machine could do in the same
time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headway.campaign.identity import workload_digest
from headway.errors import UsageError
from headway.papers.locality.rackham import read_day
from headway.platform import Platform
from headway.units import DAY, SECOND
from headway.workload import Workload, read
from headway.workload.transform.files import files
from headway.workload.transform.machine import machine, split

JOBS_A_DAY, USERS, RACKHAM = 65_000 / 7, 1083, 9720
"""Jobs and users of the authors' weeks, on so many cores."""
SEEDS = (1, 2, 3, 4)
WIDTHS = (1, 2, 4, 8, 10, 16, 20)
SHARES = (0.4, 0.08, 0.1, 0.08, 0.04, 0.03, 0.27)
"""How many of the sessions have each width."""
NARROW_SHARES = (0.7, 0.08, 0.08, 0.05, 0.02, 0.02, 0.05)
"""Other widths, to see how much depends on them."""
REQUESTS = np.array([0.25, 0.5, 1, 2, 4, 8, 12, 24, 48, 72, 120, 168, 240])
"""Hours that users ask for."""
MEMORY = [128.0, 256.0, 1024.0]


@dataclass(frozen=True, eq=False)
class Week:
    """Jobs for a machine; those submitted within ``measured`` (from, to: µs) are judged."""

    name: str
    title: str
    workload: Workload
    platform: str
    measured: tuple[int, int]

    @cached_property
    def machine(self) -> Platform:
        return Platform.load(self.platform)

    @property
    def rows(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which jobs are judged."""
        submit = self.workload.submit
        return np.asarray((submit >= self.measured[0]) & (submit < self.measured[1]))

    @cached_property
    def load(self) -> float:
        """Work offered from the first submission to the last, over what the machine can do meanwhile."""
        log = self.workload
        span = int(log.submit.max() - log.submit.min())
        work = float((log.procs * np.minimum(log.runtime, log.walltime)).sum(dtype=np.float64))
        return work / max(span * self.machine.total_procs, 1)

    @cached_property
    def digest(self) -> str:
        """Of its jobs, its machine and the part that is judged."""
        return f"{self.platform} {self.measured} {workload_digest(self.workload)}"


@dataclass(frozen=True, eq=False)
class Group:
    """Weeks of one kind: generated ones that differ in their seed, or one week of a log."""

    title: str
    weeks: tuple[Week, ...]

    @property
    def saturated(self) -> bool:
        """Whether more work is offered than the machine can do."""
        return float(np.mean([week.load for week in self.weeks])) > 1


def sessions(
    days: float,
    cores: int,
    load: float,
    seed: int,
    jobs_a_day: float,
    shares: tuple[float, ...] = SHARES,
    longest: int = 300,
) -> Workload:
    """Generated sessions for a machine of so many cores.

    Sessions have 16 jobs on average, ``longest`` at most, and begin by day more than by night. Run times are
    log-normal within a session and between sessions, and requests are the next usual value above what the
    user guesses. Run times are scaled to give the load.
    """
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, 6))))
    count = max(1, int(days * jobs_a_day / 16))
    begin = np.sort(_by_day(random, count, days))
    length = np.minimum(random.geometric(1 / 6, count) * random.choice([1, 2, 5], count), longest)
    session = np.repeat(np.arange(count), length)
    gap = random.exponential(1, len(session)) * random.choice([2, 5, 120], count)[session] * SECOND
    first = np.concatenate([[True], session[1:] != session[:-1]])
    since = np.cumsum(gap)
    submit = begin[session] + (since - since[first][session]).astype(np.int64)
    width = np.array(WIDTHS)[random.choice(len(WIDTHS), p=shares, size=count)]
    user = random.integers(1, max(20, cores * USERS // RACKHAM), count)
    typical = random.lognormal(np.log(1.2), 1.4, count)  # hours
    runtime = typical[session] * random.lognormal(0, 0.4, len(session))
    work = float((runtime * width[session]).sum()) * 3600
    runtime *= load * cores * days * 86_400 / work
    runtime = np.minimum(runtime, 200.0)
    guess = (
        typical[session] * (runtime / typical[session]).mean() * random.choice([1.3, 2, 3], count)[session]
    )
    place = np.minimum(np.searchsorted(REQUESTS, np.maximum(guess, runtime * 0.9)), len(REQUESTS) - 1)
    order = np.argsort(submit, kind="stable")
    kept = order[submit[order] < days * DAY]
    made = Workload.from_arrays(
        unit="us",
        submit=submit[kept],
        procs=width[session][kept],
        runtime=(runtime[kept] * 3600).astype(np.int64) * SECOND,
        walltime=(REQUESTS[place][kept] * 3600).astype(np.int64) * SECOND,
        user=user[session][kept],
    )
    return made


def _by_day(
    random: np.random.Generator, count: int, days: float
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Instants (µs), three times as many by day as by night."""
    drawn = random.random(4 * count + 16) * days
    hour = drawn % 1 * 24
    kept = drawn[(random.random(len(drawn)) < 1 / 3) | ((hour > 8) & (hour < 20))][:count]
    return np.asarray(kept * DAY, np.int64)


def with_files(workload: Workload, sizes: bool, seed: int) -> Workload:
    """Input files by the authors' script; all of the smallest memory size, or of three as often as nodes."""
    if not sizes:
        return files(workload, seed=seed)
    return files(workload, memory=MEMORY, shares=[0.95, 0.04, 0.01], seed=seed)


def from_log(workload: Workload, platform: Platform) -> Workload:
    """A log's jobs for this machine: sizes scaled to it, wide ones split into parts of a node."""
    widest = max(group.cores for cluster in platform.clusters for group in cluster.nodes)
    return split(machine(workload, platform.total_procs), cores=widest)


LIGHT, BUSY, SATURATED, NARROW = "light", "busy", "saturated", "saturated, narrow jobs"
SMALL = "rackham-small"


@dataclass(frozen=True)
class Span:
    """Days to warm up, days that are judged, days after that to keep the queue loaded; seeds and loads."""

    warm_up: float = 0.5
    measured: float = 3
    after: float = 0.5
    seeds: tuple[int, ...] = SEEDS
    light: float = 0.5
    busy: float = 0.8
    saturated: float = 1.2
    jobs_a_day: float = JOBS_A_DAY / RACKHAM
    """For each core of the machine."""

    @property
    def days(self) -> float:
        return self.warm_up + self.measured + self.after

    @property
    def window(self) -> tuple[int, int]:
        """From when to when jobs are judged (µs)."""
        return int(self.warm_up * DAY), int((self.warm_up + self.measured) * DAY)


WEEK = Span()
QUICK = Span(0.25, 0.5, 0.25, (1,))
SEARCH = Span(0.5, 2, 0.5, (11, 12))
"""Shorter weeks to search weights in; those of the first half of the seeds are for choosing."""


def generated_week(kind: str, span: Span, seed: int = 1, sizes: bool = False) -> Week:
    """A light, busy or saturated week on the small machine, or one of narrow jobs."""
    cores = Platform.load(SMALL).total_procs
    load, shares = getattr(span, kind.partition(",")[0]), NARROW_SHARES if kind == NARROW else SHARES
    made = sessions(span.days, cores, load, seed, span.jobs_a_day * cores, shares)
    named = f"{kind}{', three memory sizes' if sizes else ''}"
    return Week(f"{named} {seed}", named, with_files(made, sizes, seed), SMALL, span.window)


def generated(kind: str, span: Span, sizes: bool = False) -> Group:
    """Weeks of one kind, one for each seed."""
    weeks = tuple(generated_week(kind, span, seed, sizes) for seed in span.seeds)
    return Group(weeks[0].title, weeks)


def log_group(name: str, path: str, span: Span, sizes: bool = False) -> Group:
    """The busiest days of a log in a row, scaled to the small machine."""

    log = read(path)
    if not (log.user >= 0).any():
        raise UsageError(f"{path}: no job has a user, and files are shared by the jobs of one user")
    first = _busiest(log, math.ceil(span.days))
    inside = (log.submit >= first) & (log.submit < first + span.days * DAY)
    part = log.select(inside, rule="window", action="outside the busiest days: dropped")
    part = part.with_columns(submit=part.submit - first)
    made = with_files(from_log(part, Platform.load(SMALL)), sizes, 1)
    title = f"{name.upper()}{', three memory sizes' if sizes else ''}"
    week = Week(title, title, made, SMALL, span.window)
    if not week.rows.any():
        raise UsageError(
            f"{path}: of its busiest {span.days:g} days, jobs of day {span.warm_up:g} to "
            f"{span.warm_up + span.measured:g} are judged, and there are none; give a longer log"
        )
    return Group(title, (week,))


def day_group(name: str, path: str) -> Group:
    """A day of the authors' own format, on the whole of Rackham."""
    log, judged = read_day(path)
    return Group(name.upper(), (Week(name.upper(), name.upper(), log, "rackham", judged),))


def _busiest(log: Workload, days: int) -> int:
    """The beginning (µs) of the days, counted from the first submission, with the most work submitted."""
    begin = int(log.submit.min())
    day = (log.submit - begin) // DAY
    work = np.bincount(day, weights=(log.procs * np.minimum(log.runtime, log.walltime)).astype(np.float64))
    if len(work) <= days:
        return begin
    return begin + int(np.argmax(np.convolve(work, np.ones(days), "valid"))) * DAY
