"""EASY as other simulators run it: each is the textbook's EASY but for one rule.

    pyss            what happens at one instant comes one by one, submissions first, a pass after each
    cqsim           the same with ends first; candidates are judged by their real run times (clairvoyant)
    batsched-fast   the shadow time is computed once, when a job becomes the head; no extra processors
    accasim         the head waits for the date that was computed once; others start whenever they fit

batsched, where processors have numbers, is in :mod:`headway.policies.backfilling.machines`.

The engine ends all that is due and lets all newcomers in before the policy has its turn. Where a dialect sees
these one by one, ``held`` are the processors of runs that have ended and are not seen yet: they are not free.
"""

from __future__ import annotations

from headway.engine.ends import forget_run, settle_ends, start_and_expect_request, when_enough
from headway.engine.fitting import next_fit
from headway.engine.tables import State, Why
from headway.engine.verbs import wake
from headway.jit.kernels import kernel
from headway.policies.backfilling.easy import begin, first_candidate
from headway.policies.queueing.ordering import join, withdraw
from headway.policies.queueing.strict import MACHINE, reason
from headway.units import NEVER, SECOND

QUEUE = 2 * MACHINE


@kernel
def head_of(state: State) -> int:
    """The first waiting job, or -1."""
    if state.pools.count[QUEUE] == 0:
        return -1
    return int(state.queue.job[QUEUE, state.pools.head[QUEUE]])


@kernel
def start_head(t: int, state: State, head: int) -> None:
    """Start the head of the queue."""
    begin(state, MACHINE, QUEUE, state.pools.head[QUEUE], reason(t, state, head))


@kernel
def start_heads(t: int, state: State) -> int:
    """Start jobs from the head of the queue while they fit; the first that does not, or -1."""
    head = head_of(state)
    while head >= 0 and state.jobs.procs[head] <= state.pools.free[MACHINE]:
        start_head(t, state, head)
        head = head_of(state)
    return head


@kernel
def start_behind(state: State, limit: int) -> None:
    """Start the jobs behind the head that fit and are planned for at most ``limit``."""
    place = first_candidate(state, MACHINE)
    while state.pools.free[MACHINE] > 0:
        place = next_fit(state, QUEUE, place, state.pools.free[MACHINE], limit, 0)
        if place < 0 or begin(state, MACHINE, QUEUE, place, Why.BACKFILL) < 0:
            break
        place += 1


@kernel
def passed(state: State) -> None:
    """A pass is over: whoever joins and whatever comes free from now on is for the next."""
    state.pools.newcomers[MACHINE] = state.pools.freed[MACHINE] = 0


# ---- one event after the other ----------------------------------------------------------------------------


@kernel
def begin_by_request(state: State, place: int, why: int) -> bool:
    """Start the job at a place of the queue and expect its end as late as was requested."""
    return start_and_expect_request(state, withdraw(state, MACHINE, QUEUE, place), MACHINE, why)


@kernel
def pass_holding(t: int, state: State, held: int) -> None:
    """The textbook's pass while ``held`` processors are not seen to be free; running jobs by request."""
    head = head_of(state)
    while head >= 0 and state.jobs.procs[head] <= state.pools.free[MACHINE] - held:
        begin_by_request(state, state.pools.head[QUEUE], reason(t, state, head))
        head = head_of(state)
    if head >= 0:
        procs = state.jobs.procs[head]
        free = state.pools.free[MACHINE] - held
        shadow, free_then = when_enough(state.profile, MACHINE, t, free, procs)
        extra = free_then - procs
        place = first_candidate(state, MACHINE)
        while state.pools.free[MACHINE] > held:
            free = state.pools.free[MACHINE] - held
            place = next_fit(state, QUEUE, place, free, shadow - t, extra)
            if place < 0:
                break
            job = state.queue.job[QUEUE, place]
            if not begin_by_request(state, place, Why.BACKFILL):
                break
            if t + state.jobs.plan[job] > shadow:
                extra -= state.jobs.procs[job]
            place += 1
    passed(state)


@kernel
def procs_of(state: State, run: int) -> int:
    """Processors of a run."""
    return int(state.jobs.procs[state.runs.job[run]])


@kernel
def see_end(state: State, run: int) -> int:
    """An end is seen now; the processors that are free with it."""
    forget_run(state, MACHINE, run)
    state.pools.freed[MACHINE] = 1
    return procs_of(state, run)


