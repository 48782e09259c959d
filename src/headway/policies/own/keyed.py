"""Prepares a policy of the catalogue that a user's key orders, or whose estimates a user's function gives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.engine.tables import JOB_ROWS, Job, State
from headway.errors import PolicyError, UsageError
from headway.policies.backfilling.easy import Rule, easy, easy_sorted
from headway.policies.backfilling.setup import LEARNED
from headway.policies.own import faults
from headway.policies.own.keys import Column, KeyFunction, Rows, key_functions
from headway.policies.own.moving_keys import KEY_ROWS, KeyedRun, MovingKey, compiled_rekey, fill_columns
from headway.policies.queueing.ordering import BACKFILL_ORDER, CLASS_WEIGHT, GIVEN, ORDER
from headway.units import LONGEST, SECOND, microseconds_up

if TYPE_CHECKING:
    from headway.policies.prepare import Arrivals, Prepared
    from headway.policies.spec import Spec

STAND_INS = ("saf", "laf")
"""Fixed orders that stand in for keys while the policy is prepared; their ranks are then overwritten."""

PLACES = {"order": (Job.KEY, ORDER), "backfill": (Job.BACKFILL_KEY, BACKFILL_ORDER)}
"""The job row and the option of each order."""


def prepare_keyed(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """The policy with fixed orders in the place of the user's, then the user's keys put in."""
    found = key_functions(spec)
    columns = arrivals.columns
    changed: dict[str, Any] = {}
    if spec.params.get("estimate") in LEARNED:
        raise UsageError(f"{spec.name}: estimate={spec.params['estimate']} goes with no order of your own")
    if "estimate" in found:
        changed["estimate"] = "exact"
        arrivals = replace(arrivals, length=planned(found["estimate"], columns))
    orders = {name: found[name] for name in PLACES if name in found}
    changed |= stand_ins(spec, orders)
    plain = replace(spec, params={**spec.params, **changed}).policy.prepare(arrivals, procs)
    if "backfill" in orders and spec.params["backfill"] == spec.params["order"]:
        del orders["backfill"]  # one queue for both
    source = next(iter(found.values())).source
    prepared = with_orders(plain, orders, Rows(columns, plain.plan), arrivals)
    if "estimate" in found:
        options = list(prepared.setup.options)
        options[Rule.NEWCOMERS_ONLY] = 0  # that shortcut needs estimates that no job outlives
        prepared = replace(prepared, setup=replace(prepared.setup, options=tuple(options)))
    return replace(
        prepared,
        source=dict(source),
        promise_kind="" if orders or "estimate" in found else plain.promise_kind,
    )


def stand_ins(spec: Spec, orders: Mapping[str, KeyFunction]) -> dict[str, str]:
    """A fixed order for each of the user's; equal ones get the same, others one that is not in use."""
    chosen: dict[str, str] = {}
    for name in orders:
        if name == "backfill" and spec.params["backfill"] == spec.params["order"]:
            chosen[name] = chosen["order"]
            continue
        taken = {*chosen.values(), *(str(spec.params.get(other)) for other in PLACES)}
        chosen[name] = next(order for order in (*STAND_INS, "lqf") if order not in taken)
    return chosen


def with_orders(
    plain: Prepared, orders: Mapping[str, KeyFunction], rows: Rows, arrivals: Arrivals
) -> Prepared:
    """Put the user's keys in: ranks where they do not change, else a key for every pass."""
    options, moving = list(plain.setup.options), list[MovingKey]()
    ranks: dict[int, Column] = {}
    for name, key in orders.items():
        row, option = PLACES[name]
        if key.moves:
            kind = GIVEN + list(PLACES).index(name)
            options[option] = kind
            moving.append(MovingKey(key, JOB_ROWS + kind - GIVEN))
        else:
            jobs, submit = arrivals.columns["job"].tolist(), arrivals.submit.tolist()
            ranks[row] = np.unique(key.values(rows.rows, jobs, submit), return_inverse=True)[1]
    before = plain.setup.prepare

    def fill(state: State) -> None:
        if before is not None:
            before(state)
        for row, rank in ranks.items():
            state.jobs[row] -= state.jobs[row] % CLASS_WEIGHT  # keep the class, replace the rank
            state.jobs[row] += rank
        if moving:
            fill_columns(state, rows)

    setup = replace(plain.setup, options=tuple(options), prepare=fill)
    if moving:
        run = KeyedRun(moving, rows, compiled_rekey(moving, rows))
        setup = replace(
            setup,
            hook=easy_sorted if setup.hook is easy else setup.hook,
            drive=run,
            more_rows=KEY_ROWS + len(rows.columns),
        )
    return replace(plain, setup=setup)


def planned(estimate: KeyFunction, columns: dict[str, Column]) -> Column:
    """The user's estimates in µs, each made when its job is submitted."""
    jobs, submit = columns["job"].tolist(), columns["submit"].tolist()
    values = estimate.values(Rows(columns).rows, jobs, submit)
    for job, value in zip(jobs, values.tolist(), strict=True):
        if not (math.isfinite(value) and 0 <= value <= LONGEST / SECOND):
            raise PolicyError(
                f"{faults.defined_at(estimate.function)}: the estimate of job {job} is {value:g} s; "
                "it must be a number of seconds from 0 on"
            )
    return np.array([microseconds_up(value) for value in values.tolist()], np.int64)
