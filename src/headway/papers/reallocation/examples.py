"""The paper's small examples as instances that can be simulated: Figures 2, 3 and 5 (times in minutes).

The figures show loads without numbers; ours are chosen so that everything the text says of them holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headway.platform import Cluster, Platform
from headway.result import Result
from headway.simulate import simulate
from headway.units import MINUTE
from headway.workload import Workload


@dataclass(frozen=True)
class Example:
    """Rows (submit, processors, walltime, run time), with the cluster of local jobs by row."""

    rows: Sequence[tuple[float, int, float, float]]
    clusters: Mapping[str, int]
    homes: Mapping[int, str] = field(default_factory=dict)
    fractions: Mapping[int, float] = field(default_factory=dict)

    def workload(self) -> Workload:
        submit, procs, walltime, runtime = zip(*self.rows, strict=True)
        names = list(self.clusters)
        here = range(len(self.rows))
        made = Workload.from_arrays(
            unit="us",
            job=[row + 1 for row in here],
            submit=[round(t * MINUTE) for t in submit],
            procs=list(procs),
            walltime=[round(t * MINUTE) for t in walltime],
            runtime=[round(t * MINUTE) for t in runtime],
            cluster=[names.index(self.homes[row]) if row in self.homes else -1 for row in here],
            local=[row in self.homes for row in here],
            parallel_fraction=[self.fractions.get(row, float("nan")) for row in here],
            max_procs=[-1 for _ in here],
        )
        return made.with_labels(cluster=names)

    def run(self, spec: str) -> Result:
        machine = Platform(tuple(Cluster(name, 1.0, procs) for name, procs in self.clusters.items()))
        return simulate(self.workload(), machine, spec)


# Figure 2. Five processors. When the task comes (minute 1 here, 0 in the figure) a job of four has just ended
# long before it had to, and the batch system does not move what waits behind it:
#
#   5 |             [ 2 jobs ]              free: 4 until minute 2, then 1, 2 from 3, 4 from 5, 5 from 6
#   4 |      ┌───┐
#   3 |      │ B ├───────┐
#   2 |      │   │   C   │
#   1 | A────┴───┴───────┴────┐
#     0      2   3       5    6
FIGURE_2_LOAD = ((0, 1, 7, 7), (0, 4, 3, 1), (0.5, 3, 1, 1), (0.5, 2, 2, 2))
FIGURE_2_PAPER = {1: 7.0, 2: 6.5, 3: 7.33, 4: 1.75, 5: 7.4}


def figure_2(task: tuple[float, int, float, float], fraction: float | None = None) -> Example:
    """The load of Figure 2 and one more task, which is moldable if it has a parallel fraction."""
    homes = dict.fromkeys(range(4), "cluster")
    return Example((*FIGURE_2_LOAD, task), {"cluster": 5}, homes, {} if fraction is None else {4: fraction})


def figure_2_completions() -> dict[int, float]:
    """The completion of the task on 1 to 5 processors, in minutes after it came."""
    spec = "reallocation(mode=none, local=conservative(compress=none))"
    done = {}
    for n in FIGURE_2_PAPER:
        schedule = figure_2((1, n, 7 / n, 7 / n)).run(spec)
        done[n] = (int(schedule.end[4]) - MINUTE) / MINUTE
    return done


def figure_2_tuned(tuning: str) -> tuple[int, float]:
    """Processors that the server chooses, and the completion."""
    spec = f"reallocation(mode=none, tuning={tuning}, local=conservative(compress=none))"
    schedule = figure_2((1, 2, 3.5, 3.5), 1.0).run(spec)
    return int(schedule.procs[4]), (int(schedule.end[4]) - MINUTE) / MINUTE


# Figure 3. Two equal clusters of four processors. g runs on the first, h and i wait there behind it; on the
# second f runs and j waits. f ends at minute 20 instead of 60, so j moves up to 20. At the event at minute 30
# the second cluster is free, and h and i go there, each submitted there before it is cancelled here.
FIGURE_3 = Example(
    (
        (0, 4, 55, 55),  # 1 g
        (0, 4, 60, 20),  # 2 f
        (1, 4, 30, 10),  # 3 j: reserved at 60
        (2, 4, 20, 20),  # 4 h: first cluster 55 + 20 = 75, second 90 + 20
        (3, 4, 10, 10),  # 5 i: first cluster 75 + 10 = 85, second 90 + 10
    ),
    {"first": 4, "second": 4},
    {0: "first", 1: "second", 2: "second"},
)
FIGURE_3_SPEC = "reallocation(period=1800)"
# At 30: h is expected at 75 and would be completed at 30 + 20 = 50 on the second: it moves. i then moves up
# to 55 - 65 on the first; on the second, behind h, 50 + 10 = 60 is earlier: it moves too.

# Figure 5. At minute 60 (0 in the figure) a task moves from cluster 2 to cluster 1, on two processors instead
# of one, beside a job that should end 6 minutes later and ends after 2. The large task of cluster 1 could
# have started then, and has to wait for the newcomer; on cluster 2 the one behind it moves up.
FIGURE_5 = Example(
    (
        (0, 4, 200, 30),  # 1 holds cluster 1, for 200 minutes as far as anybody knows
        (0, 2, 100, 100),  # 2 cluster 2
        (0, 1, 80, 80),  # 3 cluster 2: one processor is free from 80 on, three from 100 on
        (2, 2, 4, 4),  # 4 the task, 8 minutes on one processor: cluster 2 at 80, expected at 88
        (3, 1, 5, 5),  # 5 behind it on cluster 2: 88 - 93
        (31, 2, 35, 31),  # 6 cluster 1: should end at 66, ends at 62
        (31, 2, 29, 29),  # 7 its neighbour, until 60
        (32, 4, 10, 10),  # 8 the large task of cluster 1: reserved at 66
    ),
    {"cluster 1": 4, "cluster 2": 3},
    {row: f"cluster {1 if row in (0, 5, 6, 7) else 2}" for row in (0, 1, 2, 4, 5, 6, 7)},
    {3: 1.0},
)
FIGURE_5_SPEC = "reallocation(period=3600)"
