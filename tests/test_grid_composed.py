"""Grids whose clusters are simulated one by one: as the compiled grid, and as each policy alone."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headway
from grid_reference import grid_log, platform_of
from headway import Schedule
from headway.audit import audit
from headway.explain import explain
from headway.jit import kernels
from headway.platform import Cluster, Platform
from headway.policies.grid import policy
from headway.policies.grid.composed.setup import own_numbers
from headway.policies.spec import parse_spec
from headway.workload import Workload
from instances import log_of
from random_examples import examples
from reference.grid import Cluster as Site
from reference.instances import job_lists
from reference.jobs import Job
from test_grid_equal import JOBS, SITES, busy_tasks

MOVES = ("job", "time", "source", "target", "before", "after", "procs_before", "procs_after")
COUNTS = ("moves", "moved_tasks", "reallocation_events", "resubmissions", "put_back_tasks", "most_put_back")
RULES = (
    st.sampled_from(["mct", "minmin", "maxmin", "sufferage", "maxgain", "maxrelgain"]),
    st.sampled_from(["regular", "cancel"]),
    st.sampled_from(["0.000006", "0.000003"]),
    st.sampled_from(["0.000002", "0"]),
    st.sampled_from([1, 3, 20]),
    st.sampled_from(["binary", "bounded"]),
)
RULE = "reallocation(heuristic={}, mode={}, period={}, threshold={}, oldest={}, tuning={}"


def one_by_one(log: Workload, platform: Platform, spec: str) -> Schedule:
    """A grid that could run in one simulation, with one for each cluster all the same."""
    with patch.object(policy, "run_together", lambda local: False):
        return headway.simulate(log, platform, spec)


def same(one: Schedule, other: Schedule, *names: str) -> None:
    for name in names:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def check_alike(log: Workload, platform: Platform, spec: str) -> Schedule:
    """Job for job and move for move, promises and what was expected included."""
    together, apart = headway.simulate(log, platform, spec), one_by_one(log, platform, spec)
    assert (together.own["completions"], apart.own["completions"]) == ("reserved", "foreseen")
    same(together, apart, "start", "end", "killed", "cluster", "procs", "walltime", "runtime")
    if "fcfs" not in spec:  # there it is a plan, and tells other reasons than a queue
        same(together, apart, "why", "promise")
    assert together.moves is not None and apart.moves is not None
    for name in MOVES:
        assert np.array_equal(getattr(together.moves, name), getattr(apart.moves, name)), name
    assert [together.own[name] for name in COUNTS] == [apart.own[name] for name in COUNTS]
    assert together.provenance["max_queue"] == apart.provenance["max_queue"]
    return apart


@examples(80)
@given(
    jobs=JOBS,
    spec=st.builds(
        (RULE + ", local={}, {})").format,
        *RULES,
        st.sampled_from(["conservative", "conservative(compress=scratch, hole=open)", "fcfs"]),
        st.sampled_from(["law=amdahl", "law=downey, sigma=0.3", "law=downey, sigma=2.5"]),
    ),
)
def test_reserved_starts_are_what_is_foreseen(jobs: list[Job], spec: str) -> None:
    """Where every job starts when it is reserved, running ahead says what the reservations say."""
    check_alike(grid_log(jobs), platform_of(SITES), spec)


BUSY_SITES = (Site("a", 24), Site("b", 16, Fraction(6, 5)), Site("c", 8, Fraction(7, 5)))


@pytest.mark.parametrize(("heuristic", "mode"), [("mct", "regular"), ("minmin", "cancel")])
def test_a_busy_grid_is_the_compiled_one(heuristic: str, mode: str) -> None:
    log, platform = grid_log(busy_tasks(50, seed=4)), platform_of(BUSY_SITES)
    spec = f"reallocation(heuristic={heuristic}, mode={mode}, period=120, threshold=10, oldest=5)"
    schedule = check_alike(log, platform, spec)
    assert schedule.moves is not None and len(schedule.moves) > 1


# ---- one cluster, no reallocation: the policy alone -------------------------------------------------------

ALONE = (
    "dbf",
    "dbf(mode=literal, compress=every)",
    "dbf(late=refuse)",
    "ujfb",
    "ujfb(preempt=kill)",
    "ujfb(idle=lent, leftover=swapped)",
    "ujfb(regular=dbf)",
    "ujf",
    "redirection(theta=1, group=2)",
    "redirection(theta=0, group=3, principal=conservative, redirected=dbf)",
    "redirection(theta=1, group=2, restart=checkpoint)",
    "redirection(theta=1, alpha=0.5, size=split, principal=dbf, redirected=dbf)",
    "conservative(urgent=first)",
    "easy(order=saf, backfill=lxf, urgent=first)",
    "easy(estimate=exact, depth=2, age=0.000005)",
    "sjf",
    "strict(order=wfp3)",
)


def with_columns(jobs: list[Job]) -> Workload:
    """The log with deadlines, counted from the submission, and swap times."""
    due = [-1 if job.deadline is None else job.submit + job.deadline for job in jobs]
    return log_of(jobs, deadline=due, swap=[job.id * 7 % 3 for job in jobs])


def test_means_over_clusters() -> None:
    def cluster(mean: float | None, count: int) -> Any:
        own = {"mean_preemption_delay": mean, "preempting_jobs": count}
        return SimpleNamespace(prepared=SimpleNamespace(own=lambda state: own), state=None)

    for count in range(1, 8):  # of one cluster it is the mean itself, to the last bit
        for total in range(200):
            mean = total / (count * 1_000_000)
            found = own_numbers([cluster(mean, count), cluster(None, 0)])
            assert found == {"mean_preemption_delay": mean, "preempting_jobs": count}
    assert own_numbers([cluster(1.0, 1), cluster(4.0, 2)])["mean_preemption_delay"] == 3.0


@pytest.mark.interpreted
@examples(120)
@given(
    jobs=job_lists(
        4, max_jobs=14, horizon=25, longest=12, urgent=st.sampled_from([False, False, False, True]),
        deadline=st.one_of(st.none(), st.integers(5, 60)),
    ),
    policy=st.sampled_from(ALONE),
)  # fmt: skip
def test_one_cluster_is_the_policy_alone(jobs: list[Job], policy: str) -> None:
    log = with_columns(jobs)
    alone = headway.simulate(log, 4, policy)
    procs = 4 + parse_spec(policy).policy.added_procs(4)  # a cluster has no others than its own
    grid = headway.simulate(log, procs, f"reallocation(mode=none, local={policy})")
    same(alone, grid, "start", "end", "killed", "why", "promise", "waiting", "group")
    assert (alone.capacity, alone.groups) == (grid.capacity, grid.groups)
    assert alone.promise_kind == grid.promise_kind
    assert {name: grid.own[name] for name in alone.own} == alone.own
    assert (alone.pieces is None) == (grid.pieces is None)
    if alone.pieces is not None and grid.pieces is not None:
        for name in ("job", "run", "state", "start", "end", "procs", "ended", "group", "processors"):
            assert np.array_equal(getattr(alone.pieces, name), getattr(grid.pieces, name)), name
    verdict = audit(grid)
    assert verdict.ok, verdict.faults


# ---- clusters of different policies -----------------------------------------------------------------------

OWN = ("dbf", "ujfb", "ujfb(preempt=kill)", "redirection(theta=0, group=2)", "conservative", "easy", "lxf")


def of_three(policies: list[str], platform: Platform | None = None) -> Platform:
    sites = zip((platform or platform_of(SITES)).clusters, policies, strict=True)
    return Platform(tuple(Cluster(c.name, c.speed, c.procs, policy=policy) for c, policy in sites))


@pytest.mark.long
@examples(80)
@given(
    jobs=job_lists(
        3, max_jobs=16, horizon=20, longest=12, urgent=st.sampled_from([False, False, False, True]),
        deadline=st.one_of(st.none(), st.integers(5, 60)), max_procs=st.sampled_from([None, 1, 2, 4]),
        parallel_fraction=st.sampled_from([None, None, Fraction(8, 10)]),
        local=st.sampled_from([False, False, True]), cluster=st.sampled_from("abc"),
    ),
    spec=st.builds((RULE + ")").format, *RULES),
    policies=st.lists(st.sampled_from(OWN), min_size=3, max_size=3),
)  # fmt: skip
def test_each_cluster_under_its_own_policy(jobs: list[Job], spec: str, policies: list[str]) -> None:
    due = [-1 if job.deadline is None else job.submit + job.deadline for job in jobs]
    log = grid_log(jobs).with_columns(deadline=np.array(due), swap=np.full(len(jobs), 2))
    schedule = headway.simulate(log, of_three(policies), spec)
    verdict = audit(schedule)
    assert verdict.ok, verdict.faults
    assert {"one place", "events", "molding"} <= {law.name for law in verdict.laws}
    with TemporaryDirectory() as folder:
        schedule.save(Path(folder) / "run")
        again = Schedule.load(Path(folder) / "run")
    assert audit(again).ok, audit(again).faults
    same(schedule, again, "start", "end", "cluster", "procs")
    for job in schedule.workload.job[:3].tolist():
        assert f"Job {job} under" in str(explain(schedule, job, simulate_again=False))
    assert schedule.summary()["jobs"] == len(jobs)


def test_a_promoted_task_is_no_fault_where_the_schedule_does_not_say_what_it_was_told() -> None:
    # Both tasks need the second cluster. The deadline of the first would be missed behind the second, which
    # has none, so it is promoted. Under sjf nobody is told anything, and the schedule shows no latest ends.
    clusters = (Cluster("a", procs=1, policy="sjf"), Cluster("b", procs=3, policy="dbf"))
    log = Workload.from_arrays(
        unit="s", submit=[0, 0], procs=[3, 3], runtime=[5, 5], walltime=[5, 5], deadline=[5, -1]
    )
    schedule = headway.simulate(log, Platform(clusters), "reallocation(mode=none)")
    assert schedule.frame()["why"].to_list() == ["promoted", "reservation"]
    verdict = audit(schedule)
    assert verdict.ok, verdict.faults
    # One that has no deadline cannot be promoted.
    schedule.why[1] = schedule.why[0]
    assert {fault.law for fault in audit(schedule).faults} == {"latest end (b)"}


# ---- compiled and interpreted -----------------------------------------------------------------------------


def schedules() -> dict[str, list[int]]:
    """Columns of busy grids under each policy, by name."""
    jobs, random = busy_tasks(24, seed=4), np.random.default_rng(1)
    log, found = grid_log(jobs), {}
    late = log.submit + (log.walltime * random.uniform(1.5, 12, len(log))).astype(np.int64)
    log = log.with_columns(
        deadline=np.where(random.random(len(log)) < 0.4, late, -1),
        urgent=random.random(len(log)) < 0.15,
        swap=random.integers(0, 30, len(log)) * 1_000_000,
    )
    for local in ("dbf", "ujfb", "redirection(theta=1)", "conservative(urgent=first)", "easy(order=sjf)"):
        for mode in ("regular", "cancel"):
            spec = f"reallocation(mode={mode}, period=120, threshold=10, local={local})"
            schedule = headway.simulate(log, platform_of(BUSY_SITES), spec)
            for name in ("start", "end", "cluster", "why", "promise"):
                found[f"{spec} {name}"] = getattr(schedule, name).tolist()
            assert schedule.moves is not None
            found[f"{spec} moves"] = schedule.moves.time.tolist()
    return found


PROGRAM = """
import json, sys
from headway.jit import kernels
import test_grid_composed
assert kernels.INTERPRETED
json.dump(test_grid_composed.schedules(), open(sys.argv[1], "w"))
"""


@pytest.mark.long
def test_compiled_and_interpreted_runs_agree(tmp_path: Path) -> None:
    import json

    if kernels.INTERPRETED:
        pytest.skip("kernels run interpreted here already")
    folders = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": folders}
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "interpreted.json")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    compiled = schedules()
    assert compiled == json.loads((tmp_path / "interpreted.json").read_text())
    assert sum(len(times) for name, times in compiled.items() if name.endswith("moves")) > 10


@pytest.mark.interpreted
def test_estimates_are_what_each_policy_alone_makes_of_the_jobs_it_has() -> None:
    """A job with a counter ends as others come: each goes where it is completed first if everybody who has
    not ended runs as long as was asked for, and then runs there as it would alone."""
    rows = (  # submit, processors, walltime, run time
        (5, 1, 13, 3), (6, 1, 15, 5), (8, 3, 4, 2), (10, 1, 5, 5), (11, 1, 2, 2), (11, 3, 11, 2)
    )  # fmt: skip
    here = "redirection(theta=0, group=1, filter=pseudo, conflict=counter, principal=conservative)"
    there = "redirection(theta=2, group=1, filter=walltime, principal=conservative)"
    clusters = (Cluster("a", procs=4, policy=here), Cluster("b", procs=2, policy=there))

    def log(jobs: list[int], lengths: dict[int, int]) -> Workload:
        names = ("submit", "procs", "walltime")
        given: dict[str, Any] = {name: [rows[j][i] for j in jobs] for i, name in enumerate(names)}
        return Workload.from_arrays(unit="s", **given, runtime=[lengths[j] for j in jobs])

    def ends(cluster: Cluster, jobs: list[int], lengths: dict[int, int]) -> dict[int, int]:
        made = headway.simulate(log(jobs, lengths), cluster.procs - 1, cluster.policy) if jobs else None
        return {} if made is None else dict(zip(jobs, (made.end // 10**6).tolist(), strict=True))

    real = {j: row[3] for j, row in enumerate(rows)}
    given: dict[str, list[int]] = {"a": [], "b": []}
    for j, (now, procs, walltime, _) in enumerate(rows):
        completed = {}
        for one in clusters:
            if procs < one.procs:  # one is the redirection group
                had = ends(one, given[one.name], real)
                asked = {k: real[k] if end <= now else rows[k][2] for k, end in had.items()} | {j: walltime}
                completed[one.name] = ends(one, [*given[one.name], j], asked)[j]
        given[min(completed, key=lambda name: completed[name])].append(j)
    expected = {j: end for one in clusters for j, end in ends(one, given[one.name], real).items()}
    made = headway.simulate(log(list(range(len(rows))), real), Platform(clusters), "reallocation(mode=none)")
    assert (made.end // 10**6).tolist() == [expected[j] for j in range(len(rows))]
