"""Who gains and who loses from one schedule to another: by size, user, queue and so on, and job by job.

Everything is measured by the wait (and its mean), on the jobs that both schedules have.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.metrics.files import improvements
from headway.schedule import WHY, Schedule
from headway.units import SECOND
from headway.workload.divisions import column_of, divisions, size_class, size_classes


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
