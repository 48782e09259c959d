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
    R_LEAD,
    R_POOL,
    R_START,
    R_WHY,
    RUN,
    RUNS,
    STRETCH_BY,
    STRETCH_OVER,
    WALL,
    State,
)
from headway.schedule import ENDED, STATES, Pieces

Column = npt.NDArray[np.int64]

LOADING, SWAP_IN, SWAP_OUT = "loading", "swap_in", "swap_out"
DONE, RESUMED = ENDED.index("done"), ENDED.index("resumed")


def outcome(
    state: State,
    order: Column,
    pools: Sequence[str] = (),
    lead: str = "",
    nodes: Column | None = None,
) -> dict[str, Any]:
    """The columns of a schedule in file order; ``order`` is the file place of each of the engine's jobs.

    Where the pools have names, the schedule says which group each job ended in. ``lead`` is what runs do
    before their program begins. Where the pools are nodes, ``nodes`` has the number of each. What stands at
    a job that was refused means nothing.
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
    if lead == SWAP_IN:
        columns["start"] += log[R_LEAD, last]
    if log.shape[1] > len(order) or (lead == LOADING and log[R_LEAD].any()):
        add_pieces(columns, state, order, bool(pools) or nodes is not None, lead)
    if nodes is not None:
        columns["node"] = nodes[log[R_POOL, last]]
        pieces = columns.get("pieces")
        if pieces is not None:
            pieces.node, pieces.group = nodes[pieces.group], None
    return columns


def add_pieces(columns: dict[str, Any], state: State, order: Column, grouped: bool, lead: str) -> None:
    """The pieces of every job that has several; a run that was resumed began with its first piece."""
    log = state.runs[:, : state.clock[RUNS]]
    some = np.bincount(log[R_JOB], minlength=len(order))[log[R_JOB]] > 1
    if lead == LOADING:
        some |= log[R_LEAD] > 0
    chosen = np.flatnonzero(some)
    chosen = chosen[np.argsort(log[R_JOB, chosen], kind="stable")]
    job, start, end, ended, pool, ahead = (
        log[row, chosen] for row in (R_JOB, R_START, R_END, R_ENDED, R_POOL, R_LEAD)
    )
    suspended = np.append(job[1:] == job[:-1], False) & (ended == BY_SUSPENSION)
    resumed = np.append(False, suspended[:-1]) if len(job) else suspended
    begun, back = np.minimum(start + ahead, end), np.append(start[1:], 0)
    away = np.where(suspended, np.minimum(end + np.append(ahead[1:], 0), back), end)
    loads = (begun > start) & (lead == LOADING)
    swaps_in = (begun > start) & resumed
    # For each entry of the log, what it does one after the other, and which of it is real.
    states = np.array([STATES.index(name) for name in (LOADING, SWAP_IN, "running", SWAP_OUT, "suspended")])
    begins = np.stack([start, start, begun, end, away], axis=1)
    ends = np.stack([begun, begun, end, away, back], axis=1)
    real = np.stack([loads, swaps_in, (end > begun) | ~(loads | swaps_in), away > end, suspended], axis=1)
    entry, part = np.nonzero(real)
    how = np.broadcast_to(ended[:, None], real.shape).copy()
    how[:, :2] = np.where(real[:, 2:3], DONE, how[:, :2])
    how[:, 3], how[:, 4] = DONE, RESUMED
    run, row = runs_within(job, suspended), order[job]
    pieces = Pieces(
        job=row[entry],
        run=run[entry],
        state=states[part],
        start=begins[entry, part],
        end=ends[entry, part],
        procs=state.jobs[PROCS, job][entry],
        ended=how[entry, part],
        group=pool[entry] if grouped else None,
    )
    columns["pieces"] = pieces
    highest = np.full(len(order), -1, np.int64)
    np.maximum.at(highest, row, run)
    gap = np.flatnonzero(suspended & (run == highest[row]))
    for place in gap[::-1]:  # of several the first one comes last, and stays
        columns["start"][row[place]] = start[place]
        columns["why"][row[place]] = log[R_WHY, chosen[place]]


def as_run(state: State, order: Column, runtime: Column) -> dict[str, Column]:
    """Size, walltime and run time of each job in file order where the policy chose them; else nothing."""
    over = state.jobs[STRETCH_OVER]
    if not (over > 0).any():
        return {}
    columns = {name: np.empty(len(order), np.int64) for name in ("procs", "walltime", "runtime")}
    columns["procs"][order], columns["walltime"][order] = state.jobs[PROCS], state.jobs[WALL]
    columns["runtime"][order] = [
        -(-int(time) * int(by) // int(divisor)) if divisor > 0 else int(time)
        for time, by, divisor in zip(runtime[order], state.jobs[STRETCH_BY], over, strict=True)
    ]
    return columns


def runs_within(job: Column, suspended: npt.NDArray[np.bool_]) -> Column:
    """The number of each entry's run within its job, from 0; a suspended one continues with the next."""
    begins = np.append(True, job[1:] != job[:-1]) if len(job) else np.zeros(0, np.bool_)
    new_run = np.append(False, ~suspended[:-1]) & ~begins if len(job) else begins
    total = np.cumsum(new_run)
    return np.asarray(total - np.maximum.accumulate(np.where(begins, total, 0)), np.int64)