def easy_pyss(t: int, state: State) -> None:
    """pyss: each submission of an instant with a pass of its own, then each end, in order of starting.

    A run whose request expires now is free for the passes of the submissions too; one that ends before its
    time is seen only when its turn comes.
    """
    held = 0
    for i in range(state.clock.ended):
        run = state.lists.ended_runs[i]
        if state.runs.expected[run] <= t:
            see_end(state, run)
        else:
            held += procs_of(state, run)
    for job in range(state.clock.first_new, state.clock.last_new):
        join(state, MACHINE, job)
        pass_holding(t, state, held)
    for i in range(state.clock.ended):
        run = state.lists.ended_runs[i]
        if state.runs.expected[run] > t:
            held -= see_end(state, run)
        pass_holding(t, state, held)


def easy_cqsim(t: int, state: State) -> None:
    """CQSim: each end of an instant with a pass of its own, in order of starting, then each submission."""
    held = 0
    for i in range(state.clock.ended):
        held += procs_of(state, state.lists.ended_runs[i])
    for i in range(state.clock.ended):
        held -= see_end(state, state.lists.ended_runs[i])
        pass_holding(t, state, held)
    for job in range(state.clock.first_new, state.clock.last_new):
        join(state, MACHINE, job)
        pass_holding(t, state, held)


# ---- a reservation that is made once ----------------------------------------------------------------------


@kernel
def shadow_of(t: int, state: State, head: int) -> int:
    """The shadow time of the head, as it was when it became the head."""
    if state.jobs.reserved[head] < 0:
        procs = state.jobs.procs[head]
        shadow, _ = when_enough(state.profile, MACHINE, t, state.pools.free[MACHINE], procs)
        state.jobs.reserved[head] = shadow
    return int(state.jobs.reserved[head])


@kernel
def join_by_name(state: State) -> None:
    """Newcomers join in the order of their ids as strings; ``Job.BACKFILL_KEY`` has who is next."""
    for place in range(state.clock.first_new, state.clock.last_new):
        join(state, MACHINE, state.jobs.backfill_key[place])


def easy_batsched_fast(t: int, state: State) -> None:
    """batsched's easy_bf_fast: the head keeps its first shadow time, by which whoever passes must end."""
    settle_ends(t, state, MACHINE)
    join_by_name(state)
    head = start_heads(t, state)
    if head >= 0:
        start_behind(state, shadow_of(t, state, head) - t)
    passed(state)


@kernel
def second_before(state: State, number: int) -> int:
    """A second before the submission time that is ``number``-th among the different ones, from 0 on."""
    for job in range(1, state.jobs.shape[1]):
        if state.jobs.submit[job] > state.jobs.submit[job - 1]:
            number -= 1
            if number == 0:
                return int(state.jobs.submit[job]) - SECOND
    return NEVER


@kernel
def stop_once_more(t: int, state: State) -> None:
    """Have the passes that AccaSim has though nothing happens.

    It takes a clock at 0 for one that is not set, and sets it to a second before the next job that it reads.
    With a log that begins at 0 this job is the first of the sixth submission time; with one that begins at 1
    it happens at the second time and again at the third, while these are read.
    """
    first = state.jobs.submit[0]
    if first == 0 and t < second_before(state, 5):
        wake(state, second_before(state, 5))
    elif first == SECOND:
        for number in range(1, 3):
            if t < second_before(state, number):
                wake(state, second_before(state, number))


def easy_accasim(t: int, state: State) -> None:
    """AccaSim: the head is not tried before its date; the others start whenever they fit."""
    stop_once_more(t, state)
    settle_ends(t, state, MACHINE)
    for job in range(state.clock.first_new, state.clock.last_new):
        join(state, MACHINE, job)
    head = head_of(state)
    while (
        head >= 0 and state.jobs.reserved[head] <= t and state.jobs.procs[head] <= state.pools.free[MACHINE]
    ):
        start_head(t, state, head)
        head = head_of(state)
    if head >= 0:
        date = shadow_of(t, state, head)
        start_behind(state, NEVER)
        # Time goes on to the date by itself only when nothing else is to happen any more.
        if state.clock.runs_now == 0 and state.clock.last_new == state.jobs.shape[1]:
            wake(state, date)
    passed(state)
