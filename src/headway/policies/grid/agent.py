"""The agent: gives each arriving task to a cluster, and moves waiting tasks to better ones now and then.

It speaks with the servers, one in front of each cluster, by three requests and in no other way:

    estimate(grid, server, task)   -> (completion, processors)
        a task that waits there: when it is expected to be completed, and on how many processors;
        one that does not: the same if it were submitted now, tuned for the load there;
        (NO_ANSWER, 0) if that cluster cannot run it; (STARTED, 0) if it waits there no more
    submit(grid, server, task)     -> (completion, processors)   tuned for the load there
    cancel(grid, server, task)     -> whether the task was still waiting there and is gone now

``grid`` is whatever the requests need to find the servers; the agent only hands it on. Times are integers of
any unit. What the agent knows besides is in ``notes``, its own memory: the tasks it submitted, where each of
them is, what it heard last. This source is compiled over the simulator's servers, and
:mod:`headway.policies.grid.middleware` runs it over any others.

A task is a number, counted from 0 in the order in which clients sent them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from headway.jit import kernel, routine, woven
from headway.policies.grid.server import NO_ANSWER, STARTED, cancel, estimate, submit

Notes = npt.NDArray[np.int64]

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
    """The memory of an agent with so many servers, for ``capacity`` tasks and a log of ``room`` moves."""
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
def nobody() -> int:
    """No server, as a variable of the compiler's: a constant would let it compile the requests twice."""
    return int(np.int64(-1))


@woven
def best_server(notes: Notes, grid: Any, task: int, apart: int) -> tuple[int, int]:
    """The server, ``apart`` left out, that promises the earliest completion, and that; -1 if none can."""
    best, earliest = nobody(), NO_ANSWER
    for server in range(notes[SERVERS]):
        if server != apart:
            completion, _ = estimate(grid, server, task)
            if completion < earliest:
                best, earliest = server, completion
    return best, earliest


@routine
def arrive(notes: Notes, grid: Any, task: int) -> int:
    """Submit a new task where it is expected to be completed first; the server, or -1 if none can run it."""
    server, _ = best_server(notes, grid, task, nobody())
    if server >= 0:
        submit(grid, server, task)
        notes[at(notes, WHERE, task)] = server
        notes[at(notes, LIST, notes[TASKS])] = task
        notes[TASKS] += 1
    return server


@woven
def ask_all(notes: Notes, grid: Any) -> int:
    """Ask about every task: those that started are struck off; how many wait."""
    waiting = 0
    for i in range(notes[TASKS]):
        task = notes[at(notes, LIST, i)]
        completion, procs = estimate(grid, notes[at(notes, WHERE, task)], task)
        if completion != STARTED:
            notes[at(notes, LIST, waiting)] = task
            notes[at(notes, HELD, waiting)] = completion
            notes[at(notes, HELD_PROCS, waiting)] = procs
            waiting += 1
    notes[TASKS] = waiting
    return waiting


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


# ---- which task is next ---------------------------------------------------------------------------------


@woven
def refresh(notes: Notes, grid: Any, left: int, server: int) -> None:
    """Ask a server about the first ``left`` tasks of the list, the window."""
    for i in range(left):
        completion, procs = estimate(grid, server, notes[at(notes, LIST, i)])
        notes[answer_at(notes, i, server)] = completion
        notes[answer_at(notes, i, server) + 1] = procs


@routine
def urgency(notes: Notes, i: int) -> tuple[int, int]:
    """What the heuristic wants large, as numerator and denominator; a denominator of 0: less than anything.

    From the answers about task ``i`` of the window. The gain is what the task would win elsewhere; where all
    tasks are cancelled, what it would win on any cluster against what it had before.
    """
    home = notes[at(notes, WHERE, notes[at(notes, LIST, i)])] if notes[MODE] == REGULAR else -1
    best = second = other = NO_ANSWER
    for server in range(notes[SERVERS]):
        completion = notes[answer_at(notes, i, server)]
        if completion < best:
            best, second = completion, best
        else:
            second = min(second, completion)
        if server != home:
            other = min(other, completion)
    rule = notes[HEURISTIC]
    if rule == MINMIN:
        return -best, 1
    if rule == MAXMIN:
        return best, 1
    if rule == SUFFERAGE:
        return second - best if second < NO_ANSWER else NO_ANSWER, 1
    if other == NO_ANSWER:
        return 0, 0
    held, procs = notes[at(notes, HELD, i)], notes[at(notes, HELD_PROCS, i)]
    if home >= 0:
        held, procs = notes[answer_at(notes, i, home)], notes[answer_at(notes, i, home) + 1]
    return held - other, procs if rule == MAXRELGAIN else 1


@kernel
def chosen(notes: Notes, left: int) -> int:
    """The place in the window of the most urgent task; of equals the first submitted."""
    best, most, of = 0, 0, 0
    for i in range(left):
        value, parts = urgency(notes, i)
        if i == 0 or (parts > 0 and (of == 0 or value * of > most * parts)):
            best, most, of = i, value, parts
    return best


