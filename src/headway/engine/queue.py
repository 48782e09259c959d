"""Waiting lines: jobs in scheduling order, sorted by (key, job); the key is 0 for first come first served.

A job that leaves makes a gap; its entry keeps its sort key, so the line stays sorted, and wants more
processors than there are, so nothing finds it. Gaps are closed when jobs join.

A job that joins in the middle takes the next gap, and those between move by one position. Where no gap is
near, a stretch around it is spread out: the shortest, twice as long each time, that has enough gaps, more of
them the longer it is; the whole line at last gets half as many gaps as jobs. So a job that joins moves about
the square of the logarithm of the line's length, wherever the others joined: a packed-memory array (Bender,
Demaine and Farach-Colton, "Cache-oblivious B-trees", SIAM Journal on Computing 35(2), 2005). A gap that
spreading makes has the sort key of the job behind it.
"""

from __future__ import annotations

from headway.engine.fitting import GROUP, sum_entry, sum_stretch
from headway.engine.tables import GONE, Q_FIELDS, Queues, State
from headway.jit.kernels import kernel, routine

REACH = 64
"""How many positions a job that joins looks along for a gap."""
LEVELS, SHARES = 12, 40
"""A stretch of ``REACH`` x 2^n positions is spread out if n / ``SHARES`` of it are gaps; n counts up to
``LEVELS``."""


@routine
def close_gaps(state: State, q: int) -> None:
    """Move the waiting jobs together at the front."""
    free = 0
    for place in range(state.pools.head[q], state.pools.tail[q]):
        if state.queue.procs[q, place] != GONE:
            for field in range(Q_FIELDS):
                state.queue[Q_FIELDS * q + field, free] = state.queue[Q_FIELDS * q + field, place]
            free += 1
    state.pools.head[q] = 0
    state.pools.tail[q] = free
    state.pools.summed[q] = 0


@kernel
def draw_together(state: State, q: int) -> None:
    """Close the gaps of queue ``q`` where they are many, for one who often walks along all of it."""
    used = state.pools.tail[q] - state.pools.head[q]
    if 4 * used > 5 * state.pools.count[q] + 16:
        close_gaps(state, q)


@kernel
def comes_after(state: State, q: int, place: int, key: int, job: int) -> bool:
    """Whether the entry at ``place`` stands behind (key, job)."""
    here = state.queue.key[q, place]
    return here > key or (here == key and state.queue.job[q, place] > job)


@kernel
def place_for(state: State, q: int, key: int, job: int) -> int:
    """The first position whose entry stands behind (key, job)."""
    low, high = state.pools.head[q], state.pools.tail[q]
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
def move_entry(state: State, q: int, place: int, to: int) -> None:
    """Copy the entry at ``place`` of queue ``q`` to another position."""
    for field in range(Q_FIELDS):
        state.queue[Q_FIELDS * q + field, to] = state.queue[Q_FIELDS * q + field, place]


@routine
def spread(state: State, q: int, low: int, high: int, end: int) -> None:
    """Spread the jobs in [low, high) of queue ``q`` evenly over [low, end); the gaps stand before them."""
    procs = Q_FIELDS * q + Queues["procs"]
    count = 0
    for place in range(low, high):
        if state.queue[procs, place] != GONE:
            if low + count < place:
                move_entry(state, q, place, low + count)
            count += 1
    above = end
    for i in range(count - 1, -1, -1):
        place = low + (i + 1) * (end - low) // count - 1
        move_entry(state, q, low + i, place)
        for gap in range(place + 1, above):
            move_entry(state, q, above, gap)
            state.queue[procs, gap] = GONE
        above = place
    for gap in range(low, above):
        move_entry(state, q, above, gap)
        state.queue[procs, gap] = GONE
    if low <= state.pools.head[q]:
        state.pools.head[q] = above


