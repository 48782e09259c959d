"""What policies with one queue promise: who starts first, and when jobs end at the latest."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from headway.audit.record import Record
from headway.audit.verdict import Column, Fault, Finding, fault, found, of_jobs, together
from headway.units import NEVER, seconds_text

COMPILE_FROM = 3000
"""Jobs from which compiling (or loading) the loop costs less than running it interpreted."""


def check_order(record: Record) -> Finding:
    """Starts do not decrease in the order of submission, ties by position in the log."""
    queue = np.lexsort((record.standing, record.submit))
    start = record.start[queue]

    def describe(place: int) -> Fault:
        first, second = record.job[queue[place]], record.job[queue[place + 1]]
        t = start[place + 1]
        ahead = f"job {first}, which was ahead of it and starts at {seconds_text(start[place])}"
        return fault(t, (first, second), f"job {second} starts at {seconds_text(t)}, before {ahead}")

    return found(start[1:] < start[:-1], describe)


def check_prompt(record: Record) -> Finding:
    """Whenever a job ends, a head that fits starts."""
    heads, instants = late_heads(record, np.full(len(record), NEVER))

    def tell(place: int) -> str:
        t, start = seconds_text(instants[place]), seconds_text(record.start[heads[place]])
        return f"is the head and fits at {t}, it starts at {start}"

    return of_jobs(record, range(len(heads)), tell, instants, heads)


def check_easy(record: Record) -> Finding:
    """EASY, by replay of the queue in order of submission with the requested walltimes."""
    expected = record.start + record.walltime
    heads, instants = late_heads(record, expected)

    def tell(place: int) -> str:
        head, t = int(heads[place]), int(instants[place])
        told, start = seconds_text(shadow(record, head, t, expected)), seconds_text(record.start[head])
        return f"is the head at {seconds_text(t)} with shadow time {told}, it starts at {start}"

    return of_jobs(record, range(len(heads)), tell, instants, heads)


def shadow(record: Record, head: int, t: int, expected: Column) -> int:
    """The shadow time of a head in the pass at t (µs), as the definition has it; t where it fits at once."""
    before = (record.submit < record.submit[head]) | (
        (record.submit == record.submit[head]) & (record.standing < record.standing[head])
    )
    several = bool(((record.start == t) & (record.end == t)).any())
    counted = (record.start < t) | ((record.start == t) & (before | several))
    running = np.flatnonzero(counted & (record.end > t))
    running = running[np.argsort(expected[running], kind="stable")]
    free = record.capacity - int(record.procs[running].sum()) + np.cumsum(record.procs[running])
    if record.capacity - int(record.procs[running].sum()) >= record.procs[head]:
        return t
    enough = np.flatnonzero(free >= record.procs[head])
    return int(expected[running[enough[0]]]) if len(enough) else int(expected[running].max())


def check_idle(record: Record) -> Finding:
    """Whenever nothing runs, nobody waits: whoever is the head fits an empty machine."""
    order = np.argsort(record.start, kind="stable")
    start, submit = record.start[order], record.submit[order]
    busy_until = np.maximum.accumulate(record.end[order])
    longest = np.minimum.accumulate(submit[::-1])[::-1]  # submission of who waits longest of those to start
    idle_from = longest.copy()
    idle_from[1:] = np.maximum(longest[1:], busy_until[:-1])

    def describe(place: int) -> Fault:
        job = record.job[order[place + int(np.argmin(submit[place:]))]]
        since, until = seconds_text(idle_from[place]), seconds_text(start[place])
        return fault(idle_from[place], (job,), f"job {job} waits from {since} to {until} while nothing runs")

    return found(idle_from < start, describe)


class Jobs(NamedTuple):
    """What the replay knows of jobs."""

    start: Column
    end: Column
    expected_end: Column
    procs: Column
    place: Column
    """In the queue."""


class Instants(NamedTuple):
    """What happens, in the order in which it does."""

    heads: Column
    """Jobs that waited at the head of the queue."""
    head_from: Column
    """and from when on each did."""
    by_start: Column
    by_end: Column
    turns: Column
    """Instants with zero-length jobs, at which several passes follow one another."""


class Bag(NamedTuple):
    """Room for the running jobs."""

    running: Column
    slot: Column
    """[job] where it is among them; -1: it does not run."""


def late_heads(record: Record, expected_end: Column) -> tuple[Column, Column]:
    """Jobs (positions) that were heads and started late, and the first instant that shows it.

    While job h is the head, each completion lets the scheduler look again. With R the jobs that run then
    (those backfilled in the same pass left out) and q their processors, the head's shadow time lies before
    its real start exactly if

        m - (sum of q over the jobs of R expected to end at or after start_h)  >=  q_h

    because all others would have left by then. So a late head is found without computing the shadow. Heads of
    whom it cannot be told behind whom they stood are left out.
    """
    jobs, start, end, submit = len(record), record.start, record.end, record.submit
    queue = np.lexsort((record.standing, submit))
    place = np.empty(jobs, np.int64)
    place[queue] = np.arange(jobs)
    started = np.maximum.accumulate(start[queue]) if jobs else start
    earlier = np.append(np.iinfo(np.int64).min, started[:-1])
    head_from = np.maximum(submit[queue], earlier)
    waited = head_from < start[queue]
    instants = Instants(
        queue[waited],
        head_from[waited],
        np.lexsort((end, start)),
        np.argsort(end, kind="stable"),
        np.unique(start[start == end]),
    )
    bag = Bag(np.empty(jobs, np.int64), np.full(jobs, -1, np.int64))
    late = np.full(jobs, -1, np.int64)
    replay: Callable[..., Any] = _replay if jobs < COMPILE_FROM else _compiled()
    replay(instants, Jobs(start, end, expected_end, record.procs, place), bag, record.capacity, late)
    heads = np.flatnonzero((late >= 0) & ~record.in_a_further_turn)
    heads = heads[np.argsort(late[heads], kind="stable")]
    return heads, late[heads]


@cache
def _compiled() -> Callable[..., Any]:
    from headway.jit.kernels import entry

    return entry(_replay)


def _replay(instants, jobs, bag, capacity, late):  # type: ignore[no-untyped-def]
    """Go through the heads in queue order; late[h] becomes the instant that shows h to be late.

    At an instant of `turns` the jobs backfilled then count as running, for which of them came in an earlier
    pass cannot be told.
    """
    heads, head_from, by_start, by_end, turns = instants
    start, end, expected_end, procs, place = jobs
    running, slot = bag
    count = 0  # of running jobs
    entered = 0  # in by_start
    left = 0  # in by_end
    turn = 0
    for number in range(len(heads)):
        head = heads[number]
        begin = start[head]
        t = head_from[number]
        needed = capacity - procs[head]  # the head is not late as long as others block more than this
        blocked = 0  # processors of running jobs expected to end at `begin` or later
        fresh = True
        while t < begin:
            while entered < len(by_start) and start[by_start[entered]] < t:
                job = by_start[entered]
                entered += 1
                if end[job] > start[job]:
                    running[count] = job
                    slot[job] = count
                    count += 1
                    if not fresh and expected_end[job] >= begin:
                        blocked += procs[job]
            while left < len(by_end) and end[by_end[left]] <= t:
                job = by_end[left]
                left += 1
                if slot[job] >= 0:
                    count -= 1
                    moved = running[count]
                    running[slot[job]] = moved
                    slot[moved] = slot[job]
                    slot[job] = -1
                    if not fresh and expected_end[job] >= begin:
                        blocked -= procs[job]
            if fresh:
                fresh = False
                for index in range(count):
                    if expected_end[running[index]] >= begin:
                        blocked += procs[running[index]]
            while turn < len(turns) and turns[turn] < t:
                turn += 1
            several = turn < len(turns) and turns[turn] == t
            now = blocked
            ahead = entered
            while ahead < len(by_start) and start[by_start[ahead]] == t:
                job = by_start[ahead]
                ahead += 1
                if end[job] > t and (several or place[job] < place[head]) and expected_end[job] >= begin:
                    now += procs[job]
            if now <= needed:
                late[head] = t
                break
            if left >= len(by_end):
                break
            t = end[by_end[left]]


# DBF: nobody ends later than told on submission, and only jobs with a deadline are promoted.
#
# With the requested walltimes, not only with what the programs needed: start + walltime <= promise. For a job
# that was accepted with a deadline the promise is the deadline; for any other it is the end of the place it
# was
# given, which is definitive.


def check_latest_end(record: Record) -> Finding | None:
    """For every job that was told an end; None where the schedule does not say."""
    return together(_late(record, np.ones(len(record), np.bool_)), _told(record)) if _known(record) else None


def check_definitive(record: Record) -> Finding | None:
    """Only for the jobs without a deadline, where the algorithm does not warrant the others."""
    if not _known(record):
        return None
    free = np.ones(len(record), np.bool_) if record.deadline is None else record.deadline < 0
    return together(_late(record, free), _told(record))


def _known(record: Record) -> bool:
    return record.promise is not None and record.promise_kind in ("", "end")


def _late(record: Record, judged: np.typing.NDArray[np.bool_]) -> Finding:
    assert record.promise is not None
    promise, latest = record.promise, record.start + record.walltime

    def tell(row: int) -> str:
        told = seconds_text(promise[row])
        return f"may run until {seconds_text(latest[row])}, it was told to end by {told}"

    return of_jobs(record, judged & (promise >= 0) & (latest > promise), tell, promise)


def _told(record: Record) -> Finding:
    """What was told must be possible, and a job that has no deadline cannot be promoted for it."""
    assert record.promise is not None
    promise = record.promise
    early = (promise >= 0) & (promise < record.submit + record.walltime)
    promoted = np.zeros(len(record), np.bool_) if record.promoted is None else record.promoted
    without = promoted
    if record.deadline is not None:  # in a grid of several policies the schedule may not say what was told
        without = promoted & ((record.deadline < 0) | (promise >= 0) & (record.deadline != promise))
    without = without & ~_redirected(record)  # promoted before it was stopped, and then told something else

    def tell(row: int) -> str:
        if without[row]:
            return "was promoted, but no deadline of its was accepted"
        return f"was told to end by {seconds_text(promise[row])}, which its walltime does not allow"

    return of_jobs(record, early | without, tell, record.submit)


def _redirected(record: Record) -> np.typing.NDArray[np.bool_]:
    """Jobs that went on in a redirection group."""
    mask, places = np.zeros(len(record), np.bool_), record.places.get("group")
    if places is not None and "redirection" in places.names:
        mask[record.intervals[0][places.codes == places.names.index("redirection")]] = True
    return mask
