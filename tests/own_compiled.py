"""Compiled policies of a user's own that look at jobs which have not arrived, each by another way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from headway.policies.own.words import (
    FIRST_NEW,
    FREE,
    HEAD,
    LAST_NEW,
    MACHINE,
    OPEN,
    PARAMETERS,
    PROCS,
    Q_COUNT,
    Q_HEAD,
    Q_JOB,
    QUEUE,
    R_END,
    R_EXPECTED,
    R_JOB,
    RUNS,
    SECOND,
    SUBMIT,
    compiled,
    head_fits,
    join,
    kill,
    leave,
    reason,
    start,
    wake,
)  # fmt: skip

WAYS = ("nothing", "arrivals", "sizes", "how many", "own tables")


def tables(jobs: Mapping[str, Any], procs: int) -> tuple[Any, Any]:
    """The sizes of all jobs, made before the run."""
    return [np.append(jobs["procs"], 0)], np.zeros((0, 0))


@compiled(way=0, tables=tables)
def peeks(t, state):  # type: ignore[no-untyped-def]
    """First come, first served, with a pause where it sees something of the next job; way 0 sees nothing."""
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        join(state, MACHINE, job)
    way, coming, jobs = state.options[PARAMETERS], state.clock[LAST_NEW], state.jobs.shape[1]
    if coming < jobs and state.pools[Q_COUNT, QUEUE] > 0:
        if way == 1 and state.jobs[SUBMIT, coming] <= t + 5 * SECOND:
            return
        if way == 2 and state.jobs[PROCS, coming] == 1:
            return
        if way == 3 and jobs % 2 == 1:
            return
        if way == 4 and state.memory.integers[0, coming] == 1:
            return
    while head_fits(state, MACHINE):
        job = leave(state, QUEUE, state.pools[Q_HEAD, QUEUE])
        start(state, job, MACHINE, reason(t, state, job))


PERIOD, LAST_STOP = 3 * SECOND, 10 * SECOND


@compiled
def impatient(t, state):  # type: ignore[no-untyped-def]
    """Every three seconds, for ten, a head that does not fit stops the job that may run longest."""
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        join(state, MACHINE, job)
    if (
        t < LAST_STOP
        and t % PERIOD == 0
        and state.pools[Q_COUNT, QUEUE] > 0
        and not head_fits(state, MACHINE)
    ):
        head, longest = state.queue[Q_JOB, state.pools[Q_HEAD, QUEUE]], -1
        for run in range(state.clock[RUNS]):
            if state.runs[R_END, run] == OPEN and (
                longest < 0 or state.runs[R_EXPECTED, run] > state.runs[R_EXPECTED, longest]
            ):
                longest = run
        job = state.runs[R_JOB, longest]
        if state.jobs[PROCS, job] + state.pools[FREE, MACHINE] >= state.jobs[PROCS, head]:
            kill(state, job)
            leave(state, QUEUE, state.pools[Q_HEAD, QUEUE])
            start(state, head, MACHINE, HEAD)
            join(state, MACHINE, job)
    while head_fits(state, MACHINE):
        job = leave(state, QUEUE, state.pools[Q_HEAD, QUEUE])
        start(state, job, MACHINE, reason(t, state, job))
    if t < LAST_STOP and state.pools[Q_COUNT, QUEUE] > 0:
        wake(state, t - t % PERIOD + PERIOD)
