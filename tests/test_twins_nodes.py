"""The node twins (files, scores, size classes, EASY) on hand-worked instances and against their laws."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twins.conservative import simulate_conservative
from twins.easy import simulate_easy
from twins.easy_nodes import simulate_easy_nodes
from twins.instances import job_lists
from twins.jobs import Job
from twins.locality import simulate_locality
from twins.nodes import Node, Placed
from twins.size_classes import planned_areas, simulate_area_filling, simulate_backfill_big
from twins.strict import simulate_strict

locality = partial(simulate_locality, second=1)
RULES = ("fcfs", "eft", "lea", "leo", "lem")
PRESENCES = ("contiguous", "until-next-start", "lru")


def node(cores: int = 4, memory: int = 128) -> Node:
    return Node(cores, Fraction(memory), Fraction(1))  # 1 GB/s: a file of n GB loads in n


def job(
    submit: int, cores: int, walltime: int, run: int, file: str | None = None, gb: int = 0, need: int = 0
) -> Job:
    return Job(0, submit, cores, walltime, run, file=file, file_gb=Fraction(gb), needs_node_gb=Fraction(need))


def spans(outcome: Placed) -> list[tuple[int, int]]:
    return [(r.start, r.end) for r in outcome.results]


# ---- files ------------------------------------------------------------------------------------------------

# One node of 4 cores, file f of 3 GB.  A (0) loads to 3 and runs 5: 0-8.  B (1) waits for the same load until
# 3: 1-8. C comes at 8, the very instant at which both end: the file is there, 8-9.  D at 9: the same, 9-10.
# E at 12, run 1.
FILES = [
    job(0, 2, 20, 5, "f", 3),
    job(1, 2, 20, 5, "f", 3),
    job(8, 2, 20, 1, "f", 3),
    job(9, 2, 20, 1, "f", 3),
    job(12, 2, 20, 1, "f", 3),
]


def test_presence_contiguous() -> None:
    # Nobody uses f between 10 and 12: E loads it again, 12-16.
    outcome = locality(FILES, [node()])
    assert spans(outcome) == [(0, 8), (1, 8), (8, 9), (9, 10), (12, 16)]
    assert outcome.overheads == [3, 2, 0, 0, 3]
    assert (outcome.loads, outcome.reuses) == (2, 3)


def test_presence_until_next_start() -> None:
    # Nothing started on the node after 10: the file is still there at 12.
    outcome = locality(FILES, [node()], presence="until-next-start")
    assert spans(outcome)[4] == (12, 13)
    # A job without a file that starts in that very instant changes nothing; one that starts at 11 does.
    beside = locality([*FILES[:4], job(12, 1, 5, 5), FILES[4]], [node()], presence="until-next-start")
    assert spans(beside)[5] == (12, 13)
    other = locality([*FILES, job(11, 1, 5, 5)], [node()], presence="until-next-start")
    assert spans(other)[4] == (12, 16)


def test_presence_lru() -> None:
    # 8 GB of memory.  f (3) at 0, g (4) at 10, f at 20 (there), h (4) at 30: 11 > 8, and g has the older last
    # use: it goes.  f at 40 is there.  g at 50 is loaded again: 11 > 8, h goes (last used at 35, f at 41).  h
    # at 60 loads.
    jobs = [
        job(10 * k, 1, 9, 1, name, gb)
        for k, (name, gb) in enumerate([("f", 3), ("g", 4), ("f", 3), ("h", 4), ("f", 3), ("g", 4), ("h", 4)])
    ]
    outcome = locality(jobs, [node(memory=8)], presence="lru")
    assert outcome.overheads == [3, 4, 0, 4, 0, 4, 4]


def test_the_load_counts_in_the_walltime() -> None:
    # Load 3 + run 3 against a walltime of 4: killed at 4.
    outcome = locality([job(0, 1, 4, 3, "f", 3)], [node()])
    assert spans(outcome) == [(0, 4)] and outcome.results[0].killed


def test_a_load_that_was_cut_is_lost() -> None:
    # A is killed at 2, in the middle of its load; B, at 2, has to load anew: 2-6.
    outcome = locality([job(0, 4, 2, 1, "f", 3), job(0, 4, 9, 1, "f", 3)], [node()])
    assert spans(outcome) == [(0, 2), (2, 6)]


# ---- scores -----------------------------------------------------------------------------------------------

# Two nodes of 4 cores.  A (4 cores, w 10, run 2, f of 4 GB) takes node 0: 0-6, expected to 10.  B (4, w 10,
# run 2, f) at 1.
SHARED = [job(0, 4, 10, 2, "f", 4), job(1, 4, 10, 2, "f", 4)]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # Node 0: start 10, file there (B 0).  Node 1: start 1, load 4.
        ({"rule": "fcfs"}, (1, 1, 7)),  # 10 against 1: node 1, 1 + 4 + 2
        ({"rule": "eft"}, (1, 1, 7)),  # 10 against 5
        ({"rule": "leo"}, (1, 1, 7)),  # 10 against 1 + 4, because node 1 can start it now
        ({"rule": "lem"}, (1, 1, 7)),  # a node is idle: EFT
        # 10 against 1 + 500*4: wait for node 0.  A ends at 6: f is there at that instant, B 6-8.
        ({"rule": "lea"}, (0, 6, 8)),
        ({"rule": "lem", "threshold": 0.5}, (0, 6, 8)),  # one node of two is enough for LEA
        ({"rule": "score", "load": 2}, (1, 1, 7)),  # 10 against 9
        ({"rule": "score", "load": 2.5}, (0, 6, 8)),  # 10 against 11
        ({"rule": "score", "load": 2.25}, (0, 6, 8)),  # 10 against 10: the tie goes to node 0
        ({"rule": "score", "copies": 2}, (1, 1, 7)),  # 10 against 1 + 2*4: one copy elsewhere
        ({"rule": "score", "copies": 3}, (0, 6, 8)),  # 10 against 13
    ],
)
def test_scores(options: dict[str, object], expected: tuple[int, int, int]) -> None:
    outcome = locality(SHARED, [node(), node()], **options)  # type: ignore[arg-type]
    assert (outcome.nodes[1], *spans(outcome)[1]) == expected


def test_copies_count_only_where_the_job_would_load() -> None:
    # Three nodes, f of 4 GB, weight 2.  A on node 0 to 10; B: node 0 at 10, or node 1 now with one copy
    # elsewhere: 0 + 2*4: node 1, to 12.  C at 1: node 0 at 10 (there), node 1 at 12 (there), node 2: 1 +
    # 2*2*4 = 17: it waits for node 0.
    jobs = [job(0, 4, 10, 6, "f", 4), job(0, 4, 12, 8, "f", 4), job(1, 4, 5, 1, "f", 4)]
    outcome = locality(jobs, [node(), node(), node()], "score", copies=2)
    assert outcome.nodes == [0, 1, 0] and spans(outcome) == [(0, 10), (0, 12), (10, 11)]


def test_score_of_evictions() -> None:
    # A (f, 4 GB) on node 0 is expected to 5, B (g, 2 GB) on node 1 to 6; both run to the end.  C (h, 1 GB)
    # comes at 1. Without weight: node 0 at 5.  With evict 1, at 1 and at 5: node 0: 5 + 4 (f would go), node
    # 1: 6 + 2: waits for node 1.  At 6 f is long gone (its last user ended at 5), g ended now: 6 against 6 +
    # 2: node 0.
    jobs = [job(0, 4, 5, 9, "f", 4), job(0, 4, 6, 9, "g", 2), job(1, 4, 9, 1, "h", 1)]
    plain = locality(jobs, [node(), node()], "score")
    assert (plain.nodes[2], plain.results[2].start) == (0, 5)
    weighed = locality(jobs, [node(), node()], "score", evict=1)
    assert (weighed.nodes[2], weighed.results[2].start) == (0, 6)
    # On 2 of the 4 cores only half of it counts: 5 + 2 against 6 + 1: the tie goes to node 0.
    jobs[2] = job(1, 2, 9, 1, "h", 1)
    halved = locality(jobs, [node(), node()], "score", evict=1)
    assert (halved.nodes[2], halved.results[2].start) == (0, 5)


def test_no_backfilling_unless_asked() -> None:
    # 4 cores.  A (2) 0-10; B (4) planned at 10-15; C (2, w 9) at 1 would fit 1-10: only with backfilling.
    jobs = [job(0, 2, 10, 10), job(0, 4, 5, 5), job(1, 2, 9, 9)]
    assert [s for s, _ in spans(locality(jobs, [node()]))] == [0, 10, 15]
    assert [s for s, _ in spans(locality(jobs, [node()], backfill="conservative"))] == [0, 10, 1]


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        # Nodes of 128 and 256 GB.  A and B need 128, C needs 256; all take a whole node for 10.
        ("exact", [(0, 0), (0, 10), (1, 0)]),
        ("fits", [(0, 0), (1, 0), (1, 10)]),
        ("any", [(0, 0), (1, 0), (0, 10)]),
    ],
)
def test_match(match: str, expected: list[tuple[int, int]]) -> None:
    jobs = [job(0, 4, 10, 10, need=128), job(0, 4, 10, 10, need=100), job(0, 4, 10, 10, need=256)]
    outcome = locality(jobs, [node(), node(memory=256)], match=match)
    assert [(i, r.start) for i, r in zip(outcome.nodes, outcome.results, strict=True)] == expected


# ---- size classes
# -------------------------------------------------------------------------------------------

# A node of 128 and one of 256 GB, 4 cores each; all jobs take a whole node.  A (w 10, at 0) and B (w 10, at
# 1) need 128, C (w 10, at 2) needs 256, D (w 5, at 2) needs 128.
SIZES = [
    job(0, 4, 10, 10, need=128),
    job(1, 4, 10, 10, need=128),
    job(2, 4, 10, 10, need=256),
    job(2, 4, 5, 5, need=128),
]
TWO_SIZES = [node(), node(memory=256)]


def test_backfill_on_bigger_nodes() -> None:
    # B finds 128 busy and 256 idle: it goes there, 1-11.  C waits for 11.  D can start nowhere now: planned
    # on 128, 10.
    outcome = simulate_backfill_big(SIZES, TWO_SIZES)
    assert [r.start for r in outcome.results] == [0, 1, 11, 10]
    assert outcome.nodes == [0, 1, 1, 0]


def test_planned_areas_by_hand() -> None:
    # Tmax = max(90/5, 30/2, 10/1) = 18.  Big: own 10, 8 of the middle.  Middle: own 12 left, 6 of the small.
    # Small: 54.
    plan = planned_areas([60, 20, 10], [3, 1, 1])
    assert plan == [[54, 0, 0], [6, 12, 0], [0, 8, 10]]
    # With the mean a big class can be overfull: 30 on one node although the mean is 6; nothing is added.
    assert planned_areas([0, 0, 30], [3, 1, 1], "mean") == [[0, 0, 0], [0, 0, 0], [0, 0, 30]]


def test_area_filling() -> None:
    # Areas: 128: 40 + 40 + 20 = 100, 256: 40.  Tmax = max(140/2, 40) = 70; the big node takes its 40 and 30
    # of the small. B (40) does not fit in 30: it waits for A, 10.  C 2-12.  D (20) does: 128 is planned for B
    # until 20, 256 free at 12.
    outcome = simulate_area_filling(SIZES, TWO_SIZES)
    assert [r.start for r in outcome.results] == [0, 10, 2, 12]
    assert outcome.nodes == [0, 0, 1, 1]


def test_area_is_given_back() -> None:
    # As the statistics say, 30 for small jobs on the big node.  X (area 20, but runs 1: 4 used) leaves 26: Y
    # (area 20) still goes.  Had X used its 20, Y would have been left with 10 and would wait for A.
    jobs = [job(0, 4, 50, 50, need=128), job(0, 4, 5, 1, need=128), job(3, 4, 5, 5, need=128)]
    outcome = simulate_area_filling(jobs, TWO_SIZES, statistics=SIZES)
    assert [(i, r.start) for i, r in zip(outcome.nodes, outcome.results, strict=True)] == [
        (0, 0),
        (1, 0),
        (1, 3),
    ]
    jobs[1] = replace(jobs[1], runtime=5)
    assert simulate_area_filling(jobs, TWO_SIZES, statistics=SIZES).nodes == [0, 1, 0]


def test_easy_on_nodes() -> None:
    # Two nodes of 4.  A (3) on 0 to 10, B (4) on 1 to 20.  C (4) at 1: reserved on node 0 at 10.  D (1, w 9)
    # at 1 ends by 10: starts.  E (1, w 30) at 11: C runs on node 0 10-15: it goes there at 15.
    jobs = [
        job(0, 3, 10, 10),
        job(0, 4, 20, 20),
        job(1, 4, 5, 5),
        job(1, 1, 9, 9),
        job(11, 1, 30, 30),
    ]
    outcome = simulate_easy_nodes(jobs, [node(), node()])
    assert [r.start for r in outcome.results] == [0, 0, 10, 1, 15]
    jobs[3] = job(1, 1, 10, 10)  # one too long: it waits until C is done
    assert [r.start for r in simulate_easy_nodes(jobs, [node(), node()]).results] == [0, 0, 10, 15, 15]


# ---- laws
# ---------------------------------------------------------------------------------------------------

NODES = [node(), node(), node(memory=256)]
FILE_SIZES = {"a": 0, "b": 1, "c": 3, "d": 7}


@st.composite
def file_jobs(draw: st.DrawFn, /, sizes: bool = True, zero: bool = True) -> list[Job]:
    jobs = draw(
        job_lists(
            4,
            zero=zero,
            file=st.sampled_from([None, *FILE_SIZES]),
            needs_node_gb=st.sampled_from([Fraction(0), Fraction(128), Fraction(200)]),
        )
    )
    return [replace(j, file_gb=Fraction(FILE_SIZES[j.file] if sizes and j.file else 0)) for j in jobs]


def check(jobs: list[Job], outcome: Placed) -> None:
    for j, (one, result) in enumerate(zip(jobs, outcome.results, strict=True)):
        wait = outcome.overheads[j]
        assert 0 <= wait <= one.file_gb  # L2, at 1 GB/s
        assert result.start >= one.submit
        assert result.end - result.start == min(one.walltime, wait + one.runtime)
        assert result.killed == (wait + one.runtime > one.walltime)
        assert NODES[outcome.nodes[j]].memory_gb >= one.needs_node_gb
    assert outcome.loads + outcome.reuses == sum(one.file is not None for one in jobs)  # L3
    for i, where in enumerate(NODES):  # L1
        here = [
            (r.start, r.end, one.procs)
            for one, r, k in zip(jobs, outcome.results, outcome.nodes, strict=True)
            if k == i
        ]
        assert all(sum(c for s, e, c in here if s <= x < e) <= where.cores for x, _, _ in here)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("presence", PRESENCES)
@settings(max_examples=30)
@given(jobs=file_jobs(), backfill=st.sampled_from(["none", "conservative"]))
def test_laws_of_scores(rule: str, presence: str, jobs: list[Job], backfill: str) -> None:
    check(jobs, locality(jobs, NODES, rule, backfill, presence))


@given(jobs=file_jobs(), presence=st.sampled_from(PRESENCES), tmax=st.sampled_from(["max", "mean"]))
def test_laws_of_the_others(jobs: list[Job], presence: str, tmax: str) -> None:
    check(jobs, simulate_easy_nodes(jobs, NODES, presence, second=1))
    check(jobs, simulate_backfill_big(jobs, NODES, second=1))
    check(jobs, simulate_area_filling(jobs, NODES, tmax, second=1))


@settings(max_examples=25)
@given(jobs=file_jobs())
def test_named_rules_are_scores(jobs: list[Job]) -> None:
    assert locality(jobs, NODES, "score") == locality(jobs, NODES, "fcfs")
    assert locality(jobs, NODES, "score", load=1) == locality(jobs, NODES, "eft")
    assert locality(jobs, NODES, "score", load=500, evict=1) == locality(jobs, NODES, "lea")
    assert locality(jobs, NODES, "lem", threshold=0) == locality(jobs, NODES, "lea")
    assert locality(jobs, NODES, "lem", threshold=2) == locality(jobs, NODES, "eft")


@pytest.mark.parametrize("backfill", ["none", "conservative"])
@settings(max_examples=25)
@given(jobs=file_jobs(sizes=False))
def test_without_sizes_all_rules_coincide(backfill: str, jobs: list[Job]) -> None:
    reference = spans(locality(jobs, NODES, "fcfs", backfill))
    for rule in RULES:
        assert spans(locality(jobs, NODES, rule, backfill)) == reference


@given(jobs=file_jobs())
def test_with_all_files_different_eft_is_fcfs(jobs: list[Job]) -> None:
    different = [replace(one, file=str(k)) for k, one in enumerate(jobs)]
    assert locality(different, NODES, "eft") == locality(different, NODES, "fcfs")


@given(jobs=job_lists(4, zero=False))
def test_one_node_without_files_is_one_machine(jobs: list[Job]) -> None:
    one = [node()]
    assert spans(locality(jobs, one)) == [(r.start, r.end) for r in simulate_strict(jobs, 4)]
    backfilled = simulate_conservative(jobs, 4, "scratch")
    assert spans(locality(jobs, one, backfill="conservative")) == [(r.start, r.end) for r in backfilled]
    assert spans(simulate_easy_nodes(jobs, one)) == [(r.start, r.end) for r in simulate_easy(jobs, 4)]


@given(
    classes=st.lists(st.tuples(st.integers(0, 100), st.integers(1, 5)), min_size=1, max_size=4),
    tmax=st.sampled_from(["max", "mean"]),
)
def test_laws_of_the_area_plan(classes: list[tuple[int, int]], tmax: str) -> None:
    areas, counts = [a for a, _ in classes], [k for _, k in classes]
    plan = planned_areas(areas, counts, tmax)
    for y, area in enumerate(areas):
        assert sum(row[y] for row in plan) == area  # L7
    if tmax == "max":  # L8
        most = max(Fraction(sum(areas[x:]), sum(counts[x:])) for x in range(len(areas)))
        assert all(sum(row) <= most * counts[x] for x, row in enumerate(plan))
