"""One pass at a time, for policies written in Python: do what was decided, then open the next instant.

A compiled function called from Python costs microseconds for each table it takes, so there is one call
per pass and it takes only what it needs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from headway.engine.clock import step
from headway.engine.driver import Driver
from headway.engine.setup import Jobs, Setup
from headway.engine.tables import (
    Clock,
    Ended,
    Fault,
    JobTable,
    Lists,
    Nodes,
    Pools,
    Runs,
    ShareTable,
    State,
    Step,
    Table,
    World,
    queue_room,
)
from headway.engine.verbs import kill, start, wake, withdraw
from headway.jit.kernels import entry, kernel

# Rows of the table of orders, and the verbs in it.
VERB, OBJECT, REASON = range(3)
ORDER_ROWS = 3
START, KILL, WAKE_AT, WITHDRAW_JOB = range(4)
ONLY_POOL = 0


class Tables(NamedTuple):
    """The part of the state that time and verbs touch; they take it in place of the whole."""

    clock: Clock
    jobs: JobTable
    runs: Runs
    pools: Pools
    lists: Lists
    nodes: Nodes
    shares: ShareTable


@kernel
def carry_out(orders: Table, count: int, state: Any) -> None:
    """Do what ``count`` orders [verb | object | reason, place] say."""
    for i in range(count):
        verb = orders[VERB, i]
        if verb == START:
            start(state, orders[OBJECT, i], ONLY_POOL, orders[REASON, i])
        elif verb == KILL:
            kill(state, orders[OBJECT, i], Ended.BY_PREEMPTION)
        elif verb == WITHDRAW_JOB:
            withdraw(state, orders[OBJECT, i])
        else:
            wake(state, orders[OBJECT, i])


@entry
def act(
    orders: Table,
    count: int,
    clock: Clock,
    jobs: JobTable,
    runs: Runs,
    pools: Pools,
    lists: Lists,
    nodes: Nodes,
    shares: ShareTable,
) -> None:
    """Carry out ``count`` orders of this instant, where somebody else moves the clock."""
    carry_out(orders, count, Tables(clock, jobs, runs, pools, lists, nodes, shares))


@entry
def act_and_step(
    orders: Table,
    count: int,
    clock: Clock,
    jobs: JobTable,
    runs: Runs,
    pools: Pools,
    lists: Lists,
    nodes: Nodes,
    shares: ShareTable,
    runtime: Table,
    ends: Table,
    size: Table,
) -> int:
    """Carry out ``count`` orders [verb | object | reason, place] of this instant, then open the next.

    Returns the code of ``step``. The jobs that ended are then in the row OBJECT of ``orders``.
    """
    state: Any = Tables(clock, jobs, runs, pools, lists, nodes, shares)
    carry_out(orders, count, state)
    if clock.fault != Fault.NONE:
        return Step.BROKEN
    code = step(state, World(runtime, ends, size))
    if code == Step.PASS:
        for i in range(clock.ended):
            orders[OBJECT, i] = runs.job[lists.ended_runs[i]]
    return code


def tables_of(state: State, world: World) -> tuple[Any, ...]:
    """What :func:`act_and_step` takes after the orders."""
    return (state.clock, state.jobs, state.runs, state.pools, state.lists, state.nodes, state.shares, *world)


class Stepper(Driver):
    """A simulation whose policy is written in Python: one call for its orders and the next instant."""

    def __init__(self, jobs: Jobs, setup: Setup) -> None:
        super().__init__(jobs, setup)
        self._lay_out()

    def _lay_out(self) -> None:
        """Space for orders: a start and a stop of every live job, and a wake."""
        self._tables = tables_of(self.state, self.world)
        self.orders = np.zeros((ORDER_ROWS, queue_room(self.state.lists.shape[1])), np.int64)

    def grow(self) -> None:
        super().grow()
        self._lay_out()

    def act_and_next(self, count: int) -> bool:
        """Carry out the first ``count`` orders, then open the next instant; False if none is to come."""
        code = act_and_step(self.orders, count, *self._tables)
        while code in (Step.GROW, Step.EVENT):
            self.prepare_for(code)
            code = act_and_step(self.orders, 0, *self._tables)
        if code == Step.BROKEN:
            raise self.refusal()
        return code != Step.FINISH
