"""First come, first served: nobody overtakes, and the head starts as soon as it fits."""

from __future__ import annotations

import numpy as np

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
