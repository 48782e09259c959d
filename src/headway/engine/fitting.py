"""Finds the first waiting job that may be backfilled, in a queue of any depth.

A short queue is scanned. Over a deep one lies a summary: for each block of ``GROUP`` positions, and for
each group of blocks, the least plan among jobs of a size class or a smaller one, and the fewest processors of
a job of the class. The powers of two are classes of their own, and what lies between two of them is one:

    class         1   3   4   5   6     7   8      ...
    processors    1   2   3   4   5-7   8   9-15   ...

No job is of class 0; what stands there is the fewest processors of any job. Four numbers of a block or group
tell a search whether it may hold a job that fits, so a search costs about the logarithm of the queue.

All of these are bounds from below. Jobs that join at the end are added when the next search comes by, those
that join or move elsewhere at once. Jobs that leave are not taken out; but a search that looked into a block
or group in vain makes the four numbers exact that led it there. Others stay as they are until somebody asks
for them.
"""

from __future__ import annotations

from headway.engine.tables import GONE, POOL_LISTS, Lists, State
from headway.jit.kernels import kernel, routine
from headway.units import NEVER

GROUP = 64
CLASSES = 39
"""The last class holds everything above 2^18 processors."""
DEEP = 200
"""Queues with fewer positions than this left to search are scanned. Tables for fewer than 195 positions would
have no space for the summary."""

LEAST_PLAN, LEAST_PROCS = range(2)
"""What the rows of a summary hold."""


