"""Which policies a cluster of a composed grid can have, and what is particular to each kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from headway.engine.tables import HEAD, PLAN, PROCS, RESERVATION, WALL, State, Table
from headway.policies.prepare import Prepared
from headway.policies.spec import Spec

TIMES = (WALL, PLAN)
Request = Callable[[int, State, int, int], None]


@dataclass(frozen=True)
class Kind:
    """What a cluster must know of its policy beside the hook."""

    request: Request
    """How a waiting job leaves: an entry of :mod:`headway.policies.grid.composed.requests`."""
    times: tuple[int, ...] = TIMES
    """Rows of the table of jobs with times that depend on the cluster and the size there."""
    catches_up: bool = False
    """Whether it keeps reservations that must be up to date before one is taken away."""
    in_turn: int = HEAD
    """Why a job starts that came back to the queue at this very instant, and had waited before."""
    not_of_jobs: tuple[int, ...] = ()
    """Rows of the table of jobs whose columns are not jobs, but lists from the front."""
    newcomer: Callable[[Table, int], None] | None = None
    """Fills rows of a new column that depend on the size that its job got here."""
    trial_options: Callable[[Table], Table] | None = None
    """The options as a trial needs them, where they hold a long record as well."""


def kind_of(spec: Spec) -> Kind:
    """The kind of a cluster's policy."""
    from headway.policies.grid.composed import requests

    if spec.name == "redirection":
        from headway.policies.redirection.counters import LISTS, PLAN_THERE, WALL_THERE

        principal = spec.params["principal"]
        assert isinstance(principal, Spec)
        times = (*TIMES, WALL_THERE, PLAN_THERE)
        return replace(kind_of(principal), catches_up=False, times=times, not_of_jobs=LISTS)
    if spec.name == "ujfb":
        from headway.policies.urgent.tables import LISTS

        return Kind(
            requests.of_ujfb,
            in_turn=RESERVATION,
            not_of_jobs=LISTS,
            newcomer=number_shape,
            trial_options=without_record,
        )
    if spec.name == "dbf":
        return Kind(requests.of_dbf, catches_up=True, in_turn=RESERVATION)
    if spec.name == "conservative":
        return Kind(requests.of_conservative, catches_up=True, in_turn=RESERVATION)
    return Kind(requests.of_queue)


def number_shape(jobs: Table, column: int) -> None:
    """Jobs of one size and length share a number, those of others have another one."""
    from headway.policies.urgent.tables import SHAPE, SHAPE_PLAN, SHAPE_START

    before = jobs[:, :column]
    same = np.flatnonzero((before[PROCS] == jobs[PROCS, column]) & (before[PLAN] == jobs[PLAN, column]))
    if len(same):
        jobs[SHAPE, column] = before[SHAPE, same[0]]
        return
    free = np.ones(jobs.shape[1], np.bool_)
    free[before[SHAPE]] = False
    number = int(np.argmax(free))
    jobs[SHAPE, column] = number
    jobs[SHAPE_PLAN, number] = jobs[SHAPE_START, number] = 0  # nothing is known of this shape yet


def without_record(options: Table) -> Table:
    """UJFB's options with no room in the record of processors, which a trial does not need."""
    from headway.policies.urgent.tables import NOTES, RECORD_ROOM, SIZE_OF_MACHINE, TABLES

    short = options[: NOTES + TABLES * int(options[SIZE_OF_MACHINE])].copy()
    short[RECORD_ROOM] = 0
    return short


def in_order_of_present_sizes(spec: Spec, prepared: Prepared) -> Prepared:
    """A queue policy whose orders look at what a job has on this cluster.

    Orders such as the shortest job first are ranks among the log's jobs, computed beforehand. Here a job's
    size and times depend on the cluster, so that such orders are sorted at each pass.
    """
    from headway.policies.backfilling.easy import easy, easy_sorted
    from headway.policies.queueing.ordering import AS_ORDER, BACKFILL_ORDER, ORDER, sorted_kind_of

    queue = spec.params["principal"] if spec.name == "redirection" else spec
    assert isinstance(queue, Spec)
    if queue.name in ("conservative", "dbf", "ujf", "ujfb"):
        return prepared
    setup = prepared.setup
    options = np.array(setup.options, np.int64)
    options[ORDER] = sorted_kind_of(str(queue.params.get("order", queue.name)))
    if options[BACKFILL_ORDER] != AS_ORDER:
        options[BACKFILL_ORDER] = sorted_kind_of(str(queue.params["backfill"]))
    if (options == np.array(setup.options)).all():
        return prepared
    hook = easy_sorted if setup.hook is easy else setup.hook
    return replace(prepared, setup=replace(setup, options=options, hook=hook))
