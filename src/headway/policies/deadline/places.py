"""Places of DBF's provisional tasks when a priority task arrives: Algorithm 1 and what follows from it."""

from __future__ import annotations

from headway.engine.heap import advance_due, move_due
from headway.engine.holes import fits, level_at, take_earliest, take_if_free
from headway.engine.planning import note_room
from headway.engine.profile import change, lay_over
from headway.engine.queue import enter, leave
from headway.engine.reservations import NO_JOB, NOT_RESERVED, book, enlist, hold_earliest, pin, reserve
from headway.engine.tables import GONE, State
from headway.jit.kernels import kernel, routine
from headway.policies.deadline.tables import (
    BEHIND,
    IN_TIME,
    LITERAL,
    NO_WAY,
    SOME_LATE,
    DbfJobs,
    Rule,
    first_provisional,
    hold_earliest_in_base,
    hold_in_base,
    is_late,
    is_plain,
    lay_out_base,
    let_go_in_base,
    note_displacement,
    provisional_tasks,
)
from headway.policies.queueing.ordering import option
from headway.units import NEVER


@kernel
def put(after: int, state: State, k: int, job: int) -> None:
    """Place a task as early as it fits from ``after`` on; who is due next is not told."""
    state.jobs.reserved[job] = hold_earliest(state, k, job, after, option(state, k, Rule.HOLE), NEVER)


@kernel
def back_to_base(t: int, state: State, k: int) -> None:
    """Forget every provisional place: the profile is that of the base."""
    base = option(state, k, Rule.BASE)
    lay_over(state.profile, base, k, t)
    state.pools.pin_count[k] = state.pools.pin_count[base]
    for i in range(state.pools.pin_count[base]):
        state.lists.pins[k, i] = state.lists.pins[base, i]


@routine
def place_chosen(t: int, state: State, k: int, first: int, chosen: int) -> int:
    """Place the provisional tasks that are chosen (1) or the others (0); the place of the last late one.

    While tasks are only added, one that needs as many processors for as long as the one before it cannot
    begin earlier than that one.
    """
    last = -1
    procs, plan, after = NEVER, 0, t
    for place in range(first, state.pools.tail[2 * k]):
        job = state.queue.job[2 * k, place]
        if state.queue.procs[2 * k, place] == GONE or DbfJobs(state.jobs).chosen[job] != chosen:
            continue
        if state.jobs.procs[job] < procs or state.jobs.plan[job] < plan:
            after = t
        put(after, state, k, job)
        procs, plan, after = (
            state.jobs.procs[job],
            state.jobs.plan[job],
            state.jobs.reserved[job],
        )
        if is_late(state, job):
            last = place
    return last


@routine
def place_again(t: int, state: State, k: int, first: int, task: int) -> tuple[int, int]:
    """Place the provisional tasks of a canonical list behind a priority task; what they had is put beside.

    Returns the place of the last late one, and how many were moved; those are in ``List.SCRATCH``.

    A task can begin earlier than before only in time that others have left, and must begin later only if it
    meets the priority task or one that was moved. So most stay where they are, without a search.
    """
    jobs = DbfJobs(state.jobs)
    last, count_moved = -1, 0
    taken = jobs.reserved[task]
    taken_end = taken + jobs.plan[task]
    moved, moved_end, left, left_end = NEVER, 0, NEVER, 0
    q = 2 * k
    for place in range(first, state.pools.tail[2 * k]):
        procs = state.queue.procs[q, place]
        if procs == GONE:
            continue
        job, plan = state.queue.job[q, place], state.queue.plan[q, place]
        begin = jobs.reserved[job]
        end = begin + plan
        jobs.had_start[job] = begin
        meets = ((begin < taken_end) & (taken < end)) | ((begin < moved_end) & (moved < end))
        if meets or left < begin:
            after, until, limit = begin, NEVER, NEVER
            if left < begin:
                after = max(t, left - plan + 1)
            if not meets:
                until, limit = min(left_end, begin), begin
            new = take_earliest(state.profile, k, after, until, procs, plan, limit, t)
            if new != begin:
                left, left_end = min(left, begin), max(left_end, end)
                moved, moved_end = min(moved, new), max(moved_end, new + plan)
                jobs.reserved[job] = new
                state.lists.scratch[count_moved] = job
                count_moved += 1
                if new + plan > jobs.deadline[job]:
                    last = place
        else:
            change(state.profile, k, begin, end, -procs, t)
    return last, count_moved


