"""Prepares redirection: two pools, the options of each one's policy, the notes of the mechanism."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from headway.engine.drive import Setup
from headway.engine.tables import State, Table
from headway.errors import UsageError
from headway.policies.own.key import Key
from headway.policies.prepare import Arrivals, Prepared, first_class, prepare
from headway.policies.redirection.group_size import group_sizes, speed_ratio
from headway.policies.spec import Spec

FILTERS = ("procs", "walltime", "pseudo", "none")
CONFLICTS = ("walltime", "counter", "area", "latest")
RESTARTS = ("scratch", "checkpoint")
GROUPS = ("principal", "redirection")


def redirection(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """Redirection on a machine of ``procs`` processors, as its ``size`` divides or extends it."""
    from headway.policies.deadline import notes as dbf_notes
    from headway.policies.deadline.setup import fill_rows
    from headway.policies.deadline.tables import NO_DEADLINE
    from headway.policies.queueing.ordering import REGULAR_CLASS, URGENT_CLASS
    from headway.policies.redirection import counters as tables
    from headway.policies.redirection.redirection import hook_of

    sizes = group_sizes(spec, procs)
    nested = [_nested(spec, "principal"), _nested(spec, "redirected")]
    by, over = speed_ratio(spec, arrivals.platform)
    elsewhere = arrivals if by == over else _stretched(arrivals, by, over)
    here, there = groups = [
        _checked(prepare(each, jobs, max(size, 1)), each, name)
        for each, jobs, size, name in zip(
            nested, (arrivals, elsewhere), sizes, ("principal", "redirected"), strict=True
        )
    ]
    bases = {k: 2 + i for i, k in enumerate(k for k in range(2) if nested[k].name == "dbf")}
    pools = (*sizes, *(sizes[k] for k in bases))
    options, spare = _options(spec, nested, groups, bases, len(arrivals.submit))
    if by != over:
        options[[tables.BY, tables.OVER]] = by, over
    urgent = first_class(nested[1], arrivals)
    deadline = arrivals.extra.get("deadline", np.full(len(arrivals.submit), NO_DEADLINE))

    def fill(state: State) -> None:
        assert here.setup.prepare is not None
        here.setup.prepare(state)
        if bases:
            fill_rows(state, deadline)
        state.jobs[tables.CLASS_THERE] = REGULAR_CLASS
        if urgent is not None:
            state.jobs[tables.CLASS_THERE, urgent] = URGENT_CLASS
        state.jobs[tables.WALL_THERE], state.jobs[tables.PLAN_THERE] = elsewhere.walltime, there.plan
        state.jobs[tables.FILE_PLACE] = arrivals.extra.get("file_place", np.arange(len(arrivals.submit)))

    def own(state: State) -> dict[str, object]:
        counts = dbf_notes.counts(state, list(bases)) if bases else {}
        return {"redirections": int(state.options[tables.REDIRECTIONS]), **counts}

    def notes(state: State, ids: Table) -> dict[str, Any]:
        return dbf_notes.notes_of(state, ids, list(bases))

    hook = hook_of(*map(_kind, nested))
    return Prepared(
        Setup(pools, hook, options, prepare=fill, more_rows=tables.MORE_ROWS, spare=spare),
        here.plan,
        here.promise_kind,
        dict(zip(GROUPS, sizes, strict=True)),
        own,
        notes=notes if bases else None,
        remark=here.remark or there.remark,
        source=here.source or there.source,
    )


def _options(
    spec: Spec, nested: list[Spec], groups: list[Prepared], bases: dict[int, int], jobs: int
) -> tuple[Table, int]:
    """The options of the pools, the parameters, room for notes; and the room for displacements behind them.

    A job that was redirected has run already and can no longer be refused: where the redirection group is
    under ``dbf(late=refuse)``, one that cannot meet its deadline there is handled like one without.
    """
    from headway.policies.deadline import notes as dbf_notes
    from headway.policies.deadline import tables as dbf_tables
    from headway.policies.queueing.ordering import STRIDE
    from headway.policies.redirection import counters as tables

    table, spare = np.zeros(tables.OPTIONS, np.int64), 0
    own = [tuple(each.setup.options)[:STRIDE] for each in groups]
    own[1] = _sorted_at_each_pass(nested[1], own[1])
    for k, given in enumerate(own):
        table[k * STRIDE :][: len(given)] = given
    table[tables.THETA :][:4] = _parameters(spec)
    for k, base in bases.items():
        table[k * STRIDE + dbf_tables.BASE] = base
        spare += dbf_notes.give_log(table, k, jobs, len(table) + spare)
    if 1 in bases:
        table[STRIDE + dbf_tables.LATE] = dbf_tables.AS_PRIORITY
    return table, spare


def _stretched(arrivals: Arrivals, by: int, over: int) -> Arrivals:
    """The jobs with their times in a redirection group of another speed, rounded up as the engine does."""
    walltime, length = (
        np.array([-(-int(time) * by // over) for time in times], np.int64)
        for times in (arrivals.walltime, arrivals.length)
    )
    return replace(arrivals, walltime=walltime, length=length)


def _nested(spec: Spec, name: str) -> Spec:
    nested = spec.params[name]
    assert isinstance(nested, Spec)
    return nested


def _checked(prepared: Prepared, nested: Spec, name: str) -> Prepared:
    """The policy of a group, unless it has a key of the user's that cannot be kept there.

    In the redirection group jobs are submitted a second time, and keys that change are asked for in the
    queue of a machine alone.
    """
    keys = [key for key in ("order", "backfill") if isinstance(nested.params.get(key), Key)]
    if keys and (name == "redirected" or prepared.setup.drive is not None):
        why = "a key there" if name == "redirected" else "a key that changes with time"
        raise UsageError(
            f"redirection: {name}={nested.brief} has {why}, {keys[0]}={nested.params[keys[0]]}; name an "
            "order of Headway, or give the principal group a key of the job alone"
        )
    return prepared


def _parameters(spec: Spec) -> tuple[int, ...]:
    from headway.policies.redirection.counters import NEVER_EXCEEDED

    theta = float(str(spec.params["theta"]))
    return (
        NEVER_EXCEEDED if math.isinf(theta) else int(theta),
        FILTERS.index(str(spec.params["filter"])),
        CONFLICTS.index(str(spec.params["conflict"])),
        RESTARTS.index(str(spec.params["restart"])),
    )


def _kind(spec: Spec) -> int:
    from headway.policies.redirection.groups import DEEP, EASY, KINDS, STRICT

    if spec.name == "easy":
        return EASY if spec.params["depth"] == 1 else DEEP
    return KINDS.index(spec.name) if spec.name in KINDS else STRICT


def _sorted_at_each_pass(spec: Spec, options: tuple[int, ...]) -> tuple[int, ...]:
    """A policy's options for the redirection group: jobs come there in the course of the run.

    So the ranks that fixed orders compute beforehand do not hold there, except in order of arrival. Nothing
    that was promised in that group is kept in the schedule.
    """
    from headway.policies.backfilling.easy import PROMISES
    from headway.policies.queueing.ordering import AS_ORDER, BACKFILL_ORDER, ORDER, sorted_kind_of

    changed = list(options)
    if spec.name in ("conservative", "dbf"):
        return options
    changed[ORDER] = sorted_kind_of(str(spec.params.get("order", spec.name)))
    if spec.name == "easy":
        changed[PROMISES] = 0
        if options[BACKFILL_ORDER] != AS_ORDER:
            changed[BACKFILL_ORDER] = sorted_kind_of(str(spec.params["backfill"]))
    return tuple(changed)
