"""From the engine's log of runs to the columns of a schedule, and the pieces of jobs that ran more than once.

A job that is stopped and starts again has several runs in the log. If its work was lost, each is a run of its
own and the last one counts. If it was suspended, the next goes on with it::

    log            stopped, work lost      started again        suspended      resumed
    pieces    run 0 |running|          run 1 |running....|   run 0 |running|suspended|running|
    schedule                                 start      end        start                    end
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.engine.tables import (
    AT_WALLTIME,
    BY_SUSPENSION,
    PROCS,
    PROMISE,
    R_END,
    R_ENDED,
    R_JOB,
    R_POOL,
    R_START,
    R_WHY,
    RUN,
    RUNS,
    State,
)
from headway.schedule import ENDED, STATES, Pieces

Column = npt.NDArray[np.int64]

RUNNING, SUSPENDED = STATES.index("running"), STATES.index("suspended")
RESUMED = ENDED.index("resumed")


def outcome(state: State, order: Column, pools: Sequence[str] = ()) -> dict[str, Any]:
    """The columns of a schedule in file order; ``order`` is the file place of each of the engine's jobs.

    Where the pools have names, the schedule says which group each job ended in. What stands at a job that was
    refused means nothing.
    """
    log = state.runs[:, : max(state.clock[RUNS], min(len(order), 1))]
    last = np.empty(len(order), np.int64)
    last[order] = state.jobs[RUN]
    promise = np.empty(len(order), np.int64)
    promise[order] = state.jobs[PROMISE]
    columns: dict[str, Any] = {
        "start": log[R_START, last],
        "end": log[R_END, last],
        "why": log[R_WHY, last].astype(np.uint8),
        "killed": log[R_ENDED, last] == AT_WALLTIME,
        "promise": promise,
    }
    if pools:
        columns |= {"group": log[R_POOL, last], "labels": {"group": tuple(pools)}}
    if log.shape[1] > len(order):
        add_pieces(columns, state, order, bool(pools))
    return columns


def add_pieces(columns: dict[str, Any], state: State, order: Column, grouped: bool) -> None:
    """The pieces of every job with several runs; a run that was resumed began with its first piece."""
    log = state.runs[:, : state.clock[RUNS]]
    several = np.flatnonzero(np.bincount(log[R_JOB], minlength=len(order))[log[R_JOB]] > 1)
    several = several[np.argsort(log[R_JOB, several], kind="stable")]
    job, start, end, ended, pool = (log[row, several] for row in (R_JOB, R_START, R_END, R_ENDED, R_POOL))
    suspended = np.append(job[1:] == job[:-1], False) & (ended == BY_SUSPENSION)
    run, row, procs = runs_within(job, suspended), order[job], state.jobs[PROCS, job]
    gap = np.flatnonzero(suspended)
    entry = np.sort(np.append(np.arange(len(job)), gap))  # twice where a suspension follows
    waits = np.append(False, entry[1:] == entry[:-1]) if len(entry) else np.zeros(0, np.bool_)
    pieces = Pieces(
        job=row[entry],
        run=run[entry],
        state=np.where(waits, SUSPENDED, RUNNING),
        start=np.where(waits, end[entry], start[entry]),
        end=np.where(waits, start[np.minimum(entry + 1, len(job) - 1)], end[entry]),
        procs=procs[entry],
        ended=np.where(waits, RESUMED, ended[entry]),
        group=pool[entry] if grouped else None,
    )
    columns["pieces"] = pieces
    final = pieces.final(len(order))[~waits]
    for place in gap[final[gap]][::-1]:  # of several the first one comes last, and stays
        columns["start"][row[place]] = start[place]
        columns["why"][row[place]] = log[R_WHY, several[place]]


def runs_within(job: Column, suspended: npt.NDArray[np.bool_]) -> Column:
    """The number of each entry's run within its job, from 0; a suspended one continues with the next."""
    begins = np.append(True, job[1:] != job[:-1]) if len(job) else np.zeros(0, np.bool_)
    new_run = np.append(False, ~suspended[:-1]) & ~begins if len(job) else begins
    total = np.cumsum(new_run)
    return np.asarray(total - np.maximum.accumulate(np.where(begins, total, 0)), np.int64)