@kernel
def choose(state: State, k: int, first: int, end: int, late_only: bool) -> int:
    """Choose the provisional tasks in places [first, end), or the late ones there; how many are new."""
    jobs = DbfJobs(state.jobs)
    new = 0
    for place in range(first, end):
        job = state.queue.job[2 * k, place]
        if (
            state.queue.procs[2 * k, place] != GONE
            and jobs.chosen[job] == 0
            and (not late_only or is_late(state, job))
        ):
            jobs.chosen[job] = 1
            new += 1
    return new


@kernel
def remember(state: State, k: int, first: int, placed: bool) -> None:
    """Put the starts that provisional tasks had beside; choose those that are late where they are placed."""
    jobs = DbfJobs(state.jobs)
    for place in range(first, state.pools.tail[2 * k]):
        if state.queue.procs[2 * k, place] != GONE:
            job = state.queue.job[2 * k, place]
            jobs.chosen[job] = placed and is_late(state, job)
            if not placed:
                jobs.had_start[job] = jobs.reserved[job]


@kernel
def unplace(state: State, k: int, first: int) -> None:
    """No provisional task has a place."""
    for place in range(first, state.pools.tail[2 * k]):
        if state.queue.procs[2 * k, place] != GONE:
            state.jobs.reserved[state.queue.job[2 * k, place]] = NOT_RESERVED


@kernel
def insert(t: int, state: State, k: int, task: int, first: int, placed: bool) -> int:
    """Place a priority task and the provisional ones by Algorithm 1; how well that went.

    Where they were ``placed`` already, as in its first turn, some of them were late.
    """
    remember(state, k, first, placed)
    return place_by_rule(t, state, k, task, first, int(placed))


@kernel
def place_by_rule(t: int, state: State, k: int, task: int, first: int, turn: int) -> int:
    """Algorithm 1 from its turn number ``turn`` on, with those that are chosen already; how well that went.

    NO_JOB in place of the priority task: it is in the base, and only the provisional ones are placed.
    """
    literal = option(state, k, Rule.MODE) == LITERAL
    corrected = False
    while True:
        back_to_base(t, state, k)
        unplace(state, k, first)
        if task != NO_JOB:
            state.jobs.reserved[task] = NOT_RESERVED
        last_late = place_chosen(t, state, k, first, 1) if turn > 0 else -1
        if last_late >= 0 and not corrected:
            new = choose(state, k, first, last_late, False)
            corrected = literal
            if new == 0 and not literal:
                return NO_WAY
            continue
        if task != NO_JOB:
            put(t, state, k, task)
        if place_chosen(t, state, k, first, 0) < 0:
            return IN_TIME
        if literal and turn > 0:
            return SOME_LATE
        choose(state, k, first, state.pools.tail[2 * k], True)
        turn += 1


@kernel
def put_behind_all(t: int, state: State, k: int, task: int, first: int) -> None:
    """The safety net: the provisional tasks stay where they were, and the priority task goes behind them."""
    jobs = DbfJobs(state.jobs)
    back_to_base(t, state, k)
    for place in range(first, state.pools.tail[2 * k]):
        if state.queue.procs[2 * k, place] != GONE:
            job = state.queue.job[2 * k, place]
            jobs.chosen[job] = 0
            jobs.reserved[job] = jobs.had_start[job]
            book(state, k, job, -jobs.procs[job])
            if jobs.plan[job] == 0:
                pin(state, k, job)
    put(t, state, k, task)


@kernel
def settle_place(t: int, state: State, k: int, task: int, job: int) -> None:
    """Note what has changed for a task: when it is due, where there is room, for whom it was displaced."""
    old, new = DbfJobs(state.jobs).had_start[job], state.jobs.reserved[job]
    if old == new:
        return
    move_due(state, k, job)
    if state.jobs.plan[job] > 0:
        note_room(state, k, old, old + state.jobs.plan[job])
    else:
        note_room(state, k, t, NEVER)
    if new > old:
        note_displacement(t, state, job, task, new)


