"""EASY backfilling: the first job that cannot start gets a reservation; others pass if they do not delay it.

Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; Mu'alem and Feitelson, "Utilization, predictability,
workloads, and user runtime estimates in scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001.

    procs                 shadow
      │ running  ┌──────────┐          shadow: when enough processors will be free for the head
      │──────────┘  a       │ head     extra:  what is free then besides the head's
      │────────────────┐    ├───────   a may pass: it is over by the shadow time
      │  running       │    │          b may pass: it needs at most the extra processors
      │────────────────┴────┼───────
      │ b                   │ extra
      └─────────────────────┴─────── time

With ``depth`` k the first k jobs that cannot start get reservations; EASY is depth 1. Reservations are
computed anew at each pass, from the profile of the running jobs at their expected ends.
"""

from __future__ import annotations

from headway.engine.planning import settle, start_and_book
from headway.engine.profile import change, earliest, fits, level_at
from headway.engine.queue import next_fit
from headway.engine.tables import (
    BACKFILL,
    ENDED,
    FIRST_NEW,
    FREE,
    GONE,
    KEY,
    LAST_NEW,
    PLAN,
    PROCS,
    PROMISE,
    Q_COUNT,
    Q_HEAD,
    Q_JOB,
    Q_PLAN,
    Q_PROCS,
    Q_TAIL,
    RESERVED,
    SCRATCH,
    State,
)
from headway.jit import kernel, routine
from headway.policies.ordering import AS_ORDER, BACKFILL_ORDER, OWN, join_queues, withdraw
from headway.policies.strict import POOL, QUEUE, head_fits, reason

# Options after those of every queue: reservations per pass (0 = all), whether the order is such that
# shadow times are promises, and whether only newcomers can start while nothing ends.
DEPTH, PROMISES, NEWCOMERS_ONLY = OWN, OWN + 1, OWN + 2
BACKFILL_QUEUE = 1


@kernel
def note_promise(state: State, job: int, shadow: int) -> None:
    """The head will start no later than any shadow time it was given."""
    if state.jobs[PROMISE, job] < 0 or shadow < state.jobs[PROMISE, job]:
        state.jobs[PROMISE, job] = shadow


@kernel
def begin(t: int, state: State, q: int, place: int, why: int) -> int:
    """Start the job at a place of queue ``q``; the job, or -1 if the engine refused."""
    job = withdraw(state, q, place)
    return job if start_and_book(state, job, POOL, why) else -1


@kernel
def first_candidate(state: State) -> int:
    """Where the search for jobs to backfill begins: behind the head, or at the newcomers.

    When nothing has ended, free processors, shadow and extra are what the last pass left, and time only
    makes the test harder; so who could not pass then cannot pass now.
    """
    if state.options[NEWCOMERS_ONLY] and state.clock[ENDED] == 0:
        new = state.clock[LAST_NEW] - state.clock[FIRST_NEW]
        return int(max(state.pools[Q_HEAD, QUEUE] + 1, state.pools[Q_TAIL, QUEUE] - new))
    return int(state.pools[Q_HEAD, QUEUE] + 1)


def easy(t: int, state: State) -> None:
    """One pass of EASY."""
    settle(t, state, POOL)
    join_queues(t, state)
    while head_fits(state, QUEUE, POOL):
        head = state.pools[Q_HEAD, QUEUE]
        begin(t, state, QUEUE, head, reason(t, state, state.queue[Q_JOB, head]))
    if state.pools[Q_COUNT, QUEUE] == 0:
        return
    head = state.pools[Q_HEAD, QUEUE]
    procs = state.queue[Q_PROCS, head]
    shadow = earliest(state.profile, POOL, t, procs, 0)
    extra = level_at(state.profile, POOL, shadow) - procs
    if state.options[PROMISES]:
        note_promise(state, state.queue[Q_JOB, head], shadow)
    candidates, place = QUEUE, first_candidate(state)
    if state.options[BACKFILL_ORDER] != AS_ORDER:
        candidates, place = BACKFILL_QUEUE, state.pools[Q_HEAD, BACKFILL_QUEUE]
        # the head has its reservation; it is not a candidate, and cannot fit
    while state.pools[FREE, POOL] > 0:
        free = state.pools[FREE, POOL]
        place = next_fit(state, candidates, place, free, shadow - t, extra)
        if place < 0:
            return
        job = begin(t, state, candidates, place, BACKFILL)
        if job < 0:
            return
        if t + state.jobs[PLAN, job] > shadow:
            extra -= state.jobs[PROCS, job]
        place += 1