@kernel
def row_of(q: int, what: int) -> int:
    """The row of `lists` with the summary of queue ``q``."""
    return Lists["least_plan"] + POOL_LISTS * (q // 2) + 2 * (q % 2) + what


@kernel
def cell(state: State, c: int, part: int) -> int:
    """Where in its row the summary of a block or group for class ``c`` stands."""
    return c * (state.lists.shape[1] // CLASSES) + part


@kernel
def as_part(state: State, g: int) -> int:
    """The number of a group where blocks have theirs: the groups come after the last block."""
    return (state.lists.shape[1] + GROUP - 1) // GROUP + g


@kernel
def fewest(c: int) -> int:
    """The fewest processors that a job of a class can have."""
    return (1 << ((c - 1) >> 1)) + ((c - 1) & 1)


@kernel
def size_class(procs: int) -> int:
    """The class of a job, at most the last."""
    c = 1
    while c < CLASSES - 1 and fewest(c + 1) <= procs:
        c += 1
    return c


@kernel
def clear(state: State, q: int, part: int) -> None:
    """Begin the summary of a block or group: nothing waits in it."""
    at, end = part, cell(state, CLASSES, 0)
    while at < end:
        state.lists[row_of(q, LEAST_PLAN), at] = NEVER
        state.lists[row_of(q, LEAST_PROCS), at] = NEVER
        at += cell(state, 1, 0)


@kernel
def count_in(state: State, q: int, part: int, own: int, procs: int, plan: int) -> None:
    """Let the summary of a block or group include a job of class ``own``."""
    row = row_of(q, LEAST_PROCS)
    for c in (0, own):
        at = cell(state, c, part)
        state.lists[row, at] = min(state.lists[row, at], procs)
    row, c = row_of(q, LEAST_PLAN), own
    while c < CLASSES and state.lists[row, cell(state, c, part)] > plan:  # never more in a larger class
        state.lists[row, cell(state, c, part)] = plan
        c += 1


@kernel
def sum_up(state: State, q: int) -> None:
    """Bring the summary to the end of the queue."""
    for place in range(state.pools.summed[q], state.pools.tail[q]):
        b, g = place // GROUP, place // (GROUP * GROUP)
        procs = state.queue.procs[q, place]
        plan = state.queue.plan[q, place]
        own = size_class(procs)
        for part, first in ((b, b * GROUP), (as_part(state, g), g * GROUP * GROUP)):
            if place == first:
                clear(state, q, part)
            if procs != GONE:
                count_in(state, q, part, own, procs, plan)
    state.pools.summed[q] = state.pools.tail[q]


@routine
def include(state: State, q: int, place: int) -> None:
    """Let the summaries of its block and group include the job at a position."""
    procs = state.queue.procs[q, place]
    plan = state.queue.plan[q, place]
    own = size_class(procs)
    for part in (place // GROUP, as_part(state, place // (GROUP * GROUP))):
        count_in(state, q, part, own, procs, plan)


@kernel
def sum_entry(state: State, q: int, place: int) -> None:
    """Add the job that came to a position to the summary, if that goes as far."""
    if place < state.pools.summed[q]:
        include(state, q, place)


@routine
def sum_stretch(state: State, q: int, low: int, high: int) -> None:
    """Bring the summary up to date where jobs moved inside [low, high)."""
    for place in range(low, min(high, state.pools.summed[q])):
        if place % GROUP == 0 and place + GROUP <= high:
            clear(state, q, place // GROUP)
        if state.queue.procs[q, place] != GONE:
            include(state, q, place)


@kernel
def set_cells(state: State, q: int, part: int, c: int, below: int, upto: int, own: int, least: int) -> None:
    """Set what :func:`may_hold` reads of a block or group (``part``) of queue ``q``.

    ``below`` and ``upto`` are the least plans of jobs below class ``c`` and up to it, ``own`` and ``least``
    the fewest processors of a job of that class and of any job. The least plan below ``c`` is a bound for
    every smaller class too.
    """
    plan, procs = row_of(q, LEAST_PLAN), row_of(q, LEAST_PROCS)
    state.lists[procs, cell(state, 0, part)] = least
    state.lists[procs, cell(state, c, part)] = own
    state.lists[plan, cell(state, c, part)] = upto
    smaller = c - 1
    while smaller >= 0 and state.lists[plan, cell(state, smaller, part)] < below:
        state.lists[plan, cell(state, smaller, part)] = below
        smaller -= 1


@kernel
def look_at_block(state: State, q: int, b: int, c: int) -> None:
    """Make exact what the summary of a block says to who has as many processors as class ``c``."""
    first, beyond = fewest(c), fewest(c + 1) if c < CLASSES - 1 else GONE
    below = upto = own = least = NEVER
    for place in range(b * GROUP, min((b + 1) * GROUP, state.pools.tail[q])):
        procs = state.queue.procs[q, place]
        plan = state.queue.plan[q, place]
        below = min(below, plan if procs < first else NEVER)
        upto = min(upto, plan if procs < beyond else NEVER)
        own = min(own, procs if procs >= first else NEVER)
        least = min(least, procs)
    set_cells(state, q, b, c, below, upto, own, least)


@kernel
def look_at_group(state: State, q: int, g: int, c: int) -> None:
    """Make what the summary of a group says of class ``c`` that of its blocks from the head's on."""
    plan, procs = row_of(q, LEAST_PLAN), row_of(q, LEAST_PROCS)
    begin = max(g * GROUP, state.pools.head[q] // GROUP)
    end = min((g + 1) * GROUP, (state.pools.tail[q] + GROUP - 1) // GROUP)
    below = upto = own = least = NEVER
    for b in range(begin, end):
        below = min(below, state.lists[plan, cell(state, c - 1, b)])
        upto = min(upto, state.lists[plan, cell(state, c, b)])
        own = min(own, state.lists[procs, cell(state, c, b)])
        least = min(least, state.lists[procs, cell(state, 0, b)])
    set_cells(state, q, as_part(state, g), c, below, upto, own, least)


@kernel
def may_hold(state: State, q: int, part: int, c: int, free: int, limit: int, extra: int) -> bool:
    """Whether a block or group (``part``) of queue ``q`` may hold a job that fits, as in :func:`scan`.

    ``c`` is the class of ``free``.
    """
    plan, procs = row_of(q, LEAST_PLAN), row_of(q, LEAST_PROCS)
    at = cell(state, c, part)
    return bool(
        state.lists[plan, cell(state, c - 1, part)] <= limit
        or (state.lists[plan, at] <= limit and state.lists[procs, at] <= free)
        or state.lists[procs, cell(state, 0, part)] <= extra
    )


@kernel
def scan(state: State, q: int, begin: int, end: int, free: int, limit: int, extra: int) -> int:
    """The first position of queue ``q`` in [begin, end) whose job may be backfilled, or -1.

    It must fit into ``free`` processors, and be over after ``limit`` µs or need at most ``extra`` of them.
    """
    for i in range(begin, end):
        procs = state.queue.procs[q, i]
        if procs <= free and (state.queue.plan[q, i] <= limit or procs <= extra):
            return i
    return -1


@routine
def search(state: State, q: int, place: int, free: int, limit: int, extra: int) -> int:
    """:func:`next_fit` in a deep queue."""
    sum_up(state, q)
    tail = state.pools.tail[q]
    blocks = (tail + GROUP - 1) // GROUP
    c, extra = size_class(free), min(extra, free)
    b = place // GROUP
    while b < blocks:
        g = b // GROUP
        end = min((g + 1) * GROUP, blocks)
        if may_hold(state, q, as_part(state, g), c, free, limit, extra):
            while b < end:
                while b < end and not may_hold(state, q, b, c, free, limit, extra):
                    b += 1
                if b < end:
                    begin = max(place, b * GROUP)
                    found = scan(state, q, begin, min((b + 1) * GROUP, tail), free, limit, extra)
                    if found >= 0:
                        return found
                    look_at_block(state, q, b, c)
                    b += 1
            look_at_group(state, q, g, c)
        b = end
    return -1


@kernel
def next_fit(state: State, q: int, place: int, free: int, limit: int, extra: int) -> int:
    """The first position from ``place`` on whose job may be backfilled; -1 if there is none.

    It needs at most ``free`` processors, and lasts at most ``limit`` or needs at most ``extra``.
    """
    tail = state.pools.tail[q]
    if tail - place < DEEP or free < 1 or state.pools.resorted[q]:
        return scan(state, q, place, tail, free, limit, extra)
    return search(state, q, place, free, limit, extra)
