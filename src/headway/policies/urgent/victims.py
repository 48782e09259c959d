"""Whom UJFB stops for an urgent job."""

from __future__ import annotations

from headway.engine.tables import Phase, State
from headway.jit.kernels import kernel, routine
from headway.policies.urgent.processors import is_idle, load_hosts
from headway.policies.urgent.tables import LATEST, NO_JOB, SMALLEST, UjfbJobs

NOT_ENOUGH = -1
"""Instead of a number of victims: stopping all that may be stopped would not do."""


@kernel
def rather(state: State, a: int, b: int) -> bool:
    """Whether job ``a`` is stopped before job ``b``; of equal ones the first to arrive is."""
    jobs = UjfbJobs(state.jobs)
    order = state.memory.rules.victims
    x = jobs.begun[b] if order == LATEST else jobs.procs[a]
    y = jobs.begun[a] if order == LATEST else jobs.procs[b]
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
    jobs = UjfbJobs(state.jobs)
    room = state.memory.rules.host_room
    bounded = hosts and room >= 0
    candidates, running = state.memory.candidates, 0
    for p in range(state.memory.processors.shape[1]):
        job = state.memory.processors.owner[p]
        if job != NO_JOB and jobs.first_processor[job] == p and jobs.phase[job] == Phase.RUNNING:
            candidates[running] = job
            running += 1
        elif state.memory.rules.lending:
            user = state.memory.processors.user[p]
            if user != NO_JOB and jobs.guest[user] and jobs.first_processor[user] == p:
                candidates[running] = user
                running += 1
    chosen, total = 0, 0
    while total < missing and chosen < running:
        best = chosen
        for i in range(chosen + 1, running):
            if rather(state, candidates[i], candidates[best]):
                best = i
        job = candidates[best]
        if bounded and not jobs.guest[job] and not load_hosts(state, job, 1, room):
            running -= 1
            candidates[best] = candidates[running]
            continue
        candidates[best] = candidates[chosen]
        candidates[chosen] = job
        total += jobs.procs[job]
        chosen += 1
    enough = total >= missing
    kept = 0
    for i in range(chosen):
        job = candidates[i]
        if enough and total - jobs.procs[job] < missing:
            candidates[kept] = job
            kept += 1
        else:
            total -= jobs.procs[job]
            if bounded and not jobs.guest[job]:
                load_hosts(state, job, -1, room)
    return kept if enough else NOT_ENOUGH


@kernel
def longest_swap(state: State, victims: int) -> int:
    """The preemption delay: how long it takes until the last of the victims is swapped out."""
    jobs = UjfbJobs(state.jobs)
    longest = 0
    for i in range(victims):
        job = state.memory.candidates[i]
        if not jobs.guest[job]:
            longest = max(longest, jobs.swap[job])
    return longest


@routine
def until_swapped_out(t: int, state: State, procs: int) -> int:
    """How long it takes from now until the first so many idle processors have been swapped out."""
    ready = t
    for p in range(state.memory.processors.shape[1]):
        if procs == 0:
            break
        if is_idle(state, p):
            owner = state.memory.processors.owner[p]
            ready = max(ready, UjfbJobs(state.jobs).swapped_out[owner])
            procs -= 1
    return int(ready - t)
