"""Instances of UJFB worked by hand: what the simulator makes of a few rows, in seconds."""

from __future__ import annotations

from typing import Any

import headway
from headway import Schedule
from headway.audit import audit
from headway.schedule import STATES, WHY
from headway.units import SECOND
from headway.workload import Workload

Row = tuple[int, int, int, int, int]
"""submit, procs, walltime, runtime, urgent; times in seconds."""


def run(*rows: Row, m: int = 4, spec: str = "ujfb(swap=1)", **columns: Any) -> Schedule:
    """Simulate jobs 1, 2, ... and let the audit look at the result."""
    names = ("submit", "procs", "walltime", "runtime", "urgent")
    given: dict[str, Any] = {
        name: list(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)
    }
    log = Workload.from_arrays(unit="s", job=range(1, len(rows) + 1), **given, **columns)
    made = headway.simulate(log, m, spec)
    verdict = audit(made)
    assert verdict.ok, verdict.faults
    return made


def times(made: Schedule) -> list[tuple[int, int, str]]:
    """Start and end in seconds, and why."""
    rows = zip(made.start, made.end, made.why, strict=True)
    return [(int(a) // SECOND, int(b) // SECOND, WHY[w]) for a, b, w in rows]


def pieces(made: Schedule, job: int) -> list[tuple[str, int, int, str]]:
    """State, start, end (s) and processors of each piece of a job."""
    table = made.pieces
    assert table is not None and table.processors is not None
    chosen = [p for p in table.in_order().tolist() if table.job[p] == job - 1]
    return [
        (
            STATES[table.state[p]],
            int(table.start[p]) // SECOND,
            int(table.end[p]) // SECOND,
            table.processors[p],
        )
        for p in chosen
    ]
