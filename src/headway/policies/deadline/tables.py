"""What DBF remembers: its options, its notes, its job rows, and the profile of the definitive tasks."""

from __future__ import annotations

from headway.engine.profile import change, lay_over
from headway.engine.queue import place_for
from headway.engine.reservations import hold_earliest, pin, unpin
from headway.engine.tables import (
    GONE,
    JOB_ROWS,
    KEY,
    PIN_COUNT,
    PLAN,
    PROCS,
    Q_FIELDS,
    Q_HEAD,
    Q_JOB,
    Q_PROCS,
    Q_TAIL,
    RESERVED,
    State,
)
from headway.jit import kernel, routine
from headway.policies.backfilling.conservative import Rule
from headway.policies.queueing.ordering import CLASS_WEIGHT, REGULAR_CLASS, STRIDE, option
from headway.units import NEVER

# Options after those of conservative backfilling: the form of the algorithm, what becomes of tasks that are
# late on arrival, and the pool of the base.
MODE, LATE, BASE = Rule.HOLE + 1, Rule.HOLE + 2, Rule.HOLE + 3
STRICT, LITERAL = range(2)
AS_PRIORITY, REFUSE = range(2)
# How placing a priority task went: no provisional task is late, some are (literal), or the safety net.
IN_TIME, SOME_LATE, NO_WAY = range(3)
# Notes behind them: provisional tasks waiting, whether their list is canonical, whether the base is kept;
# how many tasks were accepted in that list, promoted, late on arrival; how often one was moved to a later
# start and how often the safety net was needed; where among the options the list of displacements begins,
# and for how many there is space.
WAITING_NOW, CANONICAL, KEPT_BASE = BASE + 1, BASE + 2, BASE + 3
ACCEPTED, PROMOTIONS, LATE_ON_ARRIVAL, DISPLACEMENTS, SAFETY_NET = (KEPT_BASE + 1 + i for i in range(5))
LOG, LOG_ROOM = SAFETY_NET + 1, SAFETY_NET + 2
# That list, of the last displacements: whose, when, by which task, and the start it was moved to.
WHOSE, WHEN, BY_TASK, MOVED_TO = range(4)
FIELDS = 4

# Job rows of its own: the deadline (µs; none: -1); the start that the base profile holds; the start it had
# before, while the provisional list is placed anew; whether the task is to become definitive; when it did
# (-1: never); how often it was displaced; the first start it was given.
DEADLINE, IN_BASE, HAD_START, CHOSEN, DEFINITIVE_AT, DISPLACED_TIMES, FIRST_GIVEN = (
    JOB_ROWS + i for i in range(7)
)
MORE_ROWS = 7
NO_DEADLINE = -1

DEFINITIVE = REGULAR_CLASS * CLASS_WEIGHT
"""``KEY`` of the definitive tasks, first in the queue; the provisional ones follow. Where tasks come in
another order than that of their numbers, their rank is added."""
BEHIND = CLASS_WEIGHT >> 1
"""What makes the key of a definitive task that of a provisional one; more than any rank."""
PROVISIONAL = DEFINITIVE + BEHIND


@kernel
def count(state: State, k: int, note: int, more: int) -> None:
    """Add to a note of pool ``k``."""
    state.options[k * STRIDE + note] += more


@kernel
def is_late(state: State, job: int) -> bool:
    """Whether a task's reservation ends after its deadline."""
    return bool(state.jobs[RESERVED, job] + state.jobs[PLAN, job] > state.jobs[DEADLINE, job])


@kernel
def first_provisional(state: State, k: int) -> int:
    """The position in the queue where the provisional list begins."""
    return place_for(state, 2 * k, PROVISIONAL - 1, NEVER)


@kernel
def is_provisional(state: State, job: int) -> bool:
    """Whether a waiting task, or one that just started, is of the provisional list."""
    return bool(state.jobs[KEY, job] >= PROVISIONAL)