@kernel
def spread_all(state: State, q: int) -> int:
    """Spread all of queue ``q`` out over half as many positions more than there are jobs; up to where."""
    close_gaps(state, q)
    count = state.pools.count[q]
    end = min(count + count // 2 + 1, state.queue.shape[1])
    spread(state, q, 0, count, end)
    state.pools.tail[q] = end
    return int(end)


@kernel
def spread_around(state: State, q: int, place: int) -> int:
    """Spread out the shortest stretch around a position that has enough gaps; up to where that is."""
    head, tail = state.pools.head[q], state.pools.tail[q]
    width, level = 2 * REACH, 1
    while True:
        low = max(place // width * width, head)
        high = min(place // width * width + width, tail)
        if low == head and high == tail:
            return spread_all(state, q)
        gaps = 0
        for i in range(low, high):
            gaps += state.queue.procs[q, i] == GONE
        if SHARES * gaps > min(level, LEVELS) * (high - low):
            spread(state, q, low, high, high)
            sum_stretch(state, q, low, high)
            return int(high)
        width, level = 2 * width, level + 1


@routine
def make_gap(state: State, q: int, key: int, job: int) -> int:
    """Make a gap in queue ``q`` where (key, job) belongs, with none near; its position."""
    high = spread_around(state, q, place_for(state, q, key, job))
    place = place_for(state, q, key, job)
    row = Q_FIELDS * q + Queues["procs"]
    gap = place
    while gap < high and state.queue[row, gap] != GONE:
        gap += 1
    if gap < high:
        shift_back(state, q, place, gap)
        return place
    gap = place - 1
    while state.queue[row, gap] != GONE:
        gap -= 1
    for i in range(gap, place - 1):
        move_entry(state, q, i + 1, i)
        sum_entry(state, q, i)
    state.pools.head[q] = min(gap, state.pools.head[q])
    return place - 1


@kernel
def shift_back(state: State, q: int, place: int, gap: int) -> None:
    """Move the jobs from ``place`` on back by one position, up to a gap."""
    for i in range(gap, place, -1):
        move_entry(state, q, i - 1, i)
        if i % GROUP == 0:
            sum_entry(state, q, i)


@routine
def enter(state: State, q: int, job: int, key: int) -> int:
    """Let a job join queue ``q`` where its key belongs; the position it got."""
    used = state.pools.tail[q] - state.pools.head[q]
    if used > 2 * state.pools.count[q] + 32 or state.pools.tail[q] == state.queue.shape[1]:
        close_gaps(state, q)
    if state.pools.count[q] == 0:
        state.pools.head[q] = state.pools.tail[q] = state.pools.summed[q] = 0
    place, tail = place_for(state, q, key, job), state.pools.tail[q]
    if place == tail:
        state.pools.tail[q] = tail + 1
    else:
        place = join_between(state, q, place, key, job)
    state.queue.job[q, place] = job
    state.queue.key[q, place] = key
    state.queue.procs[q, place] = state.jobs.procs[job]
    state.queue.plan[q, place] = state.jobs.plan[job]
    if place < tail:
        sum_entry(state, q, place)
    state.pools.count[q] += 1
    return place


@routine
def join_between(state: State, q: int, place: int, key: int, job: int) -> int:
    """Make a gap for (key, job), which belongs to ``place``, before the end of queue ``q``; its position."""
    if 0 < place == state.pools.head[q]:
        state.pools.head[q] = place - 1
        return place - 1
    gap, tail = place, state.pools.tail[q]
    last = min(tail, place + REACH)
    while gap < last and state.queue.procs[q, gap] != GONE:
        gap += 1
    if gap == last < tail:
        return make_gap(state, q, key, job)
    if gap == tail:
        state.pools.tail[q] = tail + 1
    shift_back(state, q, place, gap)
    return place


@kernel
def leave(state: State, q: int, place: int) -> int:
    """Take the job at ``place`` out of queue ``q``; the job."""
    job = state.queue.job[q, place]
    state.queue.procs[q, place] = GONE
    state.pools.count[q] -= 1
    head, tail = state.pools.head[q], state.pools.tail[q]
    while head < tail and state.queue.procs[q, head] == GONE:
        head += 1
    state.pools.head[q] = head
    return int(job)


@kernel
def find_job(state: State, q: int, row: int, job: int) -> int:
    """The position in queue ``q`` of a waiting job whose key there is in row ``row``."""
    return place_for(state, q, state.jobs[row, job], job) - 1
