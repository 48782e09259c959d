"""How long runs last: as long as the program needs, cut at the walltime; and who is killed for it.

In one piece: end - start = min(runtime, walltime). In several: the pieces in which the job runs add up to
min(runtime, walltime - load), because loading the input counts in the walltime, while swaps and
suspensions do not.
"""

from __future__ import annotations

import numpy as np

from headway.audit.record import Record
from headway.audit.verdict import Column, Finding, of_jobs, together
from headway.schedule import STATES
from headway.units import SECOND, seconds_text

LATE = 90 * SECOND
"""How late Slurm may end a job that has used up its time."""


def allowed(record: Record) -> Column:
    """The time each job may run before it is killed (µs): the walltime less what loading took."""
    return np.asarray(np.maximum(record.walltime - record.time_in("loading"), 0))


def check_final(record: Record) -> Finding:
    """Time running in the final run against min(runtime, what is allowed)."""
    ran = np.where(record.in_pieces, record.time_in("running"), record.end - record.start)
    due = np.minimum(record.runtime, allowed(record))

    def tell(row: int) -> str:
        asked = f"runtime {seconds_text(record.runtime[row])}, walltime {seconds_text(record.walltime[row])}"
        return f"runs for {seconds_text(ran[row])} s instead of {seconds_text(due[row])} s ({asked})"

    return of_jobs(record, ran != due, tell)


def check_walltime(record: Record) -> Finding:
    """No run, final or not, is longer than the walltime: jobs in one piece by their start and end, the others
    run by run."""
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


def check_killed(record: Record) -> Finding | None:
    """killed = (runtime > walltime - load); not for schedules that do not say who was killed."""
    if record.killed is None:
        return None
    killed = record.killed
    left = allowed(record)
    # Whether a load was cut or came to its end right then, a job that needs nothing more does not show.
    reads = np.zeros(len(record), np.bool_) if record.file is None else record.file >= 0
    unknown = (record.runtime == 0) & (left == 0) & reads

    def tell(row: int) -> str:
        if killed[row]:
            return "is marked as killed although it needs no more than its walltime"
        return "needs more than its walltime and is not marked as killed"

    return of_jobs(record, (killed != (record.runtime > left)) & ~unknown, tell, at=record.end)
