"""Which jobs a grid can run at all. Pure arithmetic, nothing compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.errors import InputError
from headway.platform import Cluster, Platform
from headway.workload import Workload

GRID, UNKNOWN = -1, -2
"""The home of a task of the grid, and of a local job whose home the platform does not have."""


def homes(
    columns: Mapping[str, npt.NDArray[Any]], labels: Mapping[str, Sequence[str]], clusters: Sequence[Cluster]
) -> npt.NDArray[np.int64]:
    """The number of the home cluster of each local job, or GRID, or UNKNOWN."""
    local = columns.get("local")
    if local is None:
        return np.full(len(columns["procs"]), GRID)
    names = [cluster.name for cluster in clusters]
    known = [names.index(name) if name in names else UNKNOWN for name in labels.get("cluster", ())]
    code = columns.get("cluster", np.full(len(local), -1))
    return np.where(local, np.array([*known, UNKNOWN])[code], GRID)


def is_moldable(columns: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.bool_]:
    """Jobs whose size may be chosen: neither sequential nor local, and with a parallel fraction."""
    procs = columns["procs"]
    fraction = columns.get("parallel_fraction", np.full(len(procs), np.nan))
    local = columns.get("local", np.zeros(len(procs), np.bool_))
    return np.asarray(~np.isnan(fraction) & ~local & (procs > 1))


def fit_to_grid(
    workload: Workload, platform: Platform, widest: Sequence[int], of_locals: Sequence[int]
) -> Workload:
    """Jobs that some cluster can run; local jobs must fit the one they belong to. Others are dropped.

    ``widest`` is the most processors that a task can have on each cluster, ``of_locals`` that of local jobs.
    """
    sizes = np.array(of_locals)
    home = homes(workload.columns, workload.labels, platform.clusters)
    if (home == UNKNOWN).any():
        job = workload.job[int(np.argmax(home == UNKNOWN))]
        names = ", ".join(cluster.name for cluster in platform.clusters)
        raise InputError(
            f"job {job} is local, but its home is none of the platform's clusters ({names}); give it in the "
            "column cluster of the annotations, or apply home(clusters=[...]) or merge(names=[...])",
            file=workload.source.name,
            field="cluster",
        )
    room = np.where(home >= 0, sizes[home], max(widest))
    room[is_moldable(workload.columns)] = workload.procs.max(initial=0)
    fits = workload.procs <= room
    action = "more processors than any cluster it may run on: dropped"
    most = room[np.argmin(fits)] if len(fits) else 0
    return workload.without_wide(fits, action, f"and its cluster has {most}; give a larger one")
