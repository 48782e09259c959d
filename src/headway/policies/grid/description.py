"""Reallocation of waiting tasks between the clusters of a grid."""

from __future__ import annotations

import math

from headway.policies.backfilling.description import CONSERVATIVE
from headway.policies.entry import Parameter, PolicyInfo
from headway.policies.queueing.description import ORDERS
from headway.policies.references import CANIOU_2010, CANIOU_2011, DOWNEY_1997

HEURISTICS = ("mct", "minmin", "maxmin", "sufferage", "maxgain", "maxrelgain")
MODES = ("regular", "cancel", "none")
TUNINGS = ("binary", "bounded", "exhaustive")
LAWS = ("amdahl", "downey")
"""Words in the order of the numbers that stand for them inside."""

TOGETHER = (CONSERVATIVE.name, "fcfs", "easy")
"""Policies that all clusters of a grid can have in one simulation: the first two reserve a start for each job
and can tell when it is completed, EASY has an estimator."""
OTHERS = tuple(name for name in ORDERS if name != "fcfs")
ONE_BY_ONE = ("dbf", "ujfb", "redirection", "ujf", *OTHERS, "strict")
"""Policies of clusters that are simulated one by one, and run ahead to see when a job is completed."""

ENTRIES = (
    PolicyInfo(
        "reallocation",
        "A grid: an agent gives each task to the cluster that completes it first, and moves waiting ones",
        (CANIOU_2011, CANIOU_2010, DOWNEY_1997),
        (
            Parameter(
                "heuristic",
                "which waiting task is next at an event: the oldest (mct), or of the oldest few that with "
                "the smallest completion (minmin), the largest (maxmin), the largest difference between its "
                "two best clusters (sufferage), the largest gain (maxgain), the largest gain for each of its "
                "processors (maxrelgain)",
                "mct",
                HEURISTICS,
            ),
            Parameter(
                "mode",
                "regular: one task after the other moves if another cluster completes it earlier; cancel: "
                "all waiting tasks are cancelled and submitted again; none: the reference",
                "regular",
                MODES,
            ),
            Parameter(
                "period",
                "time between events, on the clock of the log; inf: never",
                3600,
                ("inf",),
                float,
                low=0,
                open_low=True,
                unit="seconds",
            ),
            Parameter(
                "threshold",
                "a task moves in regular mode if it is completed earlier by at least so much",
                60,
                number=float,
                low=0,
                unit="seconds",
            ),
            Parameter(
                "transfer",
                "how long the data of a task take to another cluster; it cannot start there before they "
                "have come, and completions there are estimated accordingly",
                0,
                number=float,
                low=0,
                unit="seconds",
            ),
            Parameter(
                "link",
                "bandwidth between clusters: a task that moves waits for its input file (the column "
                "file_gb) too; inf: files take no time",
                math.inf,
                ("inf",),
                float,
                low=0,
                open_low=True,
                unit="GB/s",
            ),
            Parameter(
                "reserved",
                "share of each cluster (rounded down to whole processors, at least one) that only the tasks "
                "of the grid have, under a batch system of their own; local jobs have the rest, and tasks do "
                "not. 0: all share everything",
                0,
                number=float,
                low=0,
                high=1,
                open_high=True,
            ),
            Parameter(
                "oldest", "how many of the oldest waiting tasks the heuristics but mct choose from", 20,
                number=int, low=1,
            ),
            Parameter(
                "tuning",
                "how the size of a moldable task is searched: binary, or every size up to its limit "
                "(bounded; exhaustive is the same, because beyond the limit no time is defined)",
                "binary",
                TUNINGS,
            ),
            Parameter(
                "local",
                "policy of each cluster that does not name its own in the platform file; conservative and "
                "fcfs reserve a start for every job, easy has an estimator, and under any other the cluster "
                "is run ahead on a copy to see when a job is completed",
                "conservative",
                policies=(*TOGETHER, *ONE_BY_ONE),
            ),
            Parameter(
                "law",
                "how fast a task is on n processors: amdahl, or downey with average parallelism 1/(1 - P)",
                "amdahl",
                LAWS,
            ),
            Parameter("sigma", "variance of parallelism in Downey's law", 1, number=float, low=0),
        ),
        needs=(
            "a platform of several clusters (on one there is nowhere to go)",
            "for moldable tasks the columns parallel_fraction and max_procs: the transformation moldable",
            "for link the column file_gb: the transformation files, or an annotations file",
            "for local jobs the columns local and cluster: the transformations home (or merge) and local",
        ),
        details=(
            "Jobs with a parallel_fraction P and more than one processor are moldable: on n processors of a "
            "cluster of speed v their walltime and run time are those of the log x S(P, n of the log) / "
            "S(P, n) / v. Jobs with local = 1 keep their size and stay on their cluster. The promise is the "
            "start that the cluster told when the job was submitted to it for the last time. Data go with a "
            "task: the first submission is free, each move costs a transfer, and moving back costs one too. "
            "transfer and link need clusters that reserve a start (conservative, fcfs); they and reserved "
            "need one such policy (for reserved also easy) on all clusters."
        ),
        example="reallocation(heuristic=mct, mode=cancel)",
        example_on="log.swf.gz --platform grid5000",
        home="headway.policies.grid.policy:Reallocation",
    ),
)  # fmt: skip
