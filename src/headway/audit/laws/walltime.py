"""No run, final or not, is longer than the walltime; suspensions and swaps do not count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headway.audit.record import Record
from headway.audit.verdict import Finding, of_jobs, together
from headway.schedule import STATES
from headway.units import SECOND, seconds_text

LATE = 90 * SECOND
"""How late Slurm may end a job that has used up its time."""
Column = NDArray[np.int64]


def check(record: Record) -> Finding:
    """Jobs in one piece by their start and end, the others run by run."""
    alone = np.where(record.in_pieces, 0, record.end - record.start)
    findings = [_longer(record, np.arange(len(record)), alone, record.walltime)]
    if record.pieces is not None:
        pieces = record.pieces
        counts = np.isin(pieces.state, [STATES.index("running"), STATES.index("loading")])
        keys = np.stack([pieces.job, pieces.run], axis=1)[counts]
        runs, place = np.unique(keys, axis=0, return_inverse=True)
        spent = np.zeros(len(runs), np.int64)
        np.add.at(spent, place.ravel(), (pieces.end - pieces.start)[counts])
        limit = record.walltime[runs[:, 0]]
        named = record.on_nodes is not None
        if record.speeds or named:  # a run that was given up may have been elsewhere, or with another limit
            last = np.zeros(len(record), np.int64)
            np.maximum.at(last, runs[:, 0], runs[:, 1])
            given_up = runs[:, 1] < last[runs[:, 0]]
            asked = record.asked_walltime[runs[:, 0]] + (LATE if named else 0)
            limit = np.where(given_up, np.maximum(limit, asked), limit)
        findings.append(_longer(record, runs[:, 0], spent, limit))
    return together(*findings)


def _longer(record: Record, rows: Column, spent: Column, limit: Column) -> Finding:
    """The runs (of the jobs at `rows`) that took more than they may."""

    def tell(place: int) -> str:
        return f"runs for {seconds_text(spent[place])} s, its walltime is {seconds_text(limit[place])} s"

    return of_jobs(record, spent > limit, tell, record.start[rows] + limit, rows)
