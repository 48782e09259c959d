"""Who held processors when, over all runs of every job: a job may be stopped and start again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from headway.schedule import Schedule

Column = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Course:
    """One entry for every stretch of time in which a job held processors; ``job`` is a row of the log."""

    job: Column
    start: Column
    end: Column

    @classmethod
    def of(cls, schedule: Schedule) -> Course:
        """The stretches of a schedule."""
        rows = np.arange(len(schedule))
        pieces = schedule.pieces
        if pieces is None:
            return cls(rows, schedule.start, schedule.end)
        held = pieces.holding
        once = ~np.isin(rows, pieces.job)
        return cls(
            np.concatenate([rows[once], pieces.job[held]]),
            np.concatenate([schedule.start[once], pieces.start[held]]),
            np.concatenate([schedule.end[once], pieces.end[held]]),
        )

    def running(self, t: int) -> npt.NDArray[np.bool_]:
        """Which stretches hold at ``t``."""
        return np.asarray((self.start <= t) & (self.end > t), dtype=np.bool_)

    def begun(self, t: int) -> set[tuple[int, int]]:
        """(job, start) of every stretch that has begun by ``t``."""
        seen = self.start <= t
        return set(zip(self.job[seen].tolist(), self.start[seen].tolist(), strict=True))

    def held(self, row: int, t: int) -> int:
        """How long a job has held processors by ``t``, µs; -1 if it has not begun."""
        mine = (self.job == row) & (self.start <= t)
        return int(np.sum(np.minimum(self.end[mine], t) - self.start[mine])) if mine.any() else -1
