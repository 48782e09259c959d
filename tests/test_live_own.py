"""Policies of the user's own on a live cluster: what they decide in a simulation, and what is refused."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import headway
from headway.errors import HeadwayError, PolicyError, UsageError
from headway.live.batch import Batch, check_live
from headway.live.engine import Job
from headway.live.server import check_acts
from headway.live.spans import START, STOP
from headway.platform import Cluster
from headway.policies.grid.composed.cluster import Shape
from headway.policies.spec import parse_spec
from headway.units import SECOND
from headway.workload import Workload
from live_grids import cluster, folder, running, short, written

PROCS = 8
SITE = Cluster("a", 1, PROCS)
POLICIES = '''
from headway import Decision, SECOND


def first_come(view):
    starts, free = [], view.free
    for job in view.waiting:
        if job.procs > free:
            break
        free -= job.procs
        starts.append(job)
    return starts


class Alternating:
    """Remembers which end of the queue had its turn, and asks to be woken."""

    def __init__(self, pause=3):
        self.pause, self.turns = pause, 0

    def decide(self, view):
        self.turns += 1
        starts, free = [], view.free
        for job in list(view.waiting)[:: 1 if self.turns % 2 else -1]:
            if job.procs <= free:
                free -= job.procs
                starts.append(job)
        left = len(view.waiting) > len(starts)
        return Decision(starts, wake=view.now + self.pause * SECOND if left else None)


def short_first(view):
    """Stops the longest job when a one-processor job finds no room."""
    small = [job for job in view.new if job.procs == 1]
    if small and view.free == 0:
        victim = max(view.running, key=lambda job: (job.expected_end, job.number))
        return Decision(start=[small[0]], kill=[victim])
    starts, free = [], view.free
    for job in view.waiting:
        if job.procs <= free:
            free -= job.procs
            starts.append(job)
    return starts


def raises(view):
    return view.waiting[0].file


class Uncopied:
    def __init__(self):
        self.lock = __import__("threading").Lock()

    def decide(self, view):
        return []


def area(job):
    return job.walltime * job.procs


def impatience(job, now):
    return -(now - job.submit) / max(job.walltime, 1.0)


def cautious(job):
    return 0.8 * job.walltime
'''
COMPILED = """
import numpy as np
from headway.policies.own.words import *


@compiled
def first_come(t, state):
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        join(state, MACHINE, job)
    while head_fits(state, MACHINE):
        job = leave(state, QUEUE, state.pools[Q_HEAD, QUEUE])
        start(state, job, MACHINE, reason(t, state, job))


@compiled(tables=lambda jobs, procs: (np.zeros((1, len(jobs["procs"])), np.int64), np.zeros((0, 0))))
def by_tables(t, state):
    pass
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own")
    (path / "own.py").write_text(POLICIES, "utf-8")
    (path / "fast.py").write_text(COMPILED, "utf-8")
    return path


def drawn(count: int, seed: int) -> list[tuple[int, int, int, int]]:
    """(submit, procs, walltime, run time) in seconds, in order of submission."""
    draw = random.Random(seed)
    made = []
    for submit in sorted(draw.randrange(3 * count) for _ in range(count)):
        walltime = draw.randrange(2, 30)
        made.append((submit, draw.choice([1, 1, 2, 3, 8]), walltime, draw.randrange(1, walltime + 1)))
    return made


def lived(policy: str, jobs: list[tuple[int, int, int, int]]) -> list[int]:
    """The last start of each job on a live cluster whose jobs end when they do."""
    batch, starts = Batch(SITE, parse_spec(policy)), dict[int, int]()
    for number, (submit, procs, walltime, run) in enumerate(jobs):
        batch.open(submit * SECOND)
        batch.submit(number, Job(walltime * SECOND, Shape(procs, 1, 1), run * SECOND))
        if number + 1 == len(jobs) or jobs[number + 1][0] > submit:
            batch.close()
    batch.look(10**6 * SECOND)
    starts |= {act.job: act.at for act in batch.acts() if act.kind == START}
    return [starts[number] for number in range(len(jobs))]