@kernel
def strike(notes: Notes, i: int, left: int) -> None:
    """Take task ``i`` out of a window of ``left``; the order of the others stays."""
    for place in range(i, left - 1):
        for section in (LIST, HELD, HELD_PROCS):
            notes[at(notes, section, place)] = notes[at(notes, section, place + 1)]
        for server in range(notes[SERVERS]):
            here, there = answer_at(notes, place, server), answer_at(notes, place + 1, server)
            notes[here], notes[here + 1] = notes[there], notes[there + 1]


# ---- the two ways to reallocate -------------------------------------------------------------------------


@woven
def improve(notes: Notes, grid: Any, now: int, task: int) -> int:
    """Move a waiting task if another cluster completes it earlier by the threshold; that cluster, or -1.

    It is submitted there before it is cancelled here, so that it is never nowhere.
    """
    home = notes[at(notes, WHERE, task)]
    completion, procs = estimate(grid, home, task)
    there, other = best_server(notes, grid, task, home)
    if there < 0 or completion == STARTED or completion - other < notes[THRESHOLD]:
        return nobody()
    after, size = submit(grid, there, task)
    if not cancel(grid, home, task):
        cancel(grid, there, task)  # it started in the meantime: the second submission is withdrawn
        return nobody()
    record(notes, now, task, there, completion, after, (procs, size))
    return there


@woven
def regular(notes: Notes, grid: Any, now: int, waiting: int) -> None:
    """Look at one task after the other; each may go to another cluster."""
    if notes[HEURISTIC] == MCT:
        for i in range(waiting):
            improve(notes, grid, now, notes[at(notes, LIST, i)])
        return
    left = min(waiting, notes[OLDEST])
    for server in range(notes[SERVERS]):
        refresh(notes, grid, left, server)
    struck = 0
    while left > 0:
        i = chosen(notes, left)
        task = notes[at(notes, LIST, i)]
        home = notes[at(notes, WHERE, task)]
        there = improve(notes, grid, now, task)
        strike(notes, i, left)
        left -= 1
        # The struck ones stand behind the window until all is done; only two clusters have changed.
        notes[at(notes, LIST, left)] = task
        struck += 1
        if there >= 0:
            refresh(notes, grid, left, home)
            refresh(notes, grid, left, there)
    restore_order(notes, struck)


@kernel
def restore_order(notes: Notes, count: int) -> None:
    """Sort the first ``count`` tasks of the list by submission again (they are few)."""
    for i in range(1, count):
        task = notes[at(notes, LIST, i)]
        place = i
        while place > 0 and notes[at(notes, LIST, place - 1)] > task:
            notes[at(notes, LIST, place)] = notes[at(notes, LIST, place - 1)]
            place -= 1
        notes[at(notes, LIST, place)] = task


@woven
def submit_again(notes: Notes, grid: Any, now: int, i: int) -> int:
    """Submit the cancelled task at place ``i`` where it is completed first; that cluster."""
    task = notes[at(notes, LIST, i)]
    there, _ = best_server(notes, grid, task, nobody())
    completion, procs = submit(grid, there, task)
    held, had = notes[at(notes, HELD, i)], notes[at(notes, HELD_PROCS, i)]
    notes[AGAIN] += 1
    if completion > held:
        notes[at(notes, PUT_BACK, task)] += 1
    if there != notes[at(notes, WHERE, task)]:
        record(notes, now, task, there, held, completion, (had, procs))
    return there


@woven
def cancel_everything(notes: Notes, grid: Any, waiting: int) -> int:
    """Cancel the tasks of the list; those that started in the meantime are struck off. How many are left."""
    left = 0
    for i in range(waiting):
        task = notes[at(notes, LIST, i)]
        if cancel(grid, notes[at(notes, WHERE, task)], task):
            for section in (LIST, HELD, HELD_PROCS):
                notes[at(notes, section, left)] = notes[at(notes, section, i)]
            left += 1
    notes[TASKS] = left
    return left


@woven
def all_cancellation(notes: Notes, grid: Any, now: int, waiting: int) -> None:
    """Cancel everything that waits, then submit it again, task by task."""
    waiting = cancel_everything(notes, grid, waiting)
    window = 0 if notes[HEURISTIC] == MCT else min(waiting, notes[OLDEST])
    for server in range(notes[SERVERS]):
        refresh(notes, grid, window, server)
    left = window
    while left > 0:
        i = chosen(notes, left)
        task = notes[at(notes, LIST, i)]
        there = submit_again(notes, grid, now, i)
        strike(notes, i, left)
        left -= 1
        notes[at(notes, LIST, left)] = task
        refresh(notes, grid, left, there)
    restore_order(notes, window)
    for i in range(window, waiting):
        submit_again(notes, grid, now, i)


@routine
def reallocate(notes: Notes, grid: Any, now: int) -> None:
    """One event: look at all waiting tasks anew."""
    waiting = ask_all(notes, grid)
    if waiting == 0:
        return
    notes[EVENTS] += 1
    if notes[MODE] == REGULAR:
        regular(notes, grid, now, waiting)
    elif notes[MODE] == CANCEL:
        all_cancellation(notes, grid, now, waiting)
