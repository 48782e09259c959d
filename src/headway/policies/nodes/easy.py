"""EASY on nodes: each job inside one node, files loaded but not looked at.

A job that can start now takes the first allowed node with enough idle cores. The head of the queue, where it
cannot start, reserves on the node where its cores come free first; another job may start on that node only
if it ends by then or leaves the head its cores.
"""

from __future__ import annotations

from headway.engine.queue import leave
from headway.engine.tables import GONE, State, Why
from headway.jit.kernels import kernel, routine
from headway.policies.nodes.cores import available
from headway.policies.nodes.tables import FAR, NIL, Uses
from headway.policies.nodes.turn import open_turn, start_on


@kernel
def in_the_way(state: State, t: int, job: int, node: int, where: int, shadow: int, reserved: int) -> bool:
    """Whether the job, started now, would hold cores that the head needs at its shadow time."""
    m = state.memory
    if node != where or t + state.jobs.wall[job] <= shadow:
        return False
    cores = m.nodes.cores[node]
    held = 0
    for k in range(cores):
        if m.base[node, k] > shadow:
            held += 1
    return bool(held + reserved + state.jobs.procs[job] > cores)


@kernel
def first_fitting(state: State, t: int, job: int, where: int, shadow: int, reserved: int) -> int:
    """The first node on which the job can start now without delaying the head, or NIL."""
    jobs = Uses(state.jobs)
    m = state.memory
    procs = jobs.procs[job]
    if m.open[procs] > 0:
        for node in range(jobs.low[job], jobs.high[job]):
            if procs <= state.pools.free[node] and not in_the_way(
                state, t, job, node, where, shadow, reserved
            ):
                return node
    return NIL


@routine
def easy_pass(state: State, t: int) -> None:
    """Start what can start; the first that cannot has the only reservation."""
    jobs = Uses(state.jobs)
    m = state.memory
    where, shadow, reserved = NIL, FAR, 0
    for place in range(state.pools.head[0], state.pools.tail[0]):
        if state.queue.procs[0, place] == GONE:
            continue
        job = state.queue.job[0, place]
        node = first_fitting(state, t, job, where, shadow, reserved)
        if node != NIL:
            why = Why.HEAD if where == NIL else Why.BACKFILL
            leave(state, 0, place)
            start_on(state, t, node, job, Why.IMMEDIATE if jobs.submit[job] == t else why)
        elif where == NIL:
            reserved = jobs.procs[job]
            for other in range(jobs.low[job], jobs.high[job]):
                at = max(t, available(state, other, reserved))
                if at < shadow:
                    where, shadow = other, at
        if where != NIL and m.open[1] == 0:
            return


def easy_on_nodes(t: int, state: State) -> None:
    """One turn."""
    open_turn(state, t)
    if state.pools.count[0] > 0:
        easy_pass(state, t)
