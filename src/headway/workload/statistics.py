"""What a workload is like: span, offered load over time, sizes, lengths, quality of the estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headway.arrays import Floats, Ints, Mask
from headway.units import SECOND
from headway.workload.divisions import divisions, is_slurms, size_class, size_classes
from headway.workload.table import Workload

COLUMNS = 72
"""Intervals that the offered load over time is shown in."""

ACCURACY = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Edges of the classes of run time / request; each holds its lower edge."""

LENGTHS = (
    ("under 1 s", 1), ("under 1 min", 60), ("under 10 min", 600), ("under 1 h", 3600), ("under 4 h", 14400),
    ("under 12 h", 43200), ("under 1 day", 86400), ("under 2 days", 172800), ("under 1 week", 604800),
)  # fmt: skip
"""Classes of run times: name and upper edge in seconds; each begins where the one before ends."""

MOST = 5
"""Users, queues and requested times that are named."""


def describe(workload: Workload, procs: int | None) -> dict[str, Any]:
    """Plain data: `facts` (value and unit by name), `load_over_time` and tables of the jobs.

    `sizes`, `lengths` and `accuracy` are (class, jobs), `work_by_size` and `work_by_length` the shares of all
    processor-seconds in the same classes; `requests` are the most frequent requested times (seconds, jobs),
    `users` and `queues` the busiest ones (name, jobs, share of the work). `accuracy`, `requests` and the
    facts about requests are of jobs for which the log names one.
    Times are in seconds. `procs` is the size of the machine; without it there is no load.
    """
    work = workload.runtime / SECOND * workload.procs
    asked = _with_request(workload)
    sizes, lengths = _size_classes(workload.procs), _length_classes(workload.runtime)
    return {
        "facts": _facts(workload, procs),
        "load_over_time": _load_over_time(workload, procs),
        "sizes": sizes.jobs(),
        "work_by_size": sizes.shares(work),
        "lengths": lengths.jobs(),
        "work_by_length": lengths.shares(work),
        "accuracy": _accuracy(workload.runtime[asked], workload.walltime[asked]),
        "requests": _requests(workload.walltime[asked]),
        "users": _busiest(workload, "user", work),
        "queues": _busiest(workload, "queue", work),
        "divisions": {name: _busiest(workload, column, work) for name, column in divisions(workload).items()},
    }


def _facts(workload: Workload, procs: int | None) -> dict[str, tuple[int | float | None, str]]:
    run, size = workload.runtime / SECOND, workload.procs
    span = _span(workload)
    load = float(np.dot(run, size)) / (procs * span) if procs and span else None
    facts: dict[str, tuple[int | float | None, str]] = {"jobs": (len(workload), "")}
    for name, column in ({"user": "user", "group": "group"} | divisions(workload)).items():
        if name == "group" and is_slurms(workload):
            continue  # which are its accounts
        codes = workload.columns[column]
        facts["QOS" if name == "qos" else f"{name}s"] = (len(np.unique(codes[codes >= 0])), "")
    facts["processors of the machine"] = (procs, "")
    facts["span of the submissions"] = (span, "s")
    facts["jobs per day"] = (len(workload) / span * 86400 if span else None, "")
    facts["offered load"] = (load, "sum of run time x processors / (machine x span)")
    if load is not None and (workload.runtime > workload.walltime).any():
        cut = np.minimum(workload.runtime, workload.walltime) / SECOND
        facts["of it within the requests"] = (
            float(np.dot(cut, size)) / (procs * span) if procs else None,
            "the same with runs cut at the requests, where jobs are killed",
        )
    if len(workload):
        facts["mean processors"] = (float(size.mean()), "")
        facts["largest job"] = (int(size.max()), "processors")
        if procs and (wide := int((size > procs).sum())):
            facts["jobs wider than the machine"] = (wide, "a simulation leaves them out: rule too_large")
        facts["share of serial jobs"] = (float((size == 1).mean()), "")
        facts["median run time"] = (float(np.median(run)), "s")
        facts["mean run time"] = (float(run.mean()), "s")
        facts["longest run time"] = (float(run.max()), "s")
        asked = _with_request(workload)
        run_time, request = workload.runtime[asked], workload.walltime[asked]
        some = len(request) > 0
        if len(request) < len(workload):
            facts["jobs without a request"] = (len(workload) - len(request), "not in the next three numbers")
        facts["median request"] = (float(np.median(request)) / SECOND if some else None, "s")
        exactly, beyond = run_time == request, run_time > request
        facts["run time exactly as requested"] = (float(exactly.mean()) if some else None, "share")
        facts["run time beyond the request"] = (float(beyond.mean()) if some else None, "share")
    return facts


def _with_request(workload: Workload) -> Mask:
    """Jobs for which the log names a time; for the others the run time is taken."""
    named = workload.get("requested_time")
    if named is None:
        return np.ones(len(workload), np.bool_)
    return np.asarray((named > 0) | (workload.walltime != workload.runtime))


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


@dataclass(frozen=True)
class _Classes:
    """A class per job, and the names of the classes; those beyond the last job are left out."""

    codes: Ints
    names: Sequence[str]

    def jobs(self) -> list[tuple[str, int]]:
        counts = np.bincount(self.codes).tolist() if len(self.codes) else []
        return list(zip(self.names, counts, strict=False))

    def shares(self, work: Floats) -> list[tuple[str, float]]:
        total = float(work.sum())
        sums = np.bincount(self.codes, weights=work) if len(self.codes) else np.zeros(0)
        return list(zip(self.names, (sums / total if total else sums).tolist(), strict=False))


def _size_classes(procs: Ints) -> _Classes:
    """Classes of processors up to each power of two."""
    powers = size_classes(procs)
    return _Classes(powers, [size_class(power) for power in range(powers.max(initial=-1) + 1)])


def _length_classes(runtime: Ints) -> _Classes:
    """Classes of run times with edges that people use."""
    limits = np.array([limit for _, limit in LENGTHS]) * SECOND
    names = [name for name, _ in LENGTHS]
    return _Classes(np.searchsorted(limits, runtime, side="right").astype(np.int64), [*names, "longer"])


def _requests(walltime: Ints) -> list[tuple[float, int]]:
    """The requested times that occur most often, the most frequent first."""
    values, counts = np.unique(walltime, return_counts=True)
    most = np.argsort(-counts, kind="stable")[:MOST]
    return [(float(values[place]) / SECOND, int(counts[place])) for place in most.tolist()]


def _busiest(workload: Workload, column: str, work: Floats) -> list[tuple[str, int, float]]:
    """Users or queues by the work of their jobs, the most first; jobs of nobody known are left out."""
    known = workload.columns[column] >= 0
    codes, place = np.unique(workload.columns[column][known], return_inverse=True)
    jobs = np.bincount(place, minlength=len(codes))
    shares = np.bincount(place, weights=work[known], minlength=len(codes)) / (float(work.sum()) or 1.0)
    return [
        (workload.name_of(column, int(codes[row])), int(jobs[row]), float(shares[row]))
        for row in np.argsort(-shares, kind="stable")[:MOST].tolist()
    ]


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
