"""Home clusters of jobs, and which jobs stay there."""

from __future__ import annotations

import numpy as np

from headway.errors import UsageError
from headway.workload.table import Workload
from headway.workload.transform.rebuild import by_submission, generator, probabilities
from headway.workload.transform.registry import transformation


@transformation
def home(
    workload: Workload,
    clusters: list[str],
    sizes: list[int] | None = None,
    shares: list[float] | None = None,
    seed: int = 0,
) -> Workload:
    """Draw a home cluster for every job.

    clusters: names of the clusters.
    sizes: processors of each; a job is then at home only where it fits (the largest one if nowhere).
    shares: how often each is drawn; by default by size where sizes are given, else equally.
    seed: of the random numbers.
    """
    if sizes is not None and len(sizes) != len(clusters):
        raise UsageError("home: sizes must name one number for each cluster")
    if shares is None:
        shares = [1.0] * len(clusters) if sizes is None else [float(size) for size in sizes]
    chances = probabilities(shares, "home")
    if len(chances) != len(clusters) or len(set(clusters)) != len(clusters):
        raise UsageError("home: clusters need different names and one share each")
    weight = np.broadcast_to(chances, (len(workload), len(clusters))).copy()
    if sizes is not None:
        weight[workload.procs[:, None] > np.array(sizes)[None, :]] = 0.0
        weight[~weight.any(axis=1), int(np.argmax(sizes))] = 1.0
    upper = np.cumsum(weight, axis=1)
    draw = by_submission(workload, generator(seed).random(len(workload)))
    code = np.sum(draw[:, None] * upper[:, -1:] >= upper, axis=1)
    return workload.with_columns(cluster=code).with_labels(cluster=list(clusters))


@transformation
def local(workload: Workload, share: float = 2 / 3, seed: int = 0) -> Workload:
    """Draw which jobs are local: submitted directly to their home cluster and kept there.

    share: probability that a job is local.
    seed: of the random numbers.
    """
    if not 0 <= share <= 1:
        raise UsageError(f"local: share must be in 0..1, not {share:g}")
    if "cluster" not in workload:
        raise UsageError("local: the jobs have no home cluster yet; apply home or merge before")
    drawn = by_submission(workload, generator(seed).random(len(workload)))
    return workload.with_columns(local=(drawn < share) & (workload.cluster >= 0))
