"""From when to when shares of named nodes were held: by each run, and by what of it used its CPUs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.audit.record import Record
from headway.schedule import STATES, Shares
from headway.schedule.shares import joined

Column = NDArray[np.int64]


@dataclass(frozen=True)
class Held:
    """Stretches of time; `job` is the row of the record, and `shares.job` the number of the stretch."""

    job: Column
    start: Column
    end: Column
    shares: Shares


def runs(record: Record) -> Held:
    """Every run from its start to its end, suspensions within: a suspended run keeps its memory.

    Final ones alone where the nodes of the others are not known.
    """
    pieces, shares = record.pieces, _shares(record)
    if pieces is None or pieces.shares is None:
        return Held(np.arange(len(record)), record.start, record.end, shares)
    order = np.lexsort((pieces.start, pieces.run, pieces.job))
    job, run = pieces.job[order], pieces.run[order]
    first = np.flatnonzero(np.append(True, (job[1:] != job[:-1]) | (run[1:] != run[:-1]))[: len(job)])
    end = np.maximum.reduceat(pieces.end[order], first) if len(first) else pieces.end[:0]
    chosen = order[first]
    several = Held(pieces.job[chosen], pieces.start[chosen], end, pieces.shares.in_rows(chosen, len(pieces)))
    return _with_others(record, several, shares)


def busy(record: Record) -> Held:
    """The same without the time in which a run was suspended, when others may have its CPUs."""
    pieces, shares = record.pieces, _shares(record)
    if pieces is None:
        return Held(np.arange(len(record)), record.start, record.end, shares)
    if pieces.shares is None:
        return _of_final_runs(record, shares)
    chosen = np.flatnonzero(pieces.holding)
    several = Held(
        pieces.job[chosen],
        pieces.start[chosen],
        pieces.end[chosen],
        pieces.shares.in_rows(chosen, len(pieces)),
    )
    return _with_others(record, several, shares)


def _shares(record: Record) -> Shares:
    assert record.on_nodes is not None
    return record.on_nodes.shares


def _with_others(record: Record, several: Held, shares: Shares) -> Held:
    """And the jobs that ran in one piece."""
    once = np.flatnonzero(~record.in_pieces)
    return Held(
        np.concatenate([several.job, once]),
        np.concatenate([several.start, record.start[once]]),
        np.concatenate([several.end, record.end[once]]),
        joined(several.shares, shares.in_rows(once, len(record)), len(several.job)),
    )


def _of_final_runs(record: Record, shares: Shares) -> Held:
    """Final runs, with the shares of their jobs."""
    pieces = record.pieces
    assert pieces is not None
    suspended = np.zeros(len(record), np.bool_)
    suspended[pieces.job[pieces.state == STATES.index("suspended")]] = True
    mine = np.flatnonzero(pieces.final(len(record)) & pieces.holding & suspended[pieces.job])
    once = np.flatnonzero(~suspended)
    job = np.concatenate([pieces.job[mine], once])
    return Held(
        job,
        np.concatenate([pieces.start[mine], record.start[once]]),
        np.concatenate([pieces.end[mine], record.end[once]]),
        shares.in_rows(job, len(record)),
    )
