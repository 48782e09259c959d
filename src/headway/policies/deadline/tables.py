"""What DBF remembers: its parameters, job rows and tables, and the profile of the definitive tasks."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from headway.engine.profile import change, lay_over
from headway.engine.queue import place_for
from headway.engine.reservations import hold_earliest, pin, unpin
from headway.engine.tables import GONE, JobTable, State, Table
from headway.jit.kernels import by_address, kernel, routine
from headway.jit.rows import Entries, Row, Rows
from headway.policies.backfilling import conservative as plain
from headway.policies.queueing.ordering import CLASS_WEIGHT, REGULAR_CLASS, option
from headway.units import NEVER

STRICT, LITERAL = range(2)
AS_PRIORITY, REFUSE = range(2)
# How placing a priority task went: no provisional task is late, some are (literal), or the safety net.
IN_TIME, SOME_LATE, NO_WAY = range(3)


class Rule(IntEnum):
    """A parameter of the policy of a pool."""

    COMPRESS = plain.Rule.COMPRESS
    """As in conservative backfilling, both."""
    HOLE = plain.Rule.HOLE
    MODE = HOLE + 1
    """The form of the algorithm: STRICT or LITERAL."""
    LATE = HOLE + 2
    """What becomes of tasks that are late on arrival: AS_PRIORITY or REFUSE."""
    BASE = HOLE + 3
    """The pool of the base."""


class TaskLists(Rows):
    """What is noted of the two lists of a pool."""

    waiting: Row  # Provisional tasks that wait.
    canonical: Row  # Whether the provisional list is canonical.
    kept_base: Row  # Whether the base is kept.


class Counts(Entries):
    """What is counted in all pools."""

    accepted: int  # Tasks that joined a provisional list.
    late_on_arrival: int  # Tasks that could not meet their deadline when they came.
    promotions: int  # Tasks that became definitive.
    displacements: int  # How often a task was moved to a later start.
    safety_net: int  # How often the safety net was needed.


class Displaced(IntEnum):
    """What is written down of a displacement."""

    WHOSE = 0
    """The provisional task."""
    WHEN = 1
    """When it was moved."""
    BY_TASK = 2
    """The priority task that came."""
    MOVED_TO = 3
    """The later start."""


@by_address
class Memory(NamedTuple):
    """The tables of DBF; redirection has them beside its own."""

    lists: TaskLists
    """[row, pool]"""
    counts: Counts
    displacements: Table
    """[entry, Displaced] the last displacements; a trial has no space for them."""


class DbfJobs(JobTable):
    """Job rows behind the engine's."""

    deadline: Row  # µs; -1: none.
    in_base: Row  # The start that the base profile holds.
    had_start: Row  # The start it had before, while the provisional list is placed again.
    chosen: Row  # Whether the task is to become definitive.
    definitive_at: Row  # When it did; -1: never.
    displaced_times: Row  # How often it was displaced.
    first_given: Row  # The first start it was given.


MORE_ROWS = len(DbfJobs)
NO_DEADLINE = -1

DEFINITIVE = REGULAR_CLASS * CLASS_WEIGHT
"""``Job.KEY`` of the definitive tasks, first in the queue; the provisional ones follow. Where tasks come in
another order than that of their numbers, their rank is added."""
BEHIND = CLASS_WEIGHT >> 1
"""What makes the key of a definitive task that of a provisional one; more than any rank."""
PROVISIONAL = DEFINITIVE + BEHIND


@kernel
def count(state: State, which: int, more: int) -> None:
    """Add to a count."""
    state.memory.counts[which] += more


@kernel
def is_late(state: State, job: int) -> bool:
    """Whether a task's reservation ends after its deadline."""
    return bool(state.jobs.reserved[job] + state.jobs.plan[job] > DbfJobs(state.jobs).deadline[job])


@kernel
def first_provisional(state: State, k: int) -> int:
    """The position in the queue where the provisional list begins."""
    return place_for(state, 2 * k, PROVISIONAL - 1, NEVER)


