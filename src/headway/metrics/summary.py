"""The same few numbers for each class of jobs: by size, user, queue and so on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import PolicyError
from headway.metrics.catalogue import METRICS, STRETCH
from headway.metrics.own_numbers import came, deadlines, files, outages, redirected, urgent
from headway.metrics.sample import Sample, areas, utilization
from headway.schedule import Schedule
from headway.schedule.files import plain
from headway.units import SECOND
from headway.workload.divisions import divisions, size_class, size_classes

Row = dict[str, Any]


class Classes:
    """The table of one way to divide the jobs, which may come in blocks; sums are in the order of the log."""

    def __init__(self, key: str, name: Callable[[int], Any]) -> None:
        self._key, self._name = key, name
        self._place: dict[int, int] = {}
        self._sums = np.zeros((5, 0))
        self._worst = np.zeros(0)
        self._jobs = np.zeros(0, np.int64)

    def add(self, codes: NDArray[Any], sample: Sample) -> None:
        bsld = sample.bounded_slowdown
        classes, place = np.unique(codes, return_inverse=True)
        for code in classes.tolist():
            self._place.setdefault(code, len(self._place))
        more = (0, len(self._place) - len(self._worst))
        self._sums, self._worst = np.pad(self._sums, ((0, 0), more)), np.pad(self._worst, more)
        self._jobs = np.pad(self._jobs, more)
        rows = np.array([self._place[code] for code in classes.tolist()], np.int64)[place]
        self._jobs += np.bincount(rows, minlength=len(self._jobs))
        columns = (
            sample.wait / SECOND,
            sample.flow / SECOND,
            bsld,
            sample.procs * (sample.run / SECOND),
            sample.column(sample.schedule.killed),
        )
        for sums, values in zip(self._sums, columns, strict=True):
            np.add.at(sums, rows, values)
        np.maximum.at(self._worst, rows, bsld)

    def __len__(self) -> int:
        return len(self._place)

    def table(self) -> list[Row]:
        """One row for each class, in the order of their codes."""
        rows = []
        for code, place in sorted(self._place.items()):
            jobs = int(self._jobs[place])
            wait, flow, bsld, area, killed = self._sums[:, place].tolist()
            rows.append({
                self._key: self._name(code),
                "jobs": jobs,
                "mean_wait": wait / jobs,
                "mean_response": flow / jobs,
                "mean_bsld": bsld / jobs,
                "max_bsld": float(self._worst[place]),
                "area": area,
                "killed": int(killed),
            })  # fmt: skip
        return rows


def by_size(sample: Sample, procs: NDArray[np.int64] | None = None) -> list[Row]:
    """Classes of sizes up to powers of two: 1, 2, 3-4, 5-8, 9-16, ...; those of the run, or as given."""
    return _table(sample, "size", size_classes(sample.procs if procs is None else procs), size_class)


def by_user(sample: Sample) -> list[Row]:
    """Each user of the log, by number or name."""
    return _by_workload_column(sample, "user")


def by_queue(sample: Sample) -> list[Row]:
    """Each queue of the log, by number or name."""
    return _by_workload_column(sample, "queue")


def by_division(sample: Sample) -> dict[str, list[Row]]:
    """Each way in which the log divides its jobs, by its name: queue, or partition, account and QOS."""
    workload = sample.schedule.workload
    return {name: _by_workload_column(sample, column, name) for name, column in divisions(workload).items()}


def by_group(sample: Sample) -> list[Row]:
    """Each group of processors, with its size and its share of useful work; empty for a single pool.

    Jobs on clusters without groups are in none.
    """
    schedule = sample.schedule
    if schedule.group is None or not schedule.groups:
        return []
    names = schedule.labels.get("group") or list(schedule.groups)
    table = _table(sample, "group", sample.column(schedule.group), lambda c: names[c] if c >= 0 else None)
    rows = [row for row in table if row["group"] is not None]
    for row in rows:
        row["processors"] = schedule.groups[row["group"]]
        useful = areas(schedule, names.index(row["group"])).useful
        row["utilization"] = utilization(useful, row["processors"], sample.span)
    return rows


def _by_workload_column(sample: Sample, column: str, title: str = "") -> list[Row]:
    workload = sample.schedule.workload
    name = title or column
    codes = sample.column(workload.columns[column])
    labels = workload.labels.get(column)
    if labels is None:
        return _table(sample, name, codes, lambda code: code)
    rows = _table(sample, name, codes, lambda code: labels[code] if code >= 0 else None)
    return sorted(rows, key=lambda row: (row[name] is not None, row[name] or ""))


def _table(sample: Sample, key: str, codes: NDArray[Any], name: Callable[[int], Any]) -> list[Row]:
    classes = Classes(key, name)
    classes.add(codes, sample)
    return classes.table()


def fairness(users: list[dict[str, Any]]) -> dict[str, float | int | None]:
    """How evenly users are served: the spread of the users' mean bounded slowdowns, of a table by user.

    With b_u the mean bounded slowdown of user u over the user's measured jobs, and one value per user
    whatever the number of jobs: `std` is the population standard deviation of the b_u, `cv` the standard
    deviation over their mean, `max_over_median` the worst-served user against the median one. All are 0, 0
    and 1 where every user fares alike. Jobs whose user the log does not know (-1) are left out.
    """
    means = np.array([row["mean_bsld"] for row in users if row["user"] not in (-1, None)])
    if not len(means):
        return {"users": 0, "mean": None, "std": None, "cv": None, "max_over_median": None}
    mean, std = float(means.mean()), float(means.std())
    return {
        "users": len(means),
        "mean": mean,
        "std": std,
        "cv": std / mean,
        "max_over_median": float(means.max() / np.median(means)),
    }


# The summary of a schedule: every metric, the tables by class, fairness, and the policy's own numbers.


def summarise(schedule: Schedule, tau: float = 10, trim: float = 0) -> dict[str, Any]:
    """Everything as plain JSON data; null where a metric has no value, as with no jobs at all."""
    sample = Sample(schedule, tau, trim)
    metrics = METRICS if schedule.workload.get("file_gb") is None else (*METRICS, STRETCH)
    summary: dict[str, Any] = {metric.name: metric.compute(sample) for metric in metrics}
    if trim:
        summary["trim"] = trim
    for name, value in schedule.own.items():
        if name in summary:
            raise PolicyError(f"the policy's own number {name!r} has the name of a metric; rename it")
        summary[name] = value
    summary |= redirected(sample)
    summary |= came(schedule)
    summary |= deadlines(sample)
    summary |= urgent(sample)
    summary |= outages(schedule)
    summary |= feedback(schedule)
    summary |= files(sample)
    users = by_user(sample)
    summary["fairness"] = fairness(users)
    groups = by_group(sample)
    if groups:
        summary["by_group"] = groups
    summary |= {"by_size": by_size(sample), "by_user": users, "by_queue": by_queue(sample)}
    summary |= {f"by_{name}": rows for name, rows in by_division(sample).items()}
    return dict(plain(summary))


def feedback(schedule: Schedule) -> dict[str, Any]:
    """Numbers of a simulation with feedback; empty for any other.

    following_jobs: jobs that were submitted a think time after the end of the job that their user waited for.
    mean_submission_delay: how much later than in the log these were submitted, on average (s); negative where
        they came earlier.
    """
    follows, logged = schedule.workload.get("follows"), schedule.workload.get("trace_submit")
    if follows is None or logged is None:
        return {}
    later = (schedule.submit - logged)[follows >= 0]
    mean = int(later.sum()) / (len(later) * SECOND) if len(later) else None
    return {"following_jobs": len(later), "mean_submission_delay": mean}
