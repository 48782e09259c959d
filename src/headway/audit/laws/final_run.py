"""Each job comes to its end in exactly one run: the last. Runs before it were given up."""

from __future__ import annotations

import numpy as np

from headway.audit.record import ENDS_A_RUN, GIVES_UP, Record
from headway.audit.verdict import Fault, Finding, fault, found
from headway.schedule import ENDED, STATES
from headway.schedule.pieces import NONE


def check(record: Record) -> Finding | None:
    """How the last piece of each run ended; not where the pieces do not say."""
    if record.pieces is None or (record.pieces.ended == NONE).all():
        return None
    pieces = record.pieces
    order = pieces.in_order()
    job, run, ended = pieces.job[order], pieces.run[order], pieces.ended[order]
    runs = pieces.state[order] == STATES.index("running")  # loading or swapping may well be done before
    closes_job = np.append(job[1:] != job[:-1], True)
    closes_run = closes_job | np.append(run[1:] != run[:-1], True)
    finishes = np.isin(ended, ENDS_A_RUN)
    finishes |= closes_job & record.given_up[job]
    wrong = np.where(closes_job, ~finishes, np.where(closes_run, ~np.isin(ended, GIVES_UP), finishes & runs))
    wrong &= ended != NONE

    def describe(place: int) -> Fault:
        number, how = record.job[job[place]], ENDED[ended[place]]
        if closes_job[place]:
            message = f"the final run of job {number} ends as {how!r}, which is no end"
        elif closes_run[place]:
            message = f"run {run[place]} of job {number} ends as {how!r}, and another run follows"
        else:
            message = f"run {run[place]} of job {number} goes on after a piece that ended as {how!r}"
        return fault(pieces.end[order[place]], (number,), message)

    return found(wrong, describe)
