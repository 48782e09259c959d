"""From a spec to what the engine runs: hook, pools, options, job rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.engine.drive import Setup
from headway.engine.tables import BACKFILL_KEY, KEY, RESERVED, State
from headway.errors import UsageError
from headway.platform import Platform
from headway.policies.queueing.description import ORDERS
from headway.policies.spec import Spec
from headway.units import SECOND

Table = npt.NDArray[np.int64]

UNBOUNDED = 1 << 60
"""``WALL`` (µs) of a job that may go on as long as it needs."""


@dataclass(frozen=True)
class Arrivals:
    """The jobs in order of submit, then file: what preparing a policy may look at (times in µs)."""

    submit: Table
    procs: Table
    walltime: Table
    length: Table
    """What each job will get, min(run, walltime); only for ``estimate=exact``."""
    extra: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    """Further columns of the workload, such as ``urgent``."""
    platform: Platform | None = None
    """The machine, for policies that look at its nodes or clusters."""
    labels: dict[str, list[str]] = field(default_factory=dict)
    """Names of what columns hold as codes, such as ``file`` and ``cluster``."""

    @property
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Every column at hand but the lengths, by the workload's names."""
        return {**self.extra, "submit": self.submit, "procs": self.procs, "walltime": self.walltime}


@dataclass(frozen=True)
class Sets:
    """The processors of some runs of the log."""

    of_run: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """Half-open ranges in ascending order; a later run of the same job that is not here has the same."""
    borrower: dict[int, int] = field(default_factory=dict)
    """Of a run that was suspended, the run that it was suspended for, where only what that one took is
    swapped out."""
    swap_out: dict[int, int] = field(default_factory=dict)
    """How long a run that was suspended took to be swapped out (µs)."""


@dataclass(frozen=True)
class Sites:
    """Which cluster and group each pool is, where clusters have groups of their own."""

    cluster: Table
    group: Table
    """The number of the group; -1 where the cluster has none."""
    groups: dict[str, int]
    """Processors of each group in all clusters."""


@dataclass(frozen=True)
class Prepared:
    """A policy ready to run."""

    setup: Setup
    plan: Table
    """The time the scheduler plans with, per job."""
    promise_kind: str = ""
    groups: dict[str, int] = field(default_factory=dict)
    """Names and sizes of the pools, where there are several."""
    own: Callable[[State], dict[str, object]] | None = None
    """The policy's own summary numbers."""
    notes: Callable[[State, Table], dict[str, Any]] | None = None
    """What the policy noted of each job, in the engine's order; the table has the log's job numbers."""
    lead: str = ""
    """What a run does before its program begins, a state of pieces; where it is ``swap_in``, a job that
    comes first to its processors starts when its program does."""
    sets: Callable[[State], Sets] | None = None
    """Which processors jobs had, where that matters; the schedule then has pieces of all these jobs."""
    remark: str = ""
    """One line that the user should read, such as that nothing in the workload concerns this policy."""
    source: dict[str, str] = field(default_factory=dict)
    """Name, file and digest of a policy that is the user's own."""
    again: Callable[[State], Setup | None] | None = None
    """A setup with more room for the policy's notes, where a run turned out to need it, to run again."""
    nodes: Table | None = None
    """Where the pools are nodes: the platform's number of each."""
    moves: Callable[[State], dict[str, Table]] | None = None
    """The moves of waiting jobs between clusters, the columns of a schedule's; jobs in the engine's order."""
    sites: Sites | None = None
    """Where the pools are, if they are more than the clusters of a grid or the groups of a machine."""
    hooks: tuple[Callable[[int, State], None], ...] = ()
    """What is compiled before the run, where that is more than the setup's hook."""


PREPARERS: dict[str, str] = {
    "strict": "headway.policies.prepare:strict",
    "easy": "headway.policies.prepare:easy",
    "conservative": "headway.policies.prepare:conservative",
    "redirection": "headway.policies.redirection.setup:redirection",
    "dbf": "headway.policies.deadline.setup:dbf",
    "ujf": "headway.policies.urgent.setup:ujf",
    "ujfb": "headway.policies.urgent.setup:ujfb",
    "reallocation": "headway.policies.grid.setup:reallocation",
    **dict.fromkeys(("eft", "lea", "leo", "lem", "score"), "headway.policies.nodes.setup:scored"),
    **dict.fromkeys(("backfill-big", "area-filling"), "headway.policies.nodes.setup:by_size"),
}
"""Who prepares a policy; every strict order is prepared by :func:`strict`."""


OF_GROUPS = ("redirection",)
"""Policies that prepare those of their groups one by one, keys of the user's included."""


