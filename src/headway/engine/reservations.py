"""Reservations: waiting jobs that hold processors in the profile from a reserved start on.

``jobs[Job.RESERVED]`` is the start, ``jobs[Job.PLAN]`` the length, and a heap per pool knows who is due next.

A reservation of no length holds no processors in the profile, but it pins an instant: a job whose time spans
that instant must leave enough free processors, or the pinned job could not start then. Pins at one instant
take turns. (docs/decisions/zero-length-pins.md)
"""

from __future__ import annotations

from headway.engine.heap import add_due, drop_due, first_due, move_due
from headway.engine.holes import earliest_within, hole_from, level_at, take
from headway.engine.planning import note_room
from headway.engine.profile import change, move_forward, step_of
from headway.engine.tables import State
from headway.jit.kernels import kernel, routine
from headway.units import NEVER

NOT_RESERVED = -1
"""``jobs[Job.RESERVED]`` of a job without a reservation."""
NO_JOB = -1
"""In place of a job, where processors are looked for without one."""


@routine
def first_pin_in_the_way(state: State, k: int, job: int, procs: int, begin: int, length: int) -> int:
    """The first pinned instant at which ``procs`` processors from ``begin`` on leave too few; else NEVER.

    They are for ``job``, so what its present reservation holds would move with it; NO_JOB has none.
    """
    own = state.jobs.reserved[job] if job != NO_JOB else NOT_RESERVED
    first = NEVER
    for i in range(state.pools.pin_count[k]):
        pinned = state.lists.pins[k, i]
        at = state.jobs.reserved[pinned]
        if pinned != job and begin < at < begin + length and at < first:
            free = level_at(state.profile, k, at)
            if own >= 0 and own <= at < own + length:
                free += procs
            if free - state.jobs.procs[pinned] < procs:
                first = at
    return first


@routine
def beyond_pins(state: State, k: int, job: int, begin: int, until: int, limit: int, length: int) -> int:
    """The first start of a job from ``begin`` on with no pin in the way; ``begin`` is one apart from pins.

    ``length`` is that of the hole the job needs; ``until`` and ``limit`` are as in :func:`earliest_within`.
    """
    while begin < limit:
        procs, plan = state.jobs.procs[job], state.jobs.plan[job]
        after = first_pin_in_the_way(state, k, job, procs, begin, plan)
        if after == NEVER:
            break
        begin = earliest_within(state.profile, k, after, until, state.jobs.procs[job], length, limit)
    return begin


@kernel
def length_of_hole(state: State, job: int, more: int) -> int:
    """How long a hole must be for a job; ``more`` µs longer than the job, unless that has no length."""
    plan = state.jobs.plan[job]
    return int(plan + more if plan > 0 else plan)


@kernel
def earliest_start(state: State, k: int, job: int, after: int, limit: int, more: int) -> int:
    """The earliest start of a job from ``after`` on and before ``limit``; else ``limit``.

    ``limit`` is the job's present reservation, or NEVER. A hole must be ``more`` µs longer than the job.
    """
    length = length_of_hole(state, job, more)
    begin = earliest_within(state.profile, k, after, limit, state.jobs.procs[job], length, limit)
    return beyond_pins(state, k, job, begin, limit, limit, length) if state.pools.pin_count[k] > 0 else begin


@kernel
def pin(state: State, k: int, job: int) -> None:
    """Note a reservation of no length."""
    state.lists.pins[k, state.pools.pin_count[k]] = job
    state.pools.pin_count[k] += 1


@routine
def unpin(state: State, k: int, job: int) -> None:
    """Forget a reservation of no length."""
    last = state.pools.pin_count[k] - 1
    for i in range(last):
        if state.lists.pins[k, i] == job:
            state.lists.pins[k, i] = state.lists.pins[k, last]
            break
    state.pools.pin_count[k] = last
    note_room(state, k, state.clock.now, NEVER)


@kernel
def book(state: State, k: int, job: int, procs: int) -> None:
    """Add ``procs`` to the profile where a job's reservation is (negative: hold them)."""
    begin = state.jobs.reserved[job]
    change(state.profile, k, begin, begin + state.jobs.plan[job], procs, state.clock.now)


