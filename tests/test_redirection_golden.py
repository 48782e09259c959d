"""Redirection worked by hand: each filter, conflict rule and size, kills, restarts, groups, clusters."""

from __future__ import annotations

import pytest

import headway
from headway import Schedule
from headway.audit import audit
from headway.errors import UsageError
from headway.explain import explain
from headway.platform import Cluster, Platform
from headway.workload import Workload

Row = tuple[int, int, int]
"""submit, procs, walltime = run time; seconds."""

HELD_UP: tuple[Row, ...] = ((0, 2, 100), (1, 4, 10), (2, 2, 50), (3, 1, 5))
"""A, B, C, D on four processors."""


def log(*rows: Row) -> Workload:
    submit, procs, length = zip(*rows, strict=True)
    return Workload.from_arrays(unit="s", submit=submit, procs=procs, walltime=length, runtime=length)


def run(rows: tuple[Row, ...], spec: str, machine: int | Platform = 4) -> Schedule:
    return headway.simulate(log(*rows), machine, spec)


def starts(made: Schedule) -> list[int]:
    return [int(value) for value in made.frame()["start"]]


def kills(made: Schedule) -> list[tuple[int, int]]:
    """Job and instant of every redirection."""
    rows = made.runs().sort("end").iter_rows(named=True)
    return [(row["job"], row["end"]) for row in rows if row["ended"] == "redirected"]


@pytest.mark.parametrize(
    ("filter", "expected", "killed"),
    [
        # A starts at 0. B (4 processors) does not count against A (2); C does (1), and is backfilled at 2; D
        # makes 2 > theta: A is killed at 3 and restarts at once. B waits for C (52), D starts at 3.
        ("procs", [3, 52, 2, 3], [(1, 3)]),
        # B and C are shorter than A, so both count: A is killed at 2, B has the machine 2-12, C and D follow.
        ("walltime", [2, 2, 12, 12], [(1, 2)]),
        # No newcomer is as long as A: nobody counts. C is backfilled at 2, D at 52, B starts when A ends.
        ("pseudo", [0, 100, 2, 52], []),
        ("none", [2, 2, 12, 12], [(1, 2)]),
    ],
)
def test_filters(filter: str, expected: list[int], killed: list[tuple[int, int]]) -> None:
    made = run(HELD_UP, f"redirection(theta=1, group=2, filter={filter})")
    assert starts(made) == expected
    assert kills(made) == killed


@pytest.mark.parametrize(
    ("conflict", "victim"),
    # A (2, 30 s, from 0), B (1, 50 s, from 1) and C (1, 20 s, from 2) run when D (1) and E (2) arrive at 3.
    # D counts against all, E against A only: counters 2, 1, 1, all above theta = 0.
    [("walltime", 2), ("counter", 1), ("area", 1), ("latest", 3)],
)
def test_conflicts(conflict: str, victim: int) -> None:
    rows = ((0, 2, 30), (1, 1, 50), (2, 1, 20), (3, 1, 1), (3, 2, 1))
    made = run(rows, f"redirection(theta=0, group=2, conflict={conflict})")
    assert kills(made) == [(victim, 3)]


def test_equal_areas_go_by_submission() -> None:
    """A (2 processors, 30 s) and B (1, 60 s) have equal areas, and B is longer: A came first, so A goes."""
    rows = ((0, 2, 30), (1, 1, 60), (2, 1, 20), (3, 1, 1), (3, 2, 1))
    assert kills(run(rows, "redirection(theta=0, group=2, conflict=area)")) == [(1, 3)]
    assert kills(run(rows, "redirection(theta=0, group=2, conflict=walltime)")) == [(2, 3)]


def test_areas_beyond_whole_numbers_are_large() -> None:
    """A has 10^7 processors for 10^6 s: more processor-microseconds than 64 bits hold, and more than B's."""
    many = 10**7
    rows = ((0, many, 10**6), (1, many, 50), (2, many, 1))
    made = run(rows, f"redirection(theta=0, group={many}, conflict=area)", 2 * many)
    assert kills(made) == [(1, 2)]


