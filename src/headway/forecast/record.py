"""What is known of a machine's jobs: what they asked for, and when they started and ended.

Rows are those of the workload; times are µs on its clock. A job that has not started, or of which nobody
knows when, has NEVER for its start; one that has not ended has NEVER for its end. A job that was cancelled
while it waited has never started, and its end is when that was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from headway.arrays import Ints, Mask
from headway.errors import InputError, UsageError
from headway.platform import Platform
from headway.schedule import Schedule
from headway.units import NEVER
from headway.workload import Ledger, Workload
from headway.workload.slurm.asked import ABSENT

NAMES = ("name", "executable")
"""Columns that may hold what a job is called; the first that the log has is taken."""


@dataclass(frozen=True, eq=False)
class Record:
    """Jobs of a machine with their starts and ends."""

    workload: Workload
    platform: Platform
    start: Ints
    end: Ints

    @classmethod
    def recorded(cls, workload: Workload, platform: Platform) -> Record:
        """What a log recorded; jobs of which it has no wait are left out, and the ledger says so.

        Jobs that were not over when the log was taken run or wait on (the reading rule unfinished=open). Jobs
        that were cancelled while they waited (a site's) waited until then.
        """
        wait = workload.get("wait")
        if wait is None or not (wait >= 0).any():
            raise InputError(
                "records no waits, so it is not known which of its jobs ran and which waited at an instant; "
                "simulate a policy with --simulated, or give a log that has them",
                file=workload.source.name,
            )
        unfinished = workload.columns.get("open", np.zeros(len(workload), np.int64)) > 0
        after = cancelled_after(workload)
        kept = (wait >= 0) | unfinished | (after >= 0)
        known = workload.select(kept, rule="no_wait", action="no recorded wait: not looked at")
        start = np.where(known.wait >= 0, known.submit + known.wait, NEVER)
        end = np.where(unfinished[kept], NEVER, start + known.runtime)
        end = np.where(after[kept] >= 0, known.submit + after[kept], end)
        return cls(known, platform, start, end)

    @classmethod
    def of(cls, schedule: Schedule) -> Record:
        """A simulated schedule taken for what happened."""
        return cls(schedule.workload, schedule.platform, schedule.start, schedule.end)

    def __len__(self) -> int:
        return len(self.workload)

    @cached_property
    def is_open(self) -> bool:
        """Whether the log was taken while some of its jobs ran or waited."""
        return bool((self.column("open") > 0).any())

    @cached_property
    def cancelled(self) -> Mask:
        """Jobs that were cancelled while they waited."""
        return np.asarray((self.start == NEVER) & (self.end < NEVER))

    @cached_property
    def last(self) -> int:
        """The last instant it tells of: a submission, an end, or how far jobs have run that are not over."""
        runs_on = (self.start < NEVER) & (self.end == NEVER)
        so_far = self.start[runs_on] + self.workload.runtime[runs_on]
        known = self.submits, self.end[self.end < NEVER], so_far
        return max(int(times.max(initial=0)) for times in known)

    @cached_property
    def order(self) -> Ints:
        """Rows by submission, then as in the file: who asks first stands first."""
        return self.workload.order

    @cached_property
    def submits(self) -> Ints:
        """Submissions in that order."""
        return np.asarray(self.workload.submit[self.order])

    @cached_property
    def rank(self) -> Ints:
        """The place of each row in that order."""
        place = np.empty(len(self), np.int64)
        place[self.order] = np.arange(len(self))
        return place

    @cached_property
    def by_end(self) -> Ints:
        """Rows of jobs that have started by their end, then by their start, then as in the file."""
        order = np.lexsort((self.start, self.end))
        return np.asarray(order[self.start[order] < NEVER])

    def column(self, *names: str) -> Ints:
        """The first of these columns that the workload has, else unknown (-1) for all."""
        for name in names:
            if name in self.workload:
                return np.asarray(self.workload.columns[name], np.int64)
        return np.full(len(self), -1, np.int64)

    def row_of(self, job: int) -> int:
        """The row of a job by the log's number."""
        found = np.flatnonzero(self.workload.job == job)
        if not len(found):
            dropped = self.workload.ledger.why_dropped(job)
            if dropped is not None:
                raise UsageError(f"job {job} is not forecast: {dropped.action.removesuffix(': dropped')}")
            raise UsageError(f"{self.workload.source.name} has no job {job}")
        return int(found[0])

    def code(self, column: str, name: str) -> int:
        """The code of a name in a column: of a label where the log has names, else the number itself."""
        labels = self.workload.labels.get(column)
        if labels is None:
            numbers = np.unique(self.column(column))
            known = {str(number): int(number) for number in numbers[numbers >= 0]}
        else:
            known = {label: labels.index(label) for label in sorted(labels)}
        if name in known:
            return known[name]
        shown = ", ".join([*known][:12]) + (", ..." if len(known) > 12 else "")
        raise UsageError(f"{self.workload.source.name} has no {column} {name!r}; it has {shown or 'none'}")

    def with_job(self, submit: int, procs: int, walltime: int, **codes: int) -> tuple[Record, int]:
        """The same with one more job that is submitted then and has not started; also its row."""
        own: Mapping[str, int] = {
            "job": int(self.workload.job.max(initial=0)) + 1, "submit": submit, "procs": procs,
            "walltime": walltime, "runtime": walltime, **codes,
        }  # fmt: skip
        columns = {name: _with(column, name, own) for name, column in self.workload.columns.items()}
        workload = self.workload.replaced(columns=columns, ledger=Ledger(len(self) + 1))
        never = np.array([NEVER], np.int64)
        start, end = np.concatenate([self.start, never]), np.concatenate([self.end, never])
        return replace(self, workload=workload, start=start, end=end), len(self)


def cancelled_after(workload: Workload) -> Ints:
    """How long after its submission (µs) each job was cancelled while it waited; -1: it was not.

    So it is of jobs that nobody could have waited for: never eligible, or without a walltime.
    """
    after = workload.columns.get("cancelled_after")
    if after is None:
        return np.full(len(workload), -1, np.int64)
    eligible = workload.columns.get("eligible", workload.submit)
    return np.where((eligible >= 0) & (workload.walltime > 0), after, -1)


def nothing_asked(name: str, column: npt.NDArray[np.generic]) -> int:
    """The value of a column for a job that asks for nothing there."""
    return 0 if column.dtype == np.bool_ else ABSENT.get(name, -1)


def _with(column: npt.NDArray[np.generic], name: str, own: Mapping[str, int]) -> npt.NDArray[np.generic]:
    """A column with the value of one more job."""
    return np.append(column, np.array([own.get(name, nothing_asked(name, column))]).astype(column.dtype))
