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
    Q_HEAD,
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
    c = 1
    while c < CLASSES - 1 and fewest(c + 1) <= procs:
        c += 1
    return c


@kernel
def fewest(c: int) -> int:
    """The fewest processors that a job of a class can have."""
    return (1 << ((c - 1) >> 1)) + ((c - 1) & 1)


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
def count_in(state: State, q: int, level: int, i: int, own: int, procs: int, plan: int) -> None:
    """Let the summary of a block or group include a job of class ``own``."""
    row = row_of(q, LEAST_PLAN)
    c = own
    while c < CLASSES and state.lists[row, cell(state, level, c, i)] > plan:
        state.lists[row, cell(state, level, c, i)] = plan
        c += 1
    row = row_of(q, LEAST_PROCS)
    c = own
    while c >= 0 and state.lists[row, cell(state, level, c, i)] > procs:
        state.lists[row, cell(state, level, c, i)] = procs
        c -= 1


@kernel
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
            own = size_class(procs)
            count_in(state, q, BLOCKS, b, own, procs, plan)
            count_in(state, q, GROUPS, b // GROUP, own, procs, plan)
    state.pools[Q_SUMMED, q] = state.pools[Q_TAIL, q]


@kernel
def note(state: State, q: int, level: int, i: int, c: int, below: int, upto: int, narrow: int, least: int) -> None:
    """Store what :func:`may_hold` reads."""
    plan, procs = row_of(q, LEAST_PLAN), row_of(q, LEAST_PROCS)
    state.lists[plan, cell(state, level, c, i)] = upto
    raise_from(state, plan, level, i, c - 1, 0, -1, below)
    raise_from(state, procs, level, i, c, CLASSES - 1, 1, narrow)
    raise_from(state, procs, level, i, 0, c - 1, 1, least)


@kernel
def raise_from(state: State, row: int, level: int, i: int, c: int, last: int, step: int, bound: int) -> None:
    while c != last + step and state.lists[row, cell(state, level, c, i)] < bound:
        state.lists[row, cell(state, level, c, i)] = bound
        c += step


@kernel
def sum_up_block(state: State, q: int, b: int, c: int) -> None:
    """Make exact what the summary of a block says of class ``c``."""
    first, beyond = fewest(c), fewest(c + 1) if c < CLASSES - 1 else GONE
    below = upto = narrow = least = NEVER
    for place in range(b * GROUP, min((b + 1) * GROUP, state.pools[Q_TAIL, q])):
        procs = state.queue[Q_FIELDS * q + Q_PROCS, place]
        plan = state.queue[Q_FIELDS * q + Q_PLAN, place]
        below = min(below, plan if procs < first else NEVER)
        upto = min(upto, plan if procs < beyond else NEVER)
        narrow = min(narrow, procs if procs >= first else NEVER)
        least = min(least, procs)
    note(state, q, BLOCKS, b, c, below, upto, narrow, least)


@kernel
def sum_up_group(state: State, q: int, g: int, c: int) -> None:
    """Make what the summary of a group says of class ``c`` that of its blocks."""
    plan, procs = row_of(q, LEAST_PLAN), row_of(q, LEAST_PROCS)
    begin = max(g * GROUP, state.pools[Q_HEAD, q] // GROUP)
    end = min((g + 1) * GROUP, (state.pools[Q_TAIL, q] + GROUP - 1) // GROUP)
    below = upto = narrow = least = NEVER
    for b in range(begin, end):
        below = min(below, state.lists[plan, cell(state, BLOCKS, c - 1, b)])
        upto = min(upto, state.lists[plan, cell(state, BLOCKS, c, b)])
        narrow = min(narrow, state.lists[procs, cell(state, BLOCKS, c, b)])
        least = min(least, state.lists[procs, cell(state, BLOCKS, 0, b)])
    note(state, q, GROUPS, g, c, below, upto, narrow, least)


@kernel
def may_hold(state: State, q: int, level: int, i: int, c: int, free: int, limit: int, extra: int) -> bool:
    """Whether a block or group may hold a job that fits; ``c`` is the class of ``free``."""
    plan, procs = row_of(q, LEAST_PLAN), row_of(q, LEAST_PROCS)
    at = cell(state, level, c, i)
    return (
        state.lists[plan, cell(state, level, c - 1, i)] <= limit
        or (state.lists[plan, at] <= limit and state.lists[procs, at] <= free)
        or state.lists[procs, cell(state, level, 0, i)] <= extra
    )


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
    blocks = (tail + GROUP - 1) // GROUP
    c = size_class(free)
    extra = min(extra, free)
    b = place // GROUP
    while b < blocks:
        g = b // GROUP
        end = min((g + 1) * GROUP, blocks)
        if may_hold(state, q, GROUPS, g, c, free, limit, extra):
            while b < end:
                if may_hold(state, q, BLOCKS, b, c, free, limit, extra):
                    begin = max(place, b * GROUP)
                    found = scan(state, q, begin, min((b + 1) * GROUP, tail), free, limit, extra)
                    if found >= 0:
                        return found
                    sum_up_block(state, q, b, c)
                b += 1
            sum_up_group(state, q, g, c)
        b = end
    return -1


@kernel
def next_fit(state: State, q: int, place: int, free: int, limit: int, extra: int) -> int:
    """The first place from ``place`` on whose job may be backfilled; -1 if there is none.

    It needs at most ``free`` processors, and lasts at most ``limit`` or needs at most ``extra``.
    """
    tail = state.pools[Q_TAIL, q]
    if tail - place < DEEP or free < 1 or state.pools[Q_SORTED_IN, q]:
        return scan(state, q, place, tail, free, limit, extra)
    return search(state, q, place, free, limit, extra)
