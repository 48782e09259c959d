"""First come, first served: nobody overtakes, and the head starts as soon as it fits."""

from __future__ import annotations

import numpy as np

from headway.audit.head_replay import late_heads
from headway.audit.record import Record
from headway.audit.verdict import Fault, Finding, fault, found
from headway.units import NEVER, seconds_text

ORDER = "fcfs order"
PROMPT = "fcfs head"


def check_order(record: Record) -> Finding:
    """Starts do not decrease in the order of submission, ties by position in the log."""
    queue = np.lexsort((record.row, record.submit))
    start = record.start[queue]
    overtaken = np.flatnonzero(start[1:] < start[:-1]).tolist()

    def describe(place: int) -> Fault:
        first, second = record.job[queue[place]], record.job[queue[place + 1]]
        t = start[place + 1]
        ahead = f"job {first}, which stood ahead of it and starts at {seconds_text(start[place])}"
        return fault(ORDER, t, (first, second), f"job {second} starts at {seconds_text(t)}, before {ahead}")

    return found(overtaken, describe)


def check_prompt(record: Record) -> Finding:
    """Whenever a job ends, a head that fits starts."""
    everlasting = np.full(len(record), NEVER)
    heads, instants = late_heads(
        record.start, record.end, everlasting, record.submit, record.row, record.procs, record.capacity
    )

    def describe(place: int) -> Fault:
        job, t, start = record.job[heads[place]], instants[place], record.start[heads[place]]
        message = f"job {job} is the head and fits at {seconds_text(t)}, it starts at {seconds_text(start)}"
        return fault(PROMPT, t, (job,), message)

    return found(range(len(heads)), describe)
