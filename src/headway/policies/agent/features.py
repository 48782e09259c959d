"""What an agent sees, version 1: numbers from 0 to 1, the same in an environment and in a simulation.

Of each of the first W waiting jobs (its slot), and of the machine. Nothing of it is in the future: requests,
not run times, and the ends that requests imply. An absent job's features are 0.

    slot      present, size (of the machine), request, waited, fits now, may pass
    machine   free share, queue, running jobs, shadow time, time of day as a point on a circle (two numbers)

Times are on a scale of logarithms, log(1 + seconds) over that of a week, 1 beyond it; so are counts, over
those of 1,000 jobs. The shadow time is how long until enough processors are free for the job that has waited
longest; *may pass* says that a job is over by then or needs none of that job's processors.
"""

from __future__ import annotations

import math

import numpy as np

from headway.jit.kernels import kernel
from headway.units import SECOND

VERSION = 1
PRESENT, SIZE, REQUEST, WAITED, FITS, PASSES = range(6)
OF_SLOT = 6
FREE_SHARE, QUEUED, RUNNING_NOW, SHADOW, DAY_X, DAY_Y = range(6)
OF_MACHINE = 6
NAMES = ("present", "size", "request", "waited", "fits", "may_pass")
WEIGHED_NAMES = ("waited", "size", "request", "area")
WEIGHED = 4
"""What a priority weighs, where an agent sets its weights."""

WEEK = math.log1p(7 * 86_400.0)
MANY = math.log1p(1_000.0)


@kernel
def on_scale(us: int) -> float:
    """A time from 0 to 1."""
    return min(math.log1p(max(us, 0) / SECOND) / WEEK, 1.0)


@kernel
def count_on_scale(count: int) -> float:
    """A number of jobs from 0 to 1."""
    return min(math.log1p(float(count)) / MANY, 1.0)


@kernel
def as_seen(value: float) -> float:
    """A number as precise as environments show it."""
    return float(np.float32(value))


@kernel
def weighed(part: int, waited: float, size: float, request: float) -> float:
    """What one weight of a priority is for, from 0 to 1."""
    if part == 0:
        return waited
    if part == 1:
        return size
    return request if part == 2 else size * request


@kernel
def around_the_day(t: int, origin: int, quarter: float) -> float:
    """The time of day as a coordinate of a point on a circle, from 0 to 1."""
    return 0.5 + 0.5 * math.cos(2 * math.pi * (((t // SECOND + origin) % 86_400) / 86_400.0 - quarter))
