"""Conservative backfilling: every job gets a reservation when it arrives, and is never delayed after that.

Mu'alem and Feitelson, IEEE TPDS 12(6), 2001; Feitelson and Weil, IPPS 1998.

On arrival a job reserves the earliest time at which it fits beside all running jobs and reservations. When
a job ends before it was expected to, the schedule is compressed: jobs may move forward, never back.

    early     one sweep in arrival order, each job moved alone to its earliest start, if some job ended early
    every     the same sweep after every completion
    fixpoint  sweeps until nothing moves
    scratch   all reservations dropped and placed again in queue order (this can break promises)
    none      no compression

With ``hole=open`` a hole exactly as long as the job is refused, as Simbatch does.

A sweep searches along the plan for each waiting job. Where these searches have become long, a table of holes
tells which jobs can move: :mod:`headway.policies.backfilling.long_holes`. The schedule is the same.
"""

from __future__ import annotations

from enum import IntEnum

from headway.engine.holes import free_until, hole_from, level_of, next_free, stays_between
from headway.engine.planning import settle
from headway.engine.profile import step_near, step_of
from headway.engine.queue import draw_together, find_job, leave
from headway.engine.reservations import (
    NOT_RESERVED,
    beyond_pins,
    bring_forward,
    forget,
    give_up,
    hold_earlier,
    length_of_hole,
    next_due,
    put_forward,
    reserve_by,
    reserved_start,
)
from headway.engine.tables import GONE, JobTable, Queues, State, Why
from headway.engine.verbs import start, wake, withdraw
from headway.jit.kernels import entry, kernel, routine
from headway.policies.backfilling.long_holes import (
    is_current,
    lay_buckets,
    note_reservation,
    sweep_long_plan,
)
from headway.policies.queueing.ordering import OWN, URGENT_CLASS, join, option
from headway.policies.queueing.strict import MACHINE
from headway.units import NEVER


class Rule(IntEnum):
    """A parameter behind those of every queue."""

    COMPRESS = OWN
    """How to use what completions leave free: a way to compress."""
    HOLE = OWN + 1
    """How much longer than a job a hole must be (µs)."""


class Compress(IntEnum):
    """A way to compress."""

    EARLY = 0
    """One sweep where a job ended early."""
    EVERY = 1
    """One sweep after every completion."""
    FIXPOINT = 2
    """Sweeps until nothing moves."""
    SCRATCH = 3
    """All waiting jobs are placed again."""
    NONE = 4
    """Nothing moves."""


MANY, LONG = 512, 256
"""With so many waiting, whose searches pass so many positions of the profile each, a table of holes pays."""


@routine
def sweep(t: int, state: State, k: int) -> bool:
    """Move each waiting job, in queue order and alone, to its earliest start; whether any moved.

    When it was last looked at, a job had the earliest start it could have. Since then there is more free only
    on [begin, end), so one that starts before that stays where it is, and none moves behind it; one that
    starts after it needs a hole for all its time before that start. Where a job moves away processors become
    free, for those behind it now and for those before it in the next sweep.

    A search also speaks for the next jobs if they need as many processors for as long, and are reserved no
    earlier: they find nothing before what was found. (Were there a hole, the first would have had it; and
    where the first moved away from, no such hole could end.) So their search begins where enough are next
    free, and those of a bag of equal tasks that are reserved before that are passed over. Pins in the profile
    would need another proof.
    """
    begin, end = max(state.pools.room_from[k], t), state.pools.room_to[k]
    state.pools.room_from[k], state.pools.room_to[k] = NEVER, 0
    if begin >= end:
        return False
    pins = state.pools.pin_count[k] > 0
    if pins:  # one free there lets a job move that is reserved before it, and holds processors there
        begin, end = t, NEVER
    draw_together(state, 2 * k)
    now = step_of(state.profile, k, t)
    moved, searched = False, 0
    q = 2 * k
    last_procs, last_plan, last_reserved, found, found_at = NEVER, 0, 0, t, now
    place, tail = state.pools.head[2 * k] - 1, state.pools.tail[2 * k]
    while True:
        place = next_that_may_move(
            state.queue, state.jobs, q, place + 1, tail, begin, last_procs, last_plan, last_reserved, found
        )
        if place == tail:
            break
        procs, plan = state.queue.procs[q, place], state.queue.plan[q, place]
        job = state.queue.job[q, place]
        reserved = state.jobs.reserved[job]
        after, at = t, now
        if procs >= last_procs and plan >= last_plan and reserved >= last_reserved:
            if found < reserved:
                searched -= found_at
                found, found_at = next_free(state.profile, k, found_at, found, last_procs)
                searched += found_at
            if found >= reserved:
                continue
            after, at = found, found_at
        until, earlier = reserved, reserved
        if end < reserved:  # just before its start too few are free, as before
            until = min(end, reserved - plan)
        if after < until:
            searched -= at
            earlier, at = earliest_move(state, k, job, at, after, until, option(state, k, Rule.HOLE))
            searched += at
        if earlier < reserved:
            at = step_near(state.profile, k, at, earlier)
            if pins:
                at = bring_forward(state, k, job, earlier, at)
            else:
                place, earlier, reserved, at = hand_on(state, k, place, earlier, at)
            if at < 0:
                now, at = step_of(state.profile, k, t), step_of(state.profile, k, earlier)
            begin = min(begin, state.pools.room_from[k])
            end = max(end, state.pools.room_to[k])
            moved = True
        last_procs, last_plan, last_reserved, found, found_at = procs, plan, reserved, earlier, at
        if pins:
            last_procs = NEVER
    state.pools.searched[k] = searched
    return moved


