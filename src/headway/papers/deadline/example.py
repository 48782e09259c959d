"""Figure 1 of the paper as an instance that can be simulated: who makes room, and when no longer.

One processor (times in hours). T1 and T3 are flexible. T1 is to run at 2. When T2
comes, with priority, it goes before T1, which still ends by its deadline, 8. When T4 comes, going before T1
as well would make it late: T1 is placed for good, T4 behind it, and T3 behind both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.simulate import simulate
from headway.workload import Workload

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.schedule import Schedule

HOUR = 3600.0
PROCS = 1
ROWS = ((0.0, 2.0, -1), (0.2, 3.0, 8.0), (0.4, 2.0, -1), (0.6, 2.0, 20.0), (0.8, 2.0, -1))
"""Submission, length, deadline (-1: none), of a job that runs and of T1 to T4."""


def schedule(policy: str) -> Schedule:
    """What a policy makes of it."""
    submit, length, deadline = zip(*ROWS, strict=True)
    log = Workload.from_arrays(
        unit="s",
        job=range(len(ROWS)),
        submit=[HOUR * x for x in submit],
        procs=[PROCS] * len(ROWS),
        walltime=[HOUR * x for x in length],
        runtime=[HOUR * x for x in length],
        deadline=[-1 if x < 0 else HOUR * x for x in deadline],
    )
    return simulate(log, PROCS, policy)


def figure() -> Figure:
    """Under conservative backfilling and under DBF."""
    from headway.figures import gantt

    names = ["conservative backfilling: in order of submission", "DBF: 2 before 1, 1 before 4, 3 last"]
    made = schedule("conservative"), schedule("dbf")
    return gantt(*made, names=names, colour="job", height=0.9)
