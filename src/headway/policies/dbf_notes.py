"""What DBF noted of each task, for explanations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from headway.engine.tables import State
from headway.policies.dbf_tables import (
    BY_TASK,
    DEFINITIVE_AT,
    DISPLACED_TIMES,
    DISPLACEMENTS,
    FIELDS,
    FIRST_GIVEN,
    MOVED_TO,
    WHEN,
    WHOSE,
)
from headway.policies.ordering import STRIDE

Table = npt.NDArray[np.int64]

LOG = 2 * STRIDE
"""Where the displacements begin among the options."""
ROOM = 1024
"""Room for displacements besides two for each job; where more come, the oldest are forgotten."""


class Displacement(NamedTuple):
    """A provisional task was moved to a later start (µs) when a priority task, by its number, came."""

    at: int
    by: int
    start: int


@dataclass(frozen=True, eq=False)
class Displacements:
    """A column of notes whose entries are lists: the displacements of each job, the first one first."""

    log: Table
    """[entry, field], by job, then in order of time."""
    rows: Table
    """The number that the log knows each job by."""
    ids: Table
    """The jobs' numbers in their own log."""

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        """The list of one job, or the column of several."""
        if not isinstance(place, (int, np.integer)):
            return Displacements(self.log, self.rows[place], self.ids)
        begin, end = np.searchsorted(self.log[:, WHOSE], [self.rows[place], self.rows[place] + 1])
        return [
            Displacement(int(entry[WHEN]), int(self.ids[entry[BY_TASK]]), int(entry[MOVED_TO]))
            for entry in self.log[begin:end]
        ]


def room_for_displacements(jobs: int) -> int:
    """Entries among the options for the displacements of so many jobs."""
    return FIELDS * (2 * jobs + ROOM)


def notes_of(state: State, ids: Table) -> dict[str, Any]:
    """The policy's notes by name, in the engine's order of jobs; ``ids`` are the log's numbers."""
    log = state.options[LOG:].reshape(-1, FIELDS)
    told = int(state.options[STRIDE + DISPLACEMENTS])
    first = told % len(log) if told > len(log) else 0
    in_time = np.roll(log, -first, axis=0)[: min(told, len(log))]
    by_job = in_time[np.argsort(in_time[:, WHOSE], kind="stable")]
    return {
        "first_given": state.jobs[FIRST_GIVEN],
        "definitive_at": state.jobs[DEFINITIVE_AT],
        "displaced_times": state.jobs[DISPLACED_TIMES],
        "displacements": Displacements(by_job, np.arange(len(ids)), ids),
    }
