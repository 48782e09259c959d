"""Finds the first waiting job that may be backfilled, in a queue of any depth.

A short queue is simply scanned. Over a deep one lies a summary: for each block of ``GROUP`` places, and for
each group of blocks, the least plan among jobs of a size class or a smaller one, and the fewest processors of
a job of the class. The powers of two are classes of their own, and what lies between two of them is one:

    class         0   2   3   4   5     6   7      ...
    processors    1   2   3   4   5-7   8   9-15   ...

From these a search sees which blocks may hold a job that fits, so it costs about the logarithm of the queue.

The summary is a bound from below. Jobs that join at the end are added when the next search comes by; jobs
that leave are not taken out until a search finds nothing in their block, which is then summed up anew.
"""

from __future__ import annotations

from headway.engine.tables import (
    GONE,
    POOL_LISTS,
    Q_FIELDS,
    Q_PLAN,
    Q_PROCS,
    Q_SORTED_IN,
    Q_SUMMED,
    Q_TAIL,
    SUMMARY,
    State,
)
from headway.jit import kernel, routine
from headway.units import NEVER

GROUP = 64
CLASSES = 39
"""The last class holds everything from 2^19 processors on."""
DEEP = 192
"""Queues with fewer places than this left to search are scanned."""

# Levels of the summary, and what it holds at each.
BLOCKS, GROUPS = range(2)
LEAST_PLAN, LEAST_PROCS = range(2)


