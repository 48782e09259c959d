"""The agent's memory: one table of whole numbers, so that the compiled agent has it as well as any other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from headway.jit import kernel
from headway.units import NEVER

Notes = npt.NDArray[np.int64]

NO_ANSWER = NEVER
"""The completion of a task that a cluster cannot run."""
STARTED = -1
"""The completion of a task that waits no more where it was submitted."""

# The front of the notes: what the agent was told, and what it counts.
SERVERS, HEURISTIC, MODE, THRESHOLD, OLDEST, CAPACITY, ROOM, TASKS, MOVES, EVENTS, AGAIN = range(11)
FRONT = 12
# Behind it, for as many tasks as there may be: those not known to have started, in order of submission; the
# server of each; expected completion and size of each place of the list when the event began; how often each
# task was submitted again with a later completion than it had, and how often it changed the cluster. Then,
# for each task of the window, the answers of the servers, and at last the log of moves.
LIST, WHERE, HELD, HELD_PROCS, PUT_BACK, TIMES_MOVED = range(6)
SECTIONS = 6

MCT, MINMIN, MAXMIN, SUFFERAGE, MAXGAIN, MAXRELGAIN = range(6)
REGULAR, CANCEL, NO_REALLOCATION = range(3)

# One move: whose, when, from and to which server; what was expected before and after it.
M_TASK, M_TIME, M_FROM, M_TO, M_BEFORE, M_AFTER, M_PROCS_BEFORE, M_PROCS_AFTER = range(8)
MOVE_FIELDS = 8


def new_notes(
    servers: int, heuristic: int, mode: int, threshold: int, oldest: int, capacity: int, room: int
) -> Notes:
    """The memory of an agent with so many servers, for ``capacity`` tasks and a log of ``room`` moves.

    ``heuristic`` and ``mode`` are numbers of the spec's words, ``threshold`` is the least gain of a move
    (µs), ``oldest`` how many of the oldest waiting tasks a heuristic chooses from.
    """
    window = min(oldest, capacity)
    size = FRONT + SECTIONS * capacity + 2 * window * servers + MOVE_FIELDS * room
    notes = np.zeros(size, np.int64)
    notes[: ROOM + 1] = servers, heuristic, mode, threshold, window, capacity, room
    return notes


def section(notes: Notes, name: int) -> Notes:
    """A section of the notes, an entry for each task that there may be."""
    capacity = int(notes[CAPACITY])
    return notes[FRONT + name * capacity :][:capacity]


@kernel
def at(notes: Notes, section: int, i: int) -> int:
    """Where entry ``i`` of a section is."""
    return int(FRONT + section * notes[CAPACITY] + i)


@kernel
def answer_at(notes: Notes, i: int, server: int) -> int:
    """Where the answer of a server about task ``i`` of the window is; its processors follow."""
    return int(FRONT + SECTIONS * notes[CAPACITY] + 2 * (i * notes[SERVERS] + server))


@kernel
def log_move(notes: Notes, move: int) -> int:
    """Where a move stands in the log."""
    behind = FRONT + SECTIONS * notes[CAPACITY] + 2 * notes[OLDEST] * notes[SERVERS]
    return int(behind + MOVE_FIELDS * move)


@kernel
def record(
    notes: Notes, now: int, task: int, there: int, before: int, after: int, sizes: tuple[int, int]
) -> None:
    """Note a move to ``there``; where the log is full it is only counted."""
    if notes[MOVES] < notes[ROOM]:
        row = log_move(notes, notes[MOVES])
        notes[row + M_TASK], notes[row + M_TIME] = task, now
        notes[row + M_FROM], notes[row + M_TO] = notes[at(notes, WHERE, task)], there
        notes[row + M_BEFORE], notes[row + M_AFTER] = before, after
        notes[row + M_PROCS_BEFORE], notes[row + M_PROCS_AFTER] = sizes
    notes[MOVES] += 1
    notes[at(notes, WHERE, task)] = there
    notes[at(notes, TIMES_MOVED, task)] += 1
