"""EASY backfilling as a compiled policy of your own: as fast as the built-in one.

    headway simulate log.swf.gz --policy ./examples/easy_compiled.py:easy

``t`` is now (µs), ``state`` holds the tables; jobs are numbers in order of arrival.
"""

from headway.policies.own.words import (
    BACKFILL,
    FIRST_NEW,
    FREE,
    LAST_NEW,
    MACHINE,
    PLAN,
    PROCS,
    Q_COUNT,
    Q_HEAD,
    Q_JOB,
    QUEUE,
    compiled,
    head_fits,
    join,
    leave,
    next_fit,
    reason,
    settle,
    start_and_book,
    when_free,
)  # fmt: skip


@compiled
def easy(t, state):
    settle(t, state, MACHINE)  # what ended is free again in the profile
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        join(state, MACHINE, job)

    while head_fits(state, MACHINE):
        job = leave(state, QUEUE, state.pools[Q_HEAD, QUEUE])
        start_and_book(state, job, MACHINE, reason(t, state, job))
    if state.pools[Q_COUNT, QUEUE] == 0:
        return

    place = state.pools[Q_HEAD, QUEUE]
    procs = state.jobs[PROCS, state.queue[Q_JOB, place]]
    shadow, free_then = when_free(state.profile, MACHINE, t, procs)
    extra = free_then - procs
    place += 1
    while True:
        place = next_fit(state, QUEUE, place, state.pools[FREE, MACHINE], shadow - t, extra)
        if place < 0:
            return
        job = leave(state, QUEUE, place)
        start_and_book(state, job, MACHINE, BACKFILL)
        if t + state.jobs[PLAN, job] > shadow:
            extra -= state.jobs[PROCS, job]
        place += 1
