"""Prepares redirection: two pools, the options of each one's policy, the notes of the mechanism."""

from __future__ import annotations

import math

import numpy as np

from headway.engine.drive import Setup
from headway.engine.tables import State
from headway.errors import UsageError
from headway.policies.group_size import group_sizes
from headway.policies.own.key import Key
from headway.policies.prepare import Arrivals, Prepared, first_class, prepare
from headway.policies.spec import Spec

FILTERS = ("procs", "walltime", "pseudo", "none")
CONFLICTS = ("walltime", "counter", "area", "latest")
RESTARTS = ("scratch", "checkpoint")
GROUPS = ("principal", "redirection")


def redirection(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """Redirection on a machine of ``procs`` processors, as its ``size`` divides or extends it."""
    from headway.policies import redirection as hooks
    from headway.policies.ordering import REGULAR_CLASS, URGENT_CLASS

    sizes = group_sizes(spec, procs)
    nested = [_nested(spec, "principal"), _nested(spec, "redirected")]
    here, there = (
        _checked(prepare(each, arrivals, max(size, 1)), each, name)
        for each, size, name in zip(nested, sizes, ("principal", "redirected"), strict=True)
    )
    kinds = [_kind(each) for each in nested]
    options = [
        *_padded(tuple(here.setup.options)),
        *_padded(_sorted_at_each_pass(nested[1], tuple(there.setup.options))),
        *_parameters(spec),
        *kinds,
    ]
    options += [0] * (hooks.OPTIONS - len(options))
    urgent = first_class(nested[1], arrivals)

    def fill(state: State) -> None:
        assert here.setup.prepare is not None
        here.setup.prepare(state)
        state.jobs[hooks.CLASS_THERE] = REGULAR_CLASS
        if urgent is not None:
            state.jobs[hooks.CLASS_THERE, urgent] = URGENT_CLASS
        state.jobs[hooks.PLAN_THERE] = there.plan
        state.jobs[hooks.FILE_PLACE] = arrivals.extra.get("file_place", np.arange(len(arrivals.submit)))

    hook = hooks.redirection_easy if kinds == [hooks.EASY, hooks.EASY] else hooks.redirection
    setup = Setup(sizes, hook, tuple(options), prepare=fill, more_rows=hooks.MORE_ROWS)

    def own(state: State) -> dict[str, object]:
        return {"redirections": int(state.options[hooks.REDIRECTIONS])}

    groups = dict(zip(GROUPS, sizes, strict=True))
    return Prepared(setup, here.plan, here.promise_kind, groups, own, source=here.source or there.source)


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
    from headway.policies.redirection import NEVER_EXCEEDED

    theta = float(str(spec.params["theta"]))
    return (
        NEVER_EXCEEDED if math.isinf(theta) else int(theta),
        FILTERS.index(str(spec.params["filter"])),
        CONFLICTS.index(str(spec.params["conflict"])),
        RESTARTS.index(str(spec.params["restart"])),
    )


def _kind(spec: Spec) -> int:
    from headway.policies.redirection import CONSERVATIVE, DEEP, EASY, STRICT

    if spec.name == "easy":
        return EASY if spec.params["depth"] == 1 else DEEP
    return CONSERVATIVE if spec.name == "conservative" else STRICT


def _padded(options: tuple[int, ...]) -> tuple[int, ...]:
    from headway.policies.ordering import STRIDE

    return (*options, *(0,) * (STRIDE - len(options)))


def _sorted_at_each_pass(spec: Spec, options: tuple[int, ...]) -> tuple[int, ...]:
    """A policy's options for the redirection group: jobs come there in the course of the run.

    So the ranks that fixed orders compute beforehand do not hold there, except in order of arrival. Nothing
    that was promised in that group is kept in the schedule.
    """
    from headway.policies.easy import PROMISES
    from headway.policies.ordering import AS_ORDER, BACKFILL_ORDER, ORDER, sorted_kind_of

    changed = list(options)
    if spec.name == "conservative":
        return options
    changed[ORDER] = sorted_kind_of(str(spec.params.get("order", spec.name)))
    if spec.name == "easy":
        changed[PROMISES] = 0
        if options[BACKFILL_ORDER] != AS_ORDER:
            changed[BACKFILL_ORDER] = sorted_kind_of(str(spec.params["backfill"]))
    return tuple(changed)