@pytest.mark.parametrize(
    ("size", "groups", "capacity"),
    [("added", (4, 2), 6), ("share", (4, 4), 8), ("split", (2, 2), 4)],
)
def test_sizes(size: str, groups: tuple[int, int], capacity: int) -> None:
    made = run(HELD_UP, f"redirection(alpha=0.5, size={size})")
    assert tuple(made.groups.values()) == groups and made.capacity == capacity
    refused = [row for row in made.workload.ledger.rows() if row["rule"] == "too_large"]
    # Under split the principal group has 2: job 2 (4 processors) is refused, and the ledger says so.
    assert [row["jobs"] for row in refused] == ([[2]] if size == "split" else [])
    assert starts(made) == ([0, 100, 150] if size == "split" else [0, 100, 2, 52])


def test_theta_must_be_exceeded() -> None:
    # D is the second to count against A: with theta = 2 two are not more than two.
    assert kills(run(HELD_UP, "redirection(theta=2, group=2)")) == []


def test_a_job_started_in_this_instant_may_be_the_one_redirected() -> None:
    # One processor. A starts on arrival, B and C of the same instant count: 2 > 1. A is killed at 0 with
    # nothing lost and restarts at 0; B takes the processor, C follows.
    made = run(((0, 1, 9), (0, 1, 3), (0, 1, 3)), "redirection(theta=1, group=1)", 1)
    assert starts(made) == [0, 0, 3] and kills(made) == [(1, 0)]


def test_a_wide_job_is_never_redirected() -> None:
    # A (2 processors) holds up B at 1: with a group of 2 it goes, into a group of 1 it cannot.
    rows = ((0, 2, 100), (1, 3, 1), (2, 3, 1))
    assert kills(run(rows, "redirection(theta=0, filter=none, group=2)")) == [(1, 1)]
    assert kills(run(rows, "redirection(theta=0, filter=none, group=1)")) == []


def test_scratch_and_checkpoint() -> None:
    # A did 3 s before it was redirected. From scratch it ends at 103 and 2 x 3 processor-seconds are lost;
    # from a checkpoint it ends at 100 and nothing is.
    scratch = run(HELD_UP, "redirection(theta=1, group=2)")
    saved = run(HELD_UP, "redirection(theta=1, group=2, restart=checkpoint)")
    assert [made.frame()["end"][0] for made in (scratch, saved)] == [103, 100]
    assert [made.summary()["wasted_area"] for made in (scratch, saved)] == [6, 0]
    assert saved.runs().filter(saved.runs()["job"] == 1)["ended"].to_list() == [
        "suspended",
        "resumed",
        "done",
    ]


def test_a_job_of_walltime_0_goes_on_from_a_checkpoint_in_its_group() -> None:
    # Job 1 starts before job 2 is looked at, which counts against it; it is killed in its group at once.
    jobs = Workload.from_arrays(unit="s", submit=[0, 0], procs=[1, 2], walltime=[0, 5], runtime=[1, 5])
    made = headway.simulate(jobs, 2, "redirection(theta=0, group=1, filter=none, restart=checkpoint)")
    mine = made.runs().filter(made.runs()["job"] == 1)
    assert mine["group"].to_list() == ["principal", "principal", "redirection"]
    assert mine["ended"].to_list() == ["suspended", "resumed", "walltime"]
    assert audit(made).ok


