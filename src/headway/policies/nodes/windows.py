"""Free cores of a node over time, where jobs may be planned before others: for conservative backfilling.

Only nodes that a pass has planned something on need it; on others cores only ever come free. A node's
profile is a sorted chain of points, each with the cores free from it on to the next::

    point   i (C + 1) + k      from the base row of node i
            first + 2 j, + 1   begin and end of job j

A job of no length pins an instant: a job that runs across it must leave enough free cores for it.
"""

from __future__ import annotations

from headway.engine.tables import State
from headway.jit.kernels import kernel, routine
from headway.policies.nodes.cores import available, set_available
from headway.policies.nodes.tables import FAR, NIL


@kernel
def set_point(state: State, point: int, time: int, free: int, following: int) -> None:
    """Fill in a point without a pin."""
    m = state.memory
    m.points.time[point] = time
    m.points.free[point] = free
    m.points.pin[point] = 0
    m.points.next[point] = following


@kernel
def begin_profile(state: State, t: int, node: int) -> None:
    """The points of the running jobs."""
    m = state.memory
    cores, first = m.nodes.cores[node], node * (m.base.shape[1] + 1)
    m.nodes.points[node] = first
    set_point(state, first, t, 0, NIL)
    last = first
    for k in range(cores):
        at = max(t, m.base[node, k])
        if at > m.points.time[last]:
            set_point(state, last + 1, at, 0, NIL)
            m.points.next[last] = last + 1
            last += 1
        m.points.free[last] = k + 1


@kernel
def point_at(state: State, node: int, time: int, spare: int) -> int:
    """The point at ``time``; if there is none, ``spare`` becomes it."""
    m = state.memory
    before = m.nodes.points[node]
    following = m.points.next[before]
    while following != NIL and m.points.time[following] <= time:
        before = following
        following = m.points.next[before]
    if m.points.time[before] == time:
        return before
    set_point(state, spare, time, m.points.free[before], following)
    m.points.next[before] = spare
    return spare


@routine
def book(state: State, t: int, node: int, job: int, procs: int, begin: int, end: int) -> None:
    """Hold cores from begin to end, and note anew when how many cores are free."""
    m = state.memory
    if m.nodes.points[node] == NIL:
        begin_profile(state, t, node)
    spare = m.nodes.shape[1] * (m.base.shape[1] + 1) + 2 * job
    first = point_at(state, node, begin, spare)
    if begin == end:
        m.points.pin[first] = max(procs, m.points.pin[first])
    else:
        last = point_at(state, node, end, spare + 1)
        while first != last:
            m.points.free[first] -= procs
            first = m.points.next[first]
    # For each number of cores: the first instant with so many free, and until when they stay so.
    point = m.nodes.points[node]
    for cores in range(1, m.nodes.cores[node] + 1):
        while m.points.free[point] < cores:
            point = m.points.next[point]
        until = next_obstacle(state, point, cores)
        set_available(state, t, node, cores, m.points.time[point])
        m.until[cores - 1, node] = FAR if until == NIL else m.points.time[until]


@kernel
def next_obstacle(state: State, point: int, cores: int) -> int:
    """The first point behind this one that a job of so many cores cannot run across."""
    m = state.memory
    following = m.points.next[point]
    while following != NIL and m.points.free[following] - m.points.pin[following] >= cores:
        following = m.points.next[following]
    return following


@kernel
def fits_first(state: State, t: int, node: int, procs: int, walltime: int) -> bool:
    """Whether the first window with so many cores is long enough."""
    until = state.memory.until[procs - 1, node]
    return bool(max(t, available(state, node, procs)) + walltime <= until)


@routine
def later_window(state: State, node: int, procs: int, walltime: int) -> int:
    """When the first window begins that is long enough, the very first one not being so."""
    m = state.memory
    until = m.until[procs - 1, node]
    point = m.nodes.points[node]
    while m.points.time[point] < until:
        point = m.points.next[point]
    while True:
        while m.points.free[point] < procs:
            point = m.points.next[point]
        begin = m.points.time[point]
        obstacle = next_obstacle(state, point, procs)
        if obstacle == NIL or begin + walltime <= m.points.time[obstacle]:
            return begin
        point = obstacle


@kernel
def earliest(state: State, t: int, node: int, procs: int, walltime: int) -> int:
    """When the job can start on the node."""
    if fits_first(state, t, node, procs, walltime):
        return max(t, available(state, node, procs))
    return later_window(state, node, procs, walltime)
