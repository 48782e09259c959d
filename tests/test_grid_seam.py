"""The seam between agent and servers: the same agent source drives servers that know no simulator."""

from __future__ import annotations

import ast
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import UsageError
from headway.policies.grid import agent as source
from headway.policies.grid import notes, selection
from headway.policies.grid.middleware import NO_ANSWER, STARTED, Agent, over_python
from random_examples import examples
from reference.grid import Cluster, Grid, Site, simulate_reallocation
from reference.instances import job_lists
from reference.jobs import Job
from reference.loop import drive, soonest

REQUESTS = {"cancel", "estimate", "submit"}
SITES = (Cluster("a", 5), Cluster("b", 3, Fraction(6, 5)), Cluster("c", 4, Fraction(7, 5)))


class Front:
    """A server in front of a cluster of the plain reference."""

    def __init__(self, site: Site, log: list[str]) -> None:
        self.site, self.now, self.disturbed, self.log = site, 0, False, log

    def settle(self) -> None:
        if self.disturbed:
            self.site.batch.compress_now(self.now)
            self.disturbed = False

    def estimate(self, task: int) -> tuple[int, int]:
        self.settle()
        if task in self.site.batch.waiting:
            return self.site.current(task), self.site.shapes[task].procs
        if task in self.site.machine.results:
            return STARTED, 0
        return self.site.estimate(self.now, task) or (NO_ANSWER, 0)

    def submit(self, task: int) -> tuple[int, int]:
        self.log.append(f"submit {task}")
        _, procs = self.estimate(task)
        self.site.submit(self.now, task, procs)
        return self.site.current(task), procs

    def cancel(self, task: int) -> bool:
        if task not in self.site.batch.waiting:
            return False
        self.log.append(f"cancel {task}")
        self.site.cancel(task)
        self.disturbed = True
        return True


