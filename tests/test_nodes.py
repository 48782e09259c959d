"""Laws of the policies on nodes, how they are asked for, what judges and explains them."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headway
from headway import Schedule
from headway.audit import audit
from headway.errors import InputError, UsageError
from headway.explain import explain
from headway.metrics.comparison import SessionChange, difference
from headway.metrics.own_numbers import improvements, sessions
from headway.platform import Cluster, NodeGroup, Platform
from headway.platform.node_table import in_tie_order, load_time
from headway.policies.nodes.policy import Scored
from headway.policies.nodes.watching import watched
from headway.policies.spec import parse_spec
from headway.schedule import STATES, WHY
from headway.units import SECOND
from headway.workload import Workload
from nodes_reference import file_jobs, node_lists, platform_of, simulated, workload_of
from random_examples import examples
from reference.jobs import Job
from reference.nodes import Node
from test_nodes_equal import NAMED, OTHERS, long_queue

NODES = [
    Node(4, Fraction(8), Fraction(1)),
    Node(4, Fraction(8), Fraction(1)),
    Node(4, Fraction(16), Fraction(2)),
]
RULES = ("fcfs", "eft", "lea", "leo", "lem")


def placed(schedule: Schedule) -> list[tuple[int, ...]]:
    assert schedule.node is not None
    return list(zip(schedule.node.tolist(), schedule.start.tolist(), schedule.end.tolist(), strict=True))


def test_easy_says_who_was_the_head_and_who_filled_a_hole() -> None:
    """On 4 cores 2 is the head behind 1; 3 fits before its turn on arrival, and 4 once 3 has ended."""
    rows = [(0, 3, 10), (1, 4, 5), (2, 1, 6), (3, 1, 2), (20, 4, 1)]
    jobs = [Job(k + 1, *row, row[2]) for k, row in enumerate(rows)]
    schedule = simulated(jobs, NODES[:1], "easy")
    assert (schedule.start // SECOND).tolist() == [0, 10, 2, 8, 20]
    why = [WHY[each] for each in schedule.why]
    assert why == ["immediate", "head", "immediate", "backfill", "immediate"]


@examples(30)
@given(jobs=file_jobs(), backfill=st.sampled_from(["none", "conservative"]))
def test_named_rules_are_scores(jobs: list[Job], backfill: str) -> None:
    def run(spec: str) -> list[tuple[int, ...]]:
        return placed(simulated(jobs, NODES, f"{spec}, backfill={backfill})".replace("(, ", "(")))

    assert run("score(load=0, evict=0, copies=0") == run("fcfs(")
    assert run("score(load=1, evict=0, copies=0") == run("eft(")
    assert run("score(load=500, copies=0") == run("lea(")
    assert run("lem(threshold=0") == run("lea(")


@examples(20)
@given(jobs=file_jobs())
def test_files_of_no_size_make_all_rules_agree(jobs: list[Job]) -> None:
    empty = [replace(job, file_gb=Fraction(0)) for job in jobs]
    first = placed(simulated(empty, NODES, "fcfs"))
    for rule in RULES[1:]:
        assert placed(simulated(empty, NODES, rule)) == first


@examples(20)
@given(jobs=file_jobs())
def test_with_all_files_different_eft_is_fcfs(jobs: list[Job]) -> None:
    # One bandwidth: a load takes as long on each node, so that only the start tells them apart.
    equal = [replace(node, bandwidth_gb_s=Fraction(1)) for node in NODES]
    different = [replace(job, file=f"f{k}") for k, job in enumerate(jobs)]
    assert placed(simulated(different, equal, "eft")) == placed(simulated(different, equal, "fcfs"))


@pytest.mark.long
@examples(60)
@given(jobs=file_jobs(), nodes=node_lists(), spec=st.one_of(NAMED, OTHERS))
def test_the_audit_finds_nothing(jobs: list[Job], nodes: list[Node], spec: str) -> None:
    verdict = audit(simulated(jobs, nodes, spec))
    assert verdict.ok, verdict.faults
    assert "node size" in {law.name for law in verdict.laws}


def broken(schedule: Schedule, law: str) -> list[str]:
    return [fault.message for fault in audit(schedule).faults if fault.law == law]


def test_the_audit_sees_a_file_that_appeared_from_nowhere() -> None:
    jobs = [Job(1, 0, 2, 20, 5, file="c", file_gb=Fraction(3))]
    schedule = simulated(jobs, NODES, "fcfs")
    assert schedule.pieces is not None and audit(schedule).ok
    gone = replace(schedule, pieces=None, end=schedule.end - 3 * SECOND)
    assert broken(gone, "file waits") == ["job 1 waits 0 s for its file instead of 3 s"]
    counted = replace(schedule, own={"file_loads": 0, "file_reuses": 1})
    assert broken(counted, "file counts") == [
        "the starts make 1 loads and 0 re-uses, and the run counted 0 loads and 1 re-uses"
    ]


def test_the_audit_follows_fcfs_core_by_core() -> None:
    equal = [replace(node, bandwidth_gb_s=Fraction(1)) for node in NODES]
    lasting = [replace(job, runtime=max(job.runtime, 1)) for job in long_queue(40)]
    empty = [replace(job, file_gb=Fraction(0)) for job in lasting]
    alone = [replace(job, file=f"f{k}") for k, job in enumerate(lasting)]
    for jobs, spec in (
        (lasting, "fcfs"),
        (lasting, "score(load=0, evict=0, copies=0)"),
        (lasting, "fcfs(match=any, presence=lru)"),
        (empty, "lea"),
        (empty, "leo(match=exact)"),
        (empty, "lem"),
        (alone, "eft"),
    ):
        schedule = simulated(jobs, equal, spec)
        verdict = audit(schedule)
        assert verdict.ok and "node order" in {law.name for law in verdict.laws}, spec
        assert schedule.node is not None
        # The last to start comes a second late; or it is told to have run on another node.
        last = int(np.argmax(schedule.start))
        late = np.zeros(len(schedule), np.int64)
        late[last] = SECOND
        delayed = replace(schedule, start=schedule.start + late, end=schedule.end + late, pieces=None)
        job, node = schedule.workload.job[last], schedule.node[last]
        begin = schedule.start[last] // SECOND
        assert broken(delayed, "node order") == [
            f"job {job} starts at {begin + 1} s on node {node}, and FCFS puts it on node {node} at {begin} s"
        ]
    for jobs, spec in ((lasting, "lea"), (lasting, "eft"), (empty, "lea(backfill=conservative)")):
        assert "node order" not in {law.name for law in audit(simulated(jobs, equal, spec)).laws}


def test_the_audit_sees_a_start_out_of_turn() -> None:
    # One node: A to 10, B (all cores) is planned for 10, C would fit beside A but must wait for B.
    one = [Node(4, Fraction(8), Fraction(1))]
    jobs = [Job(1, 0, 2, 10, 10), Job(2, 0, 4, 5, 5), Job(3, 1, 2, 9, 9)]
    early = simulated(jobs, one, "fcfs(backfill=conservative)")
    assert early.start.tolist() == [0, 10 * SECOND, SECOND]
    plain = replace(early, policy=simulated(jobs, one, "fcfs").policy)
    assert broken(plain, "node order") == ["job 3 starts at 1 s on node 0, and FCFS does not start it yet"]


def test_the_audit_does_not_guess_who_loaded_in_an_instant_of_several_turns() -> None:
    first = Job(1, 0, 1, 0, 0, file_gb=Fraction(2))
    second = replace(first, id=2, procs=2, walltime=9, runtime=3, file="a")
    jobs = [first, second, replace(first, id=3, file="a")]
    schedule = simulated(jobs, [Node(2, Fraction(8), Fraction(1))], "easy")
    # Job 3 goes with job 1, beside which job 2 has no room, and is over before it has the file.
    assert schedule.start.tolist() == [0, 0, 0] and schedule.end.tolist() == [0, 5 * SECOND, 0]
    assert schedule.own["file_loads"] == 2 and audit(schedule).ok
    assert len(broken(replace(schedule, own={**schedule.own, "file_reuses": 1}), "file counts")) == 1


def test_the_audit_sees_wrong_nodes_and_areas() -> None:
    sizes = [NODES[0], NODES[2]]
    jobs = [Job(k + 1, 0, 4, 10, 10, needs_node_gb=Fraction(8)) for k in range(3)]
    schedule = simulated(jobs, sizes, "area-filling(areas=all)")
    assert schedule.node is not None and audit(schedule).ok
    # Areas: 120 on the small size, level 60: the large node may take 60, one job and a half.
    assert sorted(schedule.node.tolist()) == [0, 0, 1]
    moved = replace(schedule, node=np.array([1, 1, 0]), start=np.array([0, 10, 0]) * SECOND)
    moved.end = moved.start + 10 * SECOND
    assert broken(moved, "planned areas") == ["job 2 takes 40 processor-seconds where 20 are left"]
    exact = replace(schedule, policy="fcfs(match=exact, presence=contiguous)")
    assert len(broken(exact, "node size")) == 1
    wide = replace(schedule, procs=np.array([5, 4, 4]))
    assert "job 1 has 5 processors on node" in broken(wide, "node size")[0]


def test_tight_budgets_are_kept() -> None:
    jobs = long_queue(60)
    for form in ("plan", "ratio"):
        assert audit(simulated(jobs, NODES, f"area-filling(areas=0.0002, form={form})")).ok


# ---- asking for them ----


def test_a_load_is_waiting() -> None:
    """1 loads for 3 s and runs for 5; 2 waits until 8, loads for 2 s and is killed after 2 s of running."""
    first = Job(1, 0, 2, 20, 5, file="c", file_gb=Fraction(3))
    second = Job(2, 1, 3, 4, 9, file="d", file_gb=Fraction(2))
    schedule = simulated([first, second], NODES[:1], "fcfs")
    assert (schedule.end // SECOND).tolist() == [8, 12]
    frame = schedule.frame()
    assert frame["wait"].to_list() == [0, 7] and frame["waiting"].to_list() == [3, 9]


def some_jobs() -> Workload:
    return workload_of([Job(1, 0, 2, 20, 5, file="c", file_gb=Fraction(3)), Job(2, 0, 3, 9, 9)])


def test_what_runs_on_nodes() -> None:
    nodes, log = platform_of(NODES), some_jobs()
    plain = Workload.from_arrays(unit="s", submit=[0], procs=[9], walltime=[5], runtime=[5])
    assert headway.simulate(plain, nodes, "fcfs").node is None  # counted: 9 processors of 12
    assert headway.simulate(log, 12, "fcfs").node is None
    assert headway.simulate(log, nodes, "sjf").node is None
    for spec in ("fcfs", "easy", "conservative"):
        assert headway.simulate(log, nodes, spec).node is not None
    schedule = headway.simulate(plain, nodes, "fcfs(match=exact)")
    assert len(schedule) == 0
    assert [(e.rule, e.count) for e in schedule.workload.ledger if e.dropped] == [("too_large", 1)]


def test_errors_say_what_to_do() -> None:
    nodes, log = platform_of(NODES), some_jobs()
    plain = Workload.from_arrays(unit="s", submit=[0], procs=[1], walltime=[5], runtime=[5])
    with pytest.raises(UsageError, match="lea scores input files and the workload has none; add the columns"):
        headway.simulate(plain, nodes, "lea")
    with pytest.raises(UsageError, match="puts jobs inside nodes and this platform has none; give one"):
        headway.simulate(log, 12, "eft")
    with pytest.raises(UsageError, match="fcfs with match puts jobs inside nodes"):
        headway.simulate(log, 12, "fcfs(match=fits)")
    with pytest.raises(UsageError, match="easy on nodes is for order=fcfs only, not sjf"):
        headway.simulate(log, nodes, "easy(order=sjf)")
    with pytest.raises(UsageError, match="give smaller weights or fewer decimals"):
        headway.simulate(log, nodes, "score(load=1e15)")
    with pytest.raises(UsageError, match="fewer decimals"):
        headway.simulate(log, nodes, "score(load=0.00000001)")
    sizes = log.with_columns(file=np.array([0, 0]), file_gb=np.array([3.0, 4.0]))
    with pytest.raises(InputError, match="the file 'c' has 3 GB for one job and 4 GB for another"):
        headway.simulate(sizes, nodes, "fcfs")
    with pytest.raises(InputError, match="the file 'c' has no size"):
        headway.simulate(log.with_columns(file=np.array([0, 0])), nodes, "fcfs")
    for large in (1e12, 1e300):
        huge = log.with_columns(file=np.array([0, 0]), file_gb=np.array([large, large]))
        with pytest.raises(InputError, match="GB is larger than can be kept, or takes too long to load"):
            headway.simulate(huge, nodes, "fcfs")


def test_jobs_that_no_node_can_hold_are_in_the_ledger() -> None:
    jobs = [Job(1, 0, 5, 9, 9), Job(2, 0, 1, 9, 9, needs_node_gb=Fraction(99)), Job(3, 0, 1, 9, 9)]
    schedule = simulated(jobs, NODES, "fcfs")
    dropped = {e.rule: e.jobs for e in schedule.workload.ledger if e.dropped}
    assert dropped == {"too_large": (1,), "node_memory": (2,)} and len(schedule) == 1
    assert len(simulated(jobs, NODES, "fcfs(match=any)")) == 2


def test_load_times_are_exact() -> None:
    assert load_time(19.2, 0.1) == 192 * SECOND
    assert load_time(0.1, 0.3) == 333_334
    assert load_time(7, math.inf) == load_time(0, 0.1) == 0


def test_ties_go_by_memory_then_number() -> None:
    groups = (NodeGroup(1, 4, 256.0), NodeGroup(2, 4, 128.0), NodeGroup(1, 4, 1024.0))
    nodes = in_tie_order(Platform((Cluster("x", nodes=groups),)))
    assert [node.number for node in nodes] == [1, 2, 0, 3]


# ---- what comes of it ----


def test_a_saved_run_can_be_judged_and_drawn_by_node(tmp_path: Path) -> None:
    schedule = simulated(long_queue(40), NODES, "lea")
    schedule.save(tmp_path / "run")
    again = Schedule.load(tmp_path / "run")
    assert audit(again).ok
    names = {law.name for law in audit(again).laws}
    assert {"node capacity", "node size", "file waits", "file counts"} <= names
    assert again.summary() == schedule.summary()
    axes = again.gantt().axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["node 0", "node 1", "node 2"]
    legend = axes.get_legend()
    assert legend is not None and "loading or swapping" in [text.get_text() for text in legend.get_texts()]


def test_a_saved_run_has_the_numbers_of_its_nodes(tmp_path: Path) -> None:
    # Twelve nodes: as words "10" comes before "2".
    many = [Node(4, Fraction(8 if k != 2 else 16), Fraction(1 + k % 2)) for k in range(12)]
    jobs = [replace(job, submit=k // 20, runtime=max(job.runtime, 1)) for k, job in enumerate(long_queue(40))]
    for spec in ("fcfs", "easy", "eft(presence=until-next-start)"):
        schedule = simulated(jobs, many, spec)
        assert schedule.node is not None and 2 in schedule.node and schedule.node.max() >= 10
        schedule.save(tmp_path / spec)
        again = Schedule.load(tmp_path / spec)
        assert again.pieces is not None and again.pieces.node is not None and again.node is not None
        assert np.array_equal(again.pieces.node, schedule.node[again.pieces.job])
        assert np.array_equal(again.node, schedule.node)
        assert audit(again).ok, audit(again).faults


def test_numbers_of_files_and_sessions() -> None:
    # One node of 2 cores, 1 GB/s. A (f, 3 GB, run 7): 0-10, stretch 1. B (f, run 7) at 0: waits for the load,
    # 0-10. C (no file, run 5, walltime 4) at 400 is killed: 400-404.
    jobs = [
        Job(1, 0, 1, 20, 7, file="f", file_gb=Fraction(3)),
        Job(2, 0, 1, 20, 7, file="f", file_gb=Fraction(3)),
        Job(3, 400, 1, 4, 5),
    ]
    schedule = simulated(jobs, [Node(2, Fraction(8), Fraction(1))], "eft")
    summary = schedule.summary()
    assert (summary["file_loads"], summary["file_reuses"], summary["file_wait"]) == (1, 1, 6)
    assert summary["total_flow"] == 24 and summary["finished_mean_stretch"] == 1
    assert summary["mean_bounded_stretch"] == pytest.approx(10 / 300)
    assert summary["killed_mean_stretch"] == 1 and summary["killed"] == 1
    assert sessions(schedule).tolist() == [0, 0, 1]  # 400 s are more than five minutes
    assert (summary["sessions"], summary["mean_session_stretch"]) == (2, 1.5)
    assert schedule.pieces is not None
    assert (schedule.pieces.state == STATES.index("loading")).sum() == 2
    slower = replace(schedule, end=schedule.end + np.array([10, 10, 0]) * SECOND)
    assert improvements(schedule, slower).tolist() == [0.5, 1.0]
    change = difference(schedule, slower).sessions
    assert change == SessionChange(sessions=2, better=0, worse=1, median=0.75, mean=0.75)
    assert difference(schedule, replace(slower, node=None)).sessions is None


@pytest.mark.parametrize("spec", ["lea", "lem", "score(load=2.5, evict=1, copies=1)", "fcfs(presence=lru)"])
def test_every_node_is_explained_by_its_score(spec: str) -> None:
    schedule = simulated(long_queue(25), NODES, spec)
    assert schedule.node is not None
    for row in range(0, 25, 4):
        known = np.flatnonzero(schedule.submit <= schedule.start[row])
        part = schedule.workload.select(known, rule="window", action="later")
        policy = parse_spec(schedule.policy).policy.on(schedule.platform, part)
        assert isinstance(policy, Scored)
        terms = watched(part, schedule.platform, policy, int(np.searchsorted(known, row)))
        assert terms[0].node == schedule.node[row] and terms[0].start == schedule.start[row]
        assert terms[0].score == min(one.score for one in terms)


def test_explain_says_why_this_node() -> None:
    jobs = [
        Job(1, 0, 4, 10, 2, file="f", file_gb=Fraction(4)),
        Job(2, 1, 4, 10, 2, file="f", file_gb=Fraction(4)),
    ]
    two = [Node(4, Fraction(8), Fraction(1)), Node(4, Fraction(8), Fraction(1))]
    said = explain(simulated(jobs, two, "lea"), 2).sections["Why this node"]
    assert said[0] == "Node 0 had the lowest score of 2: a start then, its file already there."
    assert said[1].startswith("Node 1 was worse by 33 min 20 s: a start then, 4 s to load its file")
    easy = explain(simulated(jobs, two, "easy"), 2).sections["Why this node"]
    assert easy == ["Node 1 was the first one allowed that had 4 processors for it."]
    sizes = [two[0], Node(4, Fraction(16), Fraction(1))]
    big = explain(simulated(jobs, sizes, "backfill-big"), 2).sections["Why this node"]
    assert big[0].startswith("It ran on node 1 of 16 GB, larger than the 8 GB it needed")


def test_explain_looks_for_room_on_one_node() -> None:
    # Each node has one core left over; job 4 takes one of them and leaves it again before job 3 starts.
    jobs = [Job(1, 0, 3, 100, 100), Job(2, 0, 3, 200, 200), Job(3, 10, 2, 50, 50), Job(4, 20, 1, 70, 50)]
    two = [Node(4, Fraction(8), Fraction(1)), Node(4, Fraction(8), Fraction(1))]
    said = explain(simulated(jobs, two, "backfill-big"), 3).sections
    assert said["When it was submitted"][0] == "2 of the 8 processors were free, and it needed 2 on one node."
    assert said["What it waited for"][0] == (
        "From the beginning it was the first in order of submission, and 1 of the 2 processors it needed "
        "were free on one node; it waited another 90 s for others to end."
    )
    assert not any("kept for jobs" in sentence for sentence in said["What it waited for"])
