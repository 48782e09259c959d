"""The pieces of a job follow one another, and those of its final run agree with the schedule."""

from __future__ import annotations

import numpy as np

from headway.audit.record import ENDS_A_RUN, GIVES_UP, Record
from headway.audit.verdict import Fault, Finding, fault, found, of_jobs, together
from headway.schedule import ENDED, STATES, Pieces
from headway.schedule.codes import NONE
from headway.units import seconds_text


def check(record: Record) -> Finding:
    """end >= start; no overlap within a job; the final run goes from the job's start to its end."""

    def backwards(row: int) -> str:
        end, start = seconds_text(record.end[row]), seconds_text(record.start[row])
        return f"ends at {end}, before its start at {start}"

    jobs = of_jobs(record, record.end < record.start, backwards)
    if record.pieces is None:
        return jobs
    return together(jobs, _order(record, record.pieces), _outline(record, record.pieces))


def _order(record: Record, pieces: Pieces) -> Finding:
    order = pieces.in_order()
    job, start, end = pieces.job[order], pieces.start[order], pieces.end[order]
    early = np.zeros(len(order), np.bool_)
    early[1:] = (job[1:] == job[:-1]) & (start[1:] < end[:-1])

    def describe(place: int) -> Fault:
        number, t = record.job[job[place]], start[place]
        if end[place] < t:
            return fault(t, (number,), f"a piece of job {number} ends before it starts")
        return fault(t, (number,), f"two pieces of job {number} overlap at {seconds_text(t)}")

    return found(early | (end < start), describe)


def _outline(record: Record, pieces: Pieces) -> Finding:
    final = pieces.final(len(record))
    first = np.full(len(record), np.iinfo(np.int64).max)
    last = np.full(len(record), np.iinfo(np.int64).min)
    np.minimum.at(first, pieces.job[final], pieces.start[final])
    np.maximum.at(last, pieces.job[final], pieces.end[final])
    wrong = record.in_pieces & ((first != record.start) | (last != record.end))

    def describe(row: int) -> Fault:
        job, start, end = record.job[row], record.start[row], record.end[row]
        by_pieces = f"from {seconds_text(first[row])} to {seconds_text(last[row])} by its pieces"
        by_schedule = f"from {seconds_text(start)} to {seconds_text(end)} by the schedule"
        message = f"the final run of job {job} goes {by_pieces}, {by_schedule}"
        return fault(start, (job,), message)

    return found(wrong, describe)


def check_final_run(record: Record) -> Finding | None:
    """Each job comes to its end in exactly one run, the last; runs before it were given up. Not where the
    pieces do not say how they ended."""
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
            message = f"the final run of job {number} ends as {how!r}, which does not end a piece"
        elif closes_run[place]:
            message = f"run {run[place]} of job {number} ends as {how!r}, and another run follows"
        else:
            message = f"run {run[place]} of job {number} continues after a piece that ended as {how!r}"
        return fault(pieces.end[order[place]], (number,), message)

    return found(wrong, describe)
