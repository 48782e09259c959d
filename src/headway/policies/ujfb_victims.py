"""Whom UJFB stops for an urgent job."""

from __future__ import annotations

from headway.engine.tables import PHASE, PROCS, RUNNING, State
from headway.jit import kernel, routine
from headway.policies.ujfb_processors import load_hosts
from headway.policies.ujfb_tables import (
    BEGUN,
    CANDIDATES,
    FIRST_PROCESSOR,
    HOST_ROOM,
    LATEST,
    NO_JOB,
    OWNER,
    SIZE_OF_MACHINE,
    SMALLEST,
    SWAP,
    VICTIMS,
    at,
    entry,
)

NOT_ENOUGH = -1
"""Instead of a number of victims: stopping all that may be stopped would not do."""


@kernel
def rather(state: State, a: int, b: int) -> bool:
    """Whether job ``a`` is stopped before job ``b``; of equal ones the first to arrive is."""
    order = state.options[VICTIMS]
    x = state.jobs[BEGUN, b] if order == LATEST else state.jobs[PROCS, a]
    y = state.jobs[BEGUN, a] if order == LATEST else state.jobs[PROCS, b]
    if order > SMALLEST:
        x, y = y, x
    return bool(x < y or (x == y and a < b))


@routine
def select(state: State, missing: int, hosts: bool) -> int:
    """List the regular jobs to stop for ``missing`` processors; how many, or NOT_ENOUGH.

    They are taken in the chosen order until there are enough; then, in that order, each is spared without
    whom the rest still suffices. Where ``hosts`` matter, one that does not fit beside what is swapped out
    already is passed over.
    """
    room = state.options[HOST_ROOM]
    bounded = hosts and room >= 0
    running = 0
    for p in range(state.options[SIZE_OF_MACHINE]):
        job = entry(state, OWNER, p)
        if job != NO_JOB and state.jobs[FIRST_PROCESSOR, job] == p and state.jobs[PHASE, job] == RUNNING:
            state.options[at(state, CANDIDATES, running)] = job
            running += 1
    chosen, total = 0, 0
    here = at(state, CANDIDATES, 0)
    while total < missing and chosen < running:
        best = chosen
        for i in range(chosen + 1, running):
            if rather(state, state.options[here + i], state.options[here + best]):
                best = i
        job = state.options[here + best]
        if bounded and not load_hosts(state, job, 1, room):
            running -= 1
            state.options[here + best] = state.options[here + running]
            continue
        state.options[here + best] = state.options[here + chosen]
        state.options[here + chosen] = job
        total += state.jobs[PROCS, job]
        chosen += 1
    enough = total >= missing
    kept = 0
    for i in range(chosen):
        job = state.options[here + i]
        if enough and total - state.jobs[PROCS, job] < missing:
            state.options[here + kept] = job
            kept += 1
        else:
            total -= state.jobs[PROCS, job]
            if bounded:
                load_hosts(state, job, -1, room)
    return kept if enough else NOT_ENOUGH


@kernel
def longest_swap(state: State, victims: int) -> int:
    """The preemption delay: how long it takes until the last of the victims is swapped out."""
    longest = 0
    for i in range(victims):
        longest = max(longest, state.jobs[SWAP, entry(state, CANDIDATES, i)])
    return longest
