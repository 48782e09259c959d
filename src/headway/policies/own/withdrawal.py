"""How a waiting job leaves the line of a compiled policy of the user's own, by whatever key it stands."""

from __future__ import annotations

from headway.engine.queue import leave
from headway.engine.tables import GONE, Q_FIELDS, Entry, Pool, State
from headway.engine.verbs import withdraw
from headway.jit.kernels import entry
from headway.policies.queueing.strict import MACHINE


@entry
def leave_line(state: State, job: int) -> bool:
    """Take a waiting job away; False if it does not stand in the line."""
    q = 2 * MACHINE
    for place in range(state.pools[Pool.HEAD, q], state.pools[Pool.TAIL, q]):
        there = state.queue[Q_FIELDS * q + Entry.JOB, place] == job
        if there and state.queue[Q_FIELDS * q + Entry.PROCS, place] != GONE:
            leave(state, q, place)
            return withdraw(state, job)
    return False
