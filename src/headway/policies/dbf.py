"""DBF, deadline-based backfilling: tasks that only have a deadline make room for the others while they can.

N'takpé and Suter, Compas 2016 (in French), Algorithm 1.

Waiting tasks are of two lists, both in order of submission. The *definitive* list (LP) holds reservations as
conservative backfilling makes them. The *provisional* list (LN) holds tasks with a deadline; each fits behind
everything that was there when it was placed, and may be placed anew.

    definitive   ▓▓▓▓▓▓▓▓                       T arrives:  ▓▓▓▓▓▓▓▓TTTT
    provisional          ░░░░░░  ┊ deadline                         ░░░░░░┊

When a priority task T arrives, the provisional tasks give up their places, T is placed behind the definitive
ones alone, and then they are placed again in order. Those that would end too late become definitive before T
(they are *promoted*). ``strict`` repeats that until no provisional task is late; ``literal`` does it once, as
the paper prints it, and can miss deadlines. Where compressions have left provisional tasks at places that
cannot be found again, they stay there and T goes behind them all: the safety net, which is counted.

A task that cannot meet its deadline on arrival is a priority task, or is refused.

The definitive list and the running tasks have a profile of their own, the *base*, in a second pool. The
provisional list is *canonical* when placing it anew on the base would change nothing: so it is until a task
ends early. Then a priority task that leaves room for every provisional task changes none of their places.
"""

from __future__ import annotations

from headway.engine.heap import add_due, drop_due
from headway.engine.planning import note_room, settle
from headway.engine.profile import change, fits, lay_over, level_at
from headway.engine.queue import enter, leave, place_for
from headway.engine.reservations import NOT_RESERVED, book, earliest_start, pin, reserve, unpin
from headway.engine.tables import (
    DUE_COUNT,
    ENDED,
    ENDED_RUNS,
    FIRST_NEW,
    FREED,
    GONE,
    JOB_ROWS,
    KEY,
    LAST_NEW,
    NOW,
    PHASE,
    PIN_COUNT,
    PINS,
    PLAN,
    POOL_LISTS,
    PROCS,
    PROMISE,
    PROMOTED,
    Q_FIELDS,
    Q_HEAD,
    Q_JOB,
    Q_PROCS,
    Q_TAIL,
    R_EXPECTED,
    R_JOB,
    R_POOL,
    R_WHY,
    REFUSED,
    RESERVED,
    RUNS,
    SCRATCH,
    WAITS,
    State,
)
from headway.jit import kernel, routine
from headway.policies.conservative import COMPRESS, EVERY, HOLE, compress, start_due
from headway.policies.ordering import CLASS_WEIGHT, REGULAR_CLASS, STRIDE, join, option
from headway.policies.strict import MACHINE
from headway.units import NEVER

# Options after those of conservative backfilling: the form of the algorithm, what becomes of tasks that are
# late on arrival, and the pool of the base.
MODE, LATE, BASE = HOLE + 1, HOLE + 2, HOLE + 3
STRICT, LITERAL = range(2)
AS_PRIORITY, REFUSE = range(2)
# How placing a priority task went: no provisional task is late, some are (literal), or the safety net.
IN_TIME, SOME_LATE, NO_WAY = range(3)
# Notes in the place of the base pool's options: provisional tasks waiting, whether their list is canonical;
# how many tasks were accepted in it, promoted, late on arrival; how often a task was moved to a later start
# and how often the safety net was needed.
WAITING_NOW, CANONICAL, ACCEPTED, PROMOTIONS, LATE_ON_ARRIVAL, DISPLACEMENTS, SAFETY_NET = range(7)

# Job rows of its own: the deadline (µs; none: -1); the start that the base profile holds; the one before the
# provisional list is placed anew; whether the task is to become definitive; when it did (-1: never); by which
# task it was displaced last, when, and how often in all; the first start it was given.
(
    DEADLINE,
    IN_BASE,
    BEFORE,
    CHOSEN,
    DEFINITIVE_AT,
    DISPLACED_BY,
    DISPLACED_AT,
    DISPLACED_TIMES,
    FIRST_GIVEN,
) = range(JOB_ROWS, JOB_ROWS + 9)
MORE_ROWS = 9
NO_DEADLINE = -1

DEFINITIVE = REGULAR_CLASS * CLASS_WEIGHT
"""``KEY`` of the definitive tasks, first in the queue; the provisional ones follow."""
PROVISIONAL = DEFINITIVE + 1


@kernel
def count(state: State, k: int, note: int, more: int) -> None:
    """Add to a note of pool ``k``."""
    state.options[option(state, k, BASE) * STRIDE + note] += more


@kernel
def noted(state: State, k: int, note: int) -> int:
    """A note of pool ``k``."""
    return option(state, option(state, k, BASE), note)