def test_what_the_summary_says() -> None:
    summary = run(HELD_UP, "redirection(theta=1, group=2)").summary(tau=1)
    # 6 processors from 0 to 103; useful 200 + 40 + 100 + 5, lost 6. Slowdowns: A 1.03, B 6.1, C 1, D 1.
    assert summary["redirections"] == 1
    assert summary["utilization"] == pytest.approx(345 / (6 * 103))
    assert summary["utilization_with_wasted"] == pytest.approx(351 / (6 * 103))
    assert summary["redirected_mean_bsld"] == pytest.approx(1.03)
    assert summary["others_mean_bsld"] == pytest.approx((6.1 + 1 + 1) / 3)
    assert summary["redirected_among_worst"] == 0 and summary["worst_is_redirected"] == 0
    groups = {row["group"]: row for row in summary["by_group"]}
    assert groups["redirection"]["utilization"] == pytest.approx(200 / (2 * 103))
    assert groups["principal"]["utilization"] == pytest.approx(145 / (4 * 103))


def test_two_clusters() -> None:
    two = Platform((Cluster("old", procs=4), Cluster("new", procs=2)))
    made = run(HELD_UP, "redirection(theta=1)", two)
    assert starts(made) == [3, 52, 2, 3] and "group=2" in made.policy
    assert made.frame()["cluster"].to_list() == ["new", "old", "old", "old"]
    assert made.frame()["group"].to_list() == ["redirection", "principal", "principal", "principal"]
    runs = made.runs()
    assert runs.filter(runs["job"] == 1)["cluster"].to_list() == ["old", "new"]


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("groups", "begins"),
    [("", 52), ("principal=conservative, redirected=dbf", 57), ("principal=dbf, redirected=dbf", 57)],
)
def test_a_faster_cluster(groups: str, begins: int) -> None:
    """Job 1 (100 s) is stopped at 3 s; on a cluster that is 1.6 times as fast it takes 62.5 s.

    Where all have reservations D has one from 52 to 57 when A is stopped. B is looked at first and comes
    forward from 100 to 57, then D to 3; there is one sweep.
    """
    two = Platform((Cluster("old", procs=4), Cluster("new", procs=2, speed=1.6)))
    made = run(HELD_UP, f"redirection(theta=1, {groups})" if groups else "redirection(theta=1)", two)
    assert starts(made) == [3, begins, 2, 3]
    first = made.frame().row(0, named=True)
    assert (first["end"], first["walltime"], first["trace_walltime"]) == (65.5, 62.5, 100)
    assert first["runtime"] == 62.5 and first["cluster"] == "new"
    assert (made.procs == made.workload.procs).all() and (made.runtime[1:] == made.workload.runtime[1:]).all()
    verdict = audit(made)
    assert verdict.ok, verdict.faults
    told = " ".join(str(explain(made, 1, simulate_again=False)).split())
    assert "ended no later than if it had been left alone" in told
    made.runtime[0] += 1
    assert {fault.law for fault in audit(made).faults} >= {"redirections"}


@pytest.mark.parametrize(
    ("spec", "clusters", "says"),
    [
        (
            "redirection(restart=checkpoint)",
            (Cluster("a", procs=4), Cluster("b", procs=2, speed=1.4)),
            "give both the same speed or restart=scratch",
        ),
        ("redirection", tuple(Cluster(name, procs=4) for name in "abc"), "this platform has 3 clusters"),
    ],
)
def test_clusters_that_cannot_be(spec: str, clusters: tuple[Cluster, ...], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        run(HELD_UP, spec, Platform(clusters))


def test_explained() -> None:
    # Jobs 3 and 4 waited (or passed job 2) and are no wider than job 1; job 4 started in the room it left.
    # Left alone it would have ended at 100.
    said = str(explain(run(HELD_UP, "redirection(theta=1, group=2)"), 1, simulate_again=False))
    told = " ".join(said.split())
    assert "redirected at 3 s" in told and "more than theta = 1" in told
    assert "At least 2 jobs did: jobs 3 and 4." in told
    assert "It left 2 processors; job 4 started at that instant." in told
    assert (
        "3 s on 2 processors were lost" in told and "ended 3 s later than if it had been left alone" in told
    )
    saved = run(HELD_UP, "redirection(theta=1, group=2, restart=checkpoint)")
    assert "None of its work was lost" in str(explain(saved, 1, simulate_again=False))