def prepare(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """Everything the engine needs to run a policy on ``procs`` processors."""
    if spec.is_user:
        from headway.policies.own.forms import prepare_own

        return prepare_own(spec, arrivals, procs)
    if spec.uses_own and spec.name not in OF_GROUPS:
        from headway.policies.own.keyed import prepare_keyed

        return prepare_keyed(spec, arrivals, procs)
    if spec.name not in PREPARERS and spec.name not in ORDERS:
        raise UsageError(f"{spec.name} is in the catalogue, but nothing prepares it: name it in PREPARERS")
    home = PREPARERS.get(spec.name, "headway.policies.prepare:strict")
    if spec.name in ("fcfs", "easy", "conservative") and "presence" in spec.params:
        home = f"headway.policies.nodes.setup:{'easy' if spec.name == 'easy' else 'scored'}"
    module, _, name = home.partition(":")
    function: Callable[[Spec, Arrivals, int], Prepared] = getattr(import_module(module), name)
    return function(spec, arrivals, procs)


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
        from headway.policies.queueing.ordering import set_order

        state.jobs[RESERVED] = -1
        for row, order in orders.items():
            set_order(state, row, order, columns, urgent)

    return fill


def strict(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """FCFS, SJF and the other orders without backfilling."""
    from headway.policies.queueing.ordering import AS_ORDER, NO_AGE, kind_of
    from headway.policies.queueing.strict import strict as hook

    plan = arrivals.walltime
    order = str(spec.params.get("order", spec.name))
    fill = ordered(arrivals, plan, {KEY: order}, first_class(spec, arrivals))
    options = (kind_of(order), AS_ORDER, NO_AGE)
    return Prepared(Setup((procs,), hook, options, prepare=fill), plan)


def easy(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """EASY with its orders, estimates, age limit and depth."""
    from headway.policies.queueing.ordering import AS_ORDER, FIXED, NO_AGE, kind_of

    order, backfill, age = str(spec.params["order"]), str(spec.params["backfill"]), spec.params["age"]
    estimate, depth = spec.params["estimate"], spec.params["depth"]
    urgent = first_class(spec, arrivals)
    plan = planned_times(estimate, arrivals)
    one_queue = backfill == order
    arrival_order = order == "fcfs" and urgent is None
    upper_bounds = estimate in ("requested", "exact")
    options = (
        kind_of(order),
        AS_ORDER if one_queue else kind_of(backfill),
        NO_AGE if age == "none" else round(float(str(age)) * SECOND),
        0 if depth == "all" else int(str(depth)),
        arrival_order and estimate == "requested",
        arrival_order and one_queue and upper_bounds,
    )
    orders = {KEY: order} if one_queue else {KEY: order, BACKFILL_KEY: backfill}
    fill = ordered(arrivals, plan, orders, urgent)
    lasting = kind_of(order) == kind_of(backfill) == FIXED and age == "none"
    if depth != 1:
        from headway.policies.backfilling.depth import easy_deep as hook
    elif lasting:
        from headway.policies.backfilling.easy import easy as hook
    else:
        from headway.policies.backfilling.easy import easy_sorted as hook
    setup = Setup((procs,), hook, tuple(int(n) for n in options), fill)
    return Prepared(setup, plan, "start" if options[4] else "")


def planned_times(estimate: object, arrivals: Arrivals) -> Table:
    """The time the scheduler plans with: the request, the real run time, or a multiple of the request."""
    if estimate == "requested":
        return arrivals.walltime
    if estimate == "exact":
        return arrivals.length
    numerator, denominator = Decimal(str(estimate)).as_integer_ratio()
    longest = int(arrivals.walltime.max()) if len(arrivals.walltime) else 0
    if longest * numerator >= 1 << 62:
        exact = [(-(-int(w) * numerator // denominator)) for w in arrivals.walltime]
        if max(exact) >= 1 << 60:
            raise UsageError(
                f"easy: estimate={estimate} plans with times that are too long; give a smaller one"
            )
        return np.array(exact, np.int64)
    return -(-arrivals.walltime * numerator // denominator)


def conservative(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """Conservative backfilling."""
    from headway.policies.backfilling.conservative import conservative as hook
    from headway.policies.queueing.ordering import AS_ORDER, FIXED, NO_AGE

    modes = ("early", "every", "fixpoint", "scratch", "none")
    compress = str(spec.params["compress"])
    options = (FIXED, AS_ORDER, NO_AGE, modes.index(compress), int(spec.params["hole"] == "open"))
    fill = ordered(arrivals, arrivals.walltime, {KEY: "fcfs"}, first_class(spec, arrivals))
    setup = Setup((procs,), hook, options, prepare=fill)
    return Prepared(setup, arrivals.walltime, "told" if compress == "scratch" else "start")
