"""Prepares redirection: two pools, the options of each one's policy, the memory of the mechanism."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from headway.engine.local import TIMES, Local
from headway.engine.setup import Setup
from headway.engine.tables import State, Table
from headway.errors import UsageError
from headway.jit.rows import zeros
from headway.policies.prepare import Arrivals, Prepared
from headway.policies.queueing.ordering import REGULAR_CLASS, STRIDE, URGENT_CLASS
from headway.policies.queueing.policy import Queue
from headway.policies.queueing.setup import first_class, sorted_at_each_pass
from headway.policies.redirection.group import GROUPS, Group, group_sizes, speed_ratio
from headway.policies.spec import Spec
from headway.units import NEVER

if TYPE_CHECKING:
    from headway.policies.deadline.tables import Memory as DbfMemory
    from headway.policies.redirection.tables import Memory

FILTERS = ("procs", "walltime", "pseudo", "none")
CONFLICTS = ("walltime", "counter", "area", "latest")
RESTARTS = ("scratch", "checkpoint")


def redirection(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """Redirection on a machine of ``procs`` processors, as its ``size`` divides or extends it."""
    from headway.policies.deadline import notes as dbf_notes
    from headway.policies.deadline.tables import NO_DEADLINE, fill_rows
    from headway.policies.redirection import tables
    from headway.policies.redirection.redirection import hook_of

    sizes = group_sizes(spec, procs)
    nested = [spec.nested(name) for name in ("principal", "redirected")]
    kinds = [each.policy.as_group() for each in nested]
    by, over = speed_ratio(spec, arrivals.platform)
    elsewhere = arrivals if by == over else _stretched(arrivals, by, over)
    here, there = groups = [
        _checked(each.policy.prepare(jobs, max(size, 1)), each, name)
        for each, jobs, size, name in zip(
            nested, (arrivals, elsewhere), sizes, ("principal", "redirected"), strict=True
        )
    ]
    bases = {k: 2 + i for i, k in enumerate(k for k in range(2) if kinds[k].has_base)}
    pools = (*sizes, *(sizes[k] for k in bases))
    options = _options(kinds[1], groups, bases)
    urgent = first_class(nested[1], arrivals)
    deadline = arrivals.extra.get("deadline", np.full(len(arrivals.submit), NO_DEADLINE))

    def fill(state: State) -> None:
        jobs = tables.RedirectionJobs(state.jobs)
        assert here.setup.prepare is not None
        here.setup.prepare(state)
        if bases:
            fill_rows(state, deadline)
        jobs.class_there[:] = REGULAR_CLASS
        if urgent is not None:
            jobs.class_there[urgent] = URGENT_CLASS
        jobs.wall_there[:], jobs.plan_there[:] = (
            elsewhere.walltime,
            there.plan,
        )
        jobs.file_place[:] = arrivals.extra.get("file_place", np.arange(len(arrivals.submit)))

    def own(state: State) -> dict[str, object]:
        counts = dbf_notes.counts(state) if bases else {}
        return {"redirections": int(state.memory.notes.redirections), **counts}

    hook = hook_of(*(each.kind for each in kinds))
    of_dbf = dbf_notes.new_memory(len(bases) * dbf_notes.log_room(len(arrivals.submit)), pools=2)
    memory = _memory(spec, by, over, of_dbf)
    return Prepared(
        Setup(pools, hook, options, fill, more_rows=tables.MORE_ROWS, memory=memory),
        here.plan,
        here.promise_kind,
        dict(zip(GROUPS, sizes, strict=True)),
        own,
        notes=dbf_notes.notes_of if bases else None,
        remark=here.remark or there.remark,
        source=here.source or there.source,
    )


def _options(there: Group, groups: list[Prepared], bases: dict[int, int]) -> Table:
    """The options of the pools.

    A job that was redirected has run already and can no longer be refused: where the redirection group is
    under ``dbf(late=refuse)``, one that cannot meet its deadline there is handled like one without.
    """
    from headway.policies.deadline import tables as dbf_tables

    table = np.zeros(2 * STRIDE, np.int64)
    own = [tuple(each.setup.options)[:STRIDE] for each in groups]
    own[1] = there.in_turn(own[1])
    for k, given in enumerate(own):
        table[k * STRIDE :][: len(given)] = given
    for k, base in bases.items():
        table[k * STRIDE + dbf_tables.Rule.BASE] = base
    if 1 in bases:
        table[STRIDE + dbf_tables.Rule.LATE] = dbf_tables.AS_PRIORITY
    return table


def _stretched(arrivals: Arrivals, by: int, over: int) -> Arrivals:
    """The jobs with their times in a redirection group of another speed, rounded up as the engine does."""
    walltime, length = (
        np.array([-(-int(time) * by // over) for time in times], np.int64)
        for times in (arrivals.walltime, arrivals.length)
    )
    return replace(arrivals, walltime=walltime, length=length)


def _checked(prepared: Prepared, nested: Spec, name: str) -> Prepared:
    """The policy of a group, unless it has a key of the user's that cannot be kept there.

    In the redirection group jobs are submitted a second time, and keys that change are asked for in the
    queue of a machine alone.
    """
    keys = [key for key in ("order", "backfill") if key in nested.keys]
    if keys and (name == "redirected" or prepared.setup.drive is not None):
        why = "a key there" if name == "redirected" else "a key that changes with time"
        raise UsageError(
            f"redirection: {name}={nested.brief} has {why}, {keys[0]}={nested.params[keys[0]]}; name an "
            "order of Headway, or give the principal group a key of the job alone"
        )
    return prepared


def _memory(spec: Spec, by: int, over: int, of_dbf: DbfMemory) -> Memory:
    """The parameters, and nothing noted yet; times in the redirection group are the log's x by / over."""
    from headway.policies.redirection.tables import BATCH, NEVER_EXCEEDED, Memory, Newcomers, Notes, Rules

    theta = spec.number("theta")
    rules = zeros(Rules)
    rules.theta = NEVER_EXCEEDED if math.isinf(theta) else int(theta)
    rules.filter = FILTERS.index(spec.word("filter"))
    rules.conflict = CONFLICTS.index(spec.word("conflict"))
    rules.restart = RESTARTS.index(spec.word("restart"))
    if by != over:
        rules.by, rules.over = by, over
    notes = zeros(Notes)
    notes.last_at = -NEVER
    newcomers = zeros(Newcomers, BATCH)
    return Memory(rules, notes, newcomers, *of_dbf)


def joining(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """Redirection where jobs come one by one: the principal queue looks at what a job has there."""
    prepared, principal = redirection(spec, arrivals, procs), spec.nested("principal")
    if not isinstance(principal.policy, Queue):
        return prepared
    options = np.array(prepared.setup.options, np.int64)
    options[:STRIDE] = sorted_at_each_pass(principal, tuple(options[:STRIDE].tolist()))
    return replace(prepared, setup=replace(prepared.setup, options=options))


def local(principal: Local, bases: list[int]) -> Local:
    """How jobs join and leave the principal group; ``bases`` are the groups under DBF, which notes more."""
    from headway.policies.deadline import notes
    from headway.policies.redirection.counters import renumber_runs
    from headway.policies.redirection.tables import LISTS, RedirectionJobs

    times = (*TIMES, RedirectionJobs["wall_there"], RedirectionJobs["plan_there"])
    return replace(
        principal,
        catches_up=False,
        times=times,
        not_of_jobs=LISTS,
        renumber=notes.renumber if bases else None,
        renumber_runs=renumber_runs,
        trial_memory=notes.without_log,
    )
