"""How a waiting job leaves the plan of conservative backfilling."""

from __future__ import annotations

from headway.engine.local import CATCH_UP, WITHDRAW, caught_up
from headway.engine.planning import settle
from headway.engine.queue import find_job, leave
from headway.engine.reservations import give_up
from headway.engine.tables import Clock, Job, Pool, State
from headway.engine.verbs import withdraw
from headway.jit import entry
from headway.policies.backfilling import conservative
from headway.policies.queueing.strict import MACHINE


@entry
def of_conservative(t: int, state: State, job: int, request: int) -> None:
    """A reservation is given back; those behind move forward when they are put in order."""
    if request == CATCH_UP:
        conservative.compress(t, state, MACHINE, settle(t, state, MACHINE))
        for new in range(state.clock[Clock.FIRST_NEW], state.clock[Clock.LAST_NEW]):
            conservative.arrive(t, state, MACHINE, new)
        caught_up(state)
    elif request == WITHDRAW:
        give_up(state, MACHINE, job)
        leave(state, 2 * MACHINE, find_job(state, 2 * MACHINE, Job.KEY, job))
        withdraw(state, job)
    else:
        state.pools[Pool.FREED, MACHINE] = 1
        conservative.compress(t, state, MACHINE, 1)
