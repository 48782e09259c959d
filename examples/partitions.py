"""Partitions with fair share, compiled: each queue has a part of the machine; who used little goes first.

    headway simulate log.swf.gz --policy './examples/partitions.py:partitions(share=50, half_life=604800)'

Each queue of the log is a partition that holds at most `share` percent of the processors at a time;
partitions overlap, and a job that is wider than its partition runs when nothing else does there. In each
partition jobs start in the order of their users' use of the machine, ties by submission, without
backfilling. What was used, in processor-seconds, counts half as much after every `half_life` (s).
"""

from enum import IntEnum

import numpy as np

from headway.policies.own.words import (
    ENDED,
    ENDED_RUNS,
    FIRST_NEW,
    FREE,
    LAST_NEW,
    MACHINE,
    PARAMETERS,
    PROCS,
    Q_HEAD,
    Q_JOB,
    Q_PROCS,
    Q_TAIL,
    QUEUE,
    R_JOB,
    R_START,
    SECOND,
    SIZE,
    compiled,
    join,
    leave,
    reason,
    start,
)  # fmt: skip


class Of(IntEnum):
    """Rows of whole numbers: of each job, then of each partition; WAITS: its first job must wait."""

    USER = 0
    PARTITION = 1
    HELD = 2
    WAITS = 3


class Used(IntEnum):
    """Rows of floats: of each user; the first entry of the second is when that was true (s)."""

    PROCESSOR_SECONDS = 0
    WHEN = 1


def tables(jobs, procs):
    user = np.maximum(jobs["user"], 0)
    partition = np.unique(jobs["queue"], return_inverse=True)[1]
    return [user, partition, 0 * user, 0 * user], np.zeros((2, user.max(initial=0) + 1))


@compiled(tables=tables, share=50, half_life=604_800)
def partitions(t, state):
    share, half_life = state.options[PARAMETERS], state.options[PARAMETERS + 1]
    table = state.memory.integers
    user, partition, held, waits = table[Of.USER], table[Of.PARTITION], table[Of.HELD], table[Of.WAITS]
    used, when = state.memory.floats[Used.PROCESSOR_SECONDS], state.memory.floats[Used.WHEN]

    used *= 0.5 ** ((t / SECOND - when[0]) / half_life)
    when[0] = t / SECOND
    for i in range(state.clock[ENDED]):
        run = state.lists[ENDED_RUNS, i]
        job = state.runs[R_JOB, run]
        held[partition[job]] -= state.jobs[PROCS, job]
        used[user[job]] += state.jobs[PROCS, job] * (t - state.runs[R_START, run]) / SECOND
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        join(state, MACHINE, job)

    for place in range(state.pools[Q_HEAD, QUEUE], state.pools[Q_TAIL, QUEUE]):
        waits[partition[state.queue[Q_JOB, place]]] = 0
    while True:
        best = -1
        for place in range(state.pools[Q_HEAD, QUEUE], state.pools[Q_TAIL, QUEUE]):
            if state.queue[Q_PROCS, place] > state.pools[SIZE, MACHINE]:
                continue  # one that has left the line
            job = state.queue[Q_JOB, place]
            first = best < 0 or used[user[job]] < used[user[state.queue[Q_JOB, best]]]
            if first and waits[partition[job]] == 0:
                best = place
        if best < 0:
            return
        job = state.queue[Q_JOB, best]
        part, procs = partition[job], state.jobs[PROCS, job]
        most = share * state.pools[SIZE, MACHINE] // 100
        if procs > state.pools[FREE, MACHINE] or (held[part] > 0 and held[part] + procs > most):
            waits[part] = 1
        else:
            leave(state, QUEUE, best)
            start(state, job, MACHINE, reason(t, state, job))
            held[part] += procs
