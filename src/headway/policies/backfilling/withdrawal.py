"""How a waiting job leaves the plan of conservative backfilling."""

from __future__ import annotations

from headway.engine.queue import find_job, leave
from headway.engine.reservations import give_up
from headway.engine.tables import Job, Pool, State
from headway.engine.verbs import withdraw
from headway.jit.kernels import entry, kernel
from headway.policies.queueing.strict import MACHINE


@kernel
def leave_plan(state: State, job: int) -> None:
    """A reservation is given back; those behind move forward when they are put in order."""
    give_up(state, MACHINE, job)
    leave(state, 2 * MACHINE, find_job(state, 2 * MACHINE, Job.KEY, job))
    withdraw(state, job)
    state.pools[Pool.LEFT, MACHINE] += 1


@entry
def of_conservative(t: int, state: State, job: int, request: int) -> None:
    """The only request there is: to leave."""
    leave_plan(state, job)
