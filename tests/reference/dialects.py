"""EASY as other simulators run it, written plainly from the rules; for jobs that take some time.

Decisions.
- Each dialect says in which order the events of one instant come, and after which of them there is a pass.
  Ends of one instant come in the order of starting, submissions in the order of the file, but by their ids as
  strings with the batsched dialects.
- A pass works on what the scheduler believes: ``believed`` are the runs that it takes for running.
- Processors have numbers for everybody; a job gets the lowest free ones. Only batsched looks at them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .jobs import Job, Result

SUBMIT, END = "submit", "end"
SECOND = 1_000_000


@dataclass
class Running:
    job: Job
    start: int
    machines: frozenset[int]

    @property
    def end(self) -> int:
        return self.start + self.job.length

    @property
    def expected(self) -> int:
        return self.start + self.job.walltime


class Textbook:
    """All events of an instant, then one pass."""

    def __init__(self, jobs: Sequence[Job], m: int) -> None:
        self.m = m
        self.coming = sorted(jobs, key=self.place_in_line)
        self.running: list[Running] = []
        self.waiting: list[Job] = []
        self.results: dict[int, Result] = {}

    def place_in_line(self, job: Job) -> tuple[object, ...]:
        return (job.submit,)  # sorting keeps the order of the file

    def simulate(self) -> dict[int, Result]:
        while self.coming or self.running or self.waiting:
            self.instant(self.next_time())
        return self.results

    def next_time(self) -> int:
        return min([job.submit for job in self.coming] + [run.end for run in self.running])

    def instant(self, t: int) -> None:
        while self.due(t):
            self.see_end(self.due(t)[0])
        while self.newcomers(t):
            self.see_submission()
        self.do_pass(t)

    def due(self, t: int) -> list[Running]:
        return [run for run in self.running if run.end == t]

    def newcomers(self, t: int) -> list[Job]:
        return [job for job in self.coming if job.submit == t]

    def see_end(self, run: Running) -> None:
        self.running.remove(run)

    def see_submission(self) -> None:
        self.waiting.append(self.coming.pop(0))

    # ---- a pass -------------------------------------------------------------------------------------------

    def believed(self, t: int) -> list[Running]:
        return self.running

    def free_machines(self, t: int) -> list[int]:
        taken = {number for run in self.believed(t) for number in run.machines}
        return [number for number in range(self.m) if number not in taken]

    def start(self, t: int, job: Job, why: str, machines: list[int]) -> None:
        if why == "head" and job.submit == t:
            why = "immediate"
        self.waiting.remove(job)
        self.running.append(Running(job, t, frozenset(machines[: job.procs])))
        self.results[job.id] = Result(t, t + job.length, job.runtime > job.walltime, why)

    def start_heads(self, t: int) -> None:
        while self.waiting and self.waiting[0].procs <= len(self.free_machines(t)):
            self.start(t, self.waiting[0], "head", self.free_machines(t))

    def shadow(self, t: int) -> int:
        head = self.waiting[0]
        for x in sorted(run.expected for run in self.believed(t)):
            if len(self.free_at(t, x)) >= head.procs:
                return max(t, x)
        raise AssertionError("the head never fits")

    def free_at(self, t: int, x: int) -> list[int]:
        """Numbers that will be free at ``x`` if every run lasts as long as was requested."""
        taken = {number for run in self.believed(t) if run.expected > x for number in run.machines}
        return [number for number in range(self.m) if number not in taken]

    def judged(self, job: Job) -> int:
        """How long a candidate is taken to run."""
        return job.walltime

    def do_pass(self, t: int) -> None:
        self.start_heads(t)
        if not self.waiting:
            return
        shadow = self.shadow(t)
        extra = len(self.free_at(t, shadow)) - self.waiting[0].procs
        for job in self.waiting[1:]:
            if job.procs > len(self.free_machines(t)):
                continue
            if t + self.judged(job) <= shadow:
                self.start(t, job, "backfill", self.free_machines(t))
            elif job.procs <= extra:
                self.start(t, job, "backfill", self.free_machines(t))
                extra -= job.procs


class Pyss(Textbook):
    """Submissions first, a pass after each; then ends, a pass after each; expired requests count as free."""

    def believed(self, t: int) -> list[Running]:
        return [run for run in self.running if run.expected > t]

    def instant(self, t: int) -> None:
        while self.newcomers(t):
            self.see_submission()
            self.do_pass(t)
        while self.due(t):
            self.see_end(self.due(t)[0])
            self.do_pass(t)


class Cqsim(Textbook):
    """Ends first, a pass after each; then submissions, a pass after each; candidates by their real times."""

    def judged(self, job: Job) -> int:
        return job.length

    def instant(self, t: int) -> None:
        while self.due(t):
            self.see_end(self.due(t)[0])
            self.do_pass(t)
        while self.newcomers(t):
            self.see_submission()
            self.do_pass(t)


class Batsched(Textbook):
    """The reservation is a set of numbers; who runs past the shadow needs free ones outside it."""

    def place_in_line(self, job: Job) -> tuple[object, ...]:
        return (job.submit, str(job.id))

    def do_pass(self, t: int) -> None:
        self.start_heads(t)
        if not self.waiting:
            return
        head, shadow = self.waiting[0], self.shadow(t)
        held = self.free_at(t, shadow)[: head.procs]
        for job in self.waiting[1:]:
            free = self.free_machines(t)
            if t + job.walltime > shadow:
                free = [number for number in free if number not in held]
            if job.procs <= len(free):
                self.start(t, job, "backfill", free)


class BatschedFast(Textbook):
    """The shadow time is computed once, and a candidate must end by it."""

    place_in_line = Batsched.place_in_line

    def __init__(self, jobs: Sequence[Job], m: int) -> None:
        super().__init__(jobs, m)
        self.reserved: dict[int, int] = {}

    def do_pass(self, t: int) -> None:
        self.start_heads(t)
        if not self.waiting:
            return
        head = self.waiting[0]
        if head.id not in self.reserved:
            self.reserved[head.id] = self.shadow(t)
        for job in self.waiting[1:]:
            if job.procs <= len(self.free_machines(t)) and t + job.walltime <= self.reserved[head.id]:
                self.start(t, job, "backfill", self.free_machines(t))


class Accasim(BatschedFast):
    """The head waits for its date; the others start whenever they fit. Time goes on second by second."""

    place_in_line = Textbook.place_in_line

    def __init__(self, jobs: Sequence[Job], m: int) -> None:
        super().__init__(jobs, m)
        # A clock at 0 counts as not set: it is set to a second before the next job that is read.
        times = sorted({job.submit for job in jobs})
        read_at_0 = {0: times[5:6], SECOND: times[1:3]}.get(times[0], [])
        self.stops = [time - SECOND for time in read_at_0]

    def next_time(self) -> int:
        if self.coming or self.running or self.stops:
            return min(self.stops + [job.submit for job in self.coming] + [run.end for run in self.running])
        return self.reserved[self.waiting[0].id]

    def do_pass(self, t: int) -> None:
        self.stops = [stop for stop in self.stops if stop > t]
        while self.waiting and self.reserved.get(self.waiting[0].id, t) <= t:
            head = self.waiting[0]
            if head.procs > len(self.free_machines(t)):
                self.reserved.setdefault(head.id, self.shadow(t))
                break
            self.start(t, head, "head", self.free_machines(t))
        for job in self.waiting[1:]:
            if job.procs <= len(self.free_machines(t)):
                self.start(t, job, "backfill", self.free_machines(t))


DIALECTS = {
    "textbook": Textbook,
    "pyss": Pyss,
    "batsched": Batsched,
    "batsched-fast": BatschedFast,
    "cqsim": Cqsim,
    "accasim": Accasim,
}


def simulate_dialect(jobs: Sequence[Job], m: int, dialect: str) -> list[Result]:
    """Results in list order."""
    results = DIALECTS[dialect](jobs, m).simulate()
    return [results[job.id] for job in jobs]
