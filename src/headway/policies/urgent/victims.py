"""Whom UJFB stops for an urgent job."""

from __future__ import annotations

from headway.engine.tables import Job, Phase, State
from headway.jit.kernels import kernel, routine
from headway.policies.urgent.processors import is_idle, load_hosts
from headway.policies.urgent.tables import LATEST, NO_JOB, SMALLEST, Processor, Rule, UjfbJob

NOT_ENOUGH = -1
"""Instead of a number of victims: stopping all that may be stopped would not do."""


@kernel
def rather(state: State, a: int, b: int) -> bool:
    """Whether job ``a`` is stopped before job ``b``; of equal ones the first to arrive is."""
    order = state.memory.rules[Rule.VICTIMS]
    x = state.jobs[UjfbJob.BEGUN, b] if order == LATEST else state.jobs[Job.PROCS, a]
    y = state.jobs[UjfbJob.BEGUN, a] if order == LATEST else state.jobs[Job.PROCS, b]
    if order > SMALLEST:
        x, y = y, x
    return bool(x < y or (x == y and a < b))


@routine
def select(state: State, missing: int, hosts: bool) -> int:
    """List the regular jobs to stop for ``missing`` processors; how many, or NOT_ENOUGH.

    They are taken in the chosen order until there are enough; then, in that order, each is spared without
    whom the rest still suffices. Where ``hosts`` matter, one that does not fit beside what is swapped out
    already is passed over; a guest is not swapped out.
    """
    room = state.memory.rules[Rule.HOST_ROOM]
    bounded = hosts and room >= 0
    candidates, running = state.memory.candidates, 0
    for p in range(state.memory.processors.shape[1]):
        job = state.memory.processors[Processor.OWNER, p]
        if (
            job != NO_JOB
            and state.jobs[UjfbJob.FIRST_PROCESSOR, job] == p
            and state.jobs[Job.PHASE, job] == Phase.RUNNING
        ):
            candidates[running] = job
            running += 1
        elif state.memory.rules[Rule.LENDING]:
            user = state.memory.processors[Processor.USER, p]
            if (
                user != NO_JOB
                and state.jobs[UjfbJob.GUEST, user]
                and state.jobs[UjfbJob.FIRST_PROCESSOR, user] == p
            ):
                candidates[running] = user
                running += 1
    chosen, total = 0, 0
    while total < missing and chosen < running:
        best = chosen
        for i in range(chosen + 1, running):
            if rather(state, candidates[i], candidates[best]):
                best = i
        job = candidates[best]
        if bounded and not state.jobs[UjfbJob.GUEST, job] and not load_hosts(state, job, 1, room):
            running -= 1
            candidates[best] = candidates[running]
            continue
        candidates[best] = candidates[chosen]
        candidates[chosen] = job
        total += state.jobs[Job.PROCS, job]
        chosen += 1
    enough = total >= missing
    kept = 0
    for i in range(chosen):
        job = candidates[i]
        if enough and total - state.jobs[Job.PROCS, job] < missing:
            candidates[kept] = job
            kept += 1
        else:
            total -= state.jobs[Job.PROCS, job]
            if bounded and not state.jobs[UjfbJob.GUEST, job]:
                load_hosts(state, job, -1, room)
    return kept if enough else NOT_ENOUGH


@kernel
def longest_swap(state: State, victims: int) -> int:
    """The preemption delay: how long it takes until the last of the victims is swapped out."""
    longest = 0
    for i in range(victims):
        job = state.memory.candidates[i]
        if not state.jobs[UjfbJob.GUEST, job]:
            longest = max(longest, state.jobs[UjfbJob.SWAP, job])
    return longest


@routine
def until_swapped_out(t: int, state: State, procs: int) -> int:
    """How long it takes from now until the first so many idle processors have been swapped out."""
    ready = t
    for p in range(state.memory.processors.shape[1]):
        if procs == 0:
            break
        if is_idle(state, p):
            owner = state.memory.processors[Processor.OWNER, p]
            ready = max(ready, state.jobs[UjfbJob.SWAPPED_OUT, owner])
            procs -= 1
    return int(ready - t)
