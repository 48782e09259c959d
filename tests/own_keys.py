"""Keys and estimates of a user's own for tests; times in seconds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def arrival(job: Any, now: float) -> float:
    return float(job.submit)


def area(job: Any) -> float:
    return float(job.walltime * job.procs)


def expansion(job: Any, now: float) -> float:
    wall = max(job.walltime, 1.0)
    return float(-((now - job.submit + wall) / wall))


def weighted_expansion(job: Any, now: float, weight: float = 1.0) -> float:
    wall = max(job.walltime, 1.0)
    return float(-weight * ((now - job.submit + wall) / wall))


def expansion_in_python(job: Any, now: float) -> float:
    """The same in a way that numba cannot compile."""
    wall = max(vars(_Box(job.walltime)).values()) or 1.0
    wall = wall if wall > 1.0 else 1.0
    return float(-((now - job.submit + wall) / wall))


class _Box:
    def __init__(self, value: float) -> None:
        self.value = value


def length(job: Any) -> float:
    return float(job.estimate)


def times(job: Any, factor: float = 2.0) -> float:
    return float(factor * job.walltime)


def queue_first(job: Any, now: float) -> float:
    return float(np.array([job.queue * 1e6, job.submit - now]).sum())


def by_hand(job: Any, now: float) -> float:
    return float(1 / (job.procs - 4) + now)


def nothing(job: Any, now: float) -> float:
    return math.nan if now > 5 else now


def runtime(job: Any) -> float:
    return float(job.runtime)


def negative(job: Any) -> float:
    return -1.0


def three(job: Any, now: float, more: float) -> float:
    return now