@kernel
def note(state: State, k: int, which: int, value: int) -> None:
    """Set a note of pool ``k``."""
    state.options[k * STRIDE + which] = value


@kernel
def provisional_tasks(state: State, k: int, more: int) -> None:
    """So many more provisional tasks wait; while there are none, the profile is the base."""
    count(state, k, WAITING_NOW, more)
    if option(state, k, WAITING_NOW) == 0:
        note(state, k, KEPT_BASE, 0)


@routine
def lay_out_base(t: int, state: State, k: int) -> None:
    """Keep the base from now on: the profile without the provisional tasks."""
    base, row = option(state, k, BASE), Q_FIELDS * 2 * k
    note(state, k, KEPT_BASE, 1)
    lay_over(state.profile, k, base, t)
    state.pools[PIN_COUNT, base] = 0
    for place in range(state.pools[Q_HEAD, 2 * k], state.pools[Q_TAIL, 2 * k]):
        if state.queue[row + Q_PROCS, place] == GONE:
            continue
        job = state.queue[row + Q_JOB, place]
        begin, plan = state.jobs[RESERVED, job], state.jobs[PLAN, job]
        state.jobs[IN_BASE, job] = begin
        if is_provisional(state, job):
            change(state.profile, base, begin, begin + plan, state.jobs[PROCS, job], t)
        elif plan == 0:
            pin(state, base, job)


@kernel
def hold_in_base(t: int, state: State, k: int, job: int, begin: int) -> None:
    """Let the base profile hold a definitive task from ``begin`` on."""
    base, plan = option(state, k, BASE), state.jobs[PLAN, job]
    state.jobs[IN_BASE, job] = begin
    change(state.profile, base, begin, begin + plan, -state.jobs[PROCS, job], t)
    if plan == 0:
        pin(state, base, job)


@kernel
def is_plain(state: State, k: int, task: int) -> bool:
    """Whether no task of zero length and no open hole makes placing more than a search in the profile."""
    pinned, more = state.pools[PIN_COUNT, k], option(state, k, Rule.HOLE)
    return bool(more == 0 and pinned == 0 and state.jobs[PLAN, task] > 0)


@kernel
def hold_earliest_in_base(t: int, state: State, k: int, job: int) -> int:
    """Let the base hold a priority task as early as it fits behind the definitive ones; that start."""
    begin = hold_earliest(state, option(state, k, BASE), job, t, option(state, k, Rule.HOLE), NEVER)
    state.jobs[IN_BASE, job] = begin
    return begin


@kernel
def let_go_in_base(t: int, state: State, k: int, job: int) -> None:
    """The base profile no longer holds a definitive task."""
    base, begin, plan = option(state, k, BASE), state.jobs[IN_BASE, job], state.jobs[PLAN, job]
    change(state.profile, base, begin, begin + plan, state.jobs[PROCS, job], t)
    if plan == 0:
        unpin(state, base, job)


@kernel
def forget_in_lists(t: int, state: State, k: int, job: int) -> None:
    """A waiting task is withdrawn: the base no longer holds it, or it is provisional no more."""
    if is_provisional(state, job):
        provisional_tasks(state, k, -1)
    elif option(state, k, KEPT_BASE):
        let_go_in_base(t, state, k, job)


@kernel
def note_displacement(t: int, state: State, k: int, job: int, task: int, start: int) -> None:
    """Write down that ``task`` has moved a provisional task to a later start."""
    log, told, room = option(state, k, LOG), option(state, k, DISPLACEMENTS), option(state, k, LOG_ROOM)
    entry = log + FIELDS * (told if told < room else told % room)  # a division takes its time
    state.options[entry + WHOSE] = job
    state.options[entry + WHEN] = t
    state.options[entry + BY_TASK] = task
    state.options[entry + MOVED_TO] = start
    state.jobs[DISPLACED_TIMES, job] += 1
    note(state, k, DISPLACEMENTS, told + 1)
