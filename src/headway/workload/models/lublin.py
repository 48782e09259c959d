"""The workload model of Lublin and Feitelson: sizes, run times and a daily cycle of arrivals.

U. Lublin and D. G. Feitelson, "The workload on parallel supercomputers: modeling the characteristics of rigid
jobs", Journal of Parallel and Distributed Computing 63(11), 2003, pages 1105-1122. The constants are those of
the authors' program. Three sets exist: batch jobs, interactive jobs, and one for logs that do not tell them
apart ("typeless").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor, log2, sqrt
from typing import Literal

import numpy as np

from headway.arrays import Floats, Ints
from headway.binding import canonical, describe
from headway.errors import UsageError
from headway.units import SECOND
from headway.workload.models.daily_cycle import (
    BUCKET_SECONDS,
    Curve,
    clock_of,
    times_of_points,
)
from headway.workload.models.generated import generated
from headway.workload.table import Workload


@dataclass(frozen=True)
class JobClass:
    """The constants of one class of jobs.

    serial, power_of_two: shares of jobs. low, med, high, low_share: log2 of a parallel size is uniform on
    [low, med] with probability low_share, else on [med, high]; the values are those of a machine of 128.
    a1, b1, a2, b2: shape and scale of the two gamma distributions of ln(run time); the first is taken with
    probability pa x size + pb. gap_shape, gap_scale: gamma distribution of ln(gap) in the rush hours, whose
    shape is multiplied by all_day for the whole day. cycle_shape, cycle_scale: arrivals over the day.
    """

    serial: float
    power_of_two: float
    low: float
    med: float
    high: float
    low_share: float
    a1: float
    b1: float
    a2: float
    b2: float
    pa: float
    pb: float
    gap_shape: float
    gap_scale: float
    cycle_shape: float
    cycle_scale: float
    all_day: float

    def size_range(self, procs: int) -> tuple[float, float, float]:
        """(low, med, high) of log2(size) on another machine: high and med move with log2 of its size."""
        high = max(log2(procs) + self.high - 7.0, 0.0)
        low = min(self.low, high)
        return low, max(high - (self.high - self.med), low), high


TYPELESS = JobClass(
    serial=0.244, power_of_two=0.576, low=0.8, med=4.5, high=7.0, low_share=0.86,
    a1=4.2, b1=0.94, a2=312.0, b2=0.03, pa=-0.0054, pb=0.78,
    gap_shape=10.2303, gap_scale=0.4871, cycle_shape=8.1737, cycle_scale=3.9631, all_day=1.0225,
)  # fmt: skip
BATCH = JobClass(
    serial=0.2927, power_of_two=0.6686, low=1.2, med=5.0, high=7.0, low_share=0.875,
    a1=6.57, b1=0.823, a2=639.1, b2=0.0156, pa=-0.003, pb=0.6986,
    gap_shape=6.0415, gap_scale=0.8531, cycle_shape=6.1271, cycle_scale=5.2740, all_day=1.0519,
)  # fmt: skip
INTERACTIVE = JobClass(
    serial=0.1541, power_of_two=0.625, low=1.0, med=3.0, high=5.5, low_share=0.705,
    a1=3.8351, b1=0.6605, a2=7.073, b2=0.6856, pa=-0.0118, pb=0.9156,
    gap_shape=6.5510, gap_scale=0.6621, cycle_shape=8.9186, cycle_scale=3.6680, all_day=0.9797,
)  # fmt: skip


Kind = Literal["typeless", "batch", "interactive", "both"]

LONGEST_LOG_RUN = 12.0
"""Run times are redrawn above e^12 s, about 45 hours."""

LONGEST_LOG_GAP = 13.0
"""Gaps between arrivals are redrawn above e^13 s, about five days of mean activity."""


CLASSES: dict[str, tuple[tuple[JobClass, int], ...]] = {
    "typeless": ((TYPELESS, -1),),
    "batch": ((BATCH, 1),),
    "interactive": ((INTERACTIVE, 0),),
    "both": ((INTERACTIVE, 0), (BATCH, 1)),
}
"""Job classes of each kind of workload, and their queue numbers (0 is interactive by SWF's convention)."""


def sizes(job_class: JobClass, count: int, procs: int, rng: np.random.Generator) -> Ints:
    """Processors of each job, 1..procs."""
    low, med, high = job_class.size_range(procs)
    kind = rng.random(count)
    in_low = rng.random(count) <= job_class.low_share
    place = rng.random(count)
    exponent = np.where(in_low, low + place * (med - low), med + place * (high - med))
    rounded = kind <= job_class.serial + job_class.power_of_two
    # The rounded exponent must stay a power of two that the machine can hold.
    exponent = np.where(rounded, np.minimum(np.floor(exponent + 0.5), floor(log2(procs))), exponent)
    parallel = np.minimum(np.floor(np.exp2(exponent) + 0.5), procs)
    return np.where(kind <= job_class.serial, 1, parallel).astype(np.int64)


def run_times(job_class: JobClass, size: Ints, rng: np.random.Generator) -> Ints:
    """Run time of each job in whole seconds, 1..e^12, longer for larger jobs."""
    first_share = np.clip(job_class.pa * size + job_class.pb, 0.0, 1.0)
    log_run = np.full(len(size), np.inf)
    again = np.arange(len(size))
    while len(again):
        first = rng.random(len(again)) <= first_share[again]
        draw = np.where(
            first,
            rng.gamma(job_class.a1, job_class.b1, len(again)),
            rng.gamma(job_class.a2, job_class.b2, len(again)),
        )
        log_run[again] = draw
        again = again[draw > LONGEST_LOG_RUN]
    return np.asarray(np.floor(np.exp(log_run)), np.int64)


def arrival_points(job_class: JobClass, count: int, rng: np.random.Generator) -> Floats:
    """Cumulative points (half hours of mean activity) at which each job arrives."""
    log_gap = np.full(count, np.inf)
    again = np.arange(count)
    while len(again):
        draw = rng.gamma(job_class.gap_shape * job_class.all_day, job_class.gap_scale, len(again))
        log_gap[again] = draw
        again = again[draw > LONGEST_LOG_GAP]
    return np.cumsum(np.exp(log_gap) / BUCKET_SECONDS)


@dataclass(frozen=True)
class _Stream:
    """The jobs of one class before their arrivals are put on the clock."""

    queue: int
    points: Floats
    curve: Curve
    size: Ints
    run: Ints


def _merge(streams: list[_Stream], jobs: int, stretch: float) -> tuple[Floats, Ints, Ints]:
    """Arrival times (s), stream number and place in the stream of the first `jobs` arrivals."""
    times = [times_of_points(s.points * stretch, s.curve) for s in streams]
    if len(streams) == 1:
        return times[0], np.zeros(jobs, np.int64), np.arange(jobs)
    every = np.concatenate(times)
    order = np.argsort(every, kind="stable")[:jobs]
    return every[order], order // jobs, order % jobs


def _area_and_span(streams: list[_Stream], jobs: int) -> Callable[[float], tuple[float, float]]:
    """By the factor on all gaps, the sum of run x size of the first `jobs` arrivals, and their span (s)."""
    if len(streams) == 1:  # all jobs of the stream, in its order: the times of two of them are enough
        only = streams[0]
        whole, time_of_point = float(np.dot(only.size, only.run)), clock_of(only.curve)
        first, last = only.points[[0, -1]].tolist()
        return lambda stretch: (whole, time_of_point(last * stretch) - time_of_point(first * stretch))

    def of(stretch: float) -> tuple[float, float]:
        times, which, place = _merge(streams, jobs, stretch)
        area = 0.0
        for k, stream in enumerate(streams):
            chosen = place[which == k]
            area += float(np.dot(stream.size[chosen], stream.run[chosen]))
        return area, times[-1] - times[0]

    return of


def _stretch_for_load(streams: list[_Stream], jobs: int, procs: int, load: float) -> float:
    """The factor on all gaps, before the daily cycle is applied, that gives the offered load wanted.

    The daily cycle keeps its 24 hours; only the number of jobs a day changes. The load falls as the
    factor grows, nearly like 1 / factor: proportional steps come close, then the bracket is halved.
    """
    low, high, factor, best = 1e-9, 1e9, 1.0, (np.inf, 1.0)
    area_and_span = _area_and_span(streams, jobs)
    for turn in range(80):
        area, span = area_and_span(factor)
        reached = area / (procs * max(span, 1e-9))
        best = min(best, (abs(reached / load - 1.0), factor))
        if best[0] < 1e-7:
            break
        low, high = (factor, high) if reached > load else (low, factor)
        factor *= reached / load
        if turn >= 8 or not low < factor < high:
            factor = sqrt(low * high)
    return float(best[1])


def lublin_jobs(
    jobs: int,
    procs: int,
    seed: int,
    load: float | None = None,
    kind: Kind = "typeless",
    start_hour: float = 0.0,
) -> dict[str, Ints]:
    """Columns submit, procs, runtime (times in whole seconds) and queue of a Lublin-Feitelson workload.

    load: offered load, sum(run x size) / (procs x span of the arrivals); None leaves the model's own.
    start_hour: hour of the day at time 0 (whole half hours).
    """
    if jobs < 0 or procs < 1:
        raise UsageError(f"lublin: jobs must be at least 0 and procs at least 1, not {jobs} and {procs}")
    if kind not in CLASSES:
        raise UsageError(f"lublin: kind must be one of {', '.join(CLASSES)}, not {kind!r}")
    if load is not None and (load <= 0 or jobs < 2):
        raise UsageError(f"lublin: a load must be above 0 and needs two jobs, not {load} with {jobs} jobs")
    if not 0 <= start_hour < 24 or start_hour * 2 != int(start_hour * 2):
        raise UsageError(f"lublin: start_hour must be a half hour of 0..23.5, not {start_hour}")
    streams = []
    seeds = np.random.SeedSequence(seed).spawn(len(CLASSES[kind]))
    for (job_class, queue), root in zip(CLASSES[kind], seeds, strict=True):
        # Sizes, run times and arrivals have their own generators: one can change and the others stay.
        size_rng, run_rng, gap_rng = (np.random.Generator(np.random.PCG64(s)) for s in root.spawn(3))
        size = sizes(job_class, jobs, procs, size_rng)
        run = run_times(job_class, size, run_rng)
        curve = Curve.of_class(job_class.cycle_shape, job_class.cycle_scale, start_hour)
        streams.append(_Stream(queue, arrival_points(job_class, jobs, gap_rng), curve, size, run))
    stretch = 1.0 if load is None else _stretch_for_load(streams, jobs, procs, load)
    times, which, place = _merge(streams, jobs, stretch)
    return {
        "submit": np.floor(times).astype(np.int64),
        "procs": np.choose(which, [s.size[place] for s in streams]).astype(np.int64),
        "runtime": np.choose(which, [s.run[place] for s in streams]).astype(np.int64),
        "queue": np.array([s.queue for s in streams], np.int64)[which],
    }


def lublin(
    jobs: int,
    procs: int = 128,
    seed: int = 0,
    load: float | None = None,
    kind: Kind = "typeless",
    estimates: str = "exact",
    start_hour: float = 0.0,
) -> Workload:
    """A workload of the Lublin-Feitelson model.

    jobs: how many.
    procs: processors of the machine; the largest job takes all of them.
    seed: of the random numbers.
    load: offered load, sum(run x size) / (procs x span of the arrivals); none leaves the model's own.
    kind: typeless, batch, interactive, or both (queue 0 is interactive, 1 is batch).
    estimates: exact, tsafrir, tsafrir(longest=..., distinct=...) or f(2); the last is unrealistic.
    start_hour: hour of the day at time 0, in half hours.
    """
    columns = lublin_jobs(jobs, procs, seed, load, kind, start_hour)
    columns |= {name: columns[name] * SECOND for name in ("submit", "runtime")}
    arguments = {
        "jobs": jobs, "procs": procs, "seed": seed, "load": load, "kind": kind, "estimates": estimates,
        "start_hour": start_hour,
    }  # fmt: skip
    spec = canonical("lublin", describe(lublin), arguments)
    return generated(
        columns, model="Lublin-Feitelson", spec=spec, procs=procs, estimates=estimates, seed=seed
    )
