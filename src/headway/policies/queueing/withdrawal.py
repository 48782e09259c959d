"""How a waiting job leaves a queue whose jobs hold nothing: strict orders and EASY."""

from __future__ import annotations

from headway.engine.queue import find_job
from headway.engine.tables import Job, Pool, State
from headway.engine.verbs import withdraw
from headway.jit.kernels import entry
from headway.policies.queueing import ordering
from headway.policies.queueing.strict import MACHINE


@entry
def of_queue(t: int, state: State, job: int, request: int) -> None:
    """The only request there is: to leave. Those behind may start then."""
    q = 2 * MACHINE
    ordering.withdraw(state, MACHINE, q, find_job(state, q, Job.KEY, job))
    state.pools[Pool.FREED, MACHINE] = 1
    withdraw(state, job)
