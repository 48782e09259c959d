"""Who gains and who loses from one schedule to another: by size, user, queue and so on, and job by job.

Everything is measured by the wait (and its mean), on the jobs that both schedules have.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import UsageError
from headway.metrics.catalogue import BY_NAME, unit_of
from headway.metrics.own_numbers import improvements
from headway.metrics.sample import Sample
from headway.metrics.summary import by_size as sized
from headway.metrics.summary import summarise
from headway.plain import counted
from headway.schedule import WHY, Schedule
from headway.schedule.files import write_json
from headway.units import SECOND
from headway.workload.divisions import column_of, divisions, size_class, size_classes

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class ClassChange:
    """Jobs of one size class, user, queue or other division: their mean waits before and after, in seconds.

    `saved` is the total of waiting that the class is spared, in seconds; negative where it waits longer.
    """

    name: str
    jobs: int
    before: float
    after: float
    saved: float

    @property
    def verdict(self) -> str:
        """better, worse or same."""
        return "same" if self.before == self.after else "better" if self.after < self.before else "worse"


@dataclass(frozen=True)
class JobChange:
    """One job with its waits before and after; times in seconds."""

    job: int
    user: str
    procs: int
    walltime: float
    before: float
    after: float
    why: str


@dataclass(frozen=True)
class SessionChange:
    """Users' sessions on nodes with input files, by their summed stretch before over that after.

    Above 1 is better; `better` and `worse` are numbers of sessions.
    """

    sessions: int
    better: int
    worse: int
    median: float
    mean: float


@dataclass(frozen=True)
class Difference:
    """What becomes of the jobs of one schedule under another one."""

    earlier: int
    later: int
    same: int
    classes: dict[str, list[ClassChange]]
    jobs: list[JobChange]
    """The jobs whose wait changed most, both ways; the most spared first, the most delayed last."""
    sessions: SessionChange | None = None
    """Where both schedules are of the same jobs with input files, inside nodes."""

    def winners(self, key: str, most: int) -> list[ClassChange]:
        """Those of a division that are spared most, the most first."""
        gained = [change for change in self.classes[key] if change.saved > 0]
        return sorted(gained, key=lambda change: -change.saved)[:most]

    def losers(self, key: str, most: int) -> list[ClassChange]:
        """Those of a division that lose most, the most first."""
        lost = [change for change in self.classes[key] if change.saved < 0]
        return sorted(lost, key=lambda change: change.saved)[:most]

    def describe(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "jobs_earlier": self.earlier,
            "jobs_later": self.later,
            "jobs_same": self.same,
            **{
                f"by_{key}": [asdict(change) | {"verdict": change.verdict} for change in changes]
                for key, changes in self.classes.items()
            },
            "most_changed": [asdict(change) for change in self.jobs],
            **({"by_session": asdict(self.sessions)} if self.sessions is not None else {}),
        }


def difference(before: Schedule, after: Schedule, most: int = 10) -> Difference:
    """Every division, and the `most` jobs that gained and the `most` that lost the longest waits."""
    first, second = (schedule.workload.columns["job"] for schedule in (before, after))
    _, old, new = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    # Trace order, so that ties are named in it.
    order = np.argsort(old, kind="stable")
    old, new = old[order], new[order]
    wait_before, wait_after = before.wait[old], after.wait[new]
    gain = wait_before - wait_after
    return Difference(
        earlier=int((gain > 0).sum()),
        later=int((gain < 0).sum()),
        same=int((gain == 0).sum()),
        classes={
            key: _classes(before, old, key, wait_before, wait_after)
            for key in ("size", "user", *divisions(before.workload))
        },
        jobs=[_job(before, after, old[row], new[row]) for row in _extremes(gain, most)],
        sessions=_sessions(before, after) if np.array_equal(first, second) else None,
    )


def _sessions(before: Schedule, after: Schedule) -> SessionChange | None:
    if any(each.node is None or each.workload.get("file_gb") is None for each in (before, after)):
        return None
    found = improvements(before, after)
    if not len(found):
        return None
    better, worse = int((found > 1).sum()), int((found < 1).sum())
    return SessionChange(len(found), better, worse, float(np.median(found)), float(found.mean()))


def _extremes(gain: NDArray[np.int64], most: int) -> list[int]:
    ranked = np.argsort(-gain, kind="stable")
    best = [row for row in ranked[:most].tolist() if gain[row] > 0]
    worst = [row for row in ranked[len(ranked) - min(most, len(ranked)) :].tolist() if gain[row] < 0]
    return best + worst


def _job(before: Schedule, after: Schedule, old: int, new: int) -> JobChange:
    workload = before.workload
    return JobChange(
        job=int(workload.columns["job"][old]),
        user=workload.name_of("user", int(workload.columns["user"][old])),
        procs=int(before.procs[old]),
        walltime=float(before.walltime[old]) / SECOND,
        before=float(before.wait[old]) / SECOND,
        after=float(after.wait[new]) / SECOND,
        why=WHY[after.why[new]],
    )


def _classes(
    schedule: Schedule, rows: NDArray[np.int64], key: str, before: NDArray[np.int64], after: NDArray[np.int64]
) -> list[ClassChange]:
    workload = schedule.workload
    column = column_of(workload, key)
    codes = size_classes(schedule.procs) if key == "size" else workload.columns[column]
    found, place = np.unique(codes[rows], return_inverse=True)
    jobs = np.bincount(place, minlength=len(found))
    totals = [np.bincount(place, weights=wait / SECOND, minlength=len(found)) for wait in (before, after)]
    return [
        ClassChange(
            name=size_class(code) if key == "size" else workload.name_of(column, code),
            jobs=int(jobs[row]),
            before=float(totals[0][row] / jobs[row]),
            after=float(totals[1][row] / jobs[row]),
            saved=float(totals[0][row] - totals[1][row]),
        )
        for row, code in enumerate(found.tolist())
    ]


# Several schedules side by side: the same metrics, and how they differ from the first.

Value = int | float | None


@dataclass(frozen=True)
class Row:
    """One metric of every schedule.

    `change` is relative to the first schedule, 0.1 for 10 % more; None for the first itself and where it has
    nothing to compare with. `verdict` is better, worse, same or, where no direction is an improvement, empty.
    """

    metric: str
    unit: str
    values: tuple[Value, ...]
    change: tuple[float | None, ...]
    verdict: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Schedules of one log, their names and their summaries."""

    names: tuple[str, ...]
    schedules: tuple[Schedule, ...]
    summaries: tuple[dict[str, Any], ...]

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.names)} on {self.schedules[0].workload.source.name}>"

    @property
    def same_jobs(self) -> bool:
        """Whether all schedules have the same jobs; a policy that refuses some makes them differ."""
        jobs = [np.sort(schedule.workload.columns["job"]) for schedule in self.schedules]
        return all(np.array_equal(numbers, jobs[0]) for numbers in jobs[1:])

    @property
    def unlike(self) -> dict[str, int]:
        """Jobs of the first schedule that ask for something else in another one, or run otherwise long: how
        many, by what differs; nothing where it is the same."""
        found = {}
        for name, words in (("procs", "processors"), ("walltime", "walltimes"), ("runtime", "run times")):
            differ = [_differing(self.schedules[0], other, name) for other in self.schedules[1:]]
            if jobs := len(set().union(*differ)):
                found[words] = jobs
        return found

    @property
    def kind(self) -> str:
        """What is compared: policies, machines where only the processors differ, or else runs."""
        policies = {schedule.policy for schedule in self.schedules}
        capacities = {schedule.capacity for schedule in self.schedules}
        if len(policies) > 1:
            return "policies" if len(policies) == len(self.schedules) else "runs"
        return "machines" if len(capacities) == len(self.schedules) else "runs"

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """What becomes of the first schedule's jobs under each of the others, in their order."""
        return tuple(difference(self.schedules[0], other) for other in self.schedules[1:])

    def by_size(self) -> list[list[dict[str, Any]]]:
        """For each schedule its numbers by size, where every job has its size in the first: moldable ones may
        have another one in each.
        """
        tables = []
        for each, summary in zip(self.schedules, self.summaries, strict=True):
            sample, procs = Sample(each, summary["tau"], summary.get("trim", 0)), self._first_sizes(each)
            same = np.array_equal(procs, each.procs)
            tables.append(summary["by_size"] if same else sized(sample, sample.column(procs)))
        return tables

    def _first_sizes(self, other: Schedule) -> NDArray[np.int64]:
        """The processors of another schedule's jobs in the first one, or their own where it has none."""
        first = self.schedules[0]
        numbers, known = other.workload.columns["job"], first.workload.columns["job"]
        _, here, there = np.intersect1d(numbers, known, assume_unique=True, return_indices=True)
        procs = other.procs.copy()
        procs[here] = first.procs[there]
        return procs

    def rows(self) -> list[Row]:
        """Every single number that some schedule has, in the order of the catalogue, policies' own last."""
        names = {
            name: None
            for summary in self.summaries
            for name, value in summary.items()
            if value is None or (isinstance(value, int | float) and not isinstance(value, bool))
        }
        known = [name for name in BY_NAME if name in names]
        return [self._row(name) for name in (*known, *(name for name in names if name not in BY_NAME))]

    def frame(self) -> pl.DataFrame:
        """One line per schedule, one column per metric; times in seconds."""
        import polars as pl

        columns: dict[str, Any] = {"policy": [schedule.policy for schedule in self.schedules]}
        columns["processors"] = [schedule.capacity for schedule in self.schedules]
        return pl.DataFrame(columns | {row.metric: row.values for row in self.rows()}, strict=False)

    def describe(self) -> dict[str, Any]:
        """Everything as plain JSON data: each schedule, the metrics held side by side, gains and losses."""
        return {
            "same_jobs": self.same_jobs,
            "schedules": [
                {"name": name, "policy": schedule.policy, "processors": schedule.capacity, "summary": summary}
                for name, schedule, summary in zip(self.names, self.schedules, self.summaries, strict=True)
            ],
            "metrics": [asdict(row) for row in self.rows()],
            "differences": [
                {"from": self.names[0], "to": name} | each.describe()
                for name, each in zip(self.names[1:], self.differences, strict=True)
            ],
        }

    def write(self, folder: Path) -> None:
        """comparison.csv, one line per schedule, and comparison.json."""
        rows = self.rows()
        with (folder / "comparison.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["policy", "processors", *(row.metric for row in rows)])
            for place, schedule in enumerate(self.schedules):
                table.writerow(
                    [schedule.policy, schedule.capacity]
                    + ["" if row.values[place] is None else row.values[place] for row in rows]
                )
        write_json(folder / "comparison.json", self.describe())

    def _row(self, name: str) -> Row:
        metric = BY_NAME.get(name)
        values = tuple(summary.get(name) for summary in self.summaries)
        better = metric.better if metric else ""
        verdicts = tuple(_verdict(value, values[0], better) for value in values[1:])
        changes = tuple(_change(value, values[0]) for value in values[1:])
        return Row(name, unit_of(name), values, (None, *changes), ("", *verdicts))


def compare(
    schedules: Sequence[Schedule], tau: float = 10, trim: float = 0, names: Sequence[str] | None = None
) -> Comparison:
    """Compare schedules of one log; the first is the one that the others are measured against.

    `names` are what the schedules are called; by default by their policies. Schedules of different logs are
    refused: their jobs cannot be paired.
    """
    if not schedules:
        raise UsageError("there is nothing to compare; give at least one schedule")
    for each in schedules:
        if not isinstance(each, Schedule):
            raise UsageError(
                f"{each!r:.60} is not a schedule; load a folder with headway.Schedule.load(folder)"
            )
        _refuse_doubled(each)
    if names is not None and len(names) != len(schedules):
        raise UsageError(
            f"{counted(len(names), 'name')} for {counted(len(schedules), 'schedule')}; give one for each"
        )
    refuse_different_logs(schedules, "compare runs of one log only")
    summaries = tuple(summarise(schedule, tau=tau, trim=trim) for schedule in schedules)
    return Comparison(tuple(names) if names else default_names(schedules), tuple(schedules), summaries)


def _refuse_doubled(schedule: Schedule) -> None:
    numbers, count = np.unique(schedule.workload.columns["job"], return_counts=True)
    if (count > 1).any():
        raise UsageError(
            f"the run of {brief(schedule.policy)} has job {numbers[count > 1][0]} more than once; "
            "simulate it again, or let 'headway audit' list what is wrong"
        )


def _differing(first: Schedule, second: Schedule, name: str) -> list[int]:
    """The jobs of both that have another value in a column of the log."""
    logs = first.workload.columns, second.workload.columns
    shared, here, there = np.intersect1d(logs[0]["job"], logs[1]["job"], return_indices=True)
    return [int(job) for job in shared[logs[0][name][here] != logs[1][name][there]]]


def default_names(schedules: Sequence[Schedule]) -> tuple[str, ...]:
    """The policies, written briefly; where they are alike, with the processors or a number."""
    policies = [brief(schedule.policy) for schedule in schedules]
    sized = [
        name if policies.count(name) == 1 else f"{name} on {schedule.capacity}"
        for name, schedule in zip(policies, schedules, strict=True)
    ]
    return tuple(
        name if sized.count(name) == 1 else f"{name}, run {place}"
        for place, name in enumerate(sized, start=1)
    )


def brief(policy: str) -> str:
    """A policy's spec without the parameters that have their defaults."""
    from headway.policies.spec import parse_spec

    try:
        spec = parse_spec(policy)
        return spec.brief if spec.uses_own else spec.policy.brief
    except UsageError:
        return policy  # a name that only its author knows


def _change(value: Value, base: Value) -> float | None:
    """Relative to the base; a number that may be negative, such as a margin, has no such change."""
    return (value - base) / base if value is not None and value >= 0 and base and base > 0 else None


def _verdict(value: Value, base: Value, better: str) -> str:
    if value is None or base is None or not better:
        return ""
    if value == base:
        return "same"
    return "better" if (value < base) == (better == "lower") else "worse"


def same_log(first: Schedule, second: Schedule) -> bool:
    """Whether job n of one is job n of the other.

    The same bytes were read (SHA-256); or else, as where a log was changed and written again, all jobs that
    both have were submitted at the same time by the same user.
    """
    digests = {
        schedule.workload.source.sha256 if schedule.workload.source else "" for schedule in (first, second)
    }
    if len(digests) == 1 and "" not in digests:
        return True
    numbers = [np.asarray(schedule.workload.columns["job"]) for schedule in (first, second)]
    shared, rows, others = np.intersect1d(numbers[0], numbers[1], assume_unique=True, return_indices=True)
    if not len(shared):
        return not len(first) or not len(second)
    submits = [schedule.workload.columns["submit"] for schedule in (first, second)]
    if not np.array_equal(submits[0][rows], submits[1][others]):
        return False
    return _users(first, rows) == _users(second, others)


def refuse_different_logs(schedules: Sequence[Schedule], remedy: str) -> None:
    """Complain where the schedules are not all of one log; `remedy` says what to do instead."""
    for other in schedules[1:]:
        if not same_log(schedules[0], other):
            raise UsageError(
                f"the runs are of different logs, {log_file(schedules[0])} and {log_file(other)}, so job n "
                f"of one is not job n of the other; {remedy}"
            )


def log_file(schedule: Schedule) -> str:
    """The file's name, with the beginning of its digest where there is one."""
    source = schedule.workload.source
    name = PurePath(source.name).name if source else ""
    digest = f" (SHA-256 {source.sha256[:8]}...)" if source and source.sha256 else ""
    return f"{name or 'one without a name'}{digest}"


def _users(schedule: Schedule, rows: NDArray[np.signedinteger[Any]]) -> list[str]:
    workload = schedule.workload
    return [workload.name_of("user", code, str(code)) for code in workload.columns["user"][rows].tolist()]