@kernel
def is_provisional(state: State, job: int) -> bool:
    """Whether a waiting task, or one that just started, is of the provisional list."""
    return bool(state.jobs.key[job] >= PROVISIONAL)


@kernel
def provisional_tasks(state: State, k: int, more: int) -> None:
    """So many more provisional tasks wait; while there are none, the profile is the base."""
    state.memory.lists.waiting[k] += more
    if state.memory.lists.waiting[k] == 0:
        state.memory.lists.kept_base[k] = 0


@routine
def lay_out_base(t: int, state: State, k: int) -> None:
    """Keep the base from now on: the profile without the provisional tasks."""
    base, q = option(state, k, Rule.BASE), 2 * k
    state.memory.lists.kept_base[k] = 1
    lay_over(state.profile, k, base, t)
    state.pools.pin_count[base] = 0
    for place in range(state.pools.head[2 * k], state.pools.tail[2 * k]):
        if state.queue.procs[q, place] == GONE:
            continue
        job = state.queue.job[q, place]
        begin, plan = state.jobs.reserved[job], state.jobs.plan[job]
        DbfJobs(state.jobs).in_base[job] = begin
        if is_provisional(state, job):
            change(state.profile, base, begin, begin + plan, state.jobs.procs[job], t)
        elif plan == 0:
            pin(state, base, job)


@kernel
def hold_in_base(t: int, state: State, k: int, job: int, begin: int) -> None:
    """Let the base profile hold a definitive task from ``begin`` on."""
    base, plan = option(state, k, Rule.BASE), state.jobs.plan[job]
    DbfJobs(state.jobs).in_base[job] = begin
    change(state.profile, base, begin, begin + plan, -state.jobs.procs[job], t)
    if plan == 0:
        pin(state, base, job)


@kernel
def is_plain(state: State, k: int, task: int) -> bool:
    """Whether no task of zero length and no open hole makes placing more than a search in the profile."""
    pinned, more = state.pools.pin_count[k], option(state, k, Rule.HOLE)
    return bool(more == 0 and pinned == 0 and state.jobs.plan[task] > 0)


@kernel
def hold_earliest_in_base(t: int, state: State, k: int, job: int) -> int:
    """Let the base hold a priority task as early as it fits behind the definitive ones; that start."""
    begin = hold_earliest(state, option(state, k, Rule.BASE), job, t, option(state, k, Rule.HOLE), NEVER)
    DbfJobs(state.jobs).in_base[job] = begin
    return begin


@kernel
def let_go_in_base(t: int, state: State, k: int, job: int) -> None:
    """The base profile no longer holds a definitive task."""
    base, begin, plan = (
        option(state, k, Rule.BASE),
        DbfJobs(state.jobs).in_base[job],
        state.jobs.plan[job],
    )
    change(state.profile, base, begin, begin + plan, state.jobs.procs[job], t)
    if plan == 0:
        unpin(state, base, job)


@kernel
def forget_in_lists(t: int, state: State, k: int, job: int) -> None:
    """A waiting task is withdrawn: the base no longer holds it, or it is provisional no more."""
    if is_provisional(state, job):
        provisional_tasks(state, k, -1)
    elif state.memory.lists.kept_base[k]:
        let_go_in_base(t, state, k, job)


@kernel
def note_displacement(t: int, state: State, job: int, task: int, start: int) -> None:
    """Write down that ``task`` has moved a provisional task to a later start."""
    log, told = state.memory.displacements, state.memory.counts.displacements
    room = log.shape[0]
    if room > 0:
        entry = told if told < room else told % room  # a division takes its time
        log[entry, Displaced.WHOSE] = job
        log[entry, Displaced.WHEN] = t
        log[entry, Displaced.BY_TASK] = task
        log[entry, Displaced.MOVED_TO] = start
    DbfJobs(state.jobs).displaced_times[job] += 1
    state.memory.counts.displacements += 1


def fill_rows(state: State, deadline: Table) -> None:
    """DBF's own job rows at the beginning."""
    DbfJobs(state.jobs).deadline[:] = deadline
    for row in (DbfJobs["in_base"], DbfJobs["definitive_at"]):
        state.jobs[row] = -1
