"""The compiled loop of a composed grid is the grid in Python, job for job and move for move."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest

import headway
from grid_reference import platform_of
from headway import Schedule
from headway.engine.setup import Progress
from headway.platform import Platform
from headway.policies.grid.composed import driver
from headway.policies.grid.composed.driver import Grid
from headway.workload import Workload
from reference.composed_grid import composed_in_python
from test_grid_composed import BUSY_SITES, MOVES, of_three
from test_grid_foresight import busy_log

COLUMNS = ("start", "end", "killed", "cluster", "procs", "walltime", "runtime", "why", "promise")


def in_python(log: Workload, platform: Platform, spec: str) -> Schedule:
    with composed_in_python():
        return headway.simulate(log, platform, spec)


def check_equal(log: Workload, platform: Platform, spec: str, plain: Schedule | None = None) -> Schedule:
    """What was decided and told is the same; the compiled loop leaves out estimates that cannot matter."""
    compiled = headway.simulate(log, platform, spec)
    plain = plain or in_python(log, platform, spec)
    for name in COLUMNS:
        assert np.array_equal(getattr(compiled, name), getattr(plain, name)), name
    assert compiled.moves is not None and plain.moves is not None
    for name in MOVES:
        assert np.array_equal(getattr(compiled.moves, name), getattr(plain.moves, name)), name
    assert int(str(compiled.own["estimates"])) <= int(str(plain.own["estimates"]))
    assert {**compiled.own, "estimates": 0} == {**plain.own, "estimates": 0}
    assert compiled.notes.keys() == plain.notes.keys()
    for name, noted in plain.notes.items():
        for place in range(len(compiled)):  # a job wider than the principal groups is left out
            assert compiled.notes[name][place] == noted[place], (name, place)
    for name in ("max_queue", "mean_queue_per_pass", "passes"):
        assert compiled.provenance[name] == plain.provenance[name], name
    return compiled


OFTEN = ("dbf", "easy(order=sjf)", "redirection(theta=1, conflict=counter)", "ujfb")
LONG = (
    *(f"redirection(theta=1, conflict={rule})" for rule in ("walltime", "area", "latest")),
    "redirection(theta=1, principal=dbf)",
    "redirection(theta=1, principal=dbf, redirected=dbf)",
    "dbf(mode=literal, compress=every)",
    "ujfb(regular=dbf)",
    "ujfb(preempt=kill)",
    "ujf",
    "conservative(urgent=first)",
    "easy(order=lxf, backfill=saf, estimate=exact)",
    "easy(depth=2)",
    "strict(order=wfp3)",
    "sjf",
)


@pytest.mark.parametrize("local", [*OFTEN, *(pytest.param(each, marks=pytest.mark.long) for each in LONG)])
@pytest.mark.parametrize("rule", ["mct, mode=regular", "mct, mode=cancel", "sufferage, mode=cancel"])
def test_the_compiled_loop_is_the_grid_in_python(local: str, rule: str) -> None:
    spec = f"reallocation(heuristic={rule}, period=120, threshold=10, oldest=5, local={local})"
    schedule = check_equal(busy_log(45, seed=1), platform_of(BUSY_SITES), spec)
    assert schedule.moves is not None and len(schedule.moves) > 0


@pytest.mark.parametrize(
    "local", ["dbf", "easy(order=sjf, age=90)", "easy(order=sjf)", "redirection(theta=1, conflict=counter)"]
)
def test_withdrawn_submissions_leave_no_column(local: str) -> None:
    """Whether they are taken out at once or when they are many, nothing else changes, notes included."""
    log, platform = busy_log(80, seed=5), platform_of(BUSY_SITES)
    spec = f"reallocation(mode=cancel, period=120, threshold=10, local={local})"
    plain = in_python(log, platform, spec)
    for from_ in (1, 64):
        grids: list[Grid] = []
        with patch.object(driver, "TIDY_FROM", from_), patch.object(driver.Grid, "run", kept_in(grids)):
            schedule = check_equal(log, platform, spec, plain)
        assert int(str(schedule.own["resubmissions"])) > 2 * 80
        columns = [int(cluster.state.clock.last_new) for cluster in grids[0].clusters]
        assert sum(columns) == len(schedule) > 70
        if from_ == 1:  # then no table ever was wider than the log
            assert all(cluster.state.jobs.shape[1] == len(schedule) for cluster in grids[0].clusters)


def kept_in(grids: list[Grid]) -> Callable[..., None]:
    """A run that is remembered."""
    run = Grid.run

    def remembered(grid: Grid, progress: Progress | None = None) -> None:
        grids.append(grid)
        run(grid, progress)

    return remembered


def test_deep_queues_make_the_tables_grow() -> None:
    log = busy_log(150, seed=2)
    crowd = log.with_columns(submit=log.submit // 20)
    spec = "reallocation(mode=cancel, period=600, threshold=10, local=dbf)"
    schedule = check_equal(crowd, platform_of(BUSY_SITES), spec)
    assert schedule.provenance["max_queue"] > 64  # more than the tables hold at first


def test_clusters_of_different_policies() -> None:
    for policies in (["dbf", "ujfb", "redirection(theta=1)"], ["easy(order=sjf)", "dbf", "easy"]):
        for mode in ("regular", "cancel"):
            check_equal(busy_log(60, seed=3), of_busy(policies), f"reallocation(mode={mode}, period=300)")


def of_busy(policies: list[str]) -> Platform:
    return of_three(policies, platform_of(BUSY_SITES))
