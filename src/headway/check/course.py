"""Who held processors when, over all runs of every job: a job may be stopped and start again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from headway.schedule import Schedule
from headway.schedule.table import all_pieces

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
        pieces = all_pieces(schedule)
        held = pieces.holding
        return cls(pieces.job[held], pieces.start[held], pieces.end[held])

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
