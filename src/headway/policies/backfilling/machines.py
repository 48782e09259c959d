"""EASY as batsched's easy_bf runs it: processors have numbers, and the reservation is a set of them.

    number   now               shadow
       3     free ───────────────┬───────   the head wants 2: it holds 0 and 1, the lowest that are free then
       2     free ───────────────┤          a job for 1 processor that runs past the shadow may take 2 or 3,
       1     running until there │ head     the free ones outside that set
       0     free ───────────────┤ head     one that is over by the shadow takes the lowest free one, 0

A job gets the lowest numbers that it may have. Counts would let a job pass that finds no processors outside
the set; and one that took processors outside it may keep others from passing that counts would let pass.

The policy's memory has a table of what each processor does.
"""

from __future__ import annotations

from typing import NamedTuple

from headway.engine.ends import settle_ends, when_enough
from headway.engine.fitting import next_fit
from headway.engine.tables import OPEN, State, Why
from headway.jit.kernels import by_address, kernel
from headway.jit.rows import Row, Rows
from headway.policies.backfilling.dialects import QUEUE, head_of, join_by_name, passed, start_head
from headway.policies.backfilling.easy import begin, first_candidate
from headway.policies.queueing.strict import MACHINE


class Processors(Rows):
    """What is known of a processor."""

    holder: Row  # The number of the run that holds it, plus one; 0: it is free.
    until: Row  # Until when that is expected (µs).
    set_aside: Row  # Whether it belongs to the reservation.


@by_address
class Numbered(NamedTuple):
    """Processors with numbers."""

    processors: Processors
    """[row, number]"""


@kernel
def give_back(state: State) -> None:
    """The processors of runs that have ended are free."""
    for number in range(state.pools.size[MACHINE]):
        run = state.memory.processors.holder[number] - 1
        if run >= 0 and state.runs.end[run] != OPEN:
            state.memory.processors.holder[number] = 0
            state.memory.processors.until[number] = 0


@kernel
def take(state: State, job: int, outside: bool) -> int:
    """Give a job that just started the lowest free processors; how many of them were not set aside.

    With ``outside`` it takes none that is set aside.
    """
    end = state.clock.now + state.jobs.plan[job]
    missing, not_set_aside, number = state.jobs.procs[job], 0, 0
    while missing > 0:
        aside = state.memory.processors.set_aside[number]
        if state.memory.processors.holder[number] == 0 and not (outside and aside):
            state.memory.processors.holder[number] = state.jobs.run[job] + 1
            state.memory.processors.until[number] = end
            not_set_aside += 1 - aside
            missing -= 1
        number += 1
    return not_set_aside


@kernel
def set_aside(state: State, procs: int, shadow: int) -> int:
    """Set aside the lowest ``procs`` processors free at the shadow time; how many others are free now."""
    others = 0
    for number in range(state.pools.size[MACHINE]):
        wanted = procs > 0 and state.memory.processors.until[number] <= shadow
        state.memory.processors.set_aside[number] = int(wanted)
        procs -= int(wanted)
        others += int(not wanted and state.memory.processors.holder[number] == 0)
    return others


@kernel
def set_nothing_aside(state: State) -> None:
    """There is no reservation."""
    for number in range(state.pools.size[MACHINE]):
        state.memory.processors.set_aside[number] = 0


@kernel
def backfill_beside(t: int, state: State, head: int) -> None:
    """Start the jobs behind the head that end by its shadow time or find processors outside its set."""
    procs = state.jobs.procs[head]
    shadow, _ = when_enough(state.profile, MACHINE, t, state.pools.free[MACHINE], procs)
    others = set_aside(state, procs, shadow)
    place = first_candidate(state, MACHINE)
    while state.pools.free[MACHINE] > 0:
        place = next_fit(state, QUEUE, place, state.pools.free[MACHINE], shadow - t, others)
        if place < 0:
            break
        job = state.queue.job[QUEUE, place]
        if begin(state, MACHINE, QUEUE, place, Why.BACKFILL) < 0:
            break
        others -= take(state, job, t + state.jobs.plan[job] > shadow)
        place += 1
    set_nothing_aside(state)


def easy_batsched(t: int, state: State) -> None:
    """batsched's easy_bf: all that happens at one instant, then one pass, on processors with numbers."""
    if state.clock.ended > 0:
        give_back(state)
    settle_ends(t, state, MACHINE)
    join_by_name(state)
    head = head_of(state)
    while head >= 0 and state.jobs.procs[head] <= state.pools.free[MACHINE]:
        start_head(t, state, head)
        take(state, head, False)
        head = head_of(state)
    if state.pools.count[QUEUE] > 1 and state.pools.free[MACHINE] > 0:
        backfill_beside(t, state, head)
    passed(state)
