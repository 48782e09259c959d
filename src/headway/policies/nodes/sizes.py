"""Policies for memory sizes, blind to files: backfill on bigger nodes, and area filling.

Each class of nodes is one size of memory; a job's own class is the smallest that will do. The queue is
planned anew at every arrival and completion on the cores that come free first; among the nodes of a class the
earliest start counts, ties by number.
"""

from __future__ import annotations

from headway.engine.queue import leave
from headway.engine.tables import GONE, State, Why
from headway.jit.kernels import kernel, routine
from headway.policies.nodes.cores import available
from headway.policies.nodes.tables import FAR, NIL, Uses
from headway.policies.nodes.turn import close_pass, open_turn, plan_on, start_on


@kernel
def best_of_class(state: State, t: int, job: int, size: int) -> int:
    """The node of a class where the job can start first, NIL if none is wide enough; when, in the notes."""
    m = state.memory
    best, node, procs = FAR, NIL, state.jobs.procs[job]
    for other in range(m.class_from[size], m.class_from[size + 1]):
        at = available(state, other, procs)
        if at < best:
            best, node = at, other
            if at <= t:
                best = t
                break
    m.notes.best_start = best
    return node


@kernel
def big_node(state: State, t: int, job: int) -> int:
    """Backfill on bigger nodes: a start now (or soon enough) on the smallest class that has one, else the
    earliest on the own class."""
    m = state.memory
    grace = 0
    if m.rules.form == 1 and m.notes.wait_count > 0:
        mean = m.notes.wait_sum // m.notes.wait_count
        grace = max(0, mean - (t - state.jobs.submit[job]))
    found, at = NIL, FAR
    for size in range(Uses(state.jobs).size_class[job], m.planned_area.shape[0]):
        node = best_of_class(state, t, job, size)
        if node == NIL:
            continue
        if m.notes.best_start <= t + grace:
            return node
        if found == NIL:
            found, at = node, m.notes.best_start
    m.notes.best_start = at
    return found


@kernel
def within_cores(state: State, size: int, own: int, area: int, time: int) -> bool:
    """Whether an area is at most what the cores planned for it give in a time; exact.

    Both sides are compared as continued fractions, the area over the time and the cores: the first quotient
    that differs tells, at every second one the other way round.
    """
    m = state.memory
    place, less = 0, True
    while time > 0:
        quotient, whole = m.planned_cores[place, size, own], area // time
        if quotient == NIL:
            return less
        if whole != quotient:
            return (whole < quotient) == less
        area, time = time, area - whole * time
        place, less = place + 1, not less
    return m.planned_cores[place, size, own] == NIL or not less


@kernel
def is_open(state: State, t: int, size: int, own: int, area: int) -> bool:
    """Whether jobs of class ``own`` may use an area of a larger class, in processors x µs.

    Not until the jobs that are planned for are known.
    """
    m = state.memory
    if t < m.rules.known_from:
        return area <= 0
    used = m.used_area[size, own] + area
    if m.rules.form == 1:
        return used <= 0 or within_cores(state, size, own, used, t - m.rules.origin)
    return used <= m.planned_area[size, own]


@kernel
def area_node(state: State, t: int, job: int) -> int:
    """Area filling: the earliest start on the own class or one with area left, ties on the smaller."""
    m = state.memory
    own, area = Uses(state.jobs).size_class[job], state.jobs.procs[job] * state.jobs.wall[job]
    for strict in range(2):
        found, at = NIL, FAR
        for size in range(own, m.planned_area.shape[0]):
            # Where no class is open to the job, which is too wide for its own, all are.
            if strict == 0 and size != own and not is_open(state, t, size, own, area):
                continue
            node = best_of_class(state, t, job, size)
            if node != NIL and m.notes.best_start < at:
                found, at = node, m.notes.best_start
        if found != NIL:
            m.notes.best_start = at
            return found
    return NIL


@kernel
def class_of(state: State, node: int) -> int:
    """The class of a node."""
    m = state.memory
    size = 0
    while m.class_from[size + 1] <= node:
        size += 1
    return size


@kernel
def use_area(state: State, job: int, node: int, area: int) -> None:
    """Count an area that a job takes from a larger class, or gives back."""
    m = state.memory
    own, size = Uses(state.jobs).size_class[job], class_of(state, node)
    if size > own:
        m.used_area[size, own] += area


@routine
def plan_by_size(state: State, t: int, areas: bool) -> None:
    """Plan the waiting jobs in order, and start those whose turn is now."""
    m = state.memory
    for place in range(state.pools.head[0], state.pools.tail[0]):
        if m.open[1] == 0:
            return
        if state.queue.procs[0, place] == GONE:
            continue
        job = state.queue.job[0, place]
        node = area_node(state, t, job) if areas else big_node(state, t, job)
        if node == NIL:
            return
        at = m.notes.best_start
        if at == t and state.jobs.procs[job] <= state.pools.free[node]:
            leave(state, 0, place)
            start_on(state, t, node, job, Why.IMMEDIATE if state.jobs.submit[job] == t else Why.RESERVATION)
            if areas:
                use_area(state, job, node, state.jobs.procs[job] * state.jobs.wall[job])
        else:
            plan_on(state, t, node, job, at, 0)


def backfill_big(t: int, state: State) -> None:
    """One turn of backfilling on bigger nodes."""
    open_turn(state, t)
    if state.pools.count[0] > 0:
        plan_by_size(state, t, False)
        close_pass(state, t)


def area_filling(t: int, state: State) -> None:
    """One turn of area filling."""
    open_turn(state, t)
    for place in range(state.clock.ended):
        run = state.lists.ended_runs[place]
        job = state.runs.job[run]
        unused = state.jobs.wall[job] - (t - state.runs.start[run])
        use_area(state, job, state.runs.pool[run], -state.jobs.procs[job] * unused)
    if state.pools.count[0] > 0:
        plan_by_size(state, t, True)
        close_pass(state, t)
