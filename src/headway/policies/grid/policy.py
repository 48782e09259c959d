"""A grid under reallocation as Headway asks it: clusters, each under a policy of its own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from headway.policies.entry import Parameter
from headway.policies.grid.local_policies import (
    HEURISTICS,
    LAWS,
    MODES,
    ONE_BY_ONE,
    TOGETHER,
    TUNINGS,
    locals_of,
    pools_of,
    run_together,
    widest,
    widest_of_locals,
)
from headway.policies.policy import Policy, Seen
from headway.policies.pools import Pool
from headway.policies.references import CANIOU_2010, CANIOU_2011, DOWNEY_1997

if TYPE_CHECKING:
    from headway.platform import Platform
    from headway.policies.prepare import Arrivals, Prepared
    from headway.workload import Workload


class Reallocation(Policy):
    """A grid: an agent gives each task to the cluster that completes it first, and moves waiting ones.

    Jobs with a parallel_fraction P and more than one processor are moldable: on n processors of a cluster of
    speed v their walltime and run time are those of the log x S(P, n of the log) / S(P, n) / v. Jobs with
    local = 1 keep their size and stay on their cluster. The promise is the start that the cluster gave when
    the job was submitted to it for the last time. Data go with a task: the first submission is free, each
    move costs a transfer, and moving back costs one too. transfer and link need clusters that reserve a start
    (conservative, fcfs); they and reserved need one such policy (for reserved also easy) on all clusters.
    """

    name = "reallocation"
    citation = (CANIOU_2011, CANIOU_2010, DOWNEY_1997)
    needs = (
        "a platform of several clusters (on one there is nowhere to go)",
        "for moldable tasks the columns parallel_fraction and max_procs: the transformation moldable",
        "for link the column file_gb: the transformation files, or an annotations file",
        "for local jobs the columns local and cluster: the transformations home (or merge) and local",
    )
    example = "reallocation(heuristic=mct, mode=cancel)"
    example_on = "log.swf.gz --platform grid5000"

    heuristic = Parameter(
        "which waiting task is next at an event: the oldest (mct), or of the oldest few that with "
        "the smallest completion (minmin), the largest (maxmin), the largest difference between its "
        "two best clusters (sufferage), the largest gain (maxgain), the largest gain for each of its "
        "processors (maxrelgain)",
        "mct",
        HEURISTICS,
    )
    mode = Parameter(
        "regular: one task after the other moves if another cluster completes it earlier; cancel: "
        "all waiting tasks are cancelled and submitted again; none: the reference",
        "regular",
        MODES,
    )
    period = Parameter(
        "time between events, on the clock of the log; inf: never",
        3600,
        ("inf",),
        float,
        low=0,
        open_low=True,
        unit="seconds",
    )
    threshold = Parameter(
        "a task moves in regular mode if it is completed earlier by at least so much",
        60,
        number=float,
        low=0,
        unit="seconds",
    )
    transfer = Parameter(
        "how long the data of a task take to another cluster; it cannot start there before they "
        "have come, and completions there are estimated accordingly",
        0,
        number=float,
        low=0,
        unit="seconds",
    )
    link = Parameter(
        "bandwidth between clusters: a task that moves waits for its input file (the column "
        "file_gb) too; inf: files take no time",
        math.inf,
        ("inf",),
        float,
        low=0,
        open_low=True,
        unit="GB/s",
    )
    reserved = Parameter(
        "share of each cluster (rounded down to whole processors, at least one) that only the tasks "
        "of the grid have, under a batch system of their own; local jobs have the rest, and tasks do "
        "not. 0: all share everything",
        0,
        number=float,
        low=0,
        high=1,
        open_high=True,
    )
    oldest = Parameter(
        "how many of the oldest waiting tasks the heuristics but mct choose from", 20, number=int, low=1
    )
    tuning = Parameter(
        "how the size of a moldable task is searched: binary, or every size up to its limit "
        "(bounded; exhaustive is the same, because beyond the limit no time is defined)",
        "binary",
        TUNINGS,
    )
    local = Parameter(
        "policy of each cluster that does not name its own in the platform file; conservative and "
        "fcfs reserve a start for every job, easy has an estimator, and under any other the cluster "
        "is run ahead on a copy to see when a job is completed",
        "conservative",
        policies=(*TOGETHER, *ONE_BY_ONE),
    )
    law = Parameter(
        "how fast a task is on n processors: amdahl, or downey with average parallelism 1/(1 - P)",
        "amdahl",
        LAWS,
    )
    sigma = Parameter("variance of parallelism in Downey's law", 1, number=float, low=0)

    is_grid = True
    why_no_outages = "it has several clusters, and an event does not say in which of them"
    nests = True
    in_file_order = True

    def on(self, platform: Platform, workload: Workload) -> Policy:
        locals_of(self.spec, platform)
        return self

    def pools(self, platform: Platform) -> tuple[Pool, ...]:
        return tuple(pools_of(self.spec, platform))

    def fitting(self, workload: Workload, platform: Platform) -> Workload:
        from headway.policies.grid.moldability import fit_to_grid

        return fit_to_grid(
            workload, platform, widest(self.spec, platform), widest_of_locals(self.spec, platform)
        )

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        assert arrivals.platform is not None
        local = locals_of(self.spec, arrivals.platform)
        if run_together(local):
            from headway.policies.grid.setup import together

            return together(self.spec, arrivals, local[0])
        from headway.policies.grid.composed.setup import composed

        return composed(self.spec, arrivals, local)

    def policy_of_cluster(self, platform: Platform, cluster: int) -> Policy:
        return locals_of(self.spec, platform)[cluster].policy

    def laws(self, seen: Seen) -> tuple[str, ...]:
        return ("grid", "clusters")