@routine
def reserve(state: State, k: int, job: int, begin: int) -> None:
    """Hold a job's processors from ``begin`` on."""
    state.jobs.reserved[job] = begin
    book(state, k, job, -state.jobs.procs[job])
    enlist(state, k, job)
    if state.jobs.plan[job] == 0:
        pin(state, k, job)


@routine
def hold_earliest(state: State, k: int, job: int, after: int, more: int, by: int) -> int:
    """Hold a job's processors at its earliest start from ``after`` on, if it then ends by ``by``; that start.

    As :func:`earliest_start`, but a position that was found need not be looked up again to hold it.
    """
    plan, procs, now = state.jobs.plan[job], state.jobs.procs[job], state.clock.now
    if more > 0 or plan == 0 or state.pools.pin_count[k] > 0:
        begin = earliest_start(state, k, job, after, NEVER, more)
        if begin + plan <= by:
            change(state.profile, k, begin, begin + plan, -procs, now)
            if plan == 0:
                pin(state, k, job)
        return begin
    place = step_of(state.profile, k, after)
    begin, place, held = hole_from(state.profile, k, place, after, NEVER, procs, plan, NEVER)
    if begin + plan <= by:
        take(state.profile, k, place, held, begin, begin + plan, procs, now)
    return int(begin)


@kernel
def reserve_by(state: State, k: int, job: int, after: int, more: int, by: int) -> int:
    """Reserve the earliest start of a job from ``after`` on, if the job then ends by ``by``; that start."""
    begin = hold_earliest(state, k, job, after, more, by)
    if begin + state.jobs.plan[job] <= by:
        state.jobs.reserved[job] = begin
        enlist(state, k, job)
    return begin


@kernel
def enlist(state: State, k: int, job: int) -> None:
    """Put a job with a reservation on the list of those due."""
    add_due(state, k, state.pools.due_count[k], job)
    state.pools.due_count[k] += 1


@routine
def give_up(state: State, k: int, job: int) -> None:
    """Free what a job's reservation holds."""
    book(state, k, job, state.jobs.procs[job])
    note_room(state, k, state.jobs.reserved[job], state.jobs.reserved[job] + state.jobs.plan[job])
    forget(state, k, job)


@kernel
def forget(state: State, k: int, job: int) -> None:
    """Take a job off the list of those due; the profile goes on holding its processors, for its run."""
    drop_due(state, k, state.pools.due_count[k], job)
    state.pools.due_count[k] -= 1
    state.jobs.reserved[job] = NOT_RESERVED
    if state.jobs.plan[job] == 0:
        unpin(state, k, job)


@kernel
def hold_earlier(state: State, k: int, begin: int, place: int, old: int, length: int, procs: int) -> int:
    """Let the profile hold processors from ``begin`` on in place of ``old``; as :func:`move_forward`."""
    note_room(state, k, max(begin + length, old), old + length)
    return int(move_forward(state.profile, k, place, begin, old, length, procs, state.clock.now))


@kernel
def put_forward(state: State, k: int, job: int, begin: int) -> None:
    """Let a job start earlier; what the profile holds for it is not changed here."""
    state.jobs.reserved[job] = begin
    move_due(state, k, job)


@kernel
def bring_forward(state: State, k: int, job: int, begin: int, place: int) -> int:
    """Move a reservation to an earlier start, held by the step at ``place``; as :func:`move_forward`."""
    old, length, procs = state.jobs.reserved[job], state.jobs.plan[job], state.jobs.procs[job]
    if length > 0:
        place = hold_earlier(state, k, begin, place, old, length, procs)
    else:
        note_room(state, k, state.clock.now, NEVER)
    put_forward(state, k, job, begin)
    return place


@kernel
def next_due(state: State, k: int) -> int:
    """The job that is due first, or -1."""
    waiting = state.pools.due_count[k]
    return first_due(state, k, waiting) if waiting > 0 else -1


@kernel
def reserved_start(state: State, job: int) -> int:
    """When a job's reservation begins; NEVER for no job (-1)."""
    return int(state.jobs.reserved[job]) if job >= 0 else NEVER
