"""When the cores of each node come free, for the running jobs and for those that a pass has planned.

A node's row is sorted: its k-th entry is when k cores are free, IDLE for cores that nothing runs on. The
base rows know the running jobs; the rows of a pass begin as the base rows, and are put back after it.
"""

from __future__ import annotations

from headway.engine.tables import State
from headway.jit.kernels import kernel
from headway.policies.nodes.tables import FAR, IDLE


@kernel
def available(state: State, node: int, cores: int) -> int:
    """When that many cores of the node are free in the plan of this pass."""
    return int(state.memory.plan[cores - 1, node])


@kernel
def set_available(state: State, t: int, node: int, cores: int, at: int) -> None:
    """Change an entry of the pass, and the count of nodes where so many cores are free now.

    What is past is written as IDLE, so that an entry counts as free exactly while it is IDLE.
    """
    m = state.memory
    before, after = m.plan[cores - 1, node] == IDLE, at <= t
    if before != after:
        change = 1 if after else -1
        m.open[cores] += change
    m.plan[cores - 1, node] = IDLE if after else at


@kernel
def plan_cores(state: State, t: int, node: int, procs: int, end: int) -> None:
    """Hold the first cores to come free until ``end``, in the rows of the pass."""
    m = state.memory
    cores = m.nodes.cores[node]
    k = procs + 1
    while k <= cores and available(state, node, k) < end:
        set_available(state, t, node, k - procs, available(state, node, k))
        k += 1
    for place in range(k - procs, k):
        set_available(state, t, node, place, end)


@kernel
def hold_cores(state: State, node: int, procs: int, end: int) -> None:
    """Hold idle cores until ``end``, in the base rows."""
    m = state.memory
    cores = m.nodes.cores[node]
    k = procs
    while k < cores and m.base[node, k] < end:
        m.base[node, k - procs] = m.base[node, k]
        k += 1
    for place in range(k - procs, k):
        m.base[node, place] = end


@kernel
def free_cores(state: State, node: int, procs: int, end: int) -> None:
    """Cores that were held until ``end`` are idle again, in the base rows."""
    m = state.memory
    last = m.nodes.cores[node] - 1
    while m.base[node, last] != end:
        last -= 1
    for k in range(last, procs - 1, -1):
        m.base[node, k] = m.base[node, k - procs]
    for k in range(procs):
        m.base[node, k] = IDLE


@kernel
def put_back(state: State, t: int, node: int) -> None:
    """Make the node's row of the pass what the running jobs leave."""
    m = state.memory
    for k in range(m.nodes.cores[node]):
        set_available(state, t, node, k + 1, m.base[node, k])
        m.until[k, node] = FAR
