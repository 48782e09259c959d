"""Clusters under DBF, UJFB and redirection, and each under its own policy: by hand; what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import headway
from grid_reference import grid_log
from headway import Schedule
from headway.audit import audit
from headway.errors import HeadwayError
from headway.explain import explain
from headway.platform import Cluster, Platform
from headway.schedule import WHY
from headway.units import MINUTE
from headway.workload import Workload
from reference.jobs import Job
from test_grid_golden import minutes, moves_of, places, spans

PAIR = Platform((Cluster("a", procs=2), Cluster("b", procs=2)))
PAIR_OF_FOUR = Platform((Cluster("a", procs=4), Cluster("b", procs=4)))
EVENTS = "period=600, threshold=60"


def of(platform: Platform, *policies: str) -> Platform:
    """The platform with a policy for each cluster."""
    clusters = zip(platform.clusters, policies, strict=True)
    return Platform(tuple(Cluster(c.name, c.speed, c.procs, policy=policy) for c, policy in clusters))


def noted(jobs: list[Job], **columns: list[int]) -> Workload:
    """The log of jobs with columns that hold minutes; -1: none."""
    log = grid_log(jobs, ["a", "b"])
    for name, values in columns.items():
        times = np.array([value * MINUTE if value >= 0 else -1 for value in values])
        log = log.with_columns(transformation=None, **{name: times})
    return log


def expected(schedule: Schedule) -> list[tuple[int, int]]:
    """The completions expected before and after each move, in minutes."""
    moves = schedule.moves
    assert moves is not None
    return [(int(b) // MINUTE, int(a) // MINUTE) for b, a in zip(moves.before, moves.after, strict=True)]


def judged(schedule: Schedule, *laws: str) -> Schedule:
    verdict = audit(schedule)
    assert verdict.ok, verdict.faults
    assert set(laws) <= {law.name for law in verdict.laws}
    return schedule


# ---- one move under each policy ---------------------------------------------------------------------------


def test_a_displaced_task_moves_under_dbf() -> None:
    # All 2 wide. J1 (20) goes to a, J2 (30, runs 5) to b. J3 (10, due at 60) at 1: a 20-30, b 30-40: a,
    # provisionally. J4 (10) at 2 has no deadline: on a it takes 20-30 and J3 goes to 30-40, which is in time;
    # on b 30-40: a. At 10 b is idle: J3 has 40 here and 20 there. Then J4 moves up to 20-30 here, but b does
    # it before J3, at 10-20: it moves too, and displaces J3 again. At 20 J3 has 30 on both.
    jobs = minutes((0, 2, 20, 20), (0, 2, 30, 5), (1, 2, 10, 10), (2, 2, 10, 10))
    log = noted(jobs, deadline=[-1, -1, 60, -1])
    schedule = judged(headway.simulate(log, PAIR, f"reallocation({EVENTS}, local=dbf)"), "latest end (a)")
    assert moves_of(schedule) == [(3, 10, "a", "b"), (4, 10, "a", "b")]
    assert expected(schedule) == [(40, 20), (30, 20)]
    assert spans(schedule) == [(0, 20), (0, 5), (20, 30), (10, 20)]
    assert [WHY[code] for code in schedule.why] == ["immediate", "immediate", "moved", "moved"]
    assert (schedule.own["displacements"], schedule.own["accepted_deadlines"]) == (2, 2)  # on a, then on b
    assert schedule.promise is not None and schedule.promise_kind == "end"
    assert (schedule.promise // MINUTE).tolist() == [20, 30, 60, 20]
    assert schedule.own["completions"] == "foreseen"
    said = str(explain(schedule, 3, simulate_again=False))
    assert "went from a to b" in said and "met its deadline" in said


def test_a_task_behind_a_suspended_job_moves_under_ujfb() -> None:
    # J1 (20) to a, J2 (30, runs 5) to b, J3 (10) at 1 to a: 20-30. J4 (10) at 2 is urgent: on either cluster
    # the running job is swapped out for a minute, so 3-13: a. J1 comes back at 13, is swapped in until 14 and
    # has 18 left: 32, so that J3 is at 32-42. At 10 b is idle: 20 instead of 42.
    jobs = minutes((0, 2, 20, 20), (0, 2, 30, 5), (1, 2, 10, 10), (2, 2, 10, 10))
    log = noted(jobs, swap=[1, 1, 1, 1]).with_columns(urgent=np.array([False, False, False, True]))
    schedule = headway.simulate(log, PAIR, f"reallocation({EVENTS}, local=ujfb)")
    judged(schedule, "no gaps (a)", "same processors (a)")
    assert moves_of(schedule) == [(3, 10, "a", "b")] and expected(schedule) == [(42, 20)]
    assert spans(schedule) == [(0, 32), (0, 5), (10, 20), (3, 13)]
    assert places(schedule) == "abba"
    assert (schedule.own["suspensions"], schedule.own["max_preemption_delay"]) == (1, 60)
    assert schedule.pieces is not None and schedule.pieces.is_held_up
    assert schedule.waiting is not None and int(schedule.waiting[0]) == 12 * MINUTE


def test_a_task_behind_a_redirected_job_moves_under_redirection() -> None:
    # Each cluster has 4 processors, 2 of them to redirect to; theta = 1. J1 (20) to a, J2 (30, runs 5) to b.
    # J3 (10) at 1 has to wait on either: a 30, b 40: a, and counts against J1. J4 (10) at 2 is the second
    # that would wait: on a J1 is stopped and restarts, 2-22, J3 takes 2-12 and J4 12-22; b 40: a. At 10 b is
    # idle: J4 has 22 here and 20 there. J3 runs.
    jobs = minutes((0, 2, 20, 20), (0, 2, 30, 5), (1, 2, 10, 10), (2, 2, 10, 10))
    spec = f"reallocation({EVENTS}, local=redirection(theta=1, group=2))"
    schedule = judged(headway.simulate(noted(jobs), PAIR_OF_FOUR, spec), "redirections (a)", "group capacity")
    assert moves_of(schedule) == [(4, 10, "a", "b")] and expected(schedule) == [(22, 20)]
    assert spans(schedule) == [(2, 22), (0, 5), (2, 12), (10, 20)]
    assert places(schedule) == "abab" and schedule.own["redirections"] == 1
    assert schedule.capacity == 8 and schedule.groups == {"principal": 4, "redirection": 4}
    assert schedule.group is not None and schedule.group.tolist() == [1, 0, 0, 0]
    pieces = schedule.pieces
    assert pieces is not None and pieces.cluster is not None and pieces.group is not None
    first = [(int(s) // MINUTE, int(e) // MINUTE) for s, e in zip(pieces.start, pieces.end, strict=True)]
    assert first == [(0, 2), (2, 22)]
    assert pieces.cluster.tolist() == [0, 0] and pieces.group.tolist() == [0, 1]
    assert "theta = 1" in str(explain(schedule, 1, simulate_again=False))


def test_the_audit_knows_the_real_size_of_a_cluster_under_redirection() -> None:
    spec = f"reallocation({EVENTS}, local=redirection(theta=1, group=2))"
    schedule = headway.simulate(noted(minutes(*[(0, 2, 20, 20)] * 3)), PAIR_OF_FOUR, spec)
    assert schedule.capacity == PAIR_OF_FOUR.total_procs
    jobs = minutes((0, 2, 20, 20), (1, 2, 20, 20), (2, 2, 20, 20))  # then both groups of it are busy
    schedule = judged(headway.simulate(noted(jobs), Platform((PAIR_OF_FOUR.clusters[0],)), spec))
    assert schedule.own["redirections"] == 1
    smaller = replace(schedule, platform=Platform((PAIR.clusters[0],)))  # as if two had been added
    assert {fault.law for fault in audit(smaller).faults} >= {"capacity"}


def test_a_redirected_job_counts_as_started() -> None:
    # b has a local job until 70, as it says; it ends at 5. J2 (60) to a. J3 (60) at 1: J2 is stopped for it
    # (theta = 0) and restarts at once, 1-61. A local job of a at 2 has J3 stopped, which waits for the
    # redirection group until 61. At 10 b is idle, but J3 has run: it is not the agent's to move.
    jobs = minutes((0, 2, 70, 5), (0, 2, 60, 60), (1, 2, 60, 60), (2, 2, 60, 60))
    for row, home in ((0, "b"), (3, "a")):
        old = jobs[row]
        jobs[row] = Job(old.id, old.submit, 2, old.walltime, old.runtime, local=True, cluster=home)
    spec = f"reallocation({EVENTS}, local=redirection(theta=0, group=2))"
    schedule = judged(headway.simulate(noted(jobs), PAIR_OF_FOUR, spec))
    assert moves_of(schedule) == []
    assert spans(schedule) == [(0, 5), (1, 61), (61, 121), (2, 62)]


def test_a_refused_task_is_in_the_ledger() -> None:
    # A job of 10 that is due after 5 can be done by no cluster.
    log = noted(minutes((0, 2, 10, 10), (0, 2, 10, 10)), deadline=[5, 90])
    schedule = judged(headway.simulate(log, PAIR, f"reallocation({EVENTS}, local=dbf(late=refuse))"))
    assert schedule.workload.job.tolist() == [2]
    assert [(e.rule, e.count, e.jobs) for e in schedule.workload.ledger if e.dropped] == [("late", 1, (1,))]


def test_orders_look_at_the_size_that_a_task_has_on_the_cluster() -> None:
    # On b, twice as fast, J2 (moldable, 40 on 2) takes 20 / its speedup; the order there is by what it takes
    # here. One processor each: J1 holds b until 10; then of J2 (16 on b) and J3 (15 on b) J3 goes first,
    # although J2 came first and the log says 32 and 30.
    jobs = minutes((0, 1, 20, 20), (1, 1, 32, 32), (2, 1, 30, 30))
    platform = Platform((Cluster("b", 2.0, 1),))
    schedule = judged(headway.simulate(grid_log(jobs), platform, "reallocation(mode=none, local=sjf)"))
    assert spans(schedule) == [(0, 10), (25, 41), (10, 25)]


# ---- each cluster its own ---------------------------------------------------------------------------------

FILE = """
[[cluster]]
name = "a"
procs = 2
policy = "dbf"

