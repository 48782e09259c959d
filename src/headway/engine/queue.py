"""Waiting lines: jobs in scheduling order, sorted by (key, job); the key is 0 for first come first served.

A job that leaves makes a gap; its entry keeps its sort key, so the line stays sorted, and wants more
processors than there are, so nothing finds it. Gaps are closed when jobs join.
"""

from __future__ import annotations

from headway.engine.tables import (
    GONE,
    PLAN,
    PROCS,
    Q_COUNT,
    Q_FIELDS,
    Q_HEAD,
    Q_JOB,
    Q_KEY,
    Q_PLAN,
    Q_PROCS,
    Q_SORTED_IN,
    Q_SUMMED,
    Q_TAIL,
    State,
)
from headway.jit import kernel, routine


@routine
def close_gaps(state: State, q: int) -> None:
    """Move the waiting jobs together at the front."""
    free = 0
    for place in range(state.pools[Q_HEAD, q], state.pools[Q_TAIL, q]):
        if state.queue[Q_FIELDS * q + Q_PROCS, place] != GONE:
            for field in range(Q_FIELDS):
                state.queue[Q_FIELDS * q + field, free] = state.queue[Q_FIELDS * q + field, place]
            free += 1
    state.pools[Q_HEAD, q] = 0
    state.pools[Q_TAIL, q] = free
    state.pools[Q_SUMMED, q] = 0


@kernel
def draw_together(state: State, q: int) -> None:
    """Close the gaps of queue ``q`` where they are many, for one who often walks along all of it."""
    used = state.pools[Q_TAIL, q] - state.pools[Q_HEAD, q]
    if 4 * used > 5 * state.pools[Q_COUNT, q] + 16:
        close_gaps(state, q)


@kernel
def comes_after(state: State, q: int, place: int, key: int, job: int) -> bool:
    """Whether the entry at ``place`` stands behind (key, job)."""
    here = state.queue[Q_FIELDS * q + Q_KEY, place]
    return here > key or (here == key and state.queue[Q_FIELDS * q + Q_JOB, place] > job)


@kernel
def place_for(state: State, q: int, key: int, job: int) -> int:
    """The first position whose entry stands behind (key, job)."""
    low, high = state.pools[Q_HEAD, q], state.pools[Q_TAIL, q]
    if low == high or not comes_after(state, q, high - 1, key, job):
        return high
    while low < high:
        middle = (low + high) >> 1
        if comes_after(state, q, middle, key, job):
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def enter(state: State, q: int, job: int, key: int) -> int:
    """Let a job join queue ``q`` where its key belongs; the position it got."""
    used = state.pools[Q_TAIL, q] - state.pools[Q_HEAD, q]
    if used > 2 * state.pools[Q_COUNT, q] + 32 or state.pools[Q_TAIL, q] == state.queue.shape[1]:
        close_gaps(state, q)
    if state.pools[Q_COUNT, q] == 0:
        state.pools[Q_HEAD, q] = state.pools[Q_TAIL, q] = state.pools[Q_SUMMED, q] = 0
    place = place_for(state, q, key, job)
    gap = place
    tail = state.pools[Q_TAIL, q]
    while gap < tail and state.queue[Q_FIELDS * q + Q_PROCS, gap] != GONE:
        gap += 1
    for i in range(gap, place, -1):
        for field in range(Q_FIELDS):
            state.queue[Q_FIELDS * q + field, i] = state.queue[Q_FIELDS * q + field, i - 1]
    state.queue[Q_FIELDS * q + Q_JOB, place] = job
    state.queue[Q_FIELDS * q + Q_KEY, place] = key
    state.queue[Q_FIELDS * q + Q_PROCS, place] = state.jobs[PROCS, job]
    state.queue[Q_FIELDS * q + Q_PLAN, place] = state.jobs[PLAN, job]
    if gap == tail:
        state.pools[Q_TAIL, q] = tail + 1
    if place < tail:
        state.pools[Q_SORTED_IN, q] = 1
    state.pools[Q_COUNT, q] += 1
    return place


@kernel
def leave(state: State, q: int, place: int) -> int:
    """Take the job at ``place`` out of queue ``q``; the job."""
    job = state.queue[Q_FIELDS * q + Q_JOB, place]
    state.queue[Q_FIELDS * q + Q_PROCS, place] = GONE
    state.pools[Q_COUNT, q] -= 1
    head, tail = state.pools[Q_HEAD, q], state.pools[Q_TAIL, q]
    while head < tail and state.queue[Q_FIELDS * q + Q_PROCS, head] == GONE:
        head += 1
    state.pools[Q_HEAD, q] = head
    return int(job)


@kernel
def find_job(state: State, q: int, row: int, job: int) -> int:
    """The position in queue ``q`` of a waiting job whose key there is in row ``row``."""
    return place_for(state, q, state.jobs[row, job], job) - 1