@routine
def next_that_may_move(
    queue: Queues,
    jobs: JobTable,
    q: int,
    place: int,
    tail: int,
    begin: int,
    procs: int,
    plan: int,
    reserved: int,
    found: int,
) -> int:
    """The first position from ``place`` on of queue ``q`` whose job may move; else ``tail``.

    It is reserved after ``begin``, and the last search does not speak for it: that was for ``procs``
    processors for ``plan`` µs, reserved at ``reserved``, and found nothing before ``found``.
    """
    while place < tail:
        needed = queue.procs[q, place]
        if needed != GONE:
            start = jobs.reserved[queue.job[q, place]]
            spoken_for = needed >= procs and reserved <= start <= found
            if start > begin and not (spoken_for and queue.plan[q, place] >= plan):
                break
        place += 1
    return place


@routine
def hand_on(state: State, k: int, place: int, begin: int, at: int) -> tuple[int, int, int, int]:
    """Move the job at ``place`` in the queue to ``begin``, and the equal jobs behind it that this lets move.

    Where there is room for ``copies`` jobs of a bag from ``begin`` on, so many start there, and each job
    behind them finds the start of the one ``copies`` ahead of it, which has just left (here 2):

        reserved   . . . . . . 1 . 2 . . 3 . 4 . . 5
        then      12 . . . . . 3 . 4 . . 5 . . . . .

    So starts are handed on, and the profile changes as if only the last ``copies`` had moved to ``begin``.

    Why that is exact: all are reserved within the length of a job after ``begin``, so each must find
    processors from an earlier start up to its own. Just before the start of the one ``copies`` ahead it finds
    none, because ``copies`` jobs have moved across that instant; from then on it does, because one fewer has;
    and what they leave free begins at ``begin`` + length.

    The step at ``at`` holds ``begin``. Returns place, start and former start of the last job that moved, and
    the position of the step that holds its start, or -1 as :func:`move_forward`.
    """
    profile, q = state.profile, 2 * k
    procs, plan = state.queue.procs[q, place], state.queue.plan[q, place]
    job = state.queue.job[q, place]
    last, count, reserved, step, copies, groups = place, 1, state.jobs.reserved[job], at, 0, 0
    for other in range(place + 1, state.pools.tail[2 * k]):
        if state.queue.procs[q, other] == GONE:
            continue
        if state.queue.procs[q, other] != procs or state.queue.plan[q, other] != plan:
            break
        if count == 1:
            copies, groups = level_of(profile, k, at) // procs, note_group(state, 0, place, 0)
        following = state.jobs.reserved[state.queue.job[q, other]]
        if following != reserved or count == 1:
            if following < reserved or following > begin + plan:
                break
            step = stays_between(profile, k, step, following, copies * procs, (copies + 1) * procs)
            if step < 0:
                break
            if following > reserved:
                groups = note_group(state, groups, other, count)
        last, count, reserved = other, count + 1, following
    if count == 1:
        return place, begin, reserved, bring_forward(state, k, job, begin, at)

    note_group(state, groups, last, count)
    at = hold_bag(state, k, last, min(copies, count), begin, at)
    give_starts(state, k, groups, copies, begin)
    start = state.jobs.reserved[state.queue.job[q, last]]
    return last, start, reserved, step_near(profile, k, at, start) if at >= 0 else -1


