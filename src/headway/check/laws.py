"""The invariants by name, what each demands, and those that take more than one run to see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headway.audit import audit
from headway.errors import PolicyError
from headway.platform import Platform
from headway.schedule import Schedule
from headway.schedule.table import all_pieces
from headway.simulate import simulate
from headway.units import SECOND, seconds_text
from headway.workload import Workload

SEED = 20_240_229


class Request(NamedTuple):
    """One job; times in whole seconds."""

    submit: int
    procs: int
    walltime: int
    runtime: int
    user: int = 1


@dataclass(frozen=True)
class Instance:
    """Some jobs, in the order of the log, and a machine."""

    procs: int
    jobs: tuple[Request, ...]

    def __len__(self) -> int:
        return len(self.jobs)

    def workload(self) -> Workload:
        columns = [list(column) for column in zip(*self.jobs, strict=True)]
        submit, procs, walltime, runtime, user = columns
        return Workload.from_arrays(
            unit="s", submit=submit, procs=procs, walltime=walltime, runtime=runtime, user=user
        )

    def without(self, place: int) -> Instance:
        return replace(self, jobs=self.jobs[:place] + self.jobs[place + 1 :])

    def changed(self, place: int, **values: int) -> Instance:
        job = self.jobs[place]._replace(**values)
        return replace(self, jobs=(*self.jobs[:place], job, *self.jobs[place + 1 :]))

    def table(self) -> str:
        """The jobs as lines of text."""
        names = ("job", "submit", "procs", "walltime", "runtime", "user")
        rows = [names, *((str(n), *map(str, job)) for n, job in enumerate(self.jobs, 1))]
        return "\n".join("  ".join(f"{cell:>8}" for cell in row) for row in rows)


AWKWARD = (
    # one job; two that exclude each other; one behind another that ends early
    Instance(4, (Request(0, 4, 10, 10),)),
    Instance(4, (Request(0, 4, 10, 10), Request(0, 4, 10, 10))),
    Instance(4, (Request(0, 3, 10, 2), Request(1, 2, 5, 5))),
    # a wide head, a short job that may pass it, a long one that may not
    Instance(4, (Request(0, 3, 10, 10), Request(1, 4, 10, 10), Request(2, 1, 5, 5), Request(2, 1, 50, 50))),
    # jobs of no length, and one that is killed
    Instance(2, (Request(0, 2, 5, 0), Request(0, 2, 5, 9), Request(0, 1, 0, 0), Request(5, 2, 5, 5))),
    # an end and an arrival at the same instant
    Instance(2, (Request(0, 2, 10, 10), Request(10, 1, 5, 5), Request(10, 2, 5, 5))),
    # a silence, then a crowd
    Instance(3, (Request(0, 1, 3, 3), *(Request(1000, n % 3 + 1, 9 - n, 9 - n) for n in range(7)))),
    # many narrow jobs around one wide one
    Instance(8, (*(Request(n, 1, 20, 7 + n) for n in range(8)), Request(3, 8, 9, 9), Request(4, 1, 30, 3))),
)


def instances(count: int = 40) -> Iterator[Instance]:
    """The awkward ones, then random ones, the same in every run."""
    yield from AWKWARD
    random = np.random.default_rng(SEED)
    for number in range(count):
        procs = int(random.choice([1, 2, 4, 7]))
        jobs = int(random.integers(2, 9)) if number < count - 4 else 40
        span = int(random.choice([1, 10, 40])) * jobs // 4
        yield Instance(procs, tuple(_request(random, procs, span) for _ in range(jobs)))


def _request(random: np.random.Generator, procs: int, span: int) -> Request:
    walltime = int(random.choice([1, 5, 10, 30]))
    part = float(random.choice([0.0, 0.3, 1.0, 1.0, 1.5]))
    return Request(
        submit=int(random.integers(0, span + 1)),
        procs=int(random.integers(1, procs + 1)) if random.random() < 0.8 else procs,
        walltime=walltime,
        runtime=int(part * walltime),
        user=int(random.integers(1, 4)),
    )


TRIES = 400
"""Workloads tried at most."""


def shrunk(
    instance: Instance, message: str, breaks: Callable[[Instance], str], most: int = TRIES
) -> tuple[Instance, str]:
    """The smallest workload found by dropping jobs, then by making numbers smaller, and what it shows.

    ``breaks`` says in words what goes wrong on a workload, nothing if all is well.
    """
    tries = 0
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(instance):
            tries += 1
            if tries > most:
                return instance, message
            if found := breaks(smaller):
                instance, message, progress = smaller, found, True
                break
    return instance, message


def _smaller(instance: Instance) -> Iterator[Instance]:
    """Workloads a little smaller, the boldest steps first."""
    jobs = len(instance)
    if jobs > 4:
        for first in range(0, jobs, jobs // 2):
            kept = instance.jobs[:first] + instance.jobs[first + jobs // 2 :]
            if kept:
                yield replace(instance, jobs=kept)
    for place in range(jobs - 1, -1, -1):
        if jobs > 1:
            yield instance.without(place)
    widest = max(job.procs for job in instance.jobs)
    for procs in {1, instance.procs // 2, instance.procs - 1}:
        if widest <= procs < instance.procs:
            yield replace(instance, procs=procs)
    for place, job in enumerate(instance.jobs):
        for name, least in (("submit", 0), ("procs", 1), ("walltime", 1), ("runtime", 0), ("user", 1)):
            value = getattr(job, name)
            for less in sorted({least, value // 2, value - 1}):
                if least <= less < value:
                    yield instance.changed(place, **{name: less})
        if job.runtime > 1 and job.walltime == job.runtime:
            yield instance.changed(place, walltime=1, runtime=1)


# The invariants by name, what each demands, and those that take more than one run to see.

Column = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Course:
    """One entry for every stretch of time in which a job held processors; ``job`` is a row of the log."""

    job: Column
    start: Column
    end: Column

    @classmethod
    def of(cls, schedule: Schedule) -> Course:
        """The stretches of a schedule."""
        pieces = all_pieces(schedule)
        held = pieces.holding
        return cls(pieces.job[held], pieces.start[held], pieces.end[held])

    def running(self, t: int) -> npt.NDArray[np.bool_]:
        """Which stretches hold at ``t``."""
        return np.asarray((self.start <= t) & (self.end > t), dtype=np.bool_)

    def begun(self, t: int) -> set[tuple[int, int]]:
        """(job, start) of every stretch that has begun by ``t``."""
        seen = self.start <= t
        return set(zip(self.job[seen].tolist(), self.start[seen].tolist(), strict=True))

    def held(self, row: int, t: int) -> int:
        """How long a job has held processors by ``t``, µs; -1 if it has not begun."""
        mine = (self.job == row) & (self.start <= t)
        return int(np.sum(np.minimum(self.end[mine], t) - self.start[mine])) if mine.any() else -1


LAWS = {
    "answers": "every pass is answered with a decision, without an error",
    "capacity": "no job is started on more processors than are free",
    "submission": "no job is started before it is submitted",
    "one run": "a job is started once, and only running jobs are stopped",
    "complete": "every job is run to its end; none is forgotten",
    "ends": "the simulation comes to an end",
    "time": "the policy asks to be woken at later times only",
    "idle": "the machine is not empty while jobs wait",
    "peeking": "what is decided does not depend on what comes later: run times, jobs not yet submitted",
    "determinism": "the same jobs get the same schedule every time",
    "renaming": "other numbers for the jobs and other names of users change nothing",
    "shift": "submitting everything later by the same time moves the schedule by that time",
}

SHIFT = 100_003
"""Seconds by which everything is submitted later."""


@dataclass(frozen=True)
class Broken:
    """An invariant and how it was broken."""

    law: str
    message: str


Policy = object


def run(policy: Policy, workload: Workload, procs: int) -> Schedule:
    """One simulation, which must come to its end in a reasonable number of passes."""
    return simulate(workload, Platform.procs(procs), policy, progress=Patience())


class Patience:
    """Called every few thousand passes, far more than so few jobs need; it is lost when nothing finishes."""

    def __init__(self) -> None:
        self.calls, self.finished = 0, 0

    def __call__(self, finished: int, jobs: int) -> None:
        self.calls = self.calls + 1 if finished == self.finished else 0
        self.finished = finished
        if self.calls > 10 and finished < jobs:
            raise PolicyError(
                f"after thousands of passes {finished} of {jobs} jobs have finished, and the "
                f"policy continues",
                law="ends",
            )


def judged(policy: Policy, instance: Instance, laws: frozenset[str]) -> Iterator[Broken]:
    """Every invariant that a policy breaks on one workload, of those asked for."""

    workload = instance.workload()
    try:
        schedule = run(policy, workload, instance.procs)
    except PolicyError as error:
        law = error.law or "answers"
        if law in laws:
            yield Broken(law, str(error))
        return
    if len(schedule) < len(instance):
        return  # some job fits nowhere: nothing to compare
    for fault in audit(schedule, policy="").faults:
        if fault.law in laws:
            yield Broken(fault.law, fault.message)
    for law, check in SEVERAL_RUNS.items():
        if law in laws:
            message = check(policy, instance, schedule)
            if message:
                yield Broken(law, message)
            if message and law == "determinism":
                return  # every other comparison of two runs would see the same difference


def idle(policy: Policy, instance: Instance, schedule: Schedule) -> str:
    """Nothing runs, somebody waits, and nobody has been promised a later start."""
    course = Course.of(schedule)
    moments = np.unique(np.concatenate([course.end, schedule.submit]))
    promise = schedule.promise if schedule.promise is not None and schedule.promise_kind else None
    for t in moments.tolist():
        if course.running(t).any():
            continue
        waits = (schedule.submit <= t) & (schedule.end > t)
        if promise is not None:
            waits &= promise <= t
        if waits.any():
            began = int(course.start[course.start > t].min())
            return (
                f"from {seconds_text(t)} s to {seconds_text(began)} s nothing ran while "
                f"{_jobs(schedule, waits)} waited"
            )
    return ""


def peeking(policy: Policy, instance: Instance, schedule: Schedule) -> str:
    """Change what cannot be known yet; what is decided until then must be the same."""
    course = Course.of(schedule)
    moments = np.unique(np.concatenate([schedule.submit, course.start]))
    if len(moments) > 6:
        moments = moments[np.linspace(0, len(moments) - 1, 6).astype(int)]
    for t in moments.tolist():
        other = _another_future(instance, schedule, course, t)
        if other is None:
            continue
        try:
            second = Course.of(run(policy, other.workload(), instance.procs))
        except PolicyError:
            continue  # another workload on which it fails, not a difference
        before, after = course.begun(t), second.begun(t)
        if before != after:
            row = min(before ^ after, key=lambda begun: begun[::-1])[0]
            first, then = (_told({start for job, start in seen if job == row}) for seen in (before, after))
            return (
                f"job {schedule.workload.job[row]} {first}, but {then} when what comes after "
                f"{seconds_text(t)} s is otherwise: how long jobs run, which jobs are submitted, and when"
            )
    return ""


def _told(starts: set[int]) -> str:
    if not starts:
        return "does not start by then"
    return f"starts at {' and '.join(seconds_text(start) for start in sorted(starts))} s"


def _another_future(instance: Instance, schedule: Schedule, course: Course, t: int) -> Instance | None:
    """The same until ``t``; then everything that cannot be known at ``t`` is otherwise, but possible.

    Jobs that are not finished run for another time. Those that are not submitted yet come in the opposite
    order at other times, ask for something else, are of other users, and one more comes at the end.
    """
    jobs = list(instance.jobs)
    widest = max(job.procs for job in jobs)  # more may not fit, and be dropped
    later = [row for row, job in enumerate(instance.jobs) if job.submit * SECOND > t]
    for row, job in enumerate(instance.jobs):
        if row not in later:
            jobs[row] = job._replace(runtime=_another_runtime(job, schedule, course, row, t))
    for row, other in zip(later, reversed(later), strict=True):
        jobs[row] = _another_job(instance.jobs[other], instance.jobs[row].submit, widest)
    if not later and jobs == list(instance.jobs):
        return None
    last = max(job.submit for job in jobs)
    jobs.append(Request(max(last, t // SECOND + 1), widest, walltime=3, runtime=2, user=9))
    return replace(instance, jobs=tuple(jobs))


def _another_runtime(job: Request, schedule: Schedule, course: Course, row: int, t: int) -> int:
    """Another run time of a job that is possible at ``t``, where there is one (s)."""
    held = course.held(row, t)
    gone = held if held < 0 else held // SECOND
    if schedule.end[row] <= t or job.walltime <= gone:
        return job.runtime
    return job.walltime if job.runtime < job.walltime else gone + 1


def _another_job(job: Request, submit: int, widest: int) -> Request:
    """A job as unlike another as may be, submitted at about the same time."""
    return Request(
        submit=submit + 1 + submit % 3,
        procs=widest + 1 - job.procs,
        walltime=job.walltime + 7,
        runtime=job.walltime + 7 - job.runtime // 2,
        user=job.user + 3,
    )


def determinism(policy: Policy, instance: Instance, schedule: Schedule) -> str:
    """Run it again."""
    return _compared(policy, schedule, instance.workload(), 0, "when the same simulation is run again")


def renaming(policy: Policy, instance: Instance, schedule: Schedule) -> str:
    """Other numbers and names, in the opposite order."""
    workload = instance.workload()
    renamed = workload.with_columns(job=7000 - 13 * workload.job, user=100 - workload.user)
    return _compared(policy, schedule, renamed, 0, "when jobs are numbered and users are named otherwise")


def shift(policy: Policy, instance: Instance, schedule: Schedule) -> str:
    """Everything later."""
    workload = instance.workload()
    later = workload.with_columns(submit=workload.submit + SHIFT * SECOND)
    return _compared(policy, schedule, later, SHIFT * SECOND, f"when everything is submitted {SHIFT} s later")


def _compared(policy: Policy, first: Schedule, workload: Workload, later: int, when: str) -> str:
    """How the schedule of a second workload differs from the first, `later` µs allowed for."""
    try:
        # Not its capacity: that may have a group of processors besides those of the machine.
        second = run(policy, workload, first.platform.total_procs)
    except PolicyError as error:
        return f"the first run is in order, but {when} it fails: {error}"
    moved = np.flatnonzero(first.start + later != second.start)
    if not len(moved):
        return ""
    row = int(moved[np.argmin(first.start[moved])])
    starts = seconds_text(int(first.start[row])), seconds_text(int(second.start[row]) - later)
    return f"job {first.workload.job[row]} starts at {starts[0]} s, but at {starts[1]} s {when}"


def _jobs(schedule: Schedule, rows: npt.NDArray[np.bool_]) -> str:
    ids = schedule.workload.job[rows].tolist()
    return f"job{'s' * (len(ids) > 1)} {', '.join(map(str, ids[:5]))}" + (", ..." if len(ids) > 5 else "")


SEVERAL_RUNS: dict[str, Callable[[Policy, Instance, Schedule], str]] = {
    "idle": idle,
    "determinism": determinism,
    "peeking": peeking,
    "renaming": renaming,
    "shift": shift,
}
