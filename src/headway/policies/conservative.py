"""Conservative backfilling: every job gets a reservation when it arrives, and is never delayed after that.

Mu'alem and Feitelson, IEEE TPDS 12(6), 2001; Feitelson and Weil, IPPS 1998.

On arrival a job reserves the earliest time at which it fits beside all running jobs and reservations. When
a job ends before it was expected to, the schedule is compressed: jobs may move forward, never back.

    early     one sweep in arrival order, each job moved alone to its earliest start, if some job ended early
    every     the same sweep after every completion
    fixpoint  sweeps until nothing moves
    scratch   all reservations dropped and placed anew in queue order (this can break promises)
    none      no compression

With ``hole=open`` a hole exactly as long as the job is refused, as Simbatch does.
"""

from __future__ import annotations

from headway.engine.planning import settle
from headway.engine.queue import enter, find_job, leave
from headway.engine.reservations import (
    bring_forward,
    earliest_start,
    forget,
    give_up,
    next_due,
    next_reserved_start,
    reserve,
)
from headway.engine.tables import (
    BACKFILL,
    CLASS,
    ENDED,
    FIRST_NEW,
    FREE,
    GONE,
    IMMEDIATE,
    KEY,
    LAST_NEW,
    PROCS,
    PROMISE,
    Q_HEAD,
    Q_JOB,
    Q_PROCS,
    Q_TAIL,
    RESERVATION,
    RESERVED,
    SUBMIT,
    State,
)
from headway.engine.verbs import start, wake
from headway.jit import kernel, routine
from headway.policies.ordering import OWN, URGENT_CLASS
from headway.policies.strict import POOL, QUEUE
from headway.units import NEVER

# Options after those of every queue: how to compress, and how much longer than a job a hole must be (µs).
COMPRESS, HOLE = OWN, OWN + 1
EARLY, EVERY, FIXPOINT, SCRATCH_MODE, NO_COMPRESSION = range(5)


@routine
def sweep(t: int, state: State) -> bool:
    """Move each waiting job, in queue order and alone, to its earliest start; whether any moved."""
    moved = False
    for place in range(state.pools[Q_HEAD, QUEUE], state.pools[Q_TAIL, QUEUE]):
        if state.queue[Q_PROCS, place] == GONE:
            continue
        job = state.queue[Q_JOB, place]
        reserved = state.jobs[RESERVED, job]
        begin = earliest_start(state, POOL, job, t, reserved, state.options[HOLE])
        if begin < reserved:
            bring_forward(state, POOL, job, begin)
            moved = True
    return moved


@routine
def place_anew(t: int, state: State) -> None:
    """Drop all reservations and place the waiting jobs again in queue order."""
    for turn in range(2):
        for place in range(state.pools[Q_HEAD, QUEUE], state.pools[Q_TAIL, QUEUE]):
            if state.queue[Q_PROCS, place] == GONE:
                continue
            job = state.queue[Q_JOB, place]
            if turn == 0:
                give_up(state, POOL, job)
            else:
                reserve_earliest(t, state, job)


@kernel
def reserve_earliest(t: int, state: State, job: int) -> None:
    """Reserve the earliest time at which a job fits."""
    reserve(state, POOL, job, earliest_start(state, POOL, job, t, NEVER, state.options[HOLE]))


@kernel
def compress(t: int, state: State, ended_early: int) -> None:
    """Use what a completion has left free, in the chosen way."""
    mode = state.options[COMPRESS]
    if mode == NO_COMPRESSION or (ended_early == 0 and mode != EVERY):
        return
    if mode == SCRATCH_MODE:
        place_anew(t, state)
    else:
        while sweep(t, state) and mode == FIXPOINT:
            pass


@kernel
def start_due(t: int, state: State) -> None:
    """Start every job whose reservation begins now.

    One that finds its processors still held by a job of zero length starts in the next turn of this instant.
    """
    while next_reserved_start(state, POOL) == t:
        job = next_due(state, POOL)
        if state.jobs[PROCS, job] > state.pools[FREE, POOL]:
            return
        why = RESERVATION
        if state.queue[Q_JOB, state.pools[Q_HEAD, QUEUE]] != job:
            why = BACKFILL
        elif state.jobs[SUBMIT, job] == t:
            why = IMMEDIATE
        forget(state, POOL, job)
        leave(state, QUEUE, find_job(state, QUEUE, KEY, job))
        start(state, job, POOL, why)
    wake(state, next_reserved_start(state, POOL))


def conservative(t: int, state: State) -> None:
    """One pass: compress after completions, give newcomers their reservations, start what is due."""
    early = settle(t, state, POOL)
    if state.clock[ENDED] > 0:
        compress(t, state, early)
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        enter(state, QUEUE, job, state.jobs[KEY, job])
        reserve_earliest(t, state, job)
        if state.options[COMPRESS] == SCRATCH_MODE and state.jobs[CLASS, job] == URGENT_CLASS:
            place_anew(t, state)
        state.jobs[PROMISE, job] = state.jobs[RESERVED, job]
    start_due(t, state)
