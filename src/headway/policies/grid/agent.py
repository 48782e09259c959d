"""The agent: gives each arriving task to a cluster, and moves waiting tasks to better ones now and then.

It speaks with the servers, one in front of each cluster, by three requests and in no other way:

    estimate(grid, server, task)   -> (completion, processors)
        a task that waits there: when it is expected to be completed, and on how many processors;
        one that does not: the same if it were submitted now, tuned for the load there;
        (NO_ANSWER, 0) if that cluster cannot run it; (STARTED, 0) if it waits there no more
    submit(grid, server, task)     -> (completion, processors)   tuned for the load there
    cancel(grid, server, task)     -> whether the task was still waiting there and is gone now

``grid`` is whatever the requests need to find the servers; the agent only hands it on. Times are integers of
any unit. What the agent knows besides is in its ``notes``: the tasks it submitted, where each of them is,
what it heard last. This source is compiled over the simulator's servers, and
:mod:`headway.policies.grid.middleware` runs it over any others.

A task is a number, counted from 0 in the order in which clients sent them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.jit.kernels import kernel, routine
from headway.policies.grid.notes import (
    CANCEL,
    MCT,
    NO_ANSWER,
    REGULAR,
    STARTED,
    Notes,
    record,
    servers_of,
    window_of,
)
from headway.policies.grid.selection import chosen, restore_order, strike
from headway.policies.grid.server import cancel, estimate, submit


@kernel
def nobody() -> int:
    """No server, as a variable of the compiler's: a constant would let it compile the requests twice."""
    return int(np.int64(-1))


@kernel
def best_server(notes: Notes, grid: Any, task: int, apart: int) -> tuple[int, int]:
    """The server, ``apart`` left out, that promises the earliest completion, and that; -1 if none can."""
    best, earliest = nobody(), NO_ANSWER
    for server in range(servers_of(notes)):
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
        notes.tasks.server[task] = server
        notes.waiting.task[notes.counts.tasks] = task
        notes.counts.tasks += 1
    return server


@kernel
def ask_all(notes: Notes, grid: Any) -> int:
    """Ask about every task: those that started are struck off; how many wait."""
    waiting = 0
    for i in range(notes.counts.tasks):
        task = notes.waiting.task[i]
        completion, procs = estimate(grid, notes.tasks.server[task], task)
        if completion != STARTED:
            notes.waiting.task[waiting] = task
            notes.waiting.completion[waiting] = completion
            notes.waiting.procs[waiting] = procs
            waiting += 1
    notes.counts.tasks = waiting
    return waiting


@kernel
def refresh(notes: Notes, grid: Any, left: int, server: int) -> None:
    """Ask a server about the first ``left`` tasks of the list, the window."""
    for i in range(left):
        completion, procs = estimate(grid, server, notes.waiting.task[i])
        notes.answers.completion[i, server] = completion
        notes.answers.procs[i, server] = procs


# ---- the two ways to reallocate -------------------------------------------------------------------------


@kernel
def improve(notes: Notes, grid: Any, now: int, task: int) -> int:
    """Move a waiting task if another cluster completes it earlier by the threshold; that cluster, or -1.

    It is submitted there before it is cancelled here, so that it is never nowhere.
    """
    home = notes.tasks.server[task]
    completion, procs = estimate(grid, home, task)
    there, other = best_server(notes, grid, task, home)
    if there < 0 or completion == STARTED or completion - other < notes.settings.threshold:
        return nobody()
    after, size = submit(grid, there, task)
    if not cancel(grid, home, task):
        cancel(grid, there, task)  # it started in the meantime: the second submission is withdrawn
        return nobody()
    record(notes, now, task, there, completion, after, (procs, size))
    return there


@kernel
def regular(notes: Notes, grid: Any, now: int, waiting: int) -> None:
    """Look at one task after the other; each may go to another cluster."""
    if notes.settings.heuristic == MCT:
        for i in range(waiting):
            improve(notes, grid, now, notes.waiting.task[i])
        return
    left = window_of(notes, waiting)
    for server in range(servers_of(notes)):
        refresh(notes, grid, left, server)
    struck = 0
    while left > 0:
        i = chosen(notes, left)
        task = notes.waiting.task[i]
        home = notes.tasks.server[task]
        there = improve(notes, grid, now, task)
        strike(notes, i, left)
        left -= 1
        # The struck ones stand behind the window until all is done; only two clusters have changed.
        notes.waiting.task[left] = task
        struck += 1
        if there >= 0:
            refresh(notes, grid, left, home)
            refresh(notes, grid, left, there)
    restore_order(notes, struck)


@kernel
def submit_again(notes: Notes, grid: Any, now: int, i: int) -> int:
    """Submit the cancelled task at place ``i`` where it is completed first; that cluster."""
    task = notes.waiting.task[i]
    there, _ = best_server(notes, grid, task, nobody())
    completion, procs = submit(grid, there, task)
    held, had = notes.waiting.completion[i], notes.waiting.procs[i]
    notes.counts.again += 1
    if completion > held:
        notes.tasks.put_back[task] += 1
    if there != notes.tasks.server[task]:
        record(notes, now, task, there, held, completion, (had, procs))
    return there


@kernel
def cancel_everything(notes: Notes, grid: Any, waiting: int) -> int:
    """Cancel the tasks of the list; those that started in the meantime are struck off. How many are left."""
    left = 0
    for i in range(waiting):
        task = notes.waiting.task[i]
        if cancel(grid, notes.tasks.server[task], task):
            for row in range(notes.waiting.shape[0]):
                notes.waiting[row, left] = notes.waiting[row, i]
            left += 1
    notes.counts.tasks = left
    return left


@kernel
def all_cancellation(notes: Notes, grid: Any, now: int, waiting: int) -> None:
    """Cancel everything that waits, then submit it again, task by task."""
    waiting = cancel_everything(notes, grid, waiting)
    window = 0 if notes.settings.heuristic == MCT else window_of(notes, waiting)
    for server in range(servers_of(notes)):
        refresh(notes, grid, window, server)
    left = window
    while left > 0:
        i = chosen(notes, left)
        task = notes.waiting.task[i]
        there = submit_again(notes, grid, now, i)
        strike(notes, i, left)
        left -= 1
        notes.waiting.task[left] = task
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
    notes.counts.events += 1
    if notes.settings.mode == REGULAR:
        regular(notes, grid, now, waiting)
    elif notes.settings.mode == CANCEL:
        all_cancellation(notes, grid, now, waiting)
