"""What a log recorded, as a schedule: to stand beside a simulated one."""

from __future__ import annotations

import numpy as np

from headway.replay.fidelity import recorded_waits
from headway.schedule import WHY, Schedule


def recorded(schedule: Schedule) -> Schedule:
    """The recorded starts and ends of those simulated jobs whose waits the log has.

    They ran on as many processors as they were given, and past their requests where the log says so.
    """
    kept = recorded_waits(schedule.workload) >= 0
    workload = schedule.workload.select(kept, rule="recorded", action="no recorded wait: left out")
    start = workload.submit + workload.wait
    given = workload.get("allocated")
    procs = workload.procs if given is None else np.where(given > 0, given, workload.procs)
    return Schedule(
        workload=workload,
        platform=schedule.platform,
        policy="recorded",
        start=start,
        end=start + workload.runtime,
        why=np.full(len(workload), WHY.index("recorded")),
        killed=np.zeros(len(workload), np.bool_),
        procs=procs,
        capacity=schedule.capacity,
    )