@kernel
def is_late(state: State, job: int) -> bool:
    """Whether a task's reservation ends after its deadline."""
    return bool(state.jobs[RESERVED, job] + state.jobs[PLAN, job] > state.jobs[DEADLINE, job])


@kernel
def first_provisional(state: State, k: int) -> int:
    """The place in the queue where the provisional list begins."""
    return place_for(state, 2 * k, DEFINITIVE, NEVER)


@kernel
def hold_in_base(state: State, k: int, job: int) -> None:
    """Let the base profile hold what a definitive task has reserved."""
    base, begin = option(state, k, BASE), state.jobs[RESERVED, job]
    state.jobs[IN_BASE, job] = begin
    change(
        state.profile, base, begin, begin + state.jobs[PLAN, job], -state.jobs[PROCS, job], state.clock[NOW]
    )
    if state.jobs[PLAN, job] == 0:
        pin(state, base, job)


@kernel
def put(after: int, state: State, k: int, job: int) -> None:
    """Place a task as early as it fits from ``after`` on; who is due next is not told."""
    state.jobs[RESERVED, job] = earliest_start(state, k, job, after, NEVER, option(state, k, HOLE))
    book(state, k, job, -state.jobs[PROCS, job])
    if state.jobs[PLAN, job] == 0:
        pin(state, k, job)


@kernel
def back_to_base(t: int, state: State, k: int) -> None:
    """Forget every provisional place: the profile is that of the base."""
    base = option(state, k, BASE)
    lay_over(state.profile, base, k, t)
    state.pools[PIN_COUNT, k] = state.pools[PIN_COUNT, base]
    for i in range(state.pools[PIN_COUNT, base]):
        state.lists[PINS + POOL_LISTS * k, i] = state.lists[PINS + POOL_LISTS * base, i]


@routine
def place_chosen(t: int, state: State, k: int, first: int, chosen: int) -> int:
    """Place the provisional tasks that are chosen (1) or the others (0); the place of the last late one.

    While tasks are only added, one that needs as many processors for as long as the one before it cannot
    begin earlier than that one.
    """
    last = -1
    procs, plan, after = NEVER, 0, t
    for place in range(first, state.pools[Q_TAIL, 2 * k]):
        job = state.queue[Q_FIELDS * 2 * k + Q_JOB, place]
        if state.queue[Q_FIELDS * 2 * k + Q_PROCS, place] == GONE or state.jobs[CHOSEN, job] != chosen:
            continue
        if state.jobs[PROCS, job] < procs or state.jobs[PLAN, job] < plan:
            after = t
        put(after, state, k, job)
        procs, plan, after = state.jobs[PROCS, job], state.jobs[PLAN, job], state.jobs[RESERVED, job]
        if is_late(state, job):
            last = place
    return last


@kernel
def choose(state: State, k: int, first: int, end: int, late_only: bool) -> int:
    """Choose the provisional tasks in places [first, end), or the late ones there; how many are new."""
    new = 0
    for place in range(first, end):
        job = state.queue[Q_FIELDS * 2 * k + Q_JOB, place]
        if (
            state.queue[Q_FIELDS * 2 * k + Q_PROCS, place] != GONE
            and state.jobs[CHOSEN, job] == 0
            and (not late_only or is_late(state, job))
        ):
            state.jobs[CHOSEN, job] = 1
            new += 1
    return new


@kernel
def lift(state: State, k: int, first: int) -> None:
    """Remember where the provisional tasks are, before they are placed anew."""
    for place in range(first, state.pools[Q_TAIL, 2 * k]):
        if state.queue[Q_FIELDS * 2 * k + Q_PROCS, place] != GONE:
            job = state.queue[Q_FIELDS * 2 * k + Q_JOB, place]
            state.jobs[BEFORE, job] = state.jobs[RESERVED, job]
            state.jobs[CHOSEN, job] = 0


@kernel
def unplace(state: State, k: int, first: int) -> None:
    """No provisional task has a place."""
    for place in range(first, state.pools[Q_TAIL, 2 * k]):
        if state.queue[Q_FIELDS * 2 * k + Q_PROCS, place] != GONE:
            state.jobs[RESERVED, state.queue[Q_FIELDS * 2 * k + Q_JOB, place]] = NOT_RESERVED


@kernel
def insert(t: int, state: State, k: int, task: int, first: int) -> int:
    """Place a priority task and the provisional ones by Algorithm 1; how well that went."""
    literal = option(state, k, MODE) == LITERAL
    turn, corrected = 0, False
    while True:
        back_to_base(t, state, k)
        unplace(state, k, first)
        state.jobs[RESERVED, task] = NOT_RESERVED
        last_late = place_chosen(t, state, k, first, 1) if turn > 0 else -1
        if last_late >= 0 and not corrected:
            new = choose(state, k, first, last_late, False)
            corrected = literal
            if new == 0 and not literal:
                return NO_WAY
            continue
        put(t, state, k, task)
        if place_chosen(t, state, k, first, 0) < 0:
            return IN_TIME
        if literal and turn > 0:
            return SOME_LATE
        choose(state, k, first, state.pools[Q_TAIL, 2 * k], True)
        turn += 1


