"""Each job is scheduled once, as the log asks: its start, processors, times, pieces and end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from headway.audit.record import ENDS_A_RUN, GIVES_UP, Record
from headway.audit.verdict import Column, Fault, Finding, fault, found, of_jobs, together
from headway.plain import counted
from headway.schedule import ENDED, STATES, Pieces
from headway.schedule.csv_table import NONE
from headway.units import SECOND, seconds_text


def check_complete(record: Record) -> Finding:
    """Missing, repeated and foreign job numbers."""
    findings = [
        _numbers(record.missing, "of the log is not in the schedule"),
        _numbers(record.repeated, "is in the schedule more than once"),
        _numbers(record.foreign, "is in the schedule and not in the log"),
    ]
    if record.lost:
        message = (
            f"the table has {abs(record.lost)} {'fewer' if record.lost > 0 else 'more'} jobs than the run"
        )
        findings.append(Finding(abs(record.lost), (fault(None, (), message),)))
    return together(*findings)


def _numbers(jobs: Sequence[int], what: str) -> Finding:
    return found(jobs, lambda job: fault(None, (job,), f"job {job} {what}"))


# When jobs start: not before they are submitted, and no later than promised; and when those are submitted
# that wait for another job.


def check_submission(record: Record) -> Finding:
    """start >= submit, in all runs of a job."""
    first = record.first_start

    def tell(row: int) -> str:
        start, submit = seconds_text(first[row]), seconds_text(record.submit[row])
        return f"starts at {start}, before its submission at {submit}"

    return of_jobs(record, first < record.submit, tell, at=first)


def check_think(record: Record) -> Finding | None:
    """Who waits for the end of another job is submitted a think time after it, others as the log says.

    A job that was refused has no end here, so that nothing is said of who waited for it.
    """
    follows, think = record.follows, record.think
    if follows is None or think is None:
        return None
    leader = record.leader
    wanted = np.where(leader >= 0, record.end[leader] + think, record.asked_submit)
    refused = (follows >= 0) & (leader < 0)

    def describe(place: int) -> Fault:
        job, submit = int(record.job[place]), seconds_text(int(record.submit[place]))
        if leader[place] < 0:
            said = f"the log says {seconds_text(int(wanted[place]))} s"
        else:
            end = seconds_text(int(record.end[leader[place]]))
            said = (
                f"job {follows[place]} ended at {end} s and its user thought for "
                f"{seconds_text(int(think[place]))} s"
            )
        message = f"job {job} was submitted at {submit} s, but {said}"
        jobs = (job,) if leader[place] < 0 else (job, int(follows[place]))
        return fault(record.submit[place], jobs, message)

    return found((record.submit != wanted) & ~refused, describe)


def check_promise(record: Record) -> Finding | None:
    """start <= promise wherever the schedule says that its promises are laws."""
    return check_promised(record) if record.promise_kind == "start" else None


def check_promised(record: Record) -> Finding | None:
    """start <= promise for every job that has one; None where no promises are recorded."""
    if record.promise is None:
        return None
    promise = record.promise

    def tell(row: int) -> str:
        return f"starts at {seconds_text(record.start[row])}, it was promised {seconds_text(promise[row])}"

    return of_jobs(record, (promise >= 0) & (record.start > promise), tell, at=promise)


# Jobs run with the processors, the walltime and the run time of the log, moldable ones apart.
#
# On clusters of other speeds than 1 times differ from the log's, so that only processors are compared there.


def check_request(record: Record) -> Finding:
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
    findings.append(_sizes_of_pieces(record))
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


def _sizes_of_pieces(record: Record) -> Finding:
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


# How long runs last: as long as the program needs, cut at the walltime; and who is killed for it.
#
# In one piece: end - start = min(runtime, walltime). In several: the pieces in which the job runs add up to
# min(runtime, walltime - load), because loading the input counts in the walltime, while swaps and
# suspensions do not.

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


# The pieces of a job follow one another, and those of its final run agree with the schedule.


def check_pieces(record: Record) -> Finding:
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
