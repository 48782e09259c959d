"""Leaving jobs out: flurries, users, queues. Job numbers never change."""

from __future__ import annotations

import numpy as np

from headway.errors import UsageError
from headway.workload.table import Workload
from headway.workload.transform.rebuild import named
from headway.workload.transform.registry import transformation

FLURRIES: dict[str, list[list[int]]] = {
    "sdsc-sp2": [[21, 13717, 16207], [374, 14969, 28552], [197, 31767, 33202], [328, 66553, 68106]],
    "osc": [[174]],
}
"""Known flurries of archive logs: (user, first job, last job), or a whole user.

The Parallel Workloads Archive's cleaned versions leave these out; for SDSC-SP2 also the first ten jobs.
"""


@transformation
def without(
    workload: Workload,
    flurries: str | list[list[int]] | None = None,
    users: list[int | str] | None = None,
    queues: list[int | str] | None = None,
    first_jobs: int = 0,
) -> Workload:
    """Leave out flurries (bursts of one user), whole users or queues.

    flurries: a known log's (sdsc-sp2, osc), or [[user, first job, last job], ...], or [[user], ...].
    users: users all of whose jobs go.
    queues: queues all of whose jobs go.
    first_jobs: how many jobs go at the beginning of the log, in submission order.
    """
    out = np.zeros(len(workload), np.bool_)
    for triple in _triples(flurries):
        of_user = named(workload, "user", [triple[0]])
        if len(triple) == 3:
            of_user &= (workload.job >= triple[1]) & (workload.job <= triple[2])
        out |= of_user
    if users is not None:
        out |= named(workload, "user", users)
    if queues is not None:
        out |= named(workload, "queue", queues)
    out[workload.order[: max(first_jobs, 0)]] = True
    return workload.select(~out, rule="without", action="flurry, user or queue: left out")


def _triples(flurries: str | list[list[int]] | None) -> list[list[int]]:
    if flurries is None:
        return []
    if isinstance(flurries, str):
        if flurries not in FLURRIES:
            raise UsageError(f"without: no flurries known of {flurries}; there are {', '.join(FLURRIES)}")
        return FLURRIES[flurries]
    if any(len(triple) not in (1, 3) for triple in flurries):
        raise UsageError("without: a flurry is [user, first job, last job] or [user]")
    return flurries


@transformation
def only(
    workload: Workload,
    users: list[int | str] | None = None,
    groups: list[int | str] | None = None,
    queues: list[int | str] | None = None,
    partitions: list[int | str] | None = None,
    least_procs: int = 1,
    most_procs: int | None = None,
) -> Workload:
    """Keep only some users, groups, queues, partitions or sizes; where several are given, all must hold.

    users, groups, queues, partitions: numbers, or names where the log has names.
    least_procs: smallest job kept.
    most_procs: largest job kept.
    """
    kept = workload.procs >= least_procs
    if most_procs is not None:
        kept &= workload.procs <= most_procs
    for column, wanted in (("user", users), ("group", groups), ("queue", queues), ("partition", partitions)):
        if wanted is not None:
            kept &= named(workload, column, wanted)
    return workload.select(kept, rule="only", action="not among those wanted: left out")
