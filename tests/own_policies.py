"""Policies of a user's own for tests: right ones, and each kind of wrong one."""

from __future__ import annotations

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