@routine
def settle_places(t: int, state: State, k: int, task: int, first: int) -> None:
    """Note what has changed for all provisional tasks."""
    q = 2 * k
    for place in range(first, state.pools.tail[2 * k]):
        if state.queue.procs[q, place] != GONE:
            settle_place(t, state, k, task, state.queue.job[q, place])


@kernel
def promote(t: int, state: State, k: int, first: int) -> None:
    """The chosen tasks become definitive, where they are now."""
    jobs = DbfJobs(state.jobs)
    chosen = 0
    for place in range(first, state.pools.tail[2 * k]):
        job = state.queue.job[2 * k, place]
        if state.queue.procs[2 * k, place] != GONE and jobs.chosen[job] == 1:
            state.lists.scratch[chosen] = leave(state, 2 * k, place)
            chosen += 1
    for i in range(chosen):
        job = state.lists.scratch[i]
        jobs.key[job] -= BEHIND
        advance_due(state, k, job)  # at one instant the definitive ones go first
        jobs.definitive_at[job] = t
        enter(state, 2 * k, job, jobs.key[job])
        hold_in_base(t, state, k, job, jobs.reserved[job])
    state.memory.counts.promotions += chosen
    provisional_tasks(state, k, -chosen)


@kernel
def reserve_beside(t: int, state: State, k: int, task: int, start: int) -> bool:
    """Reserve ``start`` for a priority task if every provisional one can stay where it is; whether it can."""
    procs, plan = state.jobs.procs[task], state.jobs.plan[task]
    if is_plain(state, k, task):
        if not take_if_free(state.profile, k, start, procs, plan, t):
            return False
        state.jobs.reserved[task] = start
        enlist(state, k, task)
        return True
    if option(state, k, Rule.HOLE) != 0 or not fits(state.profile, k, start, procs, plan):
        return False
    for i in range(state.pools.pin_count[k]):
        pinned = state.lists.pins[k, i]
        at = state.jobs.reserved[pinned]
        free = level_at(state.profile, k, at)
        if start <= at < start + plan and free - procs < state.jobs.procs[pinned]:
            return False
    reserve(state, k, task, start)
    return True


@kernel
def displace(t: int, state: State, k: int, task: int, start: int) -> bool:
    """Let the provisional tasks of a canonical list make room for a priority task; whether none is late."""
    state.jobs.reserved[task] = start
    back_to_base(t, state, k)
    first = first_provisional(state, k)
    last_late, moved = place_again(t, state, k, first, task)
    if last_late >= 0:
        return False
    for i in range(moved):
        settle_place(t, state, k, task, state.lists.scratch[i])
    enlist(state, k, task)
    return True


@routine
def place_before(t: int, state: State, k: int, task: int) -> None:
    """Place a priority task where provisional ones wait; they stay, give way, or are promoted."""
    if not state.memory.lists.kept_base[k]:
        lay_out_base(t, state, k)
    placed = False
    if state.memory.lists.canonical[k]:
        start = hold_earliest_in_base(t, state, k, task)
        if reserve_beside(t, state, k, task, start):
            return
        placed = is_plain(state, k, task)
        if placed and displace(t, state, k, task, start):
            return
        let_go_in_base(t, state, k, task)
    promote_late(t, state, k, task, placed)


@routine
def promote_late(t: int, state: State, k: int, task: int, placed: bool) -> None:
    """Place a priority task by Algorithm 1; the safety net where that finds no way."""
    first = first_provisional(state, k)
    result = insert(t, state, k, task, first, placed)
    if result == NO_WAY:
        put_behind_all(t, state, k, task, first)
        state.memory.counts.safety_net += 1
    else:
        settle_places(t, state, k, task, first)
        promote(t, state, k, first)
    hold_in_base(t, state, k, task, state.jobs.reserved[task])
    # A provisional task that is late would be chosen next time, so its place is not final.
    state.memory.lists.canonical[k] = result == IN_TIME
    enlist(state, k, task)
