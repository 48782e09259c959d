"""Two heaps: real ends by (time, run), and waiting jobs by (reserved start, job).

In the second one a job stands with a time that is no later than its start, at first most of the way to it,
and gets a later one when it is first. Who is first with its own start is due before all others; and most
reservations that move, forward too, move without the heap.
"""

from __future__ import annotations

from headway.engine.tables import State, Table
from headway.jit.kernels import kernel, routine


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
def sooner(state: State, k: int, i: int, t: int, job: int) -> bool:
    """Whether entry ``i`` is due before (t, job); at one instant who holds nothing is, then by queue."""
    here = state.lists.due[k, i]
    if here != t:
        return bool(here < t)
    other = state.lists.due_job[k, i]
    holds, holds_other = state.jobs.plan[job] > 0, state.jobs.plan[other] > 0
    if holds != holds_other:
        return bool(holds)
    if state.jobs.key[other] != state.jobs.key[job]:
        return bool(state.jobs.key[other] < state.jobs.key[job])
    return bool(other < job)


@kernel
def put_due(state: State, k: int, i: int, t: int, job: int) -> None:
    """Let (t, job) be entry ``i``."""
    state.lists.due[k, i] = t
    state.lists.due_job[k, i] = job
    state.jobs.slot[job] = i


@kernel
def copy_due(state: State, k: int, source: int, i: int) -> None:
    """Let entry ``source`` be entry ``i``."""
    t, job = (
        state.lists.due[k, source],
        state.lists.due_job[k, source],
    )
    put_due(state, k, i, t, job)


@routine
def sift_up(state: State, k: int, i: int, t: int, job: int) -> None:
    """Put (t, job) where it belongs, at entry ``i`` or above it."""
    while i > 0:
        parent = (i - 1) >> 1
        if sooner(state, k, parent, t, job):
            break
        copy_due(state, k, parent, i)
        i = parent
    put_due(state, k, i, t, job)


@kernel
def sift_down(state: State, k: int, i: int, size: int, t: int, job: int) -> None:
    """Put (t, job) where it belongs, at entry ``i`` or below it."""
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size:
            at = state.lists.due[k, child]
            if sooner(state, k, child + 1, at, state.lists.due_job[k, child]):
                child += 1
        if not sooner(state, k, child, t, job):
            break
        copy_due(state, k, child, i)
        i = child
    put_due(state, k, i, t, job)


@kernel
def look_from(state: State, job: int) -> int:
    """Note from when on a job is looked for: 7/8 of the way to its start, or there if that is no progress."""
    now, start = state.clock.now, state.jobs.reserved[job]
    near = start - ((start - now) >> 3)
    state.jobs.due_by[job] = near if state.jobs.due_by[job] < near < start else start
    return int(state.jobs.due_by[job])


@kernel
def add_due(state: State, k: int, size: int, job: int) -> None:
    """Put a job with a reservation into the heap of ``size`` jobs."""
    state.jobs.due_by[job] = -1
    sift_up(state, k, size, look_from(state, job), job)


@kernel
def move_due(state: State, k: int, job: int) -> None:
    """A job in the heap has another reserved start; one that is later stays where it is until it is first."""
    if state.jobs.reserved[job] < state.jobs.due_by[job]:
        state.jobs.due_by[job] = -1
        sift_up(state, k, state.jobs.slot[job], look_from(state, job), job)


@kernel
def advance_due(state: State, k: int, job: int) -> None:
    """A job in the heap has a smaller key than before."""
    i = state.jobs.slot[job]
    sift_up(state, k, i, state.lists.due[k, i], job)


@kernel
def first_due(state: State, k: int, size: int) -> int:
    """The job that is due first in the heap of ``size`` > 0 jobs."""
    while True:
        job = state.lists.due_job[k, 0]
        if state.jobs.reserved[job] == state.jobs.due_by[job]:
            return int(job)
        sift_down(state, k, 0, size, look_from(state, job), job)


@kernel
def drop_due(state: State, k: int, size: int, job: int) -> None:
    """Take a job out of the heap of ``size`` jobs."""
    i = state.jobs.slot[job]
    last = size - 1
    if i == last:
        return
    t, moved = state.lists.due[k, last], state.lists.due_job[k, last]
    sift_up(state, k, i, t, moved)
    if state.jobs.slot[moved] == i:
        sift_down(state, k, i, last, t, moved)
