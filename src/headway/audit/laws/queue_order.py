"""Queues: nobody waits for an empty machine; first come, first served, also: nobody overtakes, and the head
starts as soon as it fits. Under EASY the head starts no later than any shadow time it was given.

The shadow time of a pass is the earliest expected end of a running job at which enough processors will be
free for the head (Mu'alem and Feitelson 2001).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headway.audit.head_replay import late_heads_of
from headway.audit.record import Record
from headway.audit.verdict import Fault, Finding, fault, found, of_jobs
from headway.units import NEVER, seconds_text


def check_order(record: Record) -> Finding:
    """Starts do not decrease in the order of submission, ties by position in the log."""
    queue = np.lexsort((record.standing, record.submit))
    start = record.start[queue]

    def describe(place: int) -> Fault:
        first, second = record.job[queue[place]], record.job[queue[place + 1]]
        t = start[place + 1]
        ahead = f"job {first}, which stood ahead of it and starts at {seconds_text(start[place])}"
        return fault(t, (first, second), f"job {second} starts at {seconds_text(t)}, before {ahead}")

    return found(start[1:] < start[:-1], describe)


def check_prompt(record: Record) -> Finding:
    """Whenever a job ends, a head that fits starts."""
    heads, instants = late_heads_of(record, np.full(len(record), NEVER))

    def tell(place: int) -> str:
        t, start = seconds_text(instants[place]), seconds_text(record.start[heads[place]])
        return f"is the head and fits at {t}, it starts at {start}"

    return of_jobs(record, range(len(heads)), tell, instants, heads)


def check_easy(record: Record) -> Finding:
    """EASY, by replay of the queue in order of submission with the requested walltimes."""
    expected = record.start + record.walltime
    heads, instants = late_heads_of(record, expected)

    def tell(place: int) -> str:
        head, t = int(heads[place]), int(instants[place])
        told, start = seconds_text(shadow(record, head, t, expected)), seconds_text(record.start[head])
        return f"is the head at {seconds_text(t)} with shadow time {told}, it starts at {start}"

    return of_jobs(record, range(len(heads)), tell, instants, heads)


def shadow(record: Record, head: int, t: int, expected: NDArray[np.int64]) -> int:
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
