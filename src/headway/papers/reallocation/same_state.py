"""The binary search against asking for every size, for the same task in the same state of the grid.

Two whole runs drift apart: once one task has another size, all that follow find another load. So one run is
made with the binary search; then, for a task of it, all tasks before it are given the sizes and clusters that
they had there, and only this one is left to choose, once by each search. Clusters have equal speeds, so that
times need not be scaled back.
"""

from __future__ import annotations

import numpy as np

from headway.papers.kept import Numbers
from headway.papers.reallocation.runs import REFERENCE
from headway.platform import Platform
from headway.schedule import Schedule
from headway.simulate import simulate
from headway.workload import Workload


def compared(jobs: Workload, machine: Platform, count: int) -> Numbers:
    """Of ``count`` moldable tasks, evenly drawn: how many get the same size, and end no later by binary."""
    whole = simulate(jobs, machine, f"{REFERENCE[:-1]}, tuning=binary)")
    order = np.lexsort((np.arange(len(jobs)), jobs.submit))
    moldable = order[~np.isnan(jobs.parallel_fraction[order]) & (jobs.procs[order] > 1)]
    chosen = moldable[np.unique(np.linspace(0, len(moldable) - 1, count).astype(np.int64))]
    same = as_good = faithful = 0
    for row in chosen.tolist():
        until = order[: int(np.flatnonzero(order == row)[0]) + 1]
        now = fixed(jobs, whole, until, row)
        binary, bounded = (
            simulate(now, machine, f"{REFERENCE[:-1]}, tuning={how})") for how in ("binary", "bounded")
        )
        place = int(np.flatnonzero(now.job == jobs.job[row])[0])
        same += int(binary.procs[place] == bounded.procs[place])
        as_good += int(binary.end[place] <= bounded.end[place])
        faithful += int(binary.procs[place] == whole.procs[row])
    total = max(len(chosen), 1)
    return {
        "same": same / total, "as_good": as_good / total, "faithful": faithful / total, "tasks": len(chosen)
    }  # fmt: skip


def fixed(jobs: Workload, whole: Schedule, until: np.ndarray, row: int) -> Workload:
    """The tasks up to one, all but that one rigid and local, with the size, times and cluster they had."""
    assert whole.cluster is not None
    keep = np.sort(until)
    others = keep != row
    part = jobs.select(keep)

    def taken(own: np.ndarray, given: np.ndarray) -> np.ndarray:
        return np.where(others, given[keep], own)

    return part.with_columns(
        procs=taken(part.procs, whole.procs),
        walltime=taken(part.walltime, whole.walltime),
        runtime=taken(part.runtime, whole.run),
        parallel_fraction=np.where(others, np.nan, part.parallel_fraction),
        local=others,
        cluster=taken(part.cluster, whole.cluster),
    )