def simulated(policy: str, jobs: list[tuple[int, int, int, int]]) -> list[int]:
    columns = np.array(jobs, np.int64).T
    names = ("submit", "procs", "walltime", "runtime")
    workload = Workload.from_arrays(unit="s", **dict(zip(names, columns, strict=True)))
    schedule = headway.simulate(workload, PROCS, policy)
    return [int(start) for start in schedule.start]


@pytest.mark.parametrize(
    "policy",
    [
        *("{}/own.py:first_come", "{}/own.py:Alternating(pause=2)", "{}/own.py:short_first"),
        *("easy(order={}/own.py:area)", "easy(backfill={}/own.py:impatience)", "{}/fast.py:first_come"),
        *("strict(order={}/own.py:impatience)", "easy(estimate={}/own.py:cautious, backfill=sjf)"),
    ],
)
def test_what_is_decided_live_is_what_a_simulation_decides(policy: str, files: Path) -> None:
    policy = policy.replace("{}", str(files))
    for seed in (1, 2, 3):
        jobs = drawn(40, seed)
        assert lived(policy, jobs) == simulated(policy, jobs), seed


@pytest.mark.parametrize(
    "policy", ["{}/own.py:first_come", "{}/fast.py:first_come", "easy(order={}/own.py:area)"]
)
def test_a_job_leaves_and_what_is_foreseen_happens(policy: str, files: Path) -> None:
    batch = Batch(SITE, parse_spec(policy.replace("{}", str(files))))
    for number, (procs, walltime) in enumerate([(4, 10), (4, 5), (8, 5), (8, 1)]):
        batch.open(number * SECOND)
        batch.submit(number, Job(walltime * SECOND, Shape(procs, 1, 1)))
        batch.close()
    batch.open(4 * SECOND)
    assert batch.cancel(2) and not batch.cancel(0)
    batch.close()
    assert batch.planned(3) == (10 * SECOND, 11 * SECOND)
    assert batch.tried(Job(SECOND, Shape(8, 1, 1))) == 12 * SECOND
    batch.acts()
    batch.end(0, 7 * SECOND)
    batch.close()
    assert [(act.kind, act.job, act.at) for act in batch.acts()][1:] == [(START, 3, 7 * SECOND)]


def test_a_policy_may_stop_jobs_where_that_is_allowed(files: Path) -> None:
    spec = parse_spec(f"{files}/own.py:short_first")
    for may_stop in (True, False):
        batch = Batch(SITE, spec, may_stop=may_stop)
        batch.open(0)
        batch.submit(0, Job(9 * SECOND, Shape(8, 1, 1)))
        batch.close()
        batch.open(SECOND)
        batch.submit(1, Job(SECOND, Shape(1, 1, 1)))
        if may_stop:
            batch.close()
            assert [(act.kind, act.job) for act in batch.acts()][1:] == [(STOP, 0), (START, 1)]
        else:
            with pytest.raises(PolicyError, match='needs "requeue" in'):
                batch.close()
            assert batch.phase(0) == "running" and batch.phase(1) == "waiting"


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ("fast.py:by_tables", "jobs are not known before they come"),
        ("own.py:Uncopied", "foreseen by a copy that runs ahead"),
        ("own.py:raises", "a job has no 'file'; it has number, id, submit, procs"),
    ],
)
def test_what_a_live_cluster_cannot_give_is_refused_with_the_reason(
    policy: str, reason: str, files: Path
) -> None:
    spec = parse_spec(f"{files}/{policy}")
    with pytest.raises(HeadwayError, match=reason):
        Batch.warm(SITE, spec)


def test_a_grid_file_names_a_policy_beside_it(files: Path) -> None:
    with folder() as path:
        (path / "own.py").write_text(POLICIES, "utf-8")
        grid = written(path, cluster("a", 2, policy="./own.py:first_come"))
        with running(grid) as live:
            told = [live.agent.on_submit(short(0.2, 5, 2).as_json()) for _ in range(3)]
            assert [task["cluster"] for task in told] == ["a"] * 3
            assert all(task["completion"] == task["start"] + 5 * SECOND for task in told)
            live.until(live.all_over)
            assert live.agent.journal.counts() == {"done": 3}
        refused = written(path, cluster("a", 2, policy="easy(estimate=exact)"))
        with pytest.raises(UsageError, match="not known before jobs have ended"):
            check_live(refused.sites[0].policy)
        check_acts(grid, grid.sites[0])
