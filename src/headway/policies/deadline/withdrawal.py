"""How a waiting job leaves the lists of deadline-based backfilling."""

from __future__ import annotations

from headway.engine.local import CATCH_UP, WITHDRAW, caught_up
from headway.engine.queue import find_job, leave
from headway.engine.reservations import give_up
from headway.engine.tables import Clock, Job, Pool, State
from headway.engine.verbs import withdraw
from headway.jit import entry
from headway.policies.deadline import dbf
from headway.policies.deadline.tables import forget_in_lists
from headway.policies.queueing.strict import MACHINE


@entry
def of_dbf(t: int, state: State, job: int, request: int) -> None:
    """A definitive task is in the base too, a provisional one is counted."""
    if request == CATCH_UP:
        dbf.bring_closer(t, state, MACHINE, dbf.give_back(t, state, MACHINE))
        for new in range(state.clock[Clock.FIRST_NEW], state.clock[Clock.LAST_NEW]):
            dbf.arrive(t, state, MACHINE, new)
        caught_up(state)
    elif request == WITHDRAW:
        forget_in_lists(t, state, MACHINE, job)
        give_up(state, MACHINE, job)
        leave(state, 2 * MACHINE, find_job(state, 2 * MACHINE, Job.KEY, job))
        withdraw(state, job)
    else:
        state.pools[Pool.FREED, MACHINE] = 1
        dbf.bring_closer(t, state, MACHINE, 1)
