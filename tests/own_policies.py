"""Policies of a user's own for tests: right ones, and each kind of wrong one."""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable
from typing import Any

from headway import SECOND, Decision


def in_order(view: Any, key: Callable[[Any], Any] | None = None) -> list[Any]:
    """Start jobs in the order of a key until one does not fit."""
    starts, free = [], view.free
    for job in sorted(view.waiting, key=key) if key else view.waiting:
        if job.procs > free:
            break
        free -= job.procs
        starts.append(job)
    return starts


def fcfs(view: Any) -> list[Any]:
    """First come, first served."""
    return in_order(view)


class Limited:
    """FCFS with at most `most` jobs at once, from a queue of its own."""

    def __init__(self, most: int = 2) -> None:
        self.most = most
        self.queue: list[Any] = []

    def decide(self, view: Any) -> list[Any]:
        self.queue += view.new
        starts: list[Any] = []
        free = view.free
        while self.queue and self.queue[0].procs <= free and len(view.running) + len(starts) < self.most:
            free -= self.queue[0].procs
            starts.append(self.queue.pop(0))
        return starts


# ---- each breaks one law ---------------------------------------------------------------------------


def over_allocates(view: Any) -> Any:
    return view.waiting


def starts_unsubmitted(view: Any) -> Any:
    return [*in_order(view), len(view.column("submit"))]


def starts_twice(view: Any) -> Any:
    starts = in_order(view)
    return starts + starts[:1]


def forgets_wide_jobs(view: Any) -> Any:
    return [job for job in in_order(view) if job.procs < view.capacity]


class Sleeps:
    """Starts jobs only when it has been woken, a minute after it saw them."""

    def __init__(self) -> None:
        self.at = -1

    def decide(self, view: Any) -> Any:
        if view.now == self.at:
            return in_order(view)
        self.at = view.now + 60 * SECOND
        return Decision(wake=self.at)


def never_starts(view: Any) -> Any:
    return Decision(wake=view.now + SECOND)


def peeks(view: Any) -> Any:
    """Finds the run times where the engine keeps them."""
    runtime = sys._getframe(1).f_locals["jobs"].runtime
    return in_order(view, lambda job: int(runtime[job.number]))


def stops_short_jobs(view: Any) -> Any:
    """Begins a running job anew when others come, if it finds that the job will be short."""
    runtime = sys._getframe(1).f_locals["jobs"].runtime
    short = [job for job in view.running if view.new and runtime[job.number] < job.walltime]
    return Decision(kill=short, start=[*short, *in_order(view)])


class PeeksAtObjects:
    """Finds the run times among all objects of the process, without looking at any frame."""

    def __init__(self) -> None:
        self.jobs: Any = None

    def decide(self, view: Any) -> Any:
        if self.jobs is None:
            engines = (thing for thing in gc.get_objects() if type(thing).__name__ == "Jobs")
            self.jobs = [thing for thing in engines if hasattr(thing, "runtime") and len(thing)][-1]
        return in_order(view, lambda job: int(self.jobs.runtime[job.number]))


def peeks_at_arrivals(view: Any) -> Any:
    """Waits for a job that it knows will come within five seconds."""
    submit = sys._getframe(1).f_locals["jobs"].submit
    soon = (submit > view.now) & (submit <= view.now + 5 * SECOND)
    return Decision(wake=view.now + SECOND) if soon.any() else in_order(view)


def peeks_at_sizes(view: Any) -> Any:
    """Prefers wide jobs if a narrow one is the next to come."""
    procs = sys._getframe(1).f_locals["columns"]["procs"]
    arrived = len(view.column("procs"))
    narrow = arrived < len(procs) and procs[arrived] == 1
    return in_order(view, (lambda job: -job.procs) if narrow else (lambda job: job.procs))


def counts_all_jobs(view: Any) -> Any:
    """Its order depends on how many jobs there will be."""
    odd = len(sys._getframe(1).f_locals["jobs"]) % 2
    return in_order(view, lambda job: job.procs if odd else -job.procs)


PEEKS = {
    "frames": peeks,
    "frames, and stops": stops_short_jobs,
    "objects": PeeksAtObjects(),
    "arrivals": peeks_at_arrivals,
    "sizes": peeks_at_sizes,
    "how many": counts_all_jobs,
}


def gambles(view: Any) -> Any:
    return in_order(view, lambda job: random.random())


def likes_small_numbers(view: Any) -> Any:
    return in_order(view, lambda job: -job.id)


def watches_the_clock(view: Any) -> Any:
    return in_order(view, lambda job: job.submit // SECOND % 5)


def crashes(view: Any) -> Any:
    return in_order(view, lambda job: 1 / (job.procs - 2))


def answers_nonsense(view: Any) -> Any:
    return 3


def wakes_in_the_past(view: Any) -> Any:
    return Decision(start=in_order(view), wake=view.now)


WRONG = {
    "over_allocates": "capacity",
    "starts_unsubmitted": "submission",
    "starts_twice": "one run",
    "forgets_wide_jobs": "complete",
    "Sleeps": "idle",
    "never_starts": "ends",
    "peeks": "peeking",
    "gambles": "determinism",
    "likes_small_numbers": "renaming",
    "watches_the_clock": "shift",
    "crashes": "answers",
    "answers_nonsense": "answers",
    "wakes_in_the_past": "time",
}
"""Wrong policy -> the law it breaks."""
