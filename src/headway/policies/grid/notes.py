"""The agent's memory: one table of whole numbers, so that the compiled agent has it as well as any other."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from headway.jit import kernel
from headway.units import NEVER

Notes = npt.NDArray[np.int64]

NO_ANSWER = NEVER
"""The completion of a task that a cluster cannot run."""
STARTED = -1
"""The completion of a task that waits no more where it was submitted."""


class Agent(IntEnum):
    """The front of the notes: what the agent was told, and from TASKS on what it counts."""

    SERVERS = 0
    HEURISTIC = 1
    MODE = 2
    THRESHOLD = 3
    OLDEST = 4
    CAPACITY = 5
    ROOM = 6
    TASKS = 7
    MOVES = 8
    EVENTS = 9
    AGAIN = 10


FRONT = 12


class Section(IntEnum):
    """Behind the front: an entry for as many tasks as there may be. Then, for each task of the window, the
    answers of the servers, and at last the log of moves."""

    LIST = 0
    """Tasks that are not known to have started, in order of submission."""
    WHERE = 1
    """The server of each."""
    HELD = 2
    """Expected completion and size of each place of the list when the event began."""
    HELD_PROCS = 3
    PUT_BACK = 4
    """How often each was submitted again with a later completion than it had."""
    TIMES_MOVED = 5
    """How often it changed the cluster."""


SECTIONS = len(Section)

MCT, MINMIN, MAXMIN, SUFFERAGE, MAXGAIN, MAXRELGAIN = range(6)
REGULAR, CANCEL, NO_REALLOCATION = range(3)


class Move(IntEnum):
    """Fields of one move: whose, when, from and to which server; what was expected before and after it."""

    TASK = 0
    TIME = 1
    FROM = 2
    TO = 3
    BEFORE = 4
    AFTER = 5
    PROCS_BEFORE = 6
    PROCS_AFTER = 7


MOVE_FIELDS = len(Move)


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
    notes[: Agent.ROOM + 1] = servers, heuristic, mode, threshold, window, capacity, room
    return notes


def section(notes: Notes, name: int) -> Notes:
    """A section of the notes, an entry for each task that there may be."""
    capacity = int(notes[Agent.CAPACITY])
    return notes[FRONT + name * capacity :][:capacity]


@kernel
def at(notes: Notes, section: int, i: int) -> int:
    """Where entry ``i`` of a section is."""
    return int(FRONT + section * notes[Agent.CAPACITY] + i)


@kernel
def answer_at(notes: Notes, i: int, server: int) -> int:
    """Where the answer of a server about task ``i`` of the window is; its processors follow."""
    return int(FRONT + SECTIONS * notes[Agent.CAPACITY] + 2 * (i * notes[Agent.SERVERS] + server))


@kernel
def log_move(notes: Notes, move: int) -> int:
    """Where a move stands in the log."""
    behind = FRONT + SECTIONS * notes[Agent.CAPACITY] + 2 * notes[Agent.OLDEST] * notes[Agent.SERVERS]
    return int(behind + MOVE_FIELDS * move)


@kernel
def record(
    notes: Notes, now: int, task: int, there: int, before: int, after: int, sizes: tuple[int, int]
) -> None:
    """Note a move to ``there``; where the log is full it is only counted."""
    if notes[Agent.MOVES] < notes[Agent.ROOM]:
        row = log_move(notes, notes[Agent.MOVES])
        notes[row + Move.TASK], notes[row + Move.TIME] = task, now
        notes[row + Move.FROM], notes[row + Move.TO] = notes[at(notes, Section.WHERE, task)], there
        notes[row + Move.BEFORE], notes[row + Move.AFTER] = before, after
        notes[row + Move.PROCS_BEFORE], notes[row + Move.PROCS_AFTER] = sizes
    notes[Agent.MOVES] += 1
    notes[at(notes, Section.WHERE, task)] = there
    notes[at(notes, Section.TIMES_MOVED, task)] += 1
