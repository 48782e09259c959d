"""Time moves here, and the processors are counted here.

Order inside one instant t: completions and kills due at t; all arrivals of t, in file order; one scheduling
pass.  A job of length zero started in the pass ends in another turn at the same t (with no arrivals), which
brings another pass.  Nothing polls: the next instant is the earliest of the next arrival, the next end and
what the policy asked to be woken for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .jobs import Job, Result


def drive(
    jobs: Sequence[Job],
    next_event: Callable[[], int | None],
    turn: Callable[[int, list[int]], None],
) -> None:
    """Call ``turn(t, arrivals)`` at every instant at which something happens, until nothing is left."""
    coming = sorted(range(len(jobs)), key=lambda j: jobs[j].submit)  # stable: file order within one instant
    before, turns = None, 0
    while True:
        due = [x for x in (jobs[coming[0]].submit if coming else None, next_event()) if x is not None]
        if not due:
            return
        t = min(due)
        assert before is None or t >= before, "time runs backwards"
        turns = turns + 1 if t == before else 0
        assert turns <= len(jobs), f"the instant {t} never ends"
        before = t
        arrivals = [j for j in coming if jobs[j].submit == t]
        coming = [j for j in coming if jobs[j].submit != t]
        turn(t, arrivals)


def soonest(*times: int | None) -> int | None:
    """The smallest of the times that exist."""
    return min((x for x in times if x is not None), default=None)


@dataclass(frozen=True)
class Run:
    """One execution: ``end`` is what the world knows, ``expected`` is start + walltime."""

    job: int
    start: int
    end: int
    procs: int
    expected: int


class Machine:
    """m interchangeable processors and the jobs running on them."""

    def __init__(self, jobs: Sequence[Job], m: int) -> None:
        self.jobs = jobs
        self.m = m
        self.running: list[Run] = []
        self.results: dict[int, Result] = {}

    @property
    def free(self) -> int:
        return self.m - sum(run.procs for run in self.running)

    def start(self, t: int, j: int, why: str, promise: int | None = None) -> Run:
        job = self.jobs[j]
        assert job.procs <= self.free, f"job {job.id} does not fit at {t}"
        assert job.submit <= t
        run = Run(j, t, t + job.length, job.procs, t + job.walltime)
        self.running.append(run)
        self.results[j] = Result(run.start, run.end, job.runtime > job.walltime, why, promise)
        return run

    def complete(self, t: int) -> list[Run]:
        """Take away, in starting order, the jobs whose end (or kill at the walltime) is due."""
        ended = [run for run in self.running if run.end <= t]
        assert all(run.end == t for run in ended), "an end was slept through"
        self.running = [run for run in self.running if run.end > t]
        return ended

    def stop(self, run: Run) -> None:
        """End a run before its time (the job will run again: it has no result now)."""
        self.running.remove(run)
        del self.results[run.job]

    def next_end(self) -> int | None:
        return min((run.end for run in self.running), default=None)


class Policy(Protocol):
    """What a scheduling policy of one machine is told and asked, in the order of one instant."""

    waiting: list[int]

    def ended(self, t: int, runs: list[Run]) -> None: ...

    def arrive(self, t: int, j: int) -> None: ...

    def schedule(self, t: int) -> None: ...

    def wake(self) -> int | None: ...


class Queue:
    """What policies have in common whose jobs simply wait."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.waiting: list[int] = []

    def ended(self, t: int, runs: list[Run]) -> None:
        pass

    def arrive(self, t: int, j: int) -> None:
        self.waiting.append(j)

    def wake(self) -> int | None:
        return None


def simulate(jobs: Sequence[Job], m: int, policy_on: Callable[[Machine], Policy]) -> list[Result]:
    """Run one policy on one machine; results in list order."""
    machine = Machine(jobs, m)
    run(machine, policy_on(machine))
    assert not machine.running and len(machine.results) == len(jobs), "a job never ran"
    return [machine.results[j] for j in range(len(jobs))]


def run(machine: Machine, policy: Policy) -> None:
    """Run one policy until nothing is left to do."""

    def turn(t: int, arrivals: list[int]) -> None:
        policy.ended(t, machine.complete(t))
        for j in arrivals:
            policy.arrive(t, j)
        policy.schedule(t)

    drive(machine.jobs, lambda: soonest(machine.next_end(), policy.wake()), turn)
