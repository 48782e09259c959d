"""Feedback: users who wait for the result of a job before they submit the next one.

E. Shmueli and D. G. Feitelson, "Using site-level modeling to evaluate the performance of parallel system
schedulers", MASCOTS 2006; N. Zakay and D. G. Feitelson, "Preserving user behavior characteristics in
trace-based simulation of parallel job scheduling", MASCOTS 2014::

    job 7 of the user      |submit ~~~~~ start ======== end|
    job 8                                                  |- think -|submit ~~~ start ====

In a simulation in which job 7 ends at another time, job 8 is submitted a think time after that.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from headway.arrays import Ints
from headway.errors import UsageError
from headway.units import microseconds
from headway.workload.ledger import LedgerEntry
from headway.workload.table import Workload
from headway.workload.transform.rebuild import by_submission
from headway.workload.transform.registry import transformation

NOBODY = -1


@transformation
def feedback(
    workload: Workload, by: Literal["sessions", "fields"] = "sessions", think: float = 1200.0
) -> Workload:
    """Submit jobs a think time after the simulated end of the job that their user waited for.

    The columns ``follows`` (the number of that job) and ``think`` say so to a simulation; a log that is
    written has them in fields 17 and 18.

    by: which job that is. In sessions it is the last of the user's jobs that had ended in the log when this
        one was submitted; with fields it is what the log says in SWF's fields 17 and 18 (preceding job, think
        time).
    think: in a session at most so many seconds lie between that end and the submission; who waits longer has
        come back later for other reasons, and submits when the log says. Not looked at with fields.
    """
    if think < 0:
        raise UsageError(f"feedback: think must be at least 0 seconds, not {think:g}")
    before, pause = of_sessions(workload, microseconds(think)) if by == "sessions" else of_fields(workload)
    numbers = np.where(before >= 0, workload.job[before], NOBODY)
    pause = np.where(before >= 0, pause, NOBODY)
    action = f"submitted after the end of the job that its user waited for ({by})"
    entry = LedgerEntry.of("feedback", action, workload.job[before >= 0], dropped=False)
    told = workload.with_entries(entry)
    return told.with_columns(follows=numbers, think=pause, preceding=numbers, think_time=pause)


def recorded_ends(workload: Workload) -> Ints:
    """When each job ended in the log (µs); -1 where the log does not say."""
    wait = workload.get("wait")
    if wait is None:
        return np.full(len(workload), NOBODY, np.int64)
    return np.where(wait >= 0, workload.submit + wait + workload.runtime, NOBODY)


def of_sessions(workload: Workload, most: int) -> tuple[Ints, Ints]:
    """The row of the last of a user's jobs to end before each submission (-1: none), and the time since."""
    end, user, submit = recorded_ends(workload), workload.user, workload.submit
    if len(workload) and not ((end >= 0) & (user >= 0)).any():
        lacks = "users" if not (user >= 0).any() else "recorded waits"
        raise UsageError(
            f"{workload.source.name}: sessions are seen in who submitted a job and when it ended, and the "
            f"log has no {lacks}; take fields instead of sessions, or no feedback"
        )
    before = np.full(len(workload), NOBODY, np.int64)
    # One that ended when it was submitted is waited for by nobody, so that nobody waits for himself.
    known = np.flatnonzero((end > submit) & (user >= 0))
    known = known[np.lexsort((known, submit[known], end[known], user[known]))]
    for whose in np.unique(user[known]).tolist():
        mine = known[np.searchsorted(user[known], whose) : np.searchsorted(user[known], whose, side="right")]
        rows = np.flatnonzero(user == whose)
        place = np.searchsorted(end[mine], submit[rows], side="right") - 1
        before[rows] = np.where(place >= 0, mine[place], NOBODY)
    pause = np.where(before >= 0, submit - end[before], NOBODY)
    return np.where(pause <= most, before, NOBODY), pause


def of_fields(workload: Workload) -> tuple[Ints, Ints]:
    """What the log itself says: the row of the preceding job, and the think time.

    A preceding job that is not there, or is not submitted before, is none. An unknown think time is what lay
    between in the log, or nothing.
    """
    named, pause = workload.get("preceding"), workload.get("think_time")
    if named is None or not (named > 0).any():
        raise UsageError(
            f"{workload.source.name}: no job has a preceding job (field 17); give feedback by=sessions, or "
            "leave it out"
        )
    known, rows = workload.rows_of(named)
    before = np.full(len(workload), NOBODY, np.int64)
    before[known] = rows
    rank = by_submission(workload, np.arange(len(workload)))
    before = np.where((named > 0) & (rank[before] < rank), before, NOBODY)
    end = recorded_ends(workload)[before]
    since = np.where(end >= 0, np.maximum(workload.submit - end, 0), 0)
    given = np.full(len(workload), NOBODY, np.int64) if pause is None else pause
    return before, np.where(given >= 0, given, since)


def with_known_leaders(workload: Workload) -> Workload:
    """The workload where nobody waits for a job that is not simulated; the ledger has those who would."""
    follows = workload.follows
    lost = (follows >= 0) & ~np.isin(follows, workload.job)
    action = "the job that its user waited for is not simulated: submitted when the log says"
    entry = LedgerEntry.of("feedback", action, workload.job[lost], dropped=False)
    told = workload.with_entries(entry)
    return told.with_columns(follows=np.where(lost, -1, follows), think=np.where(lost, -1, workload.think))
