"""What the agent remembers: tables with names, for the compiled agent as well as for any other."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headway.jit.kernels import by_address, kernel
from headway.units import NEVER

Table = npt.NDArray[np.int64]

NO_ANSWER = NEVER
"""The completion of a task that a cluster cannot run."""
STARTED = -1
"""The completion of a task that waits no more where it was submitted."""

MCT, MINMIN, MAXMIN, SUFFERAGE, MAXGAIN, MAXRELGAIN = range(6)
REGULAR, CANCEL, NO_REALLOCATION = range(3)


class Setting(IntEnum):
    """What the agent was told: numbers of the spec's words, and the least gain of a move."""

    HEURISTIC = 0
    MODE = 1
    THRESHOLD = 2


class Count(IntEnum):
    """What the agent counts: tasks not known to have started, moves, events, submissions after cancelling."""

    TASKS = 0
    MOVES = 1
    EVENTS = 2
    AGAIN = 3


class Waiting(IntEnum):
    """A place of the list of tasks: whose, and its expected completion and size when the event began."""

    TASK = 0
    COMPLETION = 1
    PROCS = 2


class Known(IntEnum):
    """What is known of a task."""

    SERVER = 0
    """Where it was submitted."""
    PUT_BACK = 1
    """How often it was submitted again with a later completion than it had."""
    TIMES_MOVED = 2
    """How often it changed the cluster."""


class Answer(IntEnum):
    """What a server says of a task."""

    COMPLETION = 0
    PROCS = 1


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


@by_address
class Notes(NamedTuple):
    """The memory of an agent."""

    settings: Table
    """[Setting]"""
    counts: Table
    """[Count]"""
    waiting: Table
    """[Waiting, place] tasks that are not known to have started, in order of submission."""
    tasks: Table
    """[Known, task]"""
    answers: Table
    """[Answer, place, server] about the window, the oldest few tasks of the list."""
    moves: Table
    """[Move, move] the log of moves; those that it has no space for are only counted."""


def new_notes(
    servers: int, heuristic: int, mode: int, threshold: int, oldest: int, capacity: int, room: int
) -> Notes:
    """The memory of an agent with so many servers, for ``capacity`` tasks and a log of ``room`` moves.

    ``heuristic`` and ``mode`` are numbers of the spec's words, ``threshold`` is the least gain of a move
    (µs), ``oldest`` how many of the oldest waiting tasks a heuristic chooses from.
    """
    return Notes(
        settings=np.array([heuristic, mode, threshold], np.int64),
        counts=np.zeros(len(Count), np.int64),
        waiting=np.zeros((len(Waiting), capacity), np.int64),
        tasks=np.zeros((len(Known), capacity), np.int64),
        answers=np.zeros((len(Answer), min(oldest, capacity), servers), np.int64),
        moves=np.zeros((len(Move), room), np.int64),
    )


@kernel
def window_of(notes: Notes, waiting: int) -> int:
    """How many of so many tasks a heuristic chooses from."""
    return int(min(waiting, notes.answers.shape[1]))


@kernel
def servers_of(notes: Notes) -> int:
    """How many servers the agent has."""
    return int(notes.answers.shape[2])


@kernel
def record(
    notes: Notes, now: int, task: int, there: int, before: int, after: int, sizes: tuple[int, int]
) -> None:
    """Note a move to ``there``; where the log is full it is only counted."""
    moves, move = notes.moves, notes.counts[Count.MOVES]
    if move < moves.shape[1]:
        moves[Move.TASK, move], moves[Move.TIME, move] = task, now
        moves[Move.FROM, move], moves[Move.TO, move] = notes.tasks[Known.SERVER, task], there
        moves[Move.BEFORE, move], moves[Move.AFTER, move] = before, after
        moves[Move.PROCS_BEFORE, move], moves[Move.PROCS_AFTER, move] = sizes
    notes.counts[Count.MOVES] += 1
    notes.tasks[Known.SERVER, task] = there
    notes.tasks[Known.TIMES_MOVED, task] += 1
