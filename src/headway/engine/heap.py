"""Two heaps: real ends by (time, run), and waiting jobs by (reserved start, job)."""

from __future__ import annotations

from headway.engine.tables import DUE, KEY, PLAN, POOL_LISTS, RESERVED, SLOT, State, Table
from headway.jit import kernel


@kernel
def before(table: Table, row: int, i: int, t: int, item: int) -> bool:
    """Whether entry ``i`` of the heap in rows ``row`` (times) and ``row + 1`` comes before (t, item)."""
    return bool(table[row, i] < t or (table[row, i] == t and table[row + 1, i] < item))


@kernel
def push(table: Table, row: int, size: int, t: int, item: int) -> None:
    """Add (t, item) to a heap of ``size`` entries."""
    i = size
    while i > 0:
        parent = (i - 1) >> 1
        if before(table, row, parent, t, item):
            break
        table[row, i], table[row + 1, i] = table[row, parent], table[row + 1, parent]
        i = parent
    table[row, i], table[row + 1, i] = t, item


@kernel
def pop(table: Table, row: int, size: int) -> None:
    """Remove the least entry of a heap of ``size`` entries."""
    last = size - 1
    t, item = table[row, last], table[row + 1, last]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= last:
            break
        if child + 1 < last and before(table, row, child + 1, table[row, child], table[row + 1, child]):
            child += 1
        if not before(table, row, child, t, item):
            break
        table[row, i], table[row + 1, i] = table[row, child], table[row + 1, child]
        i = child
    table[row, i], table[row + 1, i] = t, item


@kernel
def sooner(state: State, a: int, b: int) -> bool:
    """Whether job ``a`` is due before job ``b``; at one instant who holds nothing, then by queue."""
    if state.jobs[RESERVED, a] != state.jobs[RESERVED, b]:
        return bool(state.jobs[RESERVED, a] < state.jobs[RESERVED, b])
    holds_a, holds_b = state.jobs[PLAN, a] > 0, state.jobs[PLAN, b] > 0
    if holds_a != holds_b:
        return not holds_a
    if state.jobs[KEY, a] != state.jobs[KEY, b]:
        return bool(state.jobs[KEY, a] < state.jobs[KEY, b])
    return a < b


@kernel
def sift_up(state: State, k: int, i: int) -> None:
    """Restore the heap of pool ``k`` after the job at place ``i`` became due earlier."""
    job = state.lists[DUE + POOL_LISTS * k, i]
    while i > 0:
        parent = (i - 1) >> 1
        if not sooner(state, job, state.lists[DUE + POOL_LISTS * k, parent]):
            break
        state.lists[DUE + POOL_LISTS * k, i] = state.lists[DUE + POOL_LISTS * k, parent]
        state.jobs[SLOT, state.lists[DUE + POOL_LISTS * k, i]] = i
        i = parent
    state.lists[DUE + POOL_LISTS * k, i] = job
    state.jobs[SLOT, job] = i


@kernel
def sift_down(state: State, k: int, i: int, size: int) -> None:
    """Restore the heap of pool ``k`` after the job at place ``i`` became due later."""
    job = state.lists[DUE + POOL_LISTS * k, i]
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and sooner(
            state, state.lists[DUE + POOL_LISTS * k, child + 1], state.lists[DUE + POOL_LISTS * k, child]
        ):
            child += 1
        if not sooner(state, state.lists[DUE + POOL_LISTS * k, child], job):
            break
        state.lists[DUE + POOL_LISTS * k, i] = state.lists[DUE + POOL_LISTS * k, child]
        state.jobs[SLOT, state.lists[DUE + POOL_LISTS * k, i]] = i
        i = child
    state.lists[DUE + POOL_LISTS * k, i] = job
    state.jobs[SLOT, job] = i


@kernel
def add_due(state: State, k: int, size: int, job: int) -> None:
    """Put a job with a reservation into the heap of ``size`` jobs."""
    state.lists[DUE + POOL_LISTS * k, size] = job
    sift_up(state, k, size)


@kernel
def move_due(state: State, k: int, size: int, job: int, start: int) -> None:
    """Give a job in the heap of ``size`` jobs another reserved start."""
    later = start > state.jobs[RESERVED, job]
    state.jobs[RESERVED, job] = start
    if later:
        sift_down(state, k, state.jobs[SLOT, job], size)
    else:
        sift_up(state, k, state.jobs[SLOT, job])


@kernel
def drop_due(state: State, k: int, size: int, job: int) -> None:
    """Take a job out of the heap of ``size`` jobs."""
    i = state.jobs[SLOT, job]
    last = size - 1
    if i == last:
        return
    moved = state.lists[DUE + POOL_LISTS * k, last]
    state.lists[DUE + POOL_LISTS * k, i] = moved
    state.jobs[SLOT, moved] = i
    sift_up(state, k, i)
    sift_down(state, k, state.jobs[SLOT, moved], last)
