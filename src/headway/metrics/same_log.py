"""Whether two schedules are of the same log, so that their jobs may be paired by number."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import UsageError
from headway.schedule import Schedule


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