@kernel
def note_group(state: State, group: int, place: int, ahead: int) -> int:
    """Note that jobs with one reserved start begin at ``place``, with ``ahead`` of the bag before them."""
    state.lists.scratch[group] = place
    state.lists.spare_scratch[group] = ahead
    return group + 1


@kernel
def give_starts(state: State, k: int, groups: int, copies: int, begin: int) -> None:
    """Give each job of the noted groups the former start of the one ``copies`` ahead of it, or ``begin``.

    Of each group only the first ``copies`` start earlier: the one ahead of any other starts with it.
    """
    q = 2 * k
    for group in range(groups - 1, -1, -1):  # from behind: those ahead still have their former starts
        other, first = state.lists.scratch[group], state.lists.spare_scratch[group]
        behind, source = state.lists.spare_scratch[group + 1], group - 1
        while source >= 0 and state.lists.spare_scratch[source] > first - copies:
            source -= 1
        for giver in range(first - copies, min(behind - copies, first)):
            while source + 1 < group and state.lists.spare_scratch[source + 1] <= giver:
                source += 1
            while state.queue.procs[q, other] == GONE:
                other += 1
            its_start = begin
            if source >= 0:
                giving = state.queue.job[q, state.lists.scratch[source]]
                its_start = state.jobs.reserved[giving]
            put_forward(state, k, state.queue.job[q, other], its_start)
            other += 1


@kernel
def hold_bag(state: State, k: int, last: int, count: int, begin: int, at: int) -> int:
    """Let the profile hold ``count`` equal jobs, in the queue up to place ``last``, from ``begin`` on.

    Those with one start move as one. Returns the position of the step at ``begin``, or -1 as
    :func:`move_forward`.
    """
    q, laid_anew = 2 * k, False
    procs, plan = state.queue.procs[q, last], state.queue.plan[q, last]
    old, together, place = state.jobs.reserved[state.queue.job[q, last]], 0, last + 1
    while count > 0:
        place -= 1
        if state.queue.procs[q, place] == GONE:
            continue
        its_start = state.jobs.reserved[state.queue.job[q, place]]
        if its_start < old:
            at = hold_earlier(state, k, begin, at, old, plan, together * procs)
            if at < 0:
                laid_anew, at = True, step_of(state.profile, k, begin)
            old, together = its_start, 0
        together += 1
        count -= 1
    at = hold_earlier(state, k, begin, at, old, plan, together * procs)
    return -1 if laid_anew else at


@routine
def sweep_machine(t: int, state: State) -> bool:
    """:func:`sweep` the whole machine, by a table of holes where searches have become long."""
    k = MACHINE
    waiting, pins = state.pools.count[2 * k], state.pools.pin_count[k]
    if state.memory.notes.in_use:
        if 2 * waiting >= MANY and pins == 0 and is_current(t, state, k):
            return bool(sweep_long_plan(t, state, k, option(state, k, Rule.HOLE)))
        state.memory.notes.in_use = 0
        state.pools.room_from[k], state.pools.room_to[k] = t, NEVER
    moved = sweep(t, state, k)
    if waiting >= MANY and pins == 0 and state.pools.searched[k] > LONG * waiting:
        lay_buckets(t, state, k)  # of all that is free, so nothing else need be remembered
        state.memory.notes.in_use = 1
        state.pools.room_from[k], state.pools.room_to[k] = NEVER, 0
    return bool(moved)


@kernel
def earliest_move(
    state: State, k: int, job: int, at: int, after: int, until: int, more: int
) -> tuple[int, int]:
    """The earliest start of a job from ``after`` on and before ``until``; else where it is reserved.

    Also the position of the step that holds that start, or of one before it. Step ``at`` holds ``after``,
    or is one before it.
    """
    procs, limit = state.jobs.procs[job], state.jobs.reserved[job]
    length = length_of_hole(state, job, more)
    if limit - length <= after:  # wherever it starts, it would run until then
        begin, at = free_until(state.profile, k, after, limit, procs)
    else:
        begin, at, _ = hole_from(state.profile, k, at, after, until, procs, length, limit)
    if state.pools.pin_count[k] > 0:
        begin = beyond_pins(state, k, job, begin, until, limit, length)
        at = step_of(state.profile, k, begin)
    return begin, at


