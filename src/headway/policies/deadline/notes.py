"""What DBF noted of each task, for explanations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from headway.engine.local import Marks
from headway.engine.tables import State
from headway.jit.rows import zeros
from headway.policies.deadline.tables import Counts, DbfJobs, Displaced, Memory, TaskLists

Table = npt.NDArray[np.int64]

NOBODY = -1
ROOM = 1024
"""Space for displacements besides two for each job; where more come, the oldest are forgotten."""


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

    @property
    def told(self) -> Table:
        """The places of the jobs that were displaced."""
        return np.flatnonzero(np.isin(self.rows, self.log[:, Displaced.WHOSE]))

    def __getitem__(self, place: Any) -> Any:
        """The list of one job, or the column of several."""
        if not isinstance(place, (int, np.integer)):
            return Displacements(self.log, self.rows[place], self.ids)
        begin, end = np.searchsorted(self.log[:, Displaced.WHOSE], [self.rows[place], self.rows[place] + 1])
        return [
            Displacement(
                int(entry[Displaced.WHEN]),
                int(self.ids[entry[Displaced.BY_TASK]]),
                int(entry[Displaced.MOVED_TO]),
            )
            for entry in self.log[begin:end]
        ]


def log_room(jobs: int) -> int:
    """For how many displacements of so many jobs there is space."""
    return 2 * jobs + ROOM


def new_memory(room: int, pools: int = 1) -> Memory:
    """DBF's tables with nothing in them, and space for so many displacements."""
    return Memory(zeros(TaskLists, pools), zeros(Counts), np.zeros((room, len(Displaced)), np.int64))


def without_log(memory: Any) -> Any:
    """A memory with DBF's tables, and no space for displacements: a trial does not need them."""
    return memory._replace(displacements=memory.displacements[:0])


def renumber(state: State, new: Table, stays: Marks, jobs: Table) -> None:
    """Columns have other numbers: displacements of those that go are of nobody, those by them of the job."""
    log = state.memory.displacements[: state.memory.counts.displacements]
    whose, by = log[:, Displaced.WHOSE], log[:, Displaced.BY_TASK]
    log[:, Displaced.WHOSE] = np.where((whose >= 0) & stays[whose], new[whose], NOBODY)
    log[:, Displaced.BY_TASK] = np.where(by >= 0, -1 - jobs[np.maximum(by, 0)], by)


def entries(state: State) -> Table:
    """[entry, field] the displacements that were written down, in order of time."""
    log, told = state.memory.displacements, int(state.memory.counts.displacements)
    return np.roll(log, -(told % len(log)), axis=0) if told > len(log) else log[:told]


def notes_of(state: State, ids: Table) -> dict[str, Any]:
    """The policy's notes by name, in the engine's order of jobs; ``ids`` are the log's numbers."""
    jobs = DbfJobs(state.jobs)
    in_time = entries(state)
    by_job = in_time[np.argsort(in_time[:, Displaced.WHOSE], kind="stable")]
    return {
        "first_given": jobs.first_given,
        "definitive_at": jobs.definitive_at,
        "displaced_times": jobs.displaced_times,
        "displacements": Displacements(by_job, np.arange(len(ids)), ids),
    }


COUNTS = {
    "accepted_deadlines": Counts["accepted"],
    "late_on_arrival": Counts["late_on_arrival"],
    "promotions": Counts["promotions"],
    "displacements": Counts["displacements"],
    "safety_net": Counts["safety_net"],
}


def counts(state: State) -> dict[str, object]:
    """The policy's own numbers, over all pools under DBF."""
    return {name: int(state.memory.counts[count]) for name, count in COUNTS.items()}
