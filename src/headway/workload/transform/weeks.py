"""Busy weeks: windows of a log in which the machine was well used.

    log     |---------|---------|---------|---------|      aligned: one window after the other
    busy       ######    #####    ########   ##
    kept    [   71 % ]          [   83 % ]

Recorded utilization counts what the log says ran (start = submit + wait), cut at the edges of the window;
submitted utilization counts the whole work of the jobs submitted in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from headway.arrays import Floats, Ints
from headway.binding import canonical, describe
from headway.errors import UsageError
from headway.units import SECOND, microseconds, seconds_text
from headway.workload.table import Workload
from headway.workload.transform.rebuild import (
    executed_area,
    generator,
    machine_size,
    shifted,
    with_key,
)
from headway.workload.transform.registry import register_many

WEEK = 604_800.0


@dataclass(frozen=True)
class Week:
    """A window of a log: its place (from 0), start (µs on the log's clock) and utilization (0..1)."""

    number: int
    start: int
    utilization: float
    workload: Workload


def weeks(
    workload: Workload,
    at_least: float = 0.7,
    procs: int | None = None,
    placing: Literal["aligned", "sliding"] = "aligned",
    utilization: Literal["recorded", "submitted"] = "recorded",
    count: int | None = None,
    draw: int | None = None,
    length: float = WEEK,
    step: float = 3600.0,
) -> list[Week]:
    """Windows of a week in which the machine was well used, each as a workload of its own from time 0.

    at_least: smallest utilization, 0.7 for 70 %.
    procs: processors of the machine; by default as the log says.
    placing: aligned windows follow each other from the log's first submission; sliding ones start at the
        first step at which they are busy enough, and do not overlap.
    utilization: recorded (what ran, from the log's waits) or submitted (work of the jobs submitted).
    count: how many; none takes all.
    draw: a seed, to draw `count` of them instead of taking the first; they stay in order.
    length: of a window, in seconds.
    step: between possible starts of sliding windows, in seconds.
    """
    if length <= 0 or step <= 0 or (count is not None and count < 0):
        raise UsageError("weeks: length and step must be above 0 and count at least 0")
    machine = machine_size(workload, procs, "weeks")
    if not len(workload):
        return []
    origin, last = int(workload.submit.min()), int(workload.submit.max())
    span = microseconds(length)
    stride = span if placing == "aligned" else microseconds(step)
    starts = np.arange(origin, last + 1, stride, dtype=np.int64)
    used = _utilization(workload, starts, span, utilization) / (machine * length)
    chosen = _busy(starts, used, at_least, span)
    if count is not None and draw is not None and count < len(chosen):
        chosen = np.sort(generator(draw).choice(chosen, count, replace=False))
    chosen = chosen[:count]
    arguments = {
        "at_least": at_least, "procs": machine, "placing": placing, "utilization": utilization,
        "count": count, "draw": draw, "length": length, "step": step,
    }  # fmt: skip
    spec = canonical("weeks", describe(weeks, skip=1), arguments)
    return [_cut(workload, int(k), int(starts[k]), span, float(used[k]), machine, spec) for k in chosen]


def busiest_week(
    workload: Workload, procs: int | None, utilization: Literal["recorded", "submitted"]
) -> float | None:
    """The largest utilization of the weeks that follow each other from the first submission."""
    if not len(workload):
        return None
    span = microseconds(WEEK)
    starts = np.arange(int(workload.submit.min()), int(workload.submit.max()) + 1, span, dtype=np.int64)
    used = _utilization(workload, starts, span, utilization)
    return float(used.max()) / (machine_size(workload, procs, "weeks") * WEEK)


def _busy(starts: Ints, used: Floats, at_least: float, span: int) -> Ints:
    """Places of the windows to keep: busy enough, and none before the one kept last is over."""
    kept: list[int] = []
    for k in np.flatnonzero(used >= at_least).tolist():
        if not kept or starts[k] >= starts[kept[-1]] + span:
            kept.append(k)
    return np.array(kept, np.int64)


def _utilization(workload: Workload, starts: Ints, span: int, kind: str) -> Floats:
    """Processor-seconds used in each window [start, start + span)."""
    if kind == "submitted":
        order = workload.order
        total = np.concatenate([[0.0], np.cumsum(executed_area(workload)[order])])
        submit = workload.submit[order]
        return np.asarray(
            total[np.searchsorted(submit, starts + span)] - total[np.searchsorted(submit, starts)]
        )
    if "wait" not in workload or not np.any(workload.wait >= 0):
        raise UsageError(
            "weeks: the log has no waits, so its use is not known; give "
            "utilization=submitted, which is --utilization submitted of headway weeks"
        )
    ran = workload.wait >= 0
    begin = (workload.submit + workload.wait)[ran]
    width = _recorded_width(workload)[ran]
    end = begin + workload.runtime[ran]
    edges = np.concatenate([starts, starts + span])
    area = _area_until(edges, begin, width) - _area_until(edges, end, width)
    return area[len(starts) :] - area[: len(starts)]


def _recorded_width(workload: Workload) -> Floats:
    """Processors a job ran on: allocated where the log says so, else requested."""
    allocated = workload.get("allocated")
    width = workload.procs if allocated is None else np.where(allocated > 0, allocated, workload.procs)
    return width.astype(float)


def _area_until(times: Ints, since: Ints, width: Floats) -> Floats:
    """sum(width x (time - since)) over those with since < time, in processor-seconds, for each time."""
    order = np.argsort(since, kind="stable")
    at = since[order] / SECOND
    widths = np.concatenate([[0.0], np.cumsum(width[order])])
    moments = np.concatenate([[0.0], np.cumsum(width[order] * at)])
    count = np.searchsorted(since[order], times)
    area: Floats = widths[count] * (times / SECOND) - moments[count]
    return area


def _cut(
    workload: Workload, number: int, start: int, span: int, used: float, machine: int, spec: str
) -> Week:
    inside = (workload.submit >= start) & (workload.submit < start + span)
    part = workload.select(
        inside, rule="weeks", action="submitted outside the week: left out", transformation=spec
    )
    part = shifted(part, start)
    part = part.with_header(with_key(part.header, "MaxProcs", machine))
    which = f"week(number={number}, start={seconds_text(start)}, utilization={used:.6f})"
    return Week(number, start, used, part.with_columns(transformation=which))


def _workloads(workload: Workload, **arguments: object) -> list[Workload]:
    return [week.workload for week in weeks(workload, **arguments)]  # type: ignore[arg-type]


register_many("weeks", weeks, _workloads)
