"""What redirection asks of the policy of a group: the same five things, each policy in its own way.

``kind`` is known when a pair of policies is compiled, so that a hook holds the code of its own two only.
"""

from __future__ import annotations

from headway.engine import planning
from headway.engine.ends import expect_later, forget_run, outlive_ends, settle_ended, start_and_expect
from headway.engine.planning import expect_request, next_outlived, release, settle_runs, start_and_book
from headway.engine.tables import Phase, State, Why
from headway.engine.verbs import start
from headway.jit.kernels import kernel, woven
from headway.policies.backfilling import conservative, depth, easy
from headway.policies.deadline import dbf
from headway.policies.deadline.tables import DbfJobs, is_provisional
from headway.policies.queueing import strict
from headway.policies.queueing.ordering import join, sort_queues
from headway.policies.redirection.group import Kind
from headway.policies.redirection.tables import PRINCIPAL

STRICT, EASY, DEEP, CONSERVATIVE, DBF = (int(kind) for kind in Kind)
KINDS = tuple(kind.name.lower() for kind in Kind)


@woven
def close_ended(t: int, state: State, k: int, kind: int) -> None:
    """Take note of the runs that ended in group ``k``."""
    if kind == EASY:
        settle_ended(state, k)
    elif kind == DEEP:
        settle_runs(t, state, k)
    elif kind == CONSERVATIVE:
        conservative.compress(t, state, k, settle_runs(t, state, k))
    elif kind == DBF:
        dbf.bring_closer(t, state, k, dbf.give_back(t, state, k))


@woven
def outlive(t: int, state: State, here: int, there: int) -> None:
    """Runs that outlived their estimate are expected to last as long as was requested; EASY has estimates."""
    if state.clock.outlives > 0:
        if here != DEEP and there != DEEP:
            outlive_ends(t, state)
        elif here != EASY and there != EASY:
            planning.outlive(t, state)
        else:
            run = next_outlived(t, state)
            while run >= 0:
                if (state.runs.pool[run] == PRINCIPAL) == (here == EASY):
                    expect_later(state, run)
                else:
                    expect_request(t, state, run)
                run = next_outlived(t, state)


@kernel
def starts_at_once(state: State, k: int, job: int) -> bool:
    """Whether a newcomer finds the queue of group ``k`` empty and enough processors free."""
    return bool(state.pools.count[2 * k] == 0 and state.jobs.procs[job] <= state.pools.free[k])


@woven
def arrive(t: int, state: State, k: int, kind: int, job: int) -> None:
    """A job joins the queue of group ``k``."""
    if kind == CONSERVATIVE:
        conservative.arrive(t, state, k, job)
    elif kind == DBF:
        DbfJobs(state.jobs).definitive_at[job] = -1  # if it was promoted before, that was in the other group
        dbf.arrive(t, state, k, job)
    else:
        join(state, k, job)


@woven
def is_held_up(t: int, state: State, k: int, kind: int, job: int) -> bool:
    """A newcomer starts at once in group ``k``, or joins its queue: whether it has to wait.

    Under DBF every task is given its place first. A definitive one that begins now can start; a provisional
    one may still be displaced by the next newcomer of this instant, as in DBF alone, and starts in the pass.
    """
    waits = not starts_at_once(state, k, job)
    if waits or kind == DBF:
        arrive(t, state, k, kind, job)
        if kind == DBF:
            if state.jobs.phase[job] == Phase.REFUSED:
                waits = False
            elif not waits and not is_provisional(state, job):
                dbf.begin_runs(t, state, k)
    elif kind == STRICT:
        start(state, job, k, Why.IMMEDIATE)
    elif kind == EASY:
        start_and_expect(state, job, k, Why.IMMEDIATE)
    else:
        start_and_book(state, job, k, Why.IMMEDIATE)
    return waits


@woven
def give_back(t: int, state: State, k: int, kind: int, run: int) -> None:
    """A run of group ``k`` is about to be stopped: for a policy with reservations that is an early end."""
    state.pools.freed[k] = 1
    if kind == EASY:
        forget_run(state, k, run)
    elif kind != STRICT:
        early = 0
        if state.runs.expected[run] > t:
            release(t, state, k, run)
            if kind == DBF:
                dbf.leave_base(t, state, k, run)
            early = 1
        if kind == CONSERVATIVE:
            conservative.compress(t, state, k, early)
        elif kind == DBF:
            dbf.bring_closer(t, state, k, early)


@woven
def schedule(t: int, state: State, k: int, kind: int) -> None:
    """The scheduling pass of group ``k``."""
    if kind == STRICT:
        strict.strict_pass(t, state, k)
    elif kind == EASY:
        if state.pools.count[2 * k] > 0 and easy.can_change(state, k):
            sort_queues(t, state, k)
            easy.easy_pass(t, state, k)
    elif kind == DEEP:
        depth.deep_pass(t, state, k)
    elif kind == CONSERVATIVE:
        conservative.start_due(t, state, k)
    else:
        dbf.begin_runs(t, state, k)
