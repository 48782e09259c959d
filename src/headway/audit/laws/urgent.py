"""Urgent jobs first: who may be stopped, how soon an urgent job starts, and where a stopped job goes on.

Nothing of the policy's swap times is asked: a delay by preemption is what the swap-out pieces show.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from headway.audit.laws import jobs
from headway.audit.record import Record
from headway.audit.verdict import Column, Fault, Finding, Law, fault, found, of_jobs, together
from headway.policies.spec import Spec
from headway.schedule import STATES, Pieces
from headway.schedule.pieces import FOR_URGENT
from headway.units import seconds_text
from headway.workload import Workload

PROMPT = "urgent prompt"
SWAP_OUT, SUSPENDED = STATES.index("swap_out"), STATES.index("suspended")


def check_untouched(record: Record) -> Finding | None:
    """No piece of an urgent job ends because it was stopped, and none is in another state than running."""
    if record.urgent is None or not record.urgent.any():
        return None
    pieces = record.pieces
    if pieces is None:
        return Finding()
    other = pieces.state != STATES.index("running")
    touched = record.urgent[pieces.job] & (np.isin(pieces.ended, FOR_URGENT) | other)

    def describe(piece: int) -> Fault:
        job, t = record.job[pieces.job[piece]], pieces.end[piece]
        return fault(t, (job,), f"urgent job {job} is stopped at {seconds_text(t)}")

    return found(touched, describe)


def check_prompt(record: Record, until: Callable[[Record, Column], Column]) -> Finding | None:
    """An urgent job that fits beside all other urgent jobs in the system starts on arrival, or after swaps.

    Whatever is not used by urgent jobs can be given to it, so it waits only until the last of the jobs that
    are stopped when it arrives is swapped out, as ``until`` tells: where leftover processors are not swapped
    out, only swap-outs that begin on arrival delay it, and where jobs are swapped out whole, also those that
    are under way.
    """
    if record.urgent is None or not record.urgent.any():
        return None
    rows = np.flatnonzero(record.urgent)
    submit, start, end, procs = (
        column[rows] for column in (record.submit, record.start, record.end, record.procs)
    )
    by_submit, by_end = np.argsort(submit, kind="stable"), np.argsort(end, kind="stable")
    come = np.concatenate([[0], np.cumsum(procs[by_submit])])
    gone = np.concatenate([[0], np.cumsum(procs[by_end])])
    # All that came until then, itself and others of the same instant included, less those that had ended; of
    # jobs that come and go within one instant too many are counted, which only spares some from the law.
    system = come[np.searchsorted(submit[by_submit], submit, side="right")]
    system -= gone[np.searchsorted(end[by_end], submit, side="left")]
    delay = until(record, submit)
    late = (system <= record.capacity) & (start > delay)

    def describe(place: int) -> Fault:
        job, t = record.job[rows[place]], submit[place]
        until = f"the last swap-out ends at {seconds_text(delay[place])}" if delay[place] > t else "at once"
        message = (
            f"urgent job {job}, submitted at {seconds_text(t)}, starts at {seconds_text(start[place])}, "
            f"though it fits next to all other urgent jobs ({until})"
        )
        return fault(t, (job,), message)

    return found(late, describe)


def swapped_out(record: Record, times: Column) -> Column:
    """For each time when the last swap-out that begins then has ended; the time itself if there is none."""
    latest = times.copy()
    if record.pieces is None:
        return latest
    out = record.pieces.state == SWAP_OUT
    begin, end = record.pieces.start[out], record.pieces.end[out]
    order = np.lexsort((end, begin))
    place = np.searchsorted(begin[order], times, side="right") - 1
    some = place >= 0
    same = np.zeros(len(times), np.bool_)
    same[some] = begin[order][place[some]] == times[some]
    latest[same] = end[order][place[same]]
    return latest


def under_way(record: Record, times: Column) -> Column:
    """For each time when the last swap-out that has begun by then has ended; the time itself if all have."""
    if record.pieces is None:
        return times
    out = record.pieces.state == SWAP_OUT
    order = np.argsort(record.pieces.start[out], kind="stable")
    begin = record.pieces.start[out][order]
    ends = np.append(0, np.maximum.accumulate(record.pieces.end[out][order]))
    return np.asarray(np.maximum(times, ends[np.searchsorted(begin, times, side="right")]))


def check_same_processors(record: Record) -> Finding | None:
    """All pieces of one run name the same processors; a swap-out names some of them."""
    pieces = record.pieces
    if pieces is None or pieces.processors is None or not (pieces.state == SUSPENDED).any():
        return None
    sets: dict[tuple[int, int], str] = {}
    wrong: list[int] = []
    for piece in pieces.in_order().tolist():
        text = pieces.processors[piece]
        if text and pieces.state[piece] != SWAP_OUT:
            key = (int(pieces.job[piece]), int(pieces.run[piece]))
            if sets.setdefault(key, text) != text:
                wrong.append(piece)

    def tell(piece: int) -> str:
        t, text = seconds_text(pieces.start[piece]), pieces.processors
        assert text is not None
        before = sets[(int(pieces.job[piece]), int(pieces.run[piece]))]
        return f"is on processors {text[piece]} at {t}, it began on {before}"

    return of_jobs(record, wrong, tell, pieces.start, pieces.job)


def check_no_gaps(record: Record) -> Finding | None:
    """From its first start to its end a suspended job runs, is swapped or is suspended, without a gap.

    With the universal invariant on the time it runs this is: end - start = run + suspended + swaps.
    """
    pieces = record.pieces
    if pieces is None or not (pieces.state == SUSPENDED).any():
        return None
    order = pieces.in_order()
    job, run = pieces.job[order], pieces.run[order]
    start, end = pieces.start[order], pieces.end[order]
    gap = (job[1:] == job[:-1]) & (run[1:] == run[:-1]) & (start[1:] > end[:-1])

    def describe(place: int) -> Fault:
        number, t = record.job[job[place]], end[place]
        message = (
            f"nothing is said of job {number} from {seconds_text(t)} to {seconds_text(start[place + 1])}"
        )
        return fault(t, (number,), message)

    return together(found(gap, describe), _unresumed(record, pieces, order))


def _unresumed(record: Record, pieces: Pieces, order: Column) -> Finding:
    """A suspension is followed by a return of the same run."""
    aside = pieces.state[order] == SUSPENDED
    last = np.append(pieces.job[order][1:] != pieces.job[order][:-1], True)
    return of_jobs(
        record, aside & last, lambda _: "is suspended and never resumes", pieces.end[order], pieces.job[order]
    )


def check_no_suspension(record: Record) -> Finding | None:
    """Where jobs are killed for urgent ones, none is ever suspended or swapped."""
    pieces = record.pieces
    if pieces is None:
        return Finding()
    aside = pieces.state != STATES.index("running")

    def tell(piece: int) -> str:
        return f"is in the state {STATES[pieces.state[piece]]} at {seconds_text(pieces.start[piece])}"

    return of_jobs(record, aside, tell, pieces.start, pieces.job)


def urgent_laws(spec: Spec) -> tuple[Law, ...]:
    """UJFB's invariants with these parameters; a limit of the hosts' memory may let an urgent job wait."""
    laws = [
        Law("urgent untouched", "no urgent job is ever stopped", check_untouched),
        Law("same processors", "a suspended job resumes on the same processors", check_same_processors),
        Law("no gaps", "a suspended job runs, is swapped or suspended from start to end", check_no_gaps),
    ]
    regular = str(spec.params.get("regular", "conservative"))
    plain = f"{regular}(compress=scratch)"
    demands = f"without urgent jobs, {plain} job for job"
    laws.append(Law("nobody urgent", demands, partial(check_nobody, policy=plain)))
    if spec.params.get("host_memory") == "unlimited" or spec.params.get("preempt") == "kill":
        demands = "an urgent job that fits next to the others starts on arrival, or after swap-outs"
        until = under_way if spec.params.get("leftover") == "swapped" else swapped_out
        laws.append(Law(PROMPT, demands, partial(check_prompt, until=until)))
    if spec.params.get("preempt") == "kill":
        laws.append(Law("no suspension", "where jobs are killed, none is suspended", check_no_suspension))
    return (*laws, *overrun_laws(spec))


def overrun_laws(spec: Spec) -> tuple[Law, ...]:
    """Instead of the universal invariant, where urgent jobs may go on beyond their walltime."""
    if spec.params.get("overrun") != "finish":
        return ()
    demands = "the log's processors and times; an urgent job has the walltime that it needed"
    return (Law("request", demands, jobs.check_overrun),)


def check_nobody(record: Record, policy: str) -> Finding | None:
    """Without urgent jobs UJFB is backfilling that makes all reservations anew, job for job.

    The jobs are scheduled once more by that ``policy``, without any word of urgency. All that is needed is in
    the log: requests, run times and submissions, or whom a user waited for. Nothing is said where a job is
    urgent, jobs are missing, or others have waited there too.
    """
    others = record.missing or record.instants is not None
    if others or (record.urgent is not None and record.urgent.any()):
        return None
    from headway.simulate import simulate

    order = np.argsort(record.row, kind="stable")
    columns: dict[str, Any] = {
        "submit": record.submit,
        "procs": record.procs,
        "walltime": record.walltime,
        "runtime": record.runtime,
        "deadline": np.full(len(record), -1) if record.deadline is None else record.deadline,
    }
    if record.follows is not None and record.think is not None:  # some may come in a further turn
        led = record.leader >= 0
        columns |= {"job": record.job, "follows": np.where(led, record.follows, -1), "think": record.think}
    log = Workload.from_arrays(unit="us", **{name: column[order] for name, column in columns.items()})
    start = np.empty(len(record), np.int64)
    start[order] = simulate(log, record.capacity, policy).start

    def describe(row: int) -> Fault:
        job, t = record.job[row], record.start[row]
        message = (
            f"no job is urgent, and job {job} starts at {seconds_text(t)}, under {policy} at "
            f"{seconds_text(start[row])}"
        )
        return fault(min(t, start[row]), (job,), message)

    wrong = np.flatnonzero(record.start != start)
    return found(wrong[np.argsort(record.start[wrong], kind="stable")].tolist(), describe)
