"""Checkpointed jobs in an SWF log: lines of status 2, 3 and 4 are pieces of one job.

Some logs have exit codes of programs for a status, and then every line is a whole job. Where we write such
numbers the header says so, in a line of its own, because a log that is cut may not show it any more.
"""

from __future__ import annotations

import numpy as np

from headway.arrays import Ints, Mask
from headway.units import LONGEST
from headway.workload.swf_fields import INDEX
from headway.workload.swf_reading import Reading

PIECES = (2, 4)
"""Least and greatest status of a piece; the last piece has 3 (done) or 4 (failed)."""
SUMMARIES = (0, 1, 5)
ENDS = np.array([-1, 1, 0])
"""Status of a joined job whose last piece has 2 (nothing is known of its end), 3 (done) or 4 (failed)."""

PARTIAL = "partial"
"""The rule, and the name of its entries."""
WHOLE = "exit codes of programs, not pieces of jobs: kept as whole jobs"
WHOLE_JOBS = "WholeJobs"
"""The key of a header line that says that no line of the log is a piece of a job."""
WHOLE_JOBS_LINE = f"; {WHOLE_JOBS}: every line is a job; status 2, 3 and 4 are exit codes, not pieces of jobs"


ADDED = ("runtime", "cpu_time")
LARGEST_OF = ("allocated", "requested_procs", "requested_time", "used_memory_kb", "requested_memory_kb")


def is_piece(status: Ints) -> Mask:
    """Which lines are pieces of a job by their status alone."""
    return (status >= PIECES[0]) & (status <= PIECES[1])


def _are_exit_codes(status: Ints, job: Ints, piece: Mask) -> bool:
    """Whether a log has the exit codes of programs for a status, as that of Sandia's Ross has.

    There are then other numbers than the format's, and no piece has a job number in common with another line.
    """
    if not ((status > SUMMARIES[-1]) | (status < -1)).any():
        return False
    numbers, counts = np.unique(job[job >= 0], return_counts=True)
    return not np.isin(job[piece], numbers[counts > 1]).any()


def join_partial(log: Reading) -> None:
    """Leave one line per job: the summary line where there is one, else its pieces joined or skipped.

    A joined job stands at its first piece, with the first known submit time, run times added up, the largest
    request and the status that the last piece gives to the whole. Joined and skipped lines count as dropped,
    so that the ledger adds up.
    """
    status = log.columns.get("status")
    if status is None:
        return
    piece = is_piece(status)
    if not piece.any():
        return
    job = log.get("job")
    if log.whole_jobs or _are_exit_codes(status, job, piece):
        log.note(PARTIAL, WHOLE, piece)
        return
    summarised = piece & (job >= 0) & np.isin(job, job[np.isin(status, SUMMARIES)])
    log.note(PARTIAL, "a piece of a job that has a summary line: left out", summarised, dropped=True)
    alone = piece & ~summarised
    if not alone.any():
        return
    if log.rules["partial"] == "skip":
        log.note(PARTIAL, "a piece of a job without a summary line: skipped", alone, dropped=True)
        return
    lone = np.flatnonzero(alone)
    # Pieces of one job side by side, in file order; lines without a job number are jobs of their own.
    keys = np.where(job[lone] >= 0, job[lone], -1 - lone)
    order = np.argsort(keys, kind="stable")
    lone, keys = lone[order], keys[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    firsts = lone[starts]
    _join(log, lone, starts, firsts)
    first = np.zeros(len(job), dtype=np.bool_)
    first[firsts] = True
    log.note(PARTIAL, "pieces of a job without a summary line: joined into one job", first)
    log.note(PARTIAL, "further pieces of a job: part of the joined job", alone & ~first, dropped=True)


def refuse_partial(log: Reading) -> None:
    """Complain of pieces in a log that is read in parts: the other pieces may stand anywhere in it."""
    status = log.columns.get("status")
    if status is None:
        return
    piece = is_piece(status)
    if piece.any() and log.whole_jobs:
        log.note(PARTIAL, WHOLE, piece)
    elif piece.any():
        raise log.error(
            "a piece of a checkpointed job, whose other pieces may be anywhere in the log; join them with "
            "'headway convert', or simulate the log without --stream",
            int(np.argmax(piece)),
            INDEX["status"],
        )


def _join(log: Reading, pieces: np.ndarray, starts: np.ndarray, firsts: np.ndarray) -> None:
    """Write each job's joined values into its first piece."""
    lasts = pieces[np.append(starts[1:], len(pieces)) - 1]
    submit = log.columns.get("submit")
    if submit is not None:
        known = np.where(submit[pieces] >= 0, np.arange(len(pieces)), len(pieces))
        first_known = np.minimum.reduceat(known, starts)
        found = first_known < len(pieces)
        submit[firsts[found]] = submit[pieces[first_known[found]]]
    for name in ADDED:
        if (column := log.columns.get(name)) is not None:
            values = column[pieces]
            unknown = np.logical_and.reduceat(values < 0, starts)
            values = np.maximum(values, 0)
            if np.add.reduceat(values.astype(np.float64), starts).max() > LONGEST:
                problem = (
                    "the pieces of a checkpointed job add up to more than can be kept; correct their times"
                )
                raise log.error(problem, firsts.min(), INDEX[name])
            column[firsts] = np.where(unknown, column[firsts], np.add.reduceat(values, starts))
    for name in LARGEST_OF:
        if (column := log.columns.get(name)) is not None:
            column[firsts] = np.maximum.reduceat(column[pieces], starts)
    status = log.columns["status"]
    status[firsts] = ENDS[status[lasts] - PIECES[0]]