@kernel
def row_of(q: int, what: int) -> int:
    """The row of `lists` with the summary of queue ``q``."""
    return SUMMARY + POOL_LISTS * (q // 2) + 2 * (q % 2) + what


@kernel
def size_class(procs: int) -> int:
    """The class of a job, at most the last."""
    c = 0
    while c < CLASSES - 1 and (1 << (c >> 1)) < procs:
        c += 2
    return c - 1 if (1 << (c >> 1)) > procs else c


@kernel
def fewest(c: int) -> int:
    """The fewest processors that a job of a class can have."""
    return (1 << (c >> 1)) + (c & 1)


@kernel
def cell(state: State, level: int, c: int, i: int) -> int:
    """Where in its row the summary of block or group ``i`` for class ``c`` stands."""
    blocks = state.lists.shape[1] // GROUP
    if level == BLOCKS:
        return c * blocks + i
    return CLASSES * blocks + c * (blocks // GROUP + 1) + i


@kernel
def clear_cells(state: State, q: int, level: int, i: int) -> None:
    """Begin the summary of a block or group: nothing waits in it."""
    for c in range(CLASSES):
        at = cell(state, level, c, i)
        state.lists[row_of(q, LEAST_PLAN), at] = NEVER
        state.lists[row_of(q, LEAST_PROCS), at] = NEVER


@kernel
def count_in(state: State, q: int, level: int, i: int, procs: int, plan: int) -> None:
    """Let the summary of a block or group include a job."""
    own = size_class(procs)
    at = cell(state, level, own, i)
    row = row_of(q, 0)
    state.lists[row + LEAST_PROCS, at] = min(state.lists[row + LEAST_PROCS, at], procs)
    for c in range(own, CLASSES):
        at = cell(state, level, c, i)
        state.lists[row + LEAST_PLAN, at] = min(state.lists[row + LEAST_PLAN, at], plan)


@routine
def sum_up(state: State, q: int) -> None:
    """Bring the summary to the end of the queue."""
    for place in range(state.pools[Q_SUMMED, q], state.pools[Q_TAIL, q]):
        b = place // GROUP
        if place % GROUP == 0:
            clear_cells(state, q, BLOCKS, b)
            if b % GROUP == 0:
                clear_cells(state, q, GROUPS, b // GROUP)
        procs = state.queue[Q_FIELDS * q + Q_PROCS, place]
        if procs != GONE:
            plan = state.queue[Q_FIELDS * q + Q_PLAN, place]
            count_in(state, q, BLOCKS, b, procs, plan)
            count_in(state, q, GROUPS, b // GROUP, procs, plan)
    state.pools[Q_SUMMED, q] = state.pools[Q_TAIL, q]


@routine
def sum_up_block(state: State, q: int, b: int) -> None:
    """Make the summary of a block exact."""
    clear_cells(state, q, BLOCKS, b)
    row = row_of(q, 0)
    for place in range(b * GROUP, min((b + 1) * GROUP, state.pools[Q_TAIL, q])):
        procs = state.queue[Q_FIELDS * q + Q_PROCS, place]
        if procs != GONE:
            at = cell(state, BLOCKS, size_class(procs), b)
            plan = state.queue[Q_FIELDS * q + Q_PLAN, place]
            state.lists[row + LEAST_PROCS, at] = min(state.lists[row + LEAST_PROCS, at], procs)
            state.lists[row + LEAST_PLAN, at] = min(state.lists[row + LEAST_PLAN, at], plan)
    least = NEVER
    for c in range(CLASSES):  # each class includes the smaller ones
        at = cell(state, BLOCKS, c, b)
        least = min(least, state.lists[row + LEAST_PLAN, at])
        state.lists[row + LEAST_PLAN, at] = least


@routine
def sum_up_group(state: State, q: int, g: int) -> None:
    """Make the summary of a group that of its blocks."""
    blocks = (state.pools[Q_TAIL, q] + GROUP - 1) // GROUP
    for what in range(2):
        row = row_of(q, what)
        for c in range(CLASSES):
            least = NEVER
            for b in range(g * GROUP, min((g + 1) * GROUP, blocks)):
                least = min(least, state.lists[row, cell(state, BLOCKS, c, b)])
            state.lists[row, cell(state, GROUPS, c, g)] = least


@kernel
def may_hold(state: State, q: int, level: int, i: int, c: int, free: int, limit: int, extra: int) -> bool:
    """Whether a block or group may hold a job that fits; ``c`` is the last class that fits as a whole."""
    plan, procs = row_of(q, LEAST_PLAN), row_of(q, LEAST_PROCS)
    extra = min(extra, free)
    if state.lists[plan, cell(state, level, c, i)] <= limit:
        return True
    if c + 1 < CLASSES:
        at = cell(state, level, c + 1, i)
        if state.lists[plan, at] <= limit and state.lists[procs, at] <= free:
            return True
    for small in range(c + 2):
        if fewest(small) > extra:
            break
        if small < CLASSES and state.lists[procs, cell(state, level, small, i)] <= extra:
            return True
    return False


@kernel
def scan(state: State, q: int, begin: int, end: int, free: int, limit: int, extra: int) -> int:
    """The first place in [begin, end) whose job may be backfilled, or -1."""
    for i in range(begin, end):
        procs = state.queue[Q_FIELDS * q + Q_PROCS, i]
        if procs <= free and (state.queue[Q_FIELDS * q + Q_PLAN, i] <= limit or procs <= extra):
            return i
    return -1


@routine
def search(state: State, q: int, place: int, free: int, limit: int, extra: int) -> int:
    """:func:`next_fit` in a deep queue."""
    sum_up(state, q)
    tail = state.pools[Q_TAIL, q]
    whole = size_class(free)
    if whole & 1 or whole == CLASSES - 1:
        whole -= 1  # not all jobs between two powers need fit; the last class has no upper bound
    b = place // GROUP
    blocks = (tail + GROUP - 1) // GROUP
    found = scan(state, q, place, min((b + 1) * GROUP, tail), free, limit, extra)
    b += 1
    while found < 0 and b < blocks:
        g = b // GROUP
        if b % GROUP == 0 and not may_hold(state, q, GROUPS, g, whole, free, limit, extra):
            b += GROUP
            continue
        changed = False
        while b < min((g + 1) * GROUP, blocks) and found < 0:
            if may_hold(state, q, BLOCKS, b, whole, free, limit, extra):
                found = scan(state, q, b * GROUP, min((b + 1) * GROUP, tail), free, limit, extra)
                if found < 0:
                    sum_up_block(state, q, b)
                    changed = True
            b += 1
        if changed and found < 0:
            sum_up_group(state, q, g)
    return found


@kernel
def next_fit(state: State, q: int, place: int, free: int, limit: int, extra: int) -> int:
    """The first place from ``place`` on whose job may be backfilled; -1 if there is none.

    It needs at most ``free`` processors, and lasts at most ``limit`` or needs at most ``extra``.
    """
    tail = state.pools[Q_TAIL, q]
    if tail - place < DEEP or state.pools[Q_SORTED_IN, q]:
        return scan(state, q, place, tail, free, limit, extra)
    return search(state, q, place, free, limit, extra)