@kernel
def put_back(state: State, k: int, first: int) -> None:
    """The provisional tasks stay where they were."""
    for place in range(first, state.pools[Q_TAIL, 2 * k]):
        if state.queue[Q_FIELDS * 2 * k + Q_PROCS, place] != GONE:
            job = state.queue[Q_FIELDS * 2 * k + Q_JOB, place]
            state.jobs[RESERVED, job] = state.jobs[BEFORE, job]
            state.jobs[CHOSEN, job] = 0
            book(state, k, job, -state.jobs[PROCS, job])
            if state.jobs[PLAN, job] == 0:
                pin(state, k, job)


@kernel
def settle_places(t: int, state: State, k: int, task: int, first: int) -> None:
    """Tell who is due when, and where there is new room; note who was displaced, and by whom."""
    row = Q_FIELDS * 2 * k
    for place in range(first, state.pools[Q_TAIL, 2 * k]):  # the heap is valid for the places before
        job = state.queue[row + Q_JOB, place]
        if state.queue[row + Q_PROCS, place] != GONE:
            state.jobs[RESERVED, job], state.jobs[BEFORE, job] = (
                state.jobs[BEFORE, job],
                state.jobs[RESERVED, job],
            )
    for place in range(first, state.pools[Q_TAIL, 2 * k]):
        job = state.queue[row + Q_JOB, place]
        old, new = state.jobs[RESERVED, job], state.jobs[BEFORE, job]
        if state.queue[row + Q_PROCS, place] == GONE or old == new:
            continue
        drop_due(state, k, state.pools[DUE_COUNT, k], job)
        state.jobs[RESERVED, job] = new
        add_due(state, k, state.pools[DUE_COUNT, k] - 1, job)
        if state.jobs[PLAN, job] > 0:
            note_room(state, k, old, old + state.jobs[PLAN, job])
        else:
            note_room(state, k, t, NEVER)
        if new > old:
            count(state, k, DISPLACEMENTS, 1)
            state.jobs[DISPLACED_BY, job] = task
            state.jobs[DISPLACED_AT, job] = t
            state.jobs[DISPLACED_TIMES, job] += 1


@kernel
def promote(t: int, state: State, k: int, first: int) -> None:
    """The chosen tasks become definitive, where they are now."""
    chosen = 0
    for place in range(first, state.pools[Q_TAIL, 2 * k]):
        job = state.queue[Q_FIELDS * 2 * k + Q_JOB, place]
        if state.queue[Q_FIELDS * 2 * k + Q_PROCS, place] != GONE and state.jobs[CHOSEN, job] == 1:
            state.lists[SCRATCH, chosen] = leave(state, 2 * k, place)
            chosen += 1
    for i in range(chosen):
        job = state.lists[SCRATCH, i]
        state.jobs[KEY, job] = DEFINITIVE
        state.jobs[DEFINITIVE_AT, job] = t
        enter(state, 2 * k, job, DEFINITIVE)
        hold_in_base(state, k, job)
    count(state, k, PROMOTIONS, chosen)
    count(state, k, WAITING_NOW, -chosen)


@routine
def displace(t: int, state: State, k: int, task: int) -> None:
    """Place a priority task where the provisional ones must give way or be promoted."""
    first = first_provisional(state, k)
    lift(state, k, first)
    result = insert(t, state, k, task, first)
    if result == NO_WAY:
        back_to_base(t, state, k)
        put_back(state, k, first)
        put(t, state, k, task)
        count(state, k, SAFETY_NET, 1)
    else:
        settle_places(t, state, k, task, first)
        promote(t, state, k, first)
    # A provisional task that is late would be chosen next time, so its place is not final.
    state.options[option(state, k, BASE) * STRIDE + CANONICAL] = result == IN_TIME
    add_due(state, k, state.pools[DUE_COUNT, k], task)
    state.pools[DUE_COUNT, k] += 1


@kernel
def leaves_room(state: State, k: int, job: int, begin: int) -> bool:
    """Whether a task that begins then leaves every provisional task where it is."""
    procs, end = state.jobs[PROCS, job], begin + state.jobs[PLAN, job]
    if option(state, k, HOLE) != 0 or not fits(state.profile, k, begin, procs, end - begin):
        return False
    for i in range(state.pools[PIN_COUNT, k]):
        pinned = state.lists[PINS + POOL_LISTS * k, i]
        at = state.jobs[RESERVED, pinned]
        if begin <= at < end and level_at(state.profile, k, at) - procs < state.jobs[PROCS, pinned]:
            return False
    return True


