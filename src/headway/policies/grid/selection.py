"""Which waiting task is next at an event: what the heuristics make of the servers' answers.

They look at the window, the oldest few tasks at the front of the agent's list.
"""

from __future__ import annotations

from headway.jit.kernels import kernel, routine
from headway.policies.grid.notes import (
    MAXMIN,
    MAXRELGAIN,
    MINMIN,
    NO_ANSWER,
    REGULAR,
    SUFFERAGE,
    Notes,
    servers_of,
)


@routine
def urgency(notes: Notes, i: int) -> tuple[int, int]:
    """What the heuristic wants large, as numerator and denominator; a denominator of 0: less than anything.

    From the answers about task ``i`` of the window. The gain is what the task would win elsewhere; where all
    tasks are cancelled, what it would win on any cluster against what it had before.
    """
    regular = notes.settings.mode == REGULAR
    home = notes.tasks.server[notes.waiting.task[i]] if regular else -1
    best = second = other = NO_ANSWER
    for server in range(servers_of(notes)):
        completion = notes.answers.completion[i, server]
        if completion < best:
            best, second = completion, best
        else:
            second = min(second, completion)
        if server != home:
            other = min(other, completion)
    rule = notes.settings.heuristic
    if rule == MINMIN:
        return -best, 1
    if rule == MAXMIN:
        return best, 1
    if rule == SUFFERAGE:
        return second - best if second < NO_ANSWER else NO_ANSWER, 1
    if other == NO_ANSWER:
        return 0, 0
    held, procs = notes.waiting.completion[i], notes.waiting.procs[i]
    if home >= 0:
        held, procs = notes.answers.completion[i, home], notes.answers.procs[i, home]
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
        for row in range(notes.waiting.shape[0]):
            notes.waiting[row, place] = notes.waiting[row, place + 1]
        for server in range(servers_of(notes)):
            for row in range(notes.answers.shape[0]):
                notes.answers[row, place, server] = notes.answers[row, place + 1, server]


@kernel
def restore_order(notes: Notes, count: int) -> None:
    """Sort the first ``count`` tasks of the list by submission again (they are few)."""
    for i in range(1, count):
        task = notes.waiting.task[i]
        place = i
        while place > 0 and notes.waiting.task[place - 1] > task:
            notes.waiting.task[place] = notes.waiting.task[place - 1]
            place -= 1
        notes.waiting.task[place] = task
