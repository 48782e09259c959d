"""Moldable tasks: Amdahl's law, and the search for the number of processors that completes first.

Decisions.  Times are exact fractions, rounded up to the next integer once; P and the speeds are read as the
decimals they are written as.  No answer (a task that does not fit) is None.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from .jobs import Job

Law = Callable[[Fraction, int], Fraction]


def amdahl(p: Fraction, n: int) -> Fraction:
    return 1 / ((1 - p) + p / n)


def downey(p: Fraction, n: int, sigma: Fraction = Fraction(1)) -> Fraction:
    """Downey's speedup for average parallelism A and variance sigma, with the limit A = 1 / (1 - p)."""
    if p == 1:
        return Fraction(n)
    a, s = 1 / (1 - p), sigma
    if s <= 1:
        if n <= a:
            return a * n / (a + s * (n - 1) / 2)
        return a * n / (s * (a - Fraction(1, 2)) + n * (1 - s / 2)) if n <= 2 * a - 1 else a
    return n * a * (s + 1) / (s * (n + a - 1) + a) if n <= a + a * s - s else a


speedup = amdahl


def moldable(job: Job) -> bool:
    """Local tasks and tasks that were sequential in the trace stay as they are."""
    return job.parallel_fraction is not None and not job.local and job.procs > 1


def time_on(job: Job, time: int, n: int, speed: Fraction, law: Law = amdahl) -> int:
    """A time of the trace (reference speed 1, the trace's processors) on n processors of a cluster."""
    if not moldable(job):
        assert n == job.procs
        return math.ceil(time / speed)
    assert job.parallel_fraction is not None
    p = job.parallel_fraction
    return math.ceil(time * law(p, job.procs) / law(p, n) / speed)


def tune(ect: Callable[[int], int], top: int, method: str = "binary") -> tuple[int, int]:
    """(completion, processors) of the best size among those the method looks at; ties: fewer processors."""
    if method in ("bounded", "exhaustive"):
        return min((ect(n), n) for n in range(1, top + 1))
    assert method == "binary"
    seen = {n: ect(n) for n in (1, top)}
    lo, hi = 1, top
    while hi - lo > 1:
        mid = (lo + hi) // 2
        seen[mid] = ect(mid)
        if seen[lo] <= seen[hi]:
            hi = mid
        else:
            lo = mid
    return min((completion, n) for n, completion in seen.items())
