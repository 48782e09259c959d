"""What a workload is like: span, offered load over time, sizes, lengths, quality of the estimates."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from headway.units import SECOND
from headway.workload.table import Workload

COLUMNS = 72
"""Intervals that the offered load over time is shown in."""

ACCURACY = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Edges of the classes of run time / request; each holds its lower edge."""

Ints = npt.NDArray[np.int64]


def describe(workload: Workload, procs: int | None) -> dict[str, Any]:
    """Plain data: `facts` (value and unit by name), `load_over_time`, `sizes` and `accuracy` (label, jobs).

    Times are in seconds. `procs` is the size of the machine; without it there is no load.
    """
    return {
        "facts": _facts(workload, procs),
        "load_over_time": _load_over_time(workload, procs),
        "sizes": _sizes(workload.procs),
        "accuracy": _accuracy(workload.runtime, workload.walltime),
    }


def _facts(workload: Workload, procs: int | None) -> dict[str, tuple[int | float | None, str]]:
    run, size = workload.runtime / SECOND, workload.procs
    span = _span(workload)
    load = float(np.dot(run, size)) / (procs * span) if procs and span else None
    facts: dict[str, tuple[int | float | None, str]] = {"jobs": (len(workload), "")}
    for name in ("user", "group", "queue", "partition"):
        column = workload.columns[name]
        facts[f"{name}s"] = (len(np.unique(column[column >= 0])), "")
    facts["processors of the machine"] = (procs, "")
    facts["span of the submissions"] = (span, "s")
    facts["jobs per day"] = (len(workload) / span * 86400 if span else None, "")
    facts["offered load"] = (load, "sum of run time x processors / (machine x span)")
    if len(workload):
        facts["mean processors"] = (float(size.mean()), "")
        facts["largest job"] = (int(size.max()), "processors")
        facts["share of serial jobs"] = (float((size == 1).mean()), "")
        facts["median run time"] = (float(np.median(run)), "s")
        facts["mean run time"] = (float(run.mean()), "s")
        facts["longest run time"] = (float(run.max()), "s")
        facts["median request"] = (float(np.median(workload.walltime)) / SECOND, "s")
        facts["run time exactly as requested"] = (
            float((workload.runtime == workload.walltime).mean()),
            "share",
        )
        facts["run time beyond the request"] = (float((workload.runtime > workload.walltime).mean()), "share")
    return facts


def _span(workload: Workload) -> float:
    """Seconds from the first submission to the last."""
    return float(workload.submit.max() - workload.submit.min()) / SECOND if len(workload) else 0.0


def _load_over_time(workload: Workload, procs: int | None) -> dict[str, Any]:
    """Work submitted in each interval as a share of what the machine can do in it; `step` in seconds."""
    span = _span(workload)
    if not procs or not span:
        return {"step": 0.0, "values": []}
    step = span / COLUMNS
    since = (workload.submit - workload.submit.min()) / SECOND
    place = np.minimum((since / step).astype(np.int64), COLUMNS - 1)
    area = np.bincount(place, weights=workload.runtime / SECOND * workload.procs, minlength=COLUMNS)
    return {"step": step, "values": (area / (procs * step)).tolist()}


def _sizes(procs: Ints) -> list[tuple[str, int]]:
    """Jobs by processors, in classes up to each power of two."""
    if not len(procs):
        return []
    # 1, 2, 3-4, 5-8, ...: the class of q is the exponent of the power of two at or above it.
    exponent = np.ceil(np.log2(np.maximum(procs, 1))).astype(np.int64)
    counts = np.bincount(exponent)
    classes = []
    for power, count in enumerate(counts.tolist()):
        low, high = (1 << (power - 1)) + 1 if power else 1, 1 << power
        classes.append((str(high) if low == high else f"{low}-{high}", count))
    return classes


def _accuracy(run: Ints, request: Ints) -> list[tuple[str, int]]:
    """Jobs by run time / request."""
    known = request > 0
    ratio = run[known] / request[known]
    edges = np.array(ACCURACY)
    counts = np.histogram(ratio[ratio < 1], bins=edges)[0].tolist()
    classes = [
        (f"{low:.0%} to {high:.0%}", n) for low, high, n in zip(edges, edges[1:], counts, strict=False)
    ]
    return [*classes, ("100%", int((ratio == 1).sum())), ("beyond", int((ratio > 1).sum()))]
