"""Prepares strict orders, and what every queue has: keys by its order, urgent jobs first where it says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from headway.engine.setup import Setup
from headway.engine.tables import JobTable, State
from headway.policies.prepare import Arrivals, Prepared, Table
from headway.policies.queueing.ordering import (
    AS_ORDER,
    BACKFILL_ORDER,
    NO_AGE,
    ORDER,
    kind_of,
    set_order,
    sorted_kind_of,
)

if TYPE_CHECKING:
    from headway.policies.spec import Spec


def strict(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """FCFS, SJF and the other orders without backfilling."""
    if arrivals.is_changing:
        from headway.policies.backfilling.changing import strict_changing as hook
    else:
        from headway.policies.queueing.strict import strict as hook
    order = order_of(spec)
    fill = ordered(arrivals, arrivals.walltime, {JobTable["key"]: order}, first_class(spec, arrivals))
    options = (kind_of(order), AS_ORDER, NO_AGE)
    return Prepared(Setup((procs,), hook, options, prepare=fill), arrivals.walltime)


def order_of(spec: Spec) -> str:
    """The name of a queue's order; that of a strict one is its own."""
    return str(spec.params.get("order", spec.name))


def first_class(spec: Spec, arrivals: Arrivals) -> npt.NDArray[np.bool_] | None:
    """The urgent jobs where the policy lets them go first, else None."""
    urgent = arrivals.extra.get("urgent")
    return urgent if spec.params.get("urgent") == "first" and urgent is not None else None


def ordered(
    arrivals: Arrivals, plan: Table, orders: dict[int, str], urgent: npt.NDArray[np.bool_] | None
) -> Callable[[State], None]:
    """Fills the key rows for the given orders."""
    columns = {"submit": arrivals.submit, "procs": arrivals.procs, "plan": plan}

    def fill(state: State) -> None:
        state.jobs.reserved[:] = -1
        for row, order in orders.items():
            set_order(state, row, order, columns, urgent)

    return fill


def sorted_at_each_pass(spec: Spec, options: tuple[int, ...]) -> tuple[int, ...]:
    """A queue's options where jobs come in the course of the run, so that no rank is known beforehand."""
    changed = list(options)
    changed[ORDER] = sorted_kind_of(order_of(spec))
    if options[BACKFILL_ORDER] != AS_ORDER:
        changed[BACKFILL_ORDER] = sorted_kind_of(spec.word("backfill"))
    return tuple(changed)


def with_present_keys(spec: Spec, prepared: Prepared) -> Prepared:
    """A queue whose orders look at what a job has where it is, and are sorted at each pass.

    Orders such as the shortest job first are ranks among the log's jobs, computed beforehand; a job's size
    and times may be others where it runs.
    """
    from headway.policies.backfilling.easy import easy, easy_sorted

    setup = prepared.setup
    before = tuple(int(option) for option in setup.options)
    options = sorted_at_each_pass(spec, before)
    if options == before:
        return prepared
    hook = easy_sorted if setup.hook is easy else setup.hook
    return replace(prepared, setup=replace(setup, options=options, hook=hook))
