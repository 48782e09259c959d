"""How a waiting job leaves the lists of deadline-based backfilling."""

from __future__ import annotations

from headway.engine.tables import State
from headway.jit.kernels import entry
from headway.policies.backfilling.withdrawal import leave_plan
from headway.policies.deadline.tables import forget_in_lists
from headway.policies.queueing.strict import MACHINE


@entry
def of_dbf(t: int, state: State, job: int, request: int) -> None:
    """The only request there is: to leave. A definitive task is in the base too, others are counted."""
    forget_in_lists(t, state, MACHINE, job)
    leave_plan(state, job)
