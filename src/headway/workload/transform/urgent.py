"""Urgent jobs: marked among the jobs of a log, or injected into it."""

from __future__ import annotations

from typing import Literal

import numpy as np

from headway.arrays import Ints
from headway.errors import UsageError
from headway.grammar import parse_call
from headway.units import SECOND, microseconds
from headway.workload.table import Workload
from headway.workload.transform.rebuild import (
    by_submission,
    generator,
    multiplied,
    named,
    next_job,
    with_rows,
)
from headway.workload.transform.registry import transformation

JOB_SETS: dict[str, list[list[float]]] = {"tsunami": [[128, 600], [256, 390], [512, 240]]}
"""Urgent jobs by name: [processors, seconds].

tsunami: the inundation forecast of M. Agung et al., "Preemptive parallel job scheduling for heterogeneous
systems supporting urgent computing", IEEE Access 9, 2021, Table 1: 10, 6.5 or 4 minutes on 128, 256 or
512 processors, to be ready within 10 minutes.
"""

APART = 1_000_000
"""How far apart the numbers of jobs are that are injected under different seeds."""


@transformation
def urgent(
    workload: Workload,
    queues: list[int | str] | None = None,
    users: list[int | str] | None = None,
    share: float | None = None,
    seed: int = 0,
) -> Workload:
    """Mark jobs as urgent by queue, by user or at random; those marked before stay marked.

    queues: all jobs of these queues.
    users: all jobs of these users.
    share: each job with this probability.
    seed: of the random numbers, for a share.
    """
    if queues is None and users is None and share is None:
        raise UsageError("urgent: give queues, users or a share")
    marked = np.zeros(len(workload), np.bool_)
    if "urgent" in workload:
        marked |= workload.urgent
    if queues is not None:
        marked |= named(workload, "queue", queues)
    if users is not None:
        marked |= named(workload, "user", users)
    if share is not None:
        if not 0 <= share <= 1:
            raise UsageError(f"urgent: share must be in 0..1, not {share:g}")
        marked |= by_submission(workload, generator(seed).random(len(workload)) < share)
    return workload.with_columns(urgent=marked)


@transformation
def inject(
    workload: Workload,
    jobs: str | list[list[float]] = "tsunami",
    count: int = 30,
    arrivals: str | list[float] = "uniform",
    choose: Literal["cycle", "random", "all"] = "cycle",
    stretch: float = 1.0,
    deadline: float | None = None,
    procs: int | None = None,
    seed: int = 0,
) -> Workload:
    """Add urgent jobs; the jobs of the log stay as they are.

    jobs: a set by name (tsunami), or [[processors, seconds], ...].
    count: number of arrivals, where they are drawn.
    arrivals: uniform over the log's span, poisson(mean gap in seconds), or a list of seconds.
    choose: what arrives: the jobs of the set in turn, one at random, or all of them at once.
    stretch: walltime as a multiple of the length.
    deadline: seconds after its arrival by which each must have ended; none by default.
    procs: processors of the machine, by default as the log says; wider jobs of the set are left out.
    seed: of the random numbers. Under another seed the jobs have other numbers, as they are other jobs.
    """
    shapes = _shapes(jobs, procs if procs is not None else workload.header.max_procs)
    if stretch < 1 or count < 0:
        raise UsageError("inject: stretch must be at least 1 and count at least 0")
    rng = generator(seed)
    times = _arrival_times(workload, arrivals, count, rng)
    if choose == "cycle":
        which = np.arange(len(times)) % len(shapes)
    elif choose == "random":
        which = rng.integers(0, len(shapes), len(times))
    else:
        which = np.tile(np.arange(len(shapes)), len(times))
        times = np.repeat(times, len(shapes))
    width = np.array([int(shape[0]) for shape in shapes], np.int64)[which]
    length = np.array([microseconds(shape[1]) for shape in shapes], np.int64)[which]
    added = {
        "submit": times,
        "procs": width,
        "runtime": length,
        "walltime": multiplied(length, stretch, "inject: stretch"),
        "urgent": np.ones(len(times), np.bool_),
    }
    if deadline is not None:
        if deadline < 0:
            raise UsageError("inject: deadline must be at least 0 seconds after the arrival")
        added["deadline"] = times + microseconds(deadline)
    first = next_job(workload) + seed % APART * APART
    return with_rows(workload, added, rule="inject", action="urgent jobs: added", first=first)


def _shapes(jobs: str | list[list[float]], machine: int | None) -> list[list[float]]:
    if isinstance(jobs, str):
        if jobs not in JOB_SETS:
            raise UsageError(f"inject: no set of urgent jobs {jobs}; there are {', '.join(JOB_SETS)}")
        jobs = JOB_SETS[jobs]
    if any(len(shape) != 2 or shape[0] < 1 or shape[0] % 1 or shape[1] < 0 for shape in jobs):
        raise UsageError("inject: a job is [processors, seconds]")
    fitting = [shape for shape in jobs if machine is None or shape[0] <= machine]
    if not fitting:
        raise UsageError(f"inject: every urgent job is wider than the machine of {machine} processors")
    return fitting


def _arrival_times(
    workload: Workload, arrivals: str | list[float], count: int, rng: np.random.Generator
) -> Ints:
    """Times (µs, ascending) at which urgent jobs arrive."""
    if not isinstance(arrivals, str):
        times = np.sort(np.array([microseconds(time) for time in arrivals], np.int64))
        if (times < 0).any():
            raise UsageError(f"inject: no job arrives before 0, where the clock begins: {min(arrivals)}")
        return times
    call = parse_call(arrivals)
    begin, end = (int(workload.submit.min()), int(workload.submit.max())) if len(workload) else (0, 0)
    if call.name == "uniform" and not call.args:
        seconds = np.sort(rng.uniform(begin / SECOND, end / SECOND, count))
    elif call.name == "poisson" and len(call.args) == 1 and isinstance(call.args[0], (int, float)):
        seconds = begin / SECOND + np.cumsum(rng.exponential(call.args[0], count))
    else:
        raise UsageError(f"inject: arrivals {arrivals} is not uniform, poisson(seconds) or a list of times")
    whole: Ints = np.floor(seconds).astype(np.int64) * SECOND
    return np.maximum(whole, begin)