@kernel
def place_priority(t: int, state: State, k: int, job: int) -> None:
    """Give a priority task its definitive place; what it was told is when it ends."""
    base = option(state, k, BASE)
    begin = earliest_start(state, base, job, t, NEVER, option(state, k, HOLE))
    alone = noted(state, k, WAITING_NOW) == 0
    if alone or (noted(state, k, CANONICAL) and leaves_room(state, k, job, begin)):
        reserve(state, k, job, begin)
        if alone:
            state.options[base * STRIDE + CANONICAL] = 1
    else:
        displace(t, state, k, job)
    join(state, k, job)
    hold_in_base(state, k, job)
    state.jobs[FIRST_GIVEN, job] = state.jobs[RESERVED, job]
    state.jobs[PROMISE, job] = state.jobs[RESERVED, job] + state.jobs[PLAN, job]


@routine
def arrive(t: int, state: State, k: int, job: int) -> None:
    """A newcomer joins the provisional list if it can wait, else the definitive one; or it is refused."""
    if state.jobs[DEADLINE, job] != NO_DEADLINE:
        begin = earliest_start(state, k, job, t, NEVER, option(state, k, HOLE))
        if begin + state.jobs[PLAN, job] <= state.jobs[DEADLINE, job]:
            state.jobs[KEY, job] = PROVISIONAL
            join(state, k, job)
            reserve(state, k, job, begin)
            state.jobs[FIRST_GIVEN, job] = begin
            state.jobs[PROMISE, job] = state.jobs[DEADLINE, job]
            count(state, k, WAITING_NOW, 1)
            count(state, k, ACCEPTED, 1)
            return
        count(state, k, LATE_ON_ARRIVAL, 1)
        if option(state, k, LATE) == REFUSE:
            state.jobs[PHASE, job] = REFUSED
            state.clock[WAITS] -= 1
            return
    place_priority(t, state, k, job)


@kernel
def give_back(t: int, state: State, k: int) -> int:
    """Runs that ended early give back what the profile and the base held; how many there were."""
    early, base = settle(t, state, k), option(state, k, BASE)
    if early > 0:
        for i in range(state.clock[ENDED]):
            run = state.lists[ENDED_RUNS, i]
            if state.runs[R_POOL, run] == k and state.runs[R_EXPECTED, run] > t:
                procs = state.jobs[PROCS, state.runs[R_JOB, run]]
                change(state.profile, base, t, state.runs[R_EXPECTED, run], procs, t)
    if early > 0 or (option(state, k, COMPRESS) == EVERY and state.pools[FREED, k]):
        state.options[base * STRIDE + CANONICAL] = 0
    return early


@kernel
def follow(t: int, state: State, k: int) -> None:
    """The base holds the definitive tasks where the compression has moved them."""
    base, row = option(state, k, BASE), Q_FIELDS * 2 * k
    for place in range(state.pools[Q_HEAD, 2 * k], first_provisional(state, k)):
        job = state.queue[row + Q_JOB, place]
        held, begin = state.jobs[IN_BASE, job], state.jobs[RESERVED, job]
        if state.queue[row + Q_PROCS, place] != GONE and held != begin:
            plan, procs = state.jobs[PLAN, job], state.jobs[PROCS, job]
            change(state.profile, base, held, held + plan, procs, t)
            change(state.profile, base, begin, begin + plan, -procs, t)
            state.jobs[IN_BASE, job] = begin


@kernel
def begin_runs(t: int, state: State, k: int) -> None:
    """Start what is due; the base holds every running task."""
    run, base = state.clock[RUNS], option(state, k, BASE)
    start_due(t, state, k)
    while run < state.clock[RUNS]:
        job = state.runs[R_JOB, run]
        if state.jobs[KEY, job] == PROVISIONAL:
            count(state, k, WAITING_NOW, -1)
            change(state.profile, base, t, t + state.jobs[PLAN, job], -state.jobs[PROCS, job], t)
        elif state.jobs[PLAN, job] == 0:
            unpin(state, base, job)
        if state.jobs[DEFINITIVE_AT, job] >= 0:
            state.runs[R_WHY, run] = PROMOTED
        run += 1


def dbf(t: int, state: State) -> None:
    """Deadline-based backfilling on the whole machine."""
    early = give_back(t, state, MACHINE)
    compress(t, state, MACHINE, early)
    if early > 0 or option(state, MACHINE, COMPRESS) == EVERY:
        follow(t, state, MACHINE)
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        arrive(t, state, MACHINE, job)
    begin_runs(t, state, MACHINE)
