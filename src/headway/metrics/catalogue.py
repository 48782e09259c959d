"""Every metric of a summary as data: its name, unit, formula in words, source and computation.

Tables with units and the reference documentation are made from this list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from headway.metrics.over_time import longest_queue, waiting_intervals
from headway.metrics.own_numbers import OWN, unavailable
from headway.metrics.sample import Sample, stretch, utilization, walltime_slowdown
from headway.metrics.statistics import (
    COUNT,
    LARGEST_RATIO,
    LARGEST_TIME,
    MEAN_RATIO,
    MEAN_TIME,
    Reducer,
    ratio_quantile,
    seconds,
    time_quantile,
    total,
)

Value = int | float | None

FEITELSON = "Feitelson and Rudolph, Metrics and benchmarking for parallel job scheduling, JSSPP 1998"
ZOTKIN = "Zotkin and Keleher, Job-length estimation and performance in backfilling schedulers, HPDC 1999"
LITTLE = "Little, A proof for the queuing formula L = λW, Operations Research 1961"


@dataclass(frozen=True)
class Metric:
    """One number of a summary. `better` says which direction is an improvement, where one is.

    `of` a sample is a column, which `by` reduces; without `by` it is the number itself, of a whole run.
    """

    name: str
    unit: Literal["s", "jobs", "processor-seconds", "1"]
    formula: str
    of: Callable[[Sample], Any]
    reference: str = ""
    better: Literal["lower", "higher", ""] = "lower"
    by: Reducer | None = None

    def compute(self, sample: Sample) -> Value:
        """The number of a whole run."""
        found = self.of(sample)
        return found if self.by is None else self.by.whole(found)


def _makespan(sample: Sample) -> Value:
    return None if sample.span is None else seconds(sample.span)


def _mean_queue(sample: Sample) -> Value:
    begin, end = waiting_intervals(sample.schedule)
    return total(end - begin) / sample.span if sample.span else None


METRICS: tuple[Metric, ...] = (
    Metric(
        "jobs", "jobs", "scheduled jobs that are measured",
        lambda s: np.ones(len(s.rows), np.bool_), better="", by=COUNT,
    ),
    Metric(
        "dropped", "jobs", "jobs of the log that were not scheduled; the ledger names them",
        lambda s: s.schedule.workload.ledger.dropped, better="",
    ),
    Metric("makespan", "s", "last end - first submission", _makespan),
    Metric(
        "utilization", "1",
        "sum of procs x (time running or loading in the final run) / (processors x makespan, less what was "
        "down or under maintenance)",
        lambda s: utilization(s.areas.useful, s.schedule.capacity, s.span, unavailable(s.schedule)),
        FEITELSON, "higher",
    ),
    Metric(
        "wasted_area", "processor-seconds", "procs x time of runs that were killed to start again",
        lambda s: s.areas.wasted,
    ),
    Metric(
        "swap_area", "processor-seconds", "procs x time of swapping memory out and in",
        lambda s: s.areas.swap,
    ),
    Metric(
        "load_area", "processor-seconds", "procs x time of loading input files; part of the utilization",
        lambda s: s.areas.load,
    ),
    Metric(
        "mean_wait", "s", "mean of wait = start of the final run - submission",
        lambda s: s.wait, by=MEAN_TIME,
    ),
    Metric("median_wait", "s", "median of wait", lambda s: s.sorted_wait, by=time_quantile(50)),
    Metric(
        "p95_wait", "s", "95th percentile of wait, interpolated linearly",
        lambda s: s.sorted_wait, by=time_quantile(95),
    ),
    Metric("max_wait", "s", "largest wait", lambda s: s.wait, by=LARGEST_TIME),
    Metric(
        "mean_response", "s", "mean of response = end - submission (flow or turnaround time)",
        lambda s: s.flow, FEITELSON, by=MEAN_TIME,
    ),
    Metric(
        "mean_slowdown", "1",
        "mean of response / p over jobs with p > 0, p = min(runtime, walltime); a mean of ratios",
        lambda s: s.slowdown, FEITELSON, by=MEAN_RATIO,
    ),
    Metric(
        "slowdown_excluded", "jobs", "jobs with p = 0, which have no slowdown",
        lambda s: s.run <= 0, better="", by=COUNT,
    ),
    Metric(
        "mean_bsld", "1", "mean of the bounded slowdown max(response / max(p, tau), 1)",
        lambda s: s.bounded_slowdown, FEITELSON, by=MEAN_RATIO,
    ),
    Metric(
        "median_bsld", "1", "median of the bounded slowdown",
        lambda s: s.bounded_slowdown, FEITELSON, by=ratio_quantile(50),
    ),
    Metric(
        "max_bsld", "1", "largest bounded slowdown", lambda s: s.bounded_slowdown, FEITELSON,
        by=LARGEST_RATIO,
    ),
    Metric(
        "mean_pp_bsld", "1",
        "mean of the per-processor bounded slowdown max(response / (procs x max(p, tau)), 1)",
        lambda s: s.per_processor, ZOTKIN, by=MEAN_RATIO,
    ),
    Metric(
        "mean_walltime_slowdown", "1", "mean of (wait + walltime) / walltime over jobs with walltime > 0",
        lambda s: walltime_slowdown(s.wait, s.walltime), by=MEAN_RATIO,
    ),
    Metric("tau", "s", "the bound of the bounded slowdowns", lambda s: seconds(s.tau), better=""),
    Metric(
        "killed", "jobs", "jobs killed at their walltime",
        lambda s: s.column(s.schedule.killed), better="", by=COUNT,
    ),
    Metric(
        "mean_queue", "jobs", "time-weighted mean number of waiting jobs over the makespan",
        _mean_queue, LITTLE,
    ),
    Metric(
        "max_queue", "jobs", "largest number of waiting jobs at any instant",
        lambda s: longest_queue(s.schedule),
    ),
)  # fmt: skip

STRETCH = Metric(
    "mean_stretch", "1",
    "mean of response / (p + time to read the input file alone); where jobs have input files",
    lambda s: stretch(s.flow, s.run, s.load), by=MEAN_RATIO,
)  # fmt: skip
"""Only where the workload has input files: without any it is the slowdown."""

BY_NAME = {metric.name: metric for metric in (*METRICS, STRETCH)}
ALWAYS_SHOWN = ("jobs", "dropped", "killed")
"""Counts that are shown even where they are 0."""

# Units of numbers that only their policy knows, by how the name ends.
ENDINGS = {
    "s": ("_wait", "_response", "_delay", "_flow"),
    "1": ("_slowdown", "_bsld", "_stretch", "_share"),
    "jobs": ("_jobs",),
    "tasks": ("_tasks",),
    "days": ("_days",),
}


def unit_of(name: str) -> str:
    """The unit of a number of a summary; "1" for a ratio, nothing where only its policy knows.

    >>> unit_of("mean_wait"), unit_of("urgent_mean_slowdown"), unit_of("usage_warm_up_days")
    ('s', '1', 'days')
    """
    if name in BY_NAME:
        return BY_NAME[name].unit
    if name in OWN:
        return OWN[name][0]
    return next((unit for unit, ends in ENDINGS.items() if name.endswith(ends)), "")


def meaning_of(name: str) -> str:
    """What a number of a summary is; nothing where only its policy knows.

    >>> meaning_of("max_wait"), meaning_of("regular_mean_wait"), meaning_of("luck")
    ('largest wait', 'mean wait of jobs that are not urgent', '')
    """
    return BY_NAME[name].formula if name in BY_NAME else OWN.get(name, ("", ""))[1]


def unit_text(unit: str) -> str:
    """A unit as tables show it: "1" is a ratio, a quotient of two times or of two areas."""
    return "ratio" if unit == "1" else unit


def says_something(name: str, *values: object) -> bool:
    """Whether a number of summaries is shown: a count or an area that is 0 in all of them says nothing."""
    is_count = name in BY_NAME and BY_NAME[name].unit in ("jobs", "processor-seconds")
    return any(values) or not is_count or name in ALWAYS_SHOWN