def run_outside(jobs: list[Job], heuristic: str, mode: str, oldest: int) -> tuple[Grid, list[str]]:
    """The reference's clusters under the real agent; nothing compiled, nothing of the engine."""
    sites = [Site(cluster, jobs, "binary", "conservative", "early") for cluster in SITES]
    log: list[str] = []
    fronts = [Front(site, log) for site in sites]
    agent = Agent(fronts, heuristic, mode, threshold=2, oldest=oldest)
    last = now = 0

    def turn(t: int, arrivals: list[int]) -> None:
        nonlocal last, now
        now = t
        for front in fronts:
            front.now = t
            front.site.batch.ended(t, front.site.machine.complete(t))
        for j in arrivals:
            if jobs[j].local:
                (home,) = [site for site in sites if site.cluster.name == jobs[j].cluster]
                home.submit(t, j, jobs[j].procs)
            else:
                assert agent.arrive(j) is not None
        if t % 6 == 0 and t > last:
            last = t
            agent.reallocate(t)
        for front in fronts:
            front.settle()
            front.site.batch.schedule(t)

    def next_event() -> int | None:
        waits = any(not jobs[j].local for site in sites for j in site.batch.waiting)
        timer = (now // 6 + 1) * 6 if waits else None
        return soonest(timer, *(soonest(s.machine.next_end(), s.batch.wake()) for s in sites))

    drive(jobs, next_event, turn)
    where = [next(s for s in sites if j in s.machine.results) for j in range(len(jobs))]
    results = [site.machine.results[j] for j, site in enumerate(where)]
    moves = [(m.task, m.time, SITES[m.source].name, SITES[m.target].name) for m in agent.moves]
    for j in {move[0] for move in moves}:
        results[j].why = "moved"
    procs = [site.shapes[j].procs for j, site in enumerate(where)]
    return Grid(results, [site.cluster.name for site in where], procs, moves), log


@examples(80)
@given(
    jobs=job_lists(
        3, max_jobs=14, horizon=30, longest=12,
        parallel_fraction=st.sampled_from([None, Fraction(8, 10)]), max_procs=st.integers(1, 6),
        local=st.sampled_from([False, False, True]), cluster=st.sampled_from("abc"),
    ),
    heuristic=st.sampled_from(["mct", "minmin", "maxmin", "sufferage", "maxgain", "maxrelgain"]),
    mode=st.sampled_from(["regular", "cancel"]),
    oldest=st.sampled_from([1, 3, 20]),
)  # fmt: skip
def test_the_agent_over_servers_of_another_make(
    jobs: list[Job], heuristic: str, mode: str, oldest: int
) -> None:
    outside, log = run_outside(jobs, heuristic, mode, oldest)
    assert outside == simulate_reallocation(jobs, SITES, heuristic, mode, 6, 2, oldest)
    if mode == "regular":  # never nowhere: a task is submitted right before it is cancelled
        for before, line in pairwise(log):
            if line.startswith("cancel"):
                assert before == line.replace("cancel", "submit")


def test_it_is_the_same_source() -> None:
    for name in ("arrive", "reallocate"):
        compiled = getattr(source, name)
        assert getattr(over_python(), name).__code__ is getattr(compiled, "py_func", compiled).__code__


def test_the_agent_knows_three_requests_and_nothing_of_the_simulator() -> None:
    tree = ast.parse(Path(source.__file__).read_text("utf-8"))
    imports = {
        (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    ours = {(module, name) for module, name in imports if module and module.startswith("headway")}
    own = {notes.__name__, selection.__name__}  # its memory, and the choice of the next task
    assert {name for module, name in ours if module == "headway.policies.grid.server"} == REQUESTS
    assert {module for module, _ in ours} - own == {"headway.policies.grid.server", "headway.jit.kernels"}
    for module in (notes, selection):
        known = {part.module for part in ast.walk(ast.parse(Path(str(module.__file__)).read_text("utf-8")))
                 if isinstance(part, ast.ImportFrom)}  # fmt: skip
        assert known - own <= {
            "__future__",
            "enum",
            "typing",
            "headway.jit.kernels",
            "headway.jit.rows",
            "headway.units",
        }
    # What it is handed for the requests it only hands on: no attribute, no index.
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.value, ast.Name):
            assert node.value.id != "grid"


class Line:
    """A cluster of one processor that does one task of a known length after the other."""

    def __init__(self, free_from: int) -> None:
        self.free_from, self.waiting, self.calls = free_from, list[str](), list[str]()

    def estimate(self, task: str) -> tuple[int, int]:
        upto = self.waiting[: self.waiting.index(task) + 1] if task in self.waiting else [*self.waiting, task]
        return self.free_from + sum(len(name) for name in upto), 1

    def submit(self, task: str) -> tuple[int, int]:
        self.calls.append(f"submit {task}")
        self.waiting.append(task)
        return self.estimate(task)

    def cancel(self, task: str) -> bool:
        self.calls.append(f"cancel {task}")
        self.waiting.remove(task)
        return True


def test_a_task_is_submitted_there_before_it_is_cancelled_here() -> None:
    # Tasks take as long as their names are. The lines are free from 10 and from 12 on.
    calls: list[str] = []
    one, two = Line(10), Line(12)
    one.calls = two.calls = calls
    agent = Agent([one, two], threshold=3)
    assert [agent.arrive("xxxx"), agent.arrive("yyy")] == [0, 1]  # 14; then 17 against 15
    two.free_from = 0
    (move,) = agent.reallocate(now=5)  # xxxx: 14 here, 3 + 4 = 7 there
    assert (move.task, move.source, move.target, move.before, move.after) == ("xxxx", 0, 1, 14, 7)
    assert calls[2:] == ["submit xxxx", "cancel xxxx"]


def test_a_task_that_started_meanwhile_stays() -> None:
    class Hasty(Line):
        def cancel(self, task: str) -> bool:
            super().cancel(task)
            return False  # it has just started

    one, two = Hasty(10), Line(20)
    agent = Agent([one, two], threshold=1)
    agent.arrive("xx")
    two.free_from = 0
    assert agent.reallocate(now=5) == []
    assert two.waiting == []  # the second submission was withdrawn


def test_memory_grows_with_the_tasks() -> None:
    servers = [Line(0), Line(0)]
    agent = Agent(servers)
    for number in range(200):
        assert agent.arrive("x" * (1 + number % 3)) is not None
    assert sum(len(server.waiting) for server in servers) == 200
    servers[1].free_from = -1000
    made = agent.reallocate(now=1)
    assert len(made) > 50 and len(servers[1].waiting) > len(servers[0].waiting)


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(UsageError, match="heuristic must be one of mct"):
        Agent([], heuristic="best")
