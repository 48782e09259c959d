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
computed anew at each pass, from the expected ends of the running jobs.
"""

from __future__ import annotations

from enum import IntEnum

from headway.engine.ends import settle_ends, start_and_expect, when_enough
from headway.engine.fitting import next_fit
from headway.engine.tables import State, Why
from headway.jit.kernels import kernel
from headway.policies.queueing.ordering import (
    OWN,
    has_backfill_queue,
    join_newcomers,
    option,
    sort_queues,
    withdraw,
)
from headway.policies.queueing.strict import MACHINE, head_fits, reason


class Rule(IntEnum):
    """The parameters that follow those of every queue."""

    DEPTH = OWN
    """Reservations per pass; 0: all."""
    PROMISES = OWN + 1
    """Whether shadow times are promises under the order of the queue."""
    NEWCOMERS_ONLY = OWN + 2
    """Whether only newcomers can start while no processors become free."""
    ESTIMATE = OWN + 3
    """How two runs of a user become an estimate, where jobs are planned with them: AVERAGE or LONGER."""


@kernel
def note_promise(state: State, job: int, shadow: int) -> None:
    """The head will start no later than any shadow time it was given."""
    if state.jobs.promise[job] < 0 or shadow < state.jobs.promise[job]:
        state.jobs.promise[job] = shadow


@kernel
def begin(state: State, k: int, q: int, place: int, why: int) -> int:
    """Start the job at a position of one of pool ``k``'s queues; the job, or -1 if the engine refused."""
    job = withdraw(state, k, q, place)
    return job if start_and_expect(state, job, k, why) else -1


@kernel
def first_candidate(state: State, k: int) -> int:
    """Where the search for jobs to backfill begins: behind the head, or at the newcomers.

    If no processors became free since the last pass, free processors, shadow and extra are as that pass left
    them, and time only makes the test harder; so a job that could not pass then cannot pass now.
    """
    behind_head = state.pools.head[2 * k] + 1
    if option(state, k, Rule.NEWCOMERS_ONLY) and not state.pools.freed[k]:
        return int(max(behind_head, state.pools.tail[2 * k] - state.pools.newcomers[k]))
    return int(behind_head)


@kernel
def can_change(state: State, k: int) -> bool:
    """Whether a pass may start a job: processors became free, jobs joined, or the order changes with time."""
    return bool(
        state.pools.freed[k] or state.pools.newcomers[k] > 0 or not option(state, k, Rule.NEWCOMERS_ONLY)
    )


@kernel
def easy_pass(t: int, state: State, k: int) -> None:
    """One pass of EASY on pool ``k``, whose queues are in order."""
    order = 2 * k
    while head_fits(state, k):
        head = state.pools.head[order]
        begin(state, k, order, head, reason(t, state, state.queue.job[order, head]))
    if state.pools.count[order] > 0:
        head = state.pools.head[order]
        procs = state.queue.procs[order, head]
        shadow, free_then = when_enough(state.profile, k, t, state.pools.free[k], procs)
        extra = free_then - procs
        if option(state, k, Rule.PROMISES):
            note_promise(state, state.queue.job[order, head], shadow)
        candidates, place = order, first_candidate(state, k)
        if has_backfill_queue(state, k):
            candidates, place = order + 1, state.pools.head[order + 1]
        while state.pools.free[k] > 0:  # the head itself is no candidate: it does not fit
            place = next_fit(state, candidates, place, state.pools.free[k], shadow - t, extra)
            if place < 0:
                break
            job = begin(state, k, candidates, place, Why.BACKFILL)
            if job < 0:
                break
            if t + state.jobs.plan[job] > shadow:
                extra -= state.jobs.procs[job]
            place += 1
    state.pools.newcomers[k] = state.pools.freed[k] = 0


def easy(t: int, state: State) -> None:
    """EASY on the whole machine."""
    settle_ends(t, state, MACHINE)
    join_newcomers(state, MACHINE)
    easy_pass(t, state, MACHINE)


def easy_sorted(t: int, state: State) -> None:
    """EASY on the whole machine, in an order that changes with time, or with an age limit."""
    settle_ends(t, state, MACHINE)
    join_newcomers(state, MACHINE)
    sort_queues(t, state, MACHINE)
    easy_pass(t, state, MACHINE)
