"""The jobs of a log as tasks, for rehearsals."""

from __future__ import annotations

import math

import numpy as np

from headway.live.task import Task
from headway.workload import Workload

NOTHING = ("true",)


def tasks_of(workload: Workload) -> list[tuple[int, Task]]:
    """(submit, task) of each job, in order of submit, then of the log; times in µs."""
    columns, count = workload.columns, len(workload)
    fraction = columns.get("parallel_fraction", np.full(count, math.nan))
    most = columns.get("max_procs", np.full(count, -1))
    local = columns.get("local", np.zeros(count, np.bool_))
    home, names = columns.get("cluster"), workload.labels.get("cluster", ())
    deadline = columns.get("deadline", np.full(count, -1))
    urgent = columns.get("urgent", np.zeros(count, np.bool_))
    found = []
    for row in np.argsort(workload.submit, kind="stable").tolist():
        bound = bool(local[row])
        task = Task(
            command=NOTHING,
            name=str(workload.job[row]),
            procs=int(workload.procs[row]),
            walltime=max(int(workload.walltime[row]), 1),
            runtime=int(workload.runtime[row]),
            parallel_fraction=None if math.isnan(fraction[row]) or bound else float(fraction[row]),
            max_procs=int(most[row]) if most[row] > 0 else None,
            cluster=names[int(home[row])] if bound and home is not None else "",
            deadline=int(deadline[row]) if deadline[row] >= 0 else None,
            urgent=bool(urgent[row]),
        )
        found.append((int(workload.submit[row]), task))
    return found
