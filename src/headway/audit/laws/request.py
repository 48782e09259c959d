"""Jobs run with the processors, the walltime and the run time of the log, moldable ones apart.

On clusters of other speeds than 1 times differ from the log's, so that only processors are compared there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headway.audit.record import Record
from headway.audit.verdict import Column, Fault, Finding, fault, found, of_jobs, together
from headway.plain import counted
from headway.schedule import STATES
from headway.units import seconds_text


def check(record: Record) -> Finding:
    """Rigid jobs as the log has them; pieces of the final run with the processors of their job."""
    return check_with(record, record.asked_walltime)


def check_overrun(record: Record) -> Finding:
    """The same where urgent jobs may finish: their walltime is what they needed, if that was longer."""
    walltimes = record.asked_walltime
    if record.urgent is not None:
        walltimes = np.where(record.urgent, np.maximum(walltimes, record.asked_runtime), walltimes)
    return check_with(record, walltimes)


def check_with(record: Record, walltimes: Column) -> Finding:
    """Jobs had what the log asks for, and these walltimes."""
    findings = []
    if record.on_nodes is None:  # whole nodes exceed the request; the invariant of shares judges those
        findings.append(_compare(record, lambda n: counted(n, "processor"), record.procs, record.asked))
    if not record.speeds:
        # What was lost to a failure ran until then.
        runtimes = np.where(
            record.given_up, np.minimum(record.asked_runtime, record.runtime), record.asked_runtime
        )
        if record.on_nodes is None:  # a site's rules shorten walltimes, and end what exceeds them late
            findings.append(_compare(record, _seconds("walltime"), record.walltime, walltimes))
        findings.append(_compare(record, _seconds("run time"), record.runtime, runtimes))
    findings.append(_pieces(record))
    return together(*findings)


def _seconds(what: str) -> Callable[[int], str]:
    return lambda us: f"{seconds_text(us)} s of {what}"


def _compare(record: Record, words: Callable[[int], str], had: Column, asked: Column) -> Finding:
    differs = had != asked
    if record.moldable is not None:
        differs &= ~record.moldable

    def tell(row: int) -> str:
        return f"has {words(had[row])}, the log says {words(asked[row])}"

    return of_jobs(record, differs, tell)


def _pieces(record: Record) -> Finding:
    if record.pieces is None:
        return Finding()
    pieces = record.pieces
    # Swapped out are only the processes on the processors that another job is to use.
    parts = (pieces.state == STATES.index("swap_out")) & (pieces.procs < record.procs[pieces.job])
    wrong = pieces.final(len(record)) & (pieces.procs != record.procs[pieces.job]) & ~parts

    def describe(piece: int) -> Fault:
        row = pieces.job[piece]
        job, had = record.job[row], pieces.procs[piece]
        message = f"a piece of job {job} has {had} processors, the schedule says {record.procs[row]}"
        return fault(pieces.start[piece], (job,), message)

    return found(wrong, describe)