@routine
def place_anew(t: int, state: State, k: int) -> None:
    """Drop all reservations and place the waiting jobs again in queue order."""
    q = 2 * k
    for turn in range(2):
        for place in range(state.pools.head[2 * k], state.pools.tail[2 * k]):
            if state.queue.procs[q, place] == GONE:
                continue
            job = state.queue.job[q, place]
            if turn == 1:
                reserve_earliest(t, state, k, job)
            elif state.jobs.reserved[job] != NOT_RESERVED:
                give_up(state, k, job)


@kernel
def reserve_earliest(t: int, state: State, k: int, job: int) -> None:
    """Reserve the earliest time at which a job fits; none where too few processors are there for ever."""
    reserve_by(state, k, job, t, option(state, k, Rule.HOLE), NEVER - 1)


@kernel
def is_compressed(state: State, k: int, ended_early: int) -> bool:
    """Whether completions have left something free that is to be used."""
    mode = option(state, k, Rule.COMPRESS)
    if mode == Compress.NONE or (ended_early == 0 and mode != Compress.EVERY):
        return False
    return bool(state.pools.freed[k])


@kernel
def compress(t: int, state: State, k: int, ended_early: int) -> None:
    """Use what completions have left free, in the chosen way."""
    mode = option(state, k, Rule.COMPRESS)
    if not is_compressed(state, k, ended_early):
        return
    if mode == Compress.SCRATCH:
        place_anew(t, state, k)
    else:
        while sweep(t, state, k) and mode == Compress.FIXPOINT:
            pass


@kernel
def compress_machine(t: int, state: State, ended_early: int) -> None:
    """:func:`compress` on the whole machine, where the policy has a table of holes."""
    mode = option(state, MACHINE, Rule.COMPRESS)
    if not is_compressed(state, MACHINE, ended_early):
        return
    if mode == Compress.SCRATCH:
        place_anew(t, state, MACHINE)
    else:
        while sweep_machine(t, state) and mode == Compress.FIXPOINT:
            pass


@kernel
def arrive(t: int, state: State, k: int, job: int) -> None:
    """Give a newcomer its reservation, which is a promise."""
    join(state, k, job)
    reserve_earliest(t, state, k, job)
    if option(state, k, Rule.COMPRESS) == Compress.SCRATCH and state.jobs.priority_class[job] == URGENT_CLASS:
        place_anew(t, state, k)
    state.jobs.promise[job] = state.jobs.reserved[job]


@kernel
def start_due(t: int, state: State, k: int) -> None:
    """Start every job whose reservation begins now, unless this turn is for plans alone.

    One that finds its processors still held by a job of zero length starts in the next turn of this instant.
    """
    if state.clock.only_plans:
        return
    state.pools.freed[k] = 0
    job = next_due(state, k)
    while reserved_start(state, job) == t:
        if state.jobs.procs[job] > state.pools.free[k]:
            return
        why = Why.RESERVATION
        if state.queue.job[2 * k, state.pools.head[2 * k]] != job:
            why = Why.BACKFILL
        elif state.jobs.submit[job] == t:
            why = Why.IMMEDIATE
        forget(state, k, job)
        leave(state, 2 * k, find_job(state, 2 * k, JobTable["key"], job))
        start(state, job, k, why)
        job = next_due(state, k)
    wake(state, reserved_start(state, job))


def conservative(t: int, state: State) -> None:
    """Conservative backfilling on the whole machine."""
    compress(t, state, MACHINE, settle(t, state, MACHINE))
    for job in range(state.clock.first_new, state.clock.last_new):
        arrive(t, state, MACHINE, job)
    start_due(t, state, MACHINE)


def conservative_deep(t: int, state: State) -> None:
    """The same for a log of which thousands of jobs may wait; there is more to compile."""
    compress_machine(t, state, settle(t, state, MACHINE))
    for job in range(state.clock.first_new, state.clock.last_new):
        arrive(t, state, MACHINE, job)
        if state.memory.notes.in_use:
            note_reservation(state, job)
    start_due(t, state, MACHINE)


@kernel
def leave_plan(state: State, job: int) -> None:
    """A reservation is given back; those behind move forward when they are put in order."""
    give_up(state, MACHINE, job)
    leave(state, 2 * MACHINE, find_job(state, 2 * MACHINE, JobTable["key"], job))
    withdraw(state, job)
    state.pools.left[MACHINE] += 1


@entry
def of_conservative(t: int, state: State, job: int, request: int) -> None:
    """A waiting job leaves the plan."""
    leave_plan(state, job)
