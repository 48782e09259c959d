"""Cutting a log in time."""

from __future__ import annotations

from typing import Literal

import numpy as np

from headway.arrays import Mask
from headway.errors import UsageError
from headway.units import SECOND, microseconds
from headway.workload.table import Workload
from headway.workload.transform.rebuild import shifted
from headway.workload.transform.registry import transformation


@transformation
def window(workload: Workload, from_: float = 0.0, to: float | None = None, shift: bool = True) -> Workload:
    """Jobs submitted in [from, to); the clock then starts at `from`.

    from: first second of the window on the log's clock.
    to: first second after it; none goes to the end of the log.
    shift: whether submits (and deadlines) are moved so that the window starts at 0.
    """
    begin = microseconds(from_)
    end = None if to is None else microseconds(to)
    if end is not None and end < begin:
        raise UsageError(f"window: to ({to:g}) is before from ({from_:g})")
    inside = workload.submit >= begin
    if end is not None:
        inside &= workload.submit < end
    kept = workload.select(inside, rule="window", action="submitted outside the window: left out")
    return shifted(kept, begin) if shift else kept


@transformation
def part(workload: Workload, which: Literal["train", "test"] = "test", train: float = 0.7) -> Workload:
    """The jobs that training sees, or those behind them that it never sees; the clock stays.

    which: train, the jobs submitted in the first part of the log's time, or test, the rest.
    train: where the line is, as a share of the log's time.
    """
    if not 0 < train < 1:
        raise UsageError(f"part: train must be above 0 and below 1, not {train:g}")
    inside = before_line(workload, train)
    return workload.select(
        inside if which == "train" else ~inside, rule="part", action=f"not in the {which} part: left out"
    )


def before_line(workload: Workload, share: float) -> Mask:
    """Which jobs were submitted before this share of the log's time was over."""
    return np.asarray(workload.submit < line_of(workload, share))


def line_of(workload: Workload, share: float) -> float:
    """When this share of the log's time is over (µs)."""
    if not len(workload):
        return 0.0
    begin, end = int(workload.submit.min()), int(workload.submit.max())
    return begin + share * (end - begin)


@transformation
def first(workload: Workload, jobs: int) -> Workload:
    """The first jobs in submission order.

    jobs: how many to keep.
    """
    if jobs < 0:
        raise UsageError(f"first: jobs must be 0 or more, not {jobs}")
    chosen = np.zeros(len(workload), np.bool_)
    chosen[workload.order[:jobs]] = True
    return workload.select(chosen, rule="first", action=f"after the first {jobs} jobs: left out")


@transformation
def from_zero(workload: Workload) -> Workload:
    """Move the clock so that the first job is submitted at 0."""
    if not len(workload):
        return workload
    begin = int(workload.submit.min())
    # Whole seconds keep the log's start date exact.
    return shifted(workload, begin - begin % SECOND)
