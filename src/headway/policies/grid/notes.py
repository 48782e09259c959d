"""What the agent remembers: tables with names, for the compiled agent as well as for any other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headway.jit.kernels import by_address, kernel
from headway.jit.rows import Entries, Row, Rows, zeros
from headway.units import NEVER

Table = npt.NDArray[np.int64]

NO_ANSWER = NEVER
"""The completion of a task that a cluster cannot run."""
STARTED = -1
"""The completion of a task that waits no more where it was submitted."""

MCT, MINMIN, MAXMIN, SUFFERAGE, MAXGAIN, MAXRELGAIN = range(6)
REGULAR, CANCEL, NO_REALLOCATION = range(3)


class Settings(Entries):
    """What the agent was told: numbers of the spec's words, and the least gain of a move."""

    heuristic: int
    mode: int
    threshold: int


class Counts(Entries):
    """What the agent counts: tasks not known to have started, moves, events, submissions after cancelling."""

    tasks: int
    moves: int
    events: int
    again: int


class Waiting(Rows):
    """A place of the list of tasks: whose, and its expected completion and size when the event began."""

    task: Row
    completion: Row
    procs: Row


class Known(Rows):
    """What is known of a task."""

    server: Row  # Where it was submitted.
    put_back: Row  # How often it was submitted again with a later completion than it had.
    times_moved: Row  # How often it changed the cluster.


class Answers(Rows):
    """What a server says of a task."""

    completion: Row
    procs: Row


class Moves(Rows):
    """Fields of one move: whose, when, from and to which server; what was expected before and after it."""

    task: Row
    time: Row
    origin: Row
    target: Row
    before: Row
    after: Row
    procs_before: Row
    procs_after: Row


@by_address
class Notes(NamedTuple):
    """The memory of an agent."""

    settings: Settings
    counts: Counts
    waiting: Waiting
    """[row, place] tasks that are not known to have started, in order of submission."""
    tasks: Known
    """[row, task]"""
    answers: Answers
    """[row, place, server] about the window, the oldest few tasks of the list."""
    moves: Moves
    """[row, move] the log of moves; those that it has no space for are only counted."""


def new_notes(
    servers: int, heuristic: int, mode: int, threshold: int, oldest: int, capacity: int, room: int
) -> Notes:
    """The memory of an agent with so many servers, for ``capacity`` tasks and a log of ``room`` moves.

    ``heuristic`` and ``mode`` are numbers of the spec's words, ``threshold`` is the least gain of a move
    (µs), ``oldest`` how many of the oldest waiting tasks a heuristic chooses from.
    """
    return Notes(
        settings=Settings(np.array([heuristic, mode, threshold], np.int64)),
        counts=zeros(Counts),
        waiting=zeros(Waiting, capacity),
        tasks=zeros(Known, capacity),
        answers=zeros(Answers, min(oldest, capacity), servers),
        moves=zeros(Moves, room),
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
    moves, move = notes.moves, notes.counts.moves
    if move < moves.shape[1]:
        moves.task[move], moves.time[move] = task, now
        moves.origin[move], moves.target[move] = notes.tasks.server[task], there
        moves.before[move], moves.after[move] = before, after
        moves.procs_before[move], moves.procs_after[move] = sizes
    notes.counts.moves += 1
    notes.tasks.server[task] = there
    notes.tasks.times_moved[task] += 1
