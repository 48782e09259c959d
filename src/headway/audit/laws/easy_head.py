"""EASY: the head of the queue starts no later than any shadow time it was given.

The shadow time of a pass is the earliest expected end of a running job at which enough processors will be
free for the head (Mu'alem and Feitelson 2001).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headway.audit.head_replay import late_heads_of
from headway.audit.record import Record
from headway.audit.verdict import Finding, of_jobs
from headway.units import seconds_text


def check(record: Record) -> Finding:
    """Replay of the queue in order of submission with the requested walltimes."""
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
