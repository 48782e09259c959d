"""Compiled policies of a user's own that look at jobs which have not arrived, each by another way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from headway.policies.own.words import (
    FIRST_NEW,
    LAST_NEW,
    MACHINE,
    PARAMETERS,
    PROCS,
    Q_COUNT,
    Q_HEAD,
    QUEUE,
    SECOND,
    SUBMIT,
    compiled,
    head_fits,
    join,
    leave,
    reason,
    start,
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