[[cluster]]
name = "b"
procs = 4
policy = "redirection(theta=1, group=2)"
speed = 2
"""


def test_a_policy_for_each_cluster(tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    file.write_text(FILE)
    platform = Platform.load(file)
    assert [cluster.policy for cluster in platform.clusters] == ["dbf", "redirection(theta=1, group=2)"]
    jobs = minutes((0, 2, 20, 20), (0, 2, 30, 5), (1, 2, 10, 10), (2, 2, 10, 10), (3, 1, 4, 4))
    log = noted(jobs, deadline=[-1, -1, 60, -1, 20])
    schedule = judged(headway.simulate(log, platform, f"reallocation({EVENTS})"))
    assert schedule.capacity == 6 and schedule.groups == {"principal": 2, "redirection": 2}
    assert schedule.group is not None and schedule.cluster is not None
    assert ((schedule.group == -1) == (schedule.cluster == 0)).all()  # a has no groups
    by_group = schedule.summary()["by_group"]
    assert sum(row["jobs"] for row in by_group) == int((schedule.cluster == 1).sum()) > 0
    schedule.save(tmp_path / "run")
    again = judged(Schedule.load(tmp_path / "run"), "one place", "molding")
    assert again.platform == platform and again.groups == schedule.groups
    for name in ("start", "end", "cluster"):
        assert np.array_equal(getattr(schedule, name), getattr(again, name)), name
    drawn = schedule.gantt()
    texts = [text.get_text() for axes in drawn.axes for text in axes.findobj() if hasattr(text, "get_text")]
    for band in ("a", "b principal", "b redirection"):
        assert any(band in text for text in texts), band


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("dbff", r"grid.toml: cluster 1: policy: .*no policy 'dbff'.*did you mean 'dbf'"),
        ("dbf(mode=loose)", r"grid.toml: cluster 1: policy: dbf: mode must be strict or literal"),
        ("lea", r"grid.toml: cluster 1: policy: .*local must be .*not 'lea': .*inside one node"),
        ("./mine.py:mine", r"grid.toml: cluster 1: policy: .*local must be .*it is not known how"),
        ("reallocation", r"grid.toml: cluster 1: policy: .*local must be .*not itself a grid"),
        ("ujfb(overrun=finish)", r"grid.toml: cluster 1: policy: .*when they are completed"),
    ],
)
def test_a_wrong_policy_is_refused_with_file_and_key(tmp_path: Path, policy: str, message: str) -> None:
    file = tmp_path / "grid.toml"
    file.write_text(FILE.replace('"dbf"', f'"{policy}"'))
    with pytest.raises(HeadwayError, match=message) as refusal:
        headway.simulate(noted(minutes((0, 2, 5, 5))), Platform.load(file), "reallocation")
    assert "\n" not in str(refusal.value)


def test_only_a_grid_looks_at_policies_of_clusters() -> None:
    with pytest.raises(HeadwayError, match=r"cluster 'a' has a policy of its own, dbf, which only .*realloc"):
        headway.simulate(noted(minutes((0, 2, 5, 5))), of(Platform(PAIR.clusters[:1]), "dbf"), "easy")


def test_a_policy_is_a_text(tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    file.write_text(FILE.replace('policy = "dbf"', "policy = 3"))
    with pytest.raises(HeadwayError, match=r'grid.toml:5: cluster 1: policy must be a text such as "dbf"'):
        Platform.load(file)


# ---- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("reallocation(local=reallocation)", "must be conservative, fcfs, easy, dbf.*not itself a grid"),
        ("reallocation(local=lea)", "local must be conservative, fcfs, easy, dbf.*inside one node"),
        ("reallocation(local=./mine.py:mine)", "must be conservative.*it is not known how a waiting job"),
        ("reallocation(local=easy(order=./mine.py:key))", "it is not known how a waiting job leaves"),
        ("reallocation(local=easy(presence=lru))", "the nodes of one machine"),
        ("reallocation(mode=cancel, local=dbf(late=refuse))", "would be nowhere; give late=priority"),
        ("reallocation(local=ujfb(overrun=finish))", "it is not known when they are completed"),
    ],
)
def test_what_clusters_cannot_have(spec: str, reason: str) -> None:
    with pytest.raises(HeadwayError, match=reason) as refusal:
        headway.simulate(noted(minutes((0, 2, 5, 5))), PAIR, spec)
    assert "\n" not in str(refusal.value)


def test_columns_are_asked_for_as_by_the_policy_alone() -> None:
    log = noted(minutes((0, 2, 5, 5), (0, 2, 5, 5))).with_columns(urgent=np.array([True, False]))
    with pytest.raises(HeadwayError, match="nothing says how long swapping takes"):
        headway.simulate(log, PAIR, "reallocation(local=ujfb)")


# ---- remark, progress, interruption -----------------------------------------------------------------------


def test_it_says_how_completions_are_known_and_reports_progress() -> None:
    said: list[str] = []
    seen: list[tuple[int, int]] = []
    log = noted(minutes(*((i, 1, 5, 5) for i in range(40))))
    headway.simulate(
        log, PAIR, "reallocation(local=dbf)", notify=said.append, progress=lambda *now: seen.append(now)
    )
    (remark,) = [line for line in said if not line.startswith("compiling")]
    assert "running a copy of each cluster ahead (dbf)" in remark and "no job has a deadline" in remark
    assert seen[-1] == (40, 40) and seen == sorted(seen)


def test_an_interruption_ends_it() -> None:
    def interrupt(done: int, jobs: int) -> None:
        raise KeyboardInterrupt

    log = noted(minutes(*((i, 1, 5, 5) for i in range(80))))
    with pytest.raises(KeyboardInterrupt):
        headway.simulate(log, PAIR, "reallocation(local=ujf)", progress=interrupt)
