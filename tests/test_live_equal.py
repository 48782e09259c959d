"""Live equals simulated: the agent over servers behind sockets decides as `headway simulate` does."""

from __future__ import annotations

import numpy as np
import pytest

import headway
from headway.audit import audit
from headway.live.record import recorded
from headway.live.rehearsal import Conductor, tasks_of
from headway.workload import Workload
from headway.workload.models import generate
from headway.workload.transform import apply
from live_grids import cluster, folder, running, written

CLUSTERS = (
    cluster("a", 16, kind="simulated")
    + cluster("b", 8, kind="simulated", speed=1.2)
    + cluster("c", 12, kind="simulated", speed=1.4)
)


def log(jobs: int) -> Workload:
    drawn = generate(f"lublin(jobs={jobs}, procs=32, load=1.5, estimates=tsafrir, seed=3)")
    return apply(drawn, "moldable(seed=1)")


@pytest.mark.parametrize(
    ("heuristic", "mode", "local"),
    [
        ("mct", "regular", "conservative"),
        pytest.param("minmin", "cancel", "conservative", marks=pytest.mark.long),
        pytest.param("maxgain", "regular", "easy", marks=pytest.mark.long),
        pytest.param("sufferage", "cancel", "dbf", marks=pytest.mark.long),
        pytest.param("maxmin", "regular", "fcfs", marks=pytest.mark.long),
        pytest.param("maxrelgain", "cancel", "redirection(size=split, alpha=0.25)", marks=pytest.mark.long),
    ],
)
def test_job_for_job(heuristic: str, mode: str, local: str) -> None:
    policy = f"reallocation(heuristic={heuristic}, mode={mode}, period=600, threshold=60, local={local})"
    workload = log(45)
    with folder() as path:
        grid = written(path, CLUSTERS, policy)
        simulated = headway.simulate(workload, grid.platform, grid.policy)
        with running(grid) as live:
            conductor = Conductor(live.agent, tasks_of(workload))
            conductor.run()
            found = [live.agent.on_status(task) for task in conductor.tasks]
            made = recorded(grid, live.agent.journal)
    names = [site.name for site in grid.sites]
    assert simulated.cluster is not None and simulated.moves is not None
    for task, row in zip(found, np.argsort(workload.submit, kind="stable").tolist(), strict=True):
        assert (task["started"], task["ended"], task["procs"], task["cluster"]) == (
            simulated.start[row],
            simulated.end[row],
            simulated.procs[row],
            names[simulated.cluster[row]],
        )
    assert made.moves is not None and len(made.moves) == len(simulated.moves) > 0
    assert audit(made).ok, audit(made).faults


def test_suspensions_are_on_record_as_in_a_simulation() -> None:
    """One cluster that suspends jobs for urgent ones: the same pieces, and a sound audit."""
    drawn = generate("lublin(jobs=60, procs=16, load=1.2, estimates=tsafrir, seed=3)")
    workload = drawn.with_columns(urgent=np.arange(60) % 5 == 4)
    simulated = headway.simulate(workload, 16, "ujfb(swap=0)")
    with folder() as path:
        grid = written(
            path, cluster("a", 16, kind="simulated", policy="ujfb(swap=0)"), "reallocation(period=1e7)"
        )
        with running(grid) as live:
            Conductor(live.agent, tasks_of(workload)).run()
            made = recorded(grid, live.agent.journal)
    columns = ["job", "run", "state", "start", "end", "ended"]
    assert "suspended" in simulated.runs()["state"].to_list()
    assert made.runs().select(columns).equals(simulated.runs().select(columns))
    assert audit(made).ok, audit(made).faults
