"""When the cores of each node come free, for the running jobs and for those that a pass has planned.

A node's row is sorted: its k-th entry is when k cores are free, IDLE for cores that nothing runs on. The
base rows know the running jobs; the rows of a pass begin as the base rows, and are put back after it.
"""

from __future__ import annotations

from headway.engine.tables import State
from headway.jit import kernel
from headway.policies.nodes.layout import (
    FAR,
    IDLE,
    NODES,
    T_BASE,
    T_CORES,
    T_OPEN,
    T_ROW,
    T_UNTIL,
    WIDEST,
    cell,
    note,
    put,
)


@kernel
def available(state: State, node: int, cores: int) -> int:
    """When that many cores of the node are free in the plan of this pass."""
    return cell(state, T_ROW, (cores - 1) * note(state, NODES) + node)


@kernel
def set_available(state: State, t: int, node: int, cores: int, at: int) -> None:
    """Change an entry of the pass, and the count of nodes where so many cores are free now.

    What is past is written as IDLE, so that an entry counts as free exactly while it is IDLE.
    """
    place = (cores - 1) * note(state, NODES) + node
    before, after = cell(state, T_ROW, place) == IDLE, at <= t
    if before != after:
        change = 1 if after else -1
        put(state, T_OPEN, cores, cell(state, T_OPEN, cores) + change)
    put(state, T_ROW, place, IDLE if after else at)


@kernel
def plan_cores(state: State, t: int, node: int, procs: int, end: int) -> None:
    """Hold the first cores to come free until ``end``, in the rows of the pass."""
    cores = cell(state, T_CORES, node)
    k = procs + 1
    while k <= cores and available(state, node, k) < end:
        set_available(state, t, node, k - procs, available(state, node, k))
        k += 1
    for place in range(k - procs, k):
        set_available(state, t, node, place, end)


@kernel
def hold_cores(state: State, node: int, procs: int, end: int) -> None:
    """Hold idle cores until ``end``, in the base rows."""
    first = node * note(state, WIDEST)
    cores = cell(state, T_CORES, node)
    k = procs
    while k < cores and cell(state, T_BASE, first + k) < end:
        put(state, T_BASE, first + k - procs, cell(state, T_BASE, first + k))
        k += 1
    for place in range(k - procs, k):
        put(state, T_BASE, first + place, end)


@kernel
def free_cores(state: State, node: int, procs: int, end: int) -> None:
    """Cores that were held until ``end`` are idle again, in the base rows."""
    first = node * note(state, WIDEST)
    last = cell(state, T_CORES, node) - 1
    while cell(state, T_BASE, first + last) != end:
        last -= 1
    for k in range(last, procs - 1, -1):
        put(state, T_BASE, first + k, cell(state, T_BASE, first + k - procs))
    for k in range(procs):
        put(state, T_BASE, first + k, IDLE)


@kernel
def put_back(state: State, t: int, node: int) -> None:
    """Make the node's row of the pass what the running jobs leave."""
    first = node * note(state, WIDEST)
    for k in range(cell(state, T_CORES, node)):
        set_available(state, t, node, k + 1, cell(state, T_BASE, first + k))
        put(state, T_UNTIL, k * note(state, NODES) + node, FAR)
