"""What DBF noted of each task, for explanations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from headway.engine.local import Marks
from headway.engine.tables import State
from headway.policies.deadline.tables import (
    ACCEPTED,
    BY_TASK,
    DEFINITIVE_AT,
    DISPLACED_TIMES,
    DISPLACEMENTS,
    FIELDS,
    FIRST_GIVEN,
    LATE_ON_ARRIVAL,
    LOG,
    LOG_ROOM,
    MOVED_TO,
    PROMOTIONS,
    SAFETY_NET,
    WHEN,
    WHOSE,
)
from headway.policies.queueing.ordering import STRIDE

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
        return np.flatnonzero(np.isin(self.rows, self.log[:, WHOSE]))

    def __getitem__(self, place: Any) -> Any:
        """The list of one job, or the column of several."""
        if not isinstance(place, (int, np.integer)):
            return Displacements(self.log, self.rows[place], self.ids)
        begin, end = np.searchsorted(self.log[:, WHOSE], [self.rows[place], self.rows[place] + 1])
        return [
            Displacement(int(entry[WHEN]), int(self.ids[entry[BY_TASK]]), int(entry[MOVED_TO]))
            for entry in self.log[begin:end]
        ]


def log_room(jobs: int) -> int:
    """For how many displacements of so many jobs there is space."""
    return 2 * jobs + ROOM


def give_log(options: Table, k: int, jobs: int, begin: int) -> int:
    """Let pool ``k`` note displacements from ``begin`` of the options on; how many positions it needs."""
    room = log_room(jobs)
    options[k * STRIDE + LOG], options[k * STRIDE + LOG_ROOM] = begin, room
    return FIELDS * room


def without_logs(options: Table, pools: Sequence[int] = (0,)) -> Table:
    """DBF's options with space for one displacement in each pool, which is all that a trial needs."""
    begin = int(options[pools[0] * STRIDE + LOG])
    short = options[: begin + FIELDS * len(pools)].copy()
    for i, k in enumerate(pools):
        short[k * STRIDE + LOG], short[k * STRIDE + LOG_ROOM] = begin + FIELDS * i, 1
    return short


def renumber(state: State, new: Table, stays: Marks, jobs: Table, pools: Sequence[int] = (0,)) -> None:
    """Columns have other numbers: displacements of those that go are of nobody, those by them of the job."""
    for k in pools:
        begin, told, room = (int(state.options[k * STRIDE + note]) for note in (LOG, DISPLACEMENTS, LOG_ROOM))
        log = state.options[begin:][: FIELDS * min(told, room)].reshape(-1, FIELDS)
        whose, by = log[:, WHOSE], log[:, BY_TASK]
        log[:, WHOSE] = np.where((whose >= 0) & stays[whose], new[whose], NOBODY)
        log[:, BY_TASK] = np.where(by >= 0, -1 - jobs[np.maximum(by, 0)], by)


def entries(state: State, k: int) -> Table:
    """[entry, field] the displacements noted in the log of a pool, in order of time."""
    begin, told, room = (int(state.options[k * STRIDE + note]) for note in (LOG, DISPLACEMENTS, LOG_ROOM))
    log = state.options[begin:][: FIELDS * room].reshape(-1, FIELDS)
    return np.roll(log, -(told % room) if told > room else 0, axis=0)[: min(told, room)]


def notes_of(state: State, ids: Table, pools: Sequence[int] = (0,)) -> dict[str, Any]:
    """The policy's notes by name, in the engine's order of jobs; ``ids`` are the log's numbers.

    ``pools`` are those under DBF, in the order in which jobs come to them.
    """
    in_time = np.concatenate([entries(state, k) for k in pools])
    by_job = in_time[np.argsort(in_time[:, WHOSE], kind="stable")]
    return {
        "first_given": state.jobs[FIRST_GIVEN],
        "definitive_at": state.jobs[DEFINITIVE_AT],
        "displaced_times": state.jobs[DISPLACED_TIMES],
        "displacements": Displacements(by_job, np.arange(len(ids)), ids),
    }


COUNTS = {
    "accepted_deadlines": ACCEPTED,
    "late_on_arrival": LATE_ON_ARRIVAL,
    "promotions": PROMOTIONS,
    "displacements": DISPLACEMENTS,
    "safety_net": SAFETY_NET,
}


def counts(state: State, pools: Sequence[int] = (0,)) -> dict[str, object]:
    """The policy's own numbers, over all pools under DBF."""
    return {name: sum(int(state.options[k * STRIDE + note]) for k in pools) for name, note in COUNTS.items()}
