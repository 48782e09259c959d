"""FCFS, EFT, LEA, LEO, LEM and the free score, with or without conservative backfilling.

At every arrival and completion the whole queue is planned anew in order of submission. Plans are not
remembered, so a pass may stop behind the last job that can still start now: that is, one for which some
allowed node has the cores free now (and, with backfilling, for as long as its walltime). While a pass goes
on, cores are only ever taken, so once no such node is left for a job, none comes back.
"""

from __future__ import annotations

from headway.engine.queue import leave
from headway.engine.tables import GONE, State, Why
from headway.jit.kernels import kernel, routine
from headway.policies.nodes.cores import available
from headway.policies.nodes.scores import choose, look_closely
from headway.policies.nodes.tables import NIL, Uses
from headway.policies.nodes.turn import close_pass, open_turn, plan_on, start_on
from headway.policies.nodes.windows import fits_first


@kernel
def open_now(state: State, t: int, node: int, procs: int, walltime: int) -> bool:
    """Whether the job could start on the node now, as the plan of this pass stands."""
    m = state.memory
    if available(state, node, procs) > t:
        return False
    return m.rules.backfill == 0 or fits_first(state, t, node, procs, walltime)


@kernel
def open_node(state: State, t: int, job: int) -> int:
    """Some node on which the job could start now, or NIL."""
    jobs = Uses(state.jobs)
    m = state.memory
    procs = jobs.procs[job]
    if m.open[procs] > 0:
        walltime = jobs.wall[job]
        for node in range(jobs.low[job], jobs.high[job]):
            if open_now(state, t, node, procs, walltime):
                return node
    return NIL


@kernel
def reason(t: int, state: State, job: int) -> int:
    """Why a job starts: it never waited, or the time it was planned for has come."""
    return Why.IMMEDIATE if state.jobs.submit[job] == t else Why.RESERVATION


@routine
def plan_queue(state: State, t: int) -> None:
    """Plan the waiting jobs in order, and start those whose turn is now."""
    m = state.memory
    place, last = state.pools.head[0], state.pools.tail[0] - 1
    witness = NIL
    if m.open[1] == 0:
        return
    while True:
        # The last job that can still start, and the node that shows it.
        while last >= place and witness == NIL:
            if state.queue.procs[0, last] != GONE:
                witness = open_node(state, t, state.queue.job[0, last])
            if witness == NIL:
                last -= 1
        if last < place:
            return
        if state.queue.procs[0, place] != GONE:
            job = state.queue.job[0, place]
            node = choose(state, t, job)
            at, wait = m.notes.best_start, m.notes.best_wait
            if node == NIL:
                return
            if job == m.rules.watched:
                look_closely(state, t, job)
            if at == t and state.jobs.procs[job] <= state.pools.free[node]:
                leave(state, 0, place)
                start_on(state, t, node, job, reason(t, state, job))
            else:
                plan_on(state, t, node, job, at, wait)
            if node == witness and place < last:
                then = state.queue.job[0, last]
                if not open_now(state, t, node, state.jobs.procs[then], state.jobs.wall[then]):
                    witness = NIL
        place += 1


def scored(t: int, state: State) -> None:
    """One turn."""
    open_turn(state, t)
    if state.pools.count[0] > 0:
        plan_queue(state, t)
        close_pass(state, t)
