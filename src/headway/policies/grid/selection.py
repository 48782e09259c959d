"""Which waiting task is next at an event: what the heuristics make of the servers' answers.

They look at the window, the oldest few tasks at the front of the agent's list.
"""

from __future__ import annotations

from headway.jit import kernel, routine
from headway.policies.grid.notes import (
    MAXMIN,
    MAXRELGAIN,
    MINMIN,
    NO_ANSWER,
    REGULAR,
    SUFFERAGE,
    Agent,
    Notes,
    Section,
    answer_at,
    at,
)


@routine
def urgency(notes: Notes, i: int) -> tuple[int, int]:
    """What the heuristic wants large, as numerator and denominator; a denominator of 0: less than anything.

    From the answers about task ``i`` of the window. The gain is what the task would win elsewhere; where all
    tasks are cancelled, what it would win on any cluster against what it had before.
    """
    home = (
        notes[at(notes, Section.WHERE, notes[at(notes, Section.LIST, i)])]
        if notes[Agent.MODE] == REGULAR
        else -1
    )
    best = second = other = NO_ANSWER
    for server in range(notes[Agent.SERVERS]):
        completion = notes[answer_at(notes, i, server)]
        if completion < best:
            best, second = completion, best
        else:
            second = min(second, completion)
        if server != home:
            other = min(other, completion)
    rule = notes[Agent.HEURISTIC]
    if rule == MINMIN:
        return -best, 1
    if rule == MAXMIN:
        return best, 1
    if rule == SUFFERAGE:
        return second - best if second < NO_ANSWER else NO_ANSWER, 1
    if other == NO_ANSWER:
        return 0, 0
    held, procs = notes[at(notes, Section.HELD, i)], notes[at(notes, Section.HELD_PROCS, i)]
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
        for section in (Section.LIST, Section.HELD, Section.HELD_PROCS):
            notes[at(notes, section, place)] = notes[at(notes, section, place + 1)]
        for server in range(notes[Agent.SERVERS]):
            here, there = answer_at(notes, place, server), answer_at(notes, place + 1, server)
            notes[here], notes[here + 1] = notes[there], notes[there + 1]


@kernel
def restore_order(notes: Notes, count: int) -> None:
    """Sort the first ``count`` tasks of the list by submission again (they are few)."""
    for i in range(1, count):
        task = notes[at(notes, Section.LIST, i)]
        place = i
        while place > 0 and notes[at(notes, Section.LIST, place - 1)] > task:
            notes[at(notes, Section.LIST, place)] = notes[at(notes, Section.LIST, place - 1)]
            place -= 1
        notes[at(notes, Section.LIST, place)] = task
