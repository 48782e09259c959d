"""Compression by the table of holes against the plain sweep, and the table against the plan itself."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

import headway
from grid_reference import grid_log, platform_of
from headway.engine.driver import run
from headway.engine.setup import Jobs
from headway.engine.tables import NO_MEMORY, State
from headway.jit import kernels
from headway.policies.backfilling import conservative, long_holes, setup
from headway.policies.prepare import Arrivals
from headway.policies.spec import parse_spec
from headway.units import SECOND
from reference.grid import Cluster
from test_grid_equal import busy_tasks

Ints = npt.NDArray[np.int64]
PROCS = 256


def jobs_of(seed: int, count: int, spread: float, zero: int = 0) -> tuple[Ints, Ints, Ints, Ints]:
    """Submit times, sizes, walltimes and run times (µs) of jobs that come in a part of the time they take."""
    random = np.random.default_rng(seed)
    runtime = np.floor(np.exp(random.uniform(1, 8, count)))
    size = np.floor(2 ** random.uniform(0, 7, count))
    submit = np.sort(np.floor(random.uniform(0, spread * float((runtime * size).sum()) / PROCS, count)))
    walltime = np.ceil(runtime * random.choice([1, 1.5, 2, 5, 10], count) / 60) * 60
    walltime[random.choice(count, zero, replace=False)] = 0
    columns = (submit, size, walltime * SECOND, np.minimum(runtime, walltime) * SECOND)
    return (submit * SECOND).astype(np.int64), *(column.astype(np.int64) for column in columns[1:])  # type: ignore[return-value]


def simulated(policy: str, columns: tuple[Ints, Ints, Ints, Ints], table: bool) -> tuple[Ints, State]:
    """The starts, and the tables at the end; without a table of holes if not ``table``."""
    submit, size, walltime, runtime = columns
    prepared = parse_spec(policy).policy.prepare(Arrivals(submit, size, walltime, runtime), PROCS)
    setup = prepared.setup
    if not table:
        setup = replace(setup, hook=conservative.conservative, memory=NO_MEMORY)
    state = run(Jobs(submit, size, walltime, runtime, prepared.plan), setup)
    starts = np.empty(len(submit), np.int64)
    count = state.clock.runs
    starts[state.runs.job[:count]] = state.runs.start[:count]
    return starts, state


@pytest.mark.long  # a kernel of its own to compile
@pytest.mark.parametrize(
    ("policy", "spread"),
    [
        ("conservative", 0),
        ("conservative", 0.05),
        ("conservative(hole=open)", 0.02),
        ("conservative(compress=every)", 0),
        ("conservative(compress=fixpoint)", 0),
        ("conservative(estimate=1.5)", 0),
    ],
)
def test_the_table_of_holes_changes_no_start(policy: str, spread: float) -> None:
    columns = jobs_of(len(policy), 1200, spread)
    plain, _ = simulated(policy, columns, table=False)
    starts, state = simulated(policy, columns, table=True)
    assert state.memory.notes.buckets > 0, "the table was never used"
    assert np.array_equal(starts, plain)


@pytest.mark.long
def test_reservations_of_no_length_turn_the_table_off() -> None:
    columns = jobs_of(3, 1400, 0.02, zero=20)
    plain, _ = simulated("conservative", columns, table=False)
    starts, state = simulated("conservative", columns, table=True)
    assert state.memory.notes.buckets > 0
    assert np.array_equal(starts, plain)


def test_few_waiting_jobs_need_no_table() -> None:
    _, state = simulated("conservative", jobs_of(4, 600, 1.5), table=True)
    assert state.memory is NO_MEMORY


def use_table_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table with a tenth of the jobs, of buckets and of the sweeps between two counts."""
    monkeypatch.setattr(setup, "MANY_AT_ONCE", 2)
    monkeypatch.setattr(conservative, "MANY", 6)
    monkeypatch.setattr(conservative, "LONG", 0)
    monkeypatch.setattr(long_holes, "FEWEST_BUCKETS", 8)
    monkeypatch.setattr(long_holes, "WAITING_PER_BUCKET", 2)
    monkeypatch.setattr(long_holes, "SWEEPS_A_COUNT", 3)


@pytest.mark.interpreted
@pytest.mark.skipif(not kernels.INTERPRETED, reason="compiled kernels have their constants built in")
@pytest.mark.parametrize("options", ["", "(hole=open)", "(compress=every)"])
@pytest.mark.parametrize("spread", [0, 0.3])
def test_a_table_of_few_holes_changes_no_start(
    monkeypatch: pytest.MonkeyPatch, options: str, spread: float
) -> None:
    use_table_early(monkeypatch)
    for seed in range(3):
        columns = jobs_of(seed, 90, spread)
        plain, _ = simulated(f"conservative{options}", columns, table=False)
        starts, state = simulated(f"conservative{options}", columns, table=True)
        assert state.memory.notes.buckets > 0, "the table was never used"
        assert np.array_equal(starts, plain)


@pytest.mark.interpreted
@pytest.mark.skipif(not kernels.INTERPRETED, reason="compiled kernels have their constants built in")
def test_a_cluster_whose_jobs_leave_keeps_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a job that moves to another cluster leaves free is used, however many wait there."""
    tasks = [replace(job, submit=job.submit // 4) for job in busy_tasks(50, seed=0)]
    sites = (Cluster("a", 24), Cluster("b", 16, Fraction(6, 5)), Cluster("c", 8, Fraction(7, 5)))
    spec = "reallocation(mode=regular, period=300, threshold=10, local=conservative(urgent=first))"
    plain = headway.simulate(grid_log(tasks), platform_of(sites), spec)
    assert plain.moves is not None and len(plain.moves) > 0
    use_table_early(monkeypatch)
    early = headway.simulate(grid_log(tasks), platform_of(sites), spec)
    assert np.array_equal(early.start, plain.start)
