"""What a composed grid foresees is what a whole copy of the cluster does when it runs ahead.

The grid copies only what may have changed since its last copy. The reference copies every table, lets each
job last as long as it asked for, and runs until nothing is left to do.
"""

from __future__ import annotations

import numpy as np
import pytest

import headway
from grid_reference import grid_log, platform_of
from headway.engine.compiled import compiled_loop
from headway.engine.driver import copied
from headway.engine.setup import grow
from headway.engine.side_by_side import open_at
from headway.engine.tables import OPEN, JobTable, Phase, State, Step, World  # fmt: skip
from headway.policies.grid.composed.cluster import Cluster, Shape
from headway.units import NEVER
from headway.workload import Workload
from reference.composed_grid import Answer, ClusterServer, composed_in_python
from test_grid_composed import BUSY_SITES
from test_grid_equal import busy_tasks


def whole_copy(cluster: Cluster, more: int) -> tuple[State, World]:
    """Every table of a cluster, with ``more`` columns, and a world in which jobs last as requested."""
    state = copied(cluster.state)
    new = JobTable(np.zeros((len(state.jobs), more), np.int64))
    new.submit[:] = NEVER
    state = state._replace(jobs=JobTable(np.concatenate([state.jobs.table, new.table], axis=1)))
    ends = []
    for run in range(int(state.clock.runs)):
        job = state.runs.job[run]
        if state.runs.end[run] == OPEN:
            left = state.runs.lead[run] + cluster.requested[job] - state.jobs.kept[job]
            ends.append((state.runs.start[run] + min(left, state.runs.limit[run]), run))
    state.clock.fresh = state.clock.runs
    heap = np.zeros_like(cluster.world.ends)
    for place, end in enumerate(sorted(ends)):
        heap[:, place] = end
    return state, World(np.append(cluster.requested, new[0]), heap, np.array([len(ends)]))


def ahead(cluster: Cluster, t: int, column: int, newcomer: tuple[int, Shape] | None = None) -> int:
    """When the job of a column, or a newcomer, is completed if nothing else comes."""
    state, world = whole_copy(cluster, 1)
    if not cluster.is_open:
        while open_at(state, world, t) == Step.GROW:
            state, world = grow(state, world)
    if newcomer is not None:
        job, shape = newcomer
        assert state.clock.last_new < state.jobs.shape[1]
        column = cluster.add(state, job, shape)
        world.runtime[column] = shape.time(int(cluster.jobs.walltime[job]))
    cluster.hook(t, state)
    loop = compiled_loop(state.memory)
    while loop(cluster.hook_as_value, state, world, NEVER) == Step.GROW:
        state, world = grow(state, world)
    if state.jobs.phase[column] != Phase.DONE:
        return NEVER
    return int(state.runs.end[state.jobs.run[column]])


class Checked(ClusterServer):
    """A server each of whose answers is compared with a whole copy that ran ahead."""

    compared = 0

    def completion(self, task: int, procs: int) -> int:
        known = (task, procs) in self.known
        answer = super().completion(task, procs)
        if not known:
            shape = self.shaping.shape(self.number, task, procs)
            assert answer == ahead(self.cluster, self.now, -1, (task, shape))
            Checked.compared += 1
        return answer

    def estimate(self, task: int) -> Answer:
        answer = super().estimate(task)
        here = self.cluster.here.get(task)
        if here is not None and self.cluster.waits(task):
            assert answer[0] == ahead(self.cluster, self.now, here.column)
            Checked.compared += 1
        return answer


def busy_log(count: int, seed: int) -> Workload:
    log, random = grid_log(busy_tasks(count, seed=seed)), np.random.default_rng(1)
    late = log.submit + (log.walltime * random.uniform(1.5, 12, len(log))).astype(np.int64)
    return log.with_columns(
        deadline=np.where(random.random(len(log)) < 0.4, late, -1),
        urgent=random.random(len(log)) < 0.15,
        swap=random.integers(0, 30, len(log)) * 1_000_000,
    )


@pytest.mark.parametrize(
    "local",
    [
        *(f"redirection(theta=1, conflict={rule})" for rule in ("counter", "latest")),
        pytest.param("redirection(theta=1, conflict=walltime)", marks=pytest.mark.long),
        pytest.param("redirection(theta=1, conflict=area)", marks=pytest.mark.long),
        pytest.param("redirection(theta=1, principal=dbf)", marks=pytest.mark.long),
        "dbf",
        "ujfb",
        "ujfb(regular=dbf)",
        "conservative(urgent=first)",
        "easy(order=sjf)",
    ],
)
def test_foreseen_is_what_a_whole_copy_does(local: str) -> None:
    spec = f"reallocation(mode=cancel, period=120, threshold=10, local={local})"
    for seed in (1, 7):  # among them jobs are promoted, suspended and redirected
        Checked.compared = 0
        with composed_in_python(Checked):
            schedule = headway.simulate(busy_log(30, seed), platform_of(BUSY_SITES), spec)
        assert Checked.compared > 100
        assert schedule.moves is not None and len(schedule.moves) > 0
