"""Free cores of a node over time, where jobs may be planned before others: for conservative backfilling.

Only nodes that a pass has planned something on need it; on others cores only ever come free. A node's
profile is a sorted chain of points, each with the cores free from it on to the next::

    point   i (C + 1) + k      from the base row of node i
            first + 2 j, + 1   begin and end of job j

A job of no length pins an instant: a job that runs across it must leave enough free cores for it.
"""

from __future__ import annotations

from headway.engine.tables import State
from headway.jit import kernel, routine
from headway.policies.nodes.cores import available, set_available
from headway.policies.nodes.layout import (
    FAR,
    NIL,
    NODES,
    T_BASE,
    T_CORES,
    T_POINT_FREE,
    T_POINT_HEAD,
    T_POINT_NEXT,
    T_POINT_PIN,
    T_POINT_TIME,
    T_UNTIL,
    WIDEST,
    cell,
    note,
    put,
)


@kernel
def set_point(state: State, point: int, time: int, free: int, following: int) -> None:
    """Fill in a point without a pin."""
    put(state, T_POINT_TIME, point, time)
    put(state, T_POINT_FREE, point, free)
    put(state, T_POINT_PIN, point, 0)
    put(state, T_POINT_NEXT, point, following)


@kernel
def begin_profile(state: State, t: int, node: int) -> None:
    """The points of the running jobs."""
    cores, first = cell(state, T_CORES, node), node * (note(state, WIDEST) + 1)
    base = node * note(state, WIDEST)
    put(state, T_POINT_HEAD, node, first)
    set_point(state, first, t, 0, NIL)
    last = first
    for k in range(cores):
        at = max(t, cell(state, T_BASE, base + k))
        if at > cell(state, T_POINT_TIME, last):
            set_point(state, last + 1, at, 0, NIL)
            put(state, T_POINT_NEXT, last, last + 1)
            last += 1
        put(state, T_POINT_FREE, last, k + 1)


@kernel
def point_at(state: State, node: int, time: int, spare: int) -> int:
    """The point at ``time``; if there is none, ``spare`` becomes it."""
    before = cell(state, T_POINT_HEAD, node)
    following = cell(state, T_POINT_NEXT, before)
    while following != NIL and cell(state, T_POINT_TIME, following) <= time:
        before = following
        following = cell(state, T_POINT_NEXT, before)
    if cell(state, T_POINT_TIME, before) == time:
        return before
    set_point(state, spare, time, cell(state, T_POINT_FREE, before), following)
    put(state, T_POINT_NEXT, before, spare)
    return spare


@routine
def book(state: State, t: int, node: int, job: int, procs: int, begin: int, end: int) -> None:
    """Hold cores from begin to end, and note anew when how many cores are free."""
    if cell(state, T_POINT_HEAD, node) == NIL:
        begin_profile(state, t, node)
    spare = note(state, NODES) * (note(state, WIDEST) + 1) + 2 * job
    first = point_at(state, node, begin, spare)
    if begin == end:
        put(state, T_POINT_PIN, first, max(procs, cell(state, T_POINT_PIN, first)))
    else:
        last = point_at(state, node, end, spare + 1)
        while first != last:
            put(state, T_POINT_FREE, first, cell(state, T_POINT_FREE, first) - procs)
            first = cell(state, T_POINT_NEXT, first)
    # For each number of cores: the first instant with so many free, and until when they stay so.
    point = cell(state, T_POINT_HEAD, node)
    for cores in range(1, cell(state, T_CORES, node) + 1):
        while cell(state, T_POINT_FREE, point) < cores:
            point = cell(state, T_POINT_NEXT, point)
        until = next_obstacle(state, point, cores)
        set_available(state, t, node, cores, cell(state, T_POINT_TIME, point))
        place = (cores - 1) * note(state, NODES) + node
        put(state, T_UNTIL, place, FAR if until == NIL else cell(state, T_POINT_TIME, until))


@kernel
def next_obstacle(state: State, point: int, cores: int) -> int:
    """The first point behind this one that a job of so many cores cannot run across."""
    following = cell(state, T_POINT_NEXT, point)
    while (
        following != NIL
        and cell(state, T_POINT_FREE, following) - cell(state, T_POINT_PIN, following) >= cores
    ):
        following = cell(state, T_POINT_NEXT, following)
    return following


@kernel
def fits_first(state: State, t: int, node: int, procs: int, walltime: int) -> bool:
    """Whether the first window with so many cores is long enough."""
    until = cell(state, T_UNTIL, (procs - 1) * note(state, NODES) + node)
    return max(t, available(state, node, procs)) + walltime <= until


@routine
def later_window(state: State, node: int, procs: int, walltime: int) -> int:
    """When the first window begins that is long enough, the very first one not being so."""
    until = cell(state, T_UNTIL, (procs - 1) * note(state, NODES) + node)
    point = cell(state, T_POINT_HEAD, node)
    while cell(state, T_POINT_TIME, point) < until:
        point = cell(state, T_POINT_NEXT, point)
    while True:
        while cell(state, T_POINT_FREE, point) < procs:
            point = cell(state, T_POINT_NEXT, point)
        begin = cell(state, T_POINT_TIME, point)
        obstacle = next_obstacle(state, point, procs)
        if obstacle == NIL or begin + walltime <= cell(state, T_POINT_TIME, obstacle):
            return begin
        point = obstacle


@kernel
def earliest(state: State, t: int, node: int, procs: int, walltime: int) -> int:
    """When the job can start on the node."""
    if fits_first(state, t, node, procs, walltime):
        return max(t, available(state, node, procs))
    return later_window(state, node, procs, walltime)
