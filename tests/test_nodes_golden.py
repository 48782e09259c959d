"""Policies on nodes on instances worked by hand: each term of the score, each presence, both levels."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from headway.policies.nodes.areas import fill_level, planned_areas, planned_cores
from headway.schedule import Schedule
from headway.units import SECOND
from nodes_twin import simulated
from twins.jobs import Job
from twins.nodes import Node


def node(cores: int = 4, memory: int = 128) -> Node:
    return Node(cores, Fraction(memory), Fraction(1))  # 1 GB/s: a file of n GB loads in n seconds


def job(
    submit: int, cores: int, walltime: int, run: int, file: str | None = None, gb: int = 0, need: int = 0
) -> Job:
    return Job(0, submit, cores, walltime, run, file=file, file_gb=Fraction(gb), needs_node_gb=Fraction(need))


def made(jobs: list[Job], nodes: list[Node], spec: str) -> Schedule:
    return simulated([replace(one, id=k + 1) for k, one in enumerate(jobs)], nodes, spec)


def spans(schedule: Schedule) -> list[tuple[int, int]]:
    return list(zip((schedule.start // SECOND).tolist(), (schedule.end // SECOND).tolist(), strict=True))


def waits(schedule: Schedule) -> list[int]:
    return [int(wait) // SECOND for wait in schedule.notes["file_wait"]]


# One node of 4 cores, file f of 3 GB. A (0) loads to 3 and runs 5: 0-8. B (1) waits for that load until 3:
# 1-8. C comes at 8, when both end: the file is there, 8-9. D at 9: the same, 9-10. E at 12, run 1.
FILES = [
    job(0, 2, 20, 5, "f", 3),
    job(1, 2, 20, 5, "f", 3),
    job(8, 2, 20, 1, "f", 3),
    job(9, 2, 20, 1, "f", 3),
    job(12, 2, 20, 1, "f", 3),
]


def test_presence_contiguous() -> None:
    schedule = made(FILES, [node()], "eft")
    assert spans(schedule) == [(0, 8), (1, 8), (8, 9), (9, 10), (12, 16)]
    assert waits(schedule) == [3, 2, 0, 0, 3]
    assert schedule.own == {"file_loads": 2, "file_reuses": 3}


def test_presence_until_next_start() -> None:
    assert spans(made(FILES, [node()], "eft(presence=until-next-start)"))[4] == (12, 13)
    # A start at that very instant changes nothing; one at 11 does.
    beside = made([*FILES[:4], job(12, 1, 5, 5), FILES[4]], [node()], "eft(presence=until-next-start)")
    assert spans(beside)[5] == (12, 13)
    other = made([*FILES, job(11, 1, 5, 5)], [node()], "eft(presence=until-next-start)")
    assert spans(other)[4] == (12, 16)


def test_presence_lru() -> None:
    # 8 GB: f (3), g (4), f again, h (4): 11 > 8, g is longest unused and goes; f is there; then g for h, h.
    names = [("f", 3), ("g", 4), ("f", 3), ("h", 4), ("f", 3), ("g", 4), ("h", 4)]
    jobs = [job(10 * k, 1, 9, 1, name, gb) for k, (name, gb) in enumerate(names)]
    assert waits(made(jobs, [node(memory=8)], "fcfs(presence=lru)")) == [3, 4, 0, 4, 0, 4, 4]


def test_the_load_counts_in_the_walltime() -> None:
    schedule = made([job(0, 1, 4, 3, "f", 3)], [node()], "fcfs")
    assert spans(schedule) == [(0, 4)] and schedule.killed.tolist() == [True]


# Two nodes. A (4 cores, walltime 10, run 2, f of 4 GB) takes node 0: 0-6, expected to 10. B, the same, at 1:
# node 0 offers 10 with the file there, node 1 offers 1 with a load of 4.
SHARED = [job(0, 4, 10, 2, "f", 4), job(1, 4, 10, 2, "f", 4)]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("fcfs", (1, 1, 7)),  # 10 against 1
        ("eft", (1, 1, 7)),  # 10 against 1 + 4
        ("leo", (1, 1, 7)),  # node 1 is free now: 1 + 4
        ("lem", (1, 1, 7)),  # a node is idle: as eft
        ("lea", (0, 6, 8)),  # 10 against 1 + 500 x 4: it waits, and A ends at 6
        ("lem(threshold=0.5)", (0, 6, 8)),
        ("score(load=2)", (1, 1, 7)),  # 10 against 9
        ("score(load=2.5)", (0, 6, 8)),  # 10 against 11
        ("score(load=2.25)", (0, 6, 8)),  # 10 against 10: the tie goes to node 0
        ("score(copies=2)", (1, 1, 7)),  # one copy elsewhere: 10 against 1 + 2 x 4
        ("score(copies=3)", (0, 6, 8)),  # 10 against 13
    ],
)
def test_start_load_and_copies(spec: str, expected: tuple[int, int, int]) -> None:
    schedule = made(SHARED, [node(), node()], spec)
    assert schedule.node is not None
    assert (int(schedule.node[1]), *spans(schedule)[1]) == expected


def test_evictions() -> None:
    # A (f, 4 GB) on node 0 to 5, B (g, 2 GB) on node 1 to 6. C (h) at 1: node 0 at 5, or with evictions 5 + 4
    # against 6 + 2: it waits; at 6 f is long gone and g ended just now: 6 against 6 + 2.
    jobs = [job(0, 4, 5, 9, "f", 4), job(0, 4, 6, 9, "g", 2), job(1, 4, 9, 1, "h", 1)]
    assert spans(made(jobs, [node(), node()], "score"))[2][0] == 5
    assert spans(made(jobs, [node(), node()], "score(evict=1)"))[2][0] == 6
    # On 2 of the 4 cores half of it counts: 5 + 2 against 6 + 1, a tie.
    jobs[2] = job(1, 2, 9, 1, "h", 1)
    assert spans(made(jobs, [node(), node()], "score(evict=1)"))[2][0] == 5


def test_windows_only_with_backfilling() -> None:
    jobs = [job(0, 2, 10, 10), job(0, 4, 5, 5), job(1, 2, 9, 9)]
    assert [start for start, _ in spans(made(jobs, [node()], "fcfs"))] == [0, 10, 15]
    for spec in ("fcfs(backfill=conservative)", "conservative"):
        assert [start for start, _ in spans(made(jobs, [node()], spec))] == [0, 10, 1]


SIZES = [
    job(0, 4, 10, 10, need=128),
    job(1, 4, 10, 10, need=128),
    job(2, 4, 10, 10, need=256),
    job(2, 4, 5, 5, need=128),
]
TWO_SIZES = [node(), node(memory=256)]


def test_backfill_on_bigger_nodes() -> None:
    schedule = made(SIZES, TWO_SIZES, "backfill-big")
    assert schedule.node is not None and schedule.node.tolist() == [0, 1, 1, 0]
    assert [start for start, _ in spans(schedule)] == [0, 1, 11, 10]


def test_backfill_big_with_an_allowance() -> None:
    # A holds 3 cores of the small node to 200, B the big one to 90, C gets it at 90 after a wait of 90: the
    # mean wait is 30. D (all cores, at 95) can start there at 100, within its allowance of 30, and is planned
    # there; so the idle core of the small node is left to E at 96. Without, D is planned on its own size.
    jobs = [
        job(0, 3, 200, 200),
        job(0, 4, 100, 90),
        job(0, 4, 10, 10),
        job(95, 4, 10, 10),
        job(96, 1, 5, 5),
    ]
    plain = made(jobs, TWO_SIZES, "backfill-big")
    assert [start for start, _ in spans(plain)] == [0, 0, 90, 100, 100]
    lenient = made(jobs, TWO_SIZES, "backfill-big(allowance=mean)")
    assert [start for start, _ in spans(lenient)] == [0, 0, 90, 100, 96]


def test_area_filling() -> None:
    # Areas 100 and 40; level 70: the big node takes its 40 and 30 of the small. B (40) does not fit in 30.
    schedule = made(SIZES, TWO_SIZES, "area-filling")
    assert [start for start, _ in spans(schedule)] == [0, 10, 2, 12]
    assert schedule.node is not None and schedule.node.tolist() == [0, 0, 1, 1]


def test_levels_and_planned_areas_of_the_authors_note() -> None:
    assert fill_level([15, 30, 2], [5, 3, 2], "max") == Fraction("6.4")
    assert fill_level([15, 30, 2], [5, 3, 2], "mean") == Fraction("4.7")
    plan = planned_areas([15, 30, 2], [5, 3, 2])
    assert plan[2][1] == Fraction("10.8") and plan[1][1] == Fraction("19.2")
    assert plan[1][1] / Fraction("6.4") == 3
    # With the mean the middle size is overfull and takes nothing of the small one; the big one takes 7.4.
    mean = planned_areas([15, 30, 2], [5, 3, 2], "mean")
    assert mean[2] == [0, Fraction("7.4"), 2] and mean[1] == [0, Fraction("22.6"), 0]
    assert sum(mean[1]) > Fraction("4.7") * 3


def test_cores_of_the_ratio_form() -> None:
    # At the level of 6.4 the two big nodes hold 12.8; 10.8 of it is 84.375 % of their 40 cores.
    plan = planned_areas([15, 30, 2], [5, 3, 2])
    assert planned_cores(plan, Fraction("6.4"), [5, 3, 2], [100, 60, 40])[2] == [0, 33_750_000, 6_250_000]


def test_match() -> None:
    jobs = [job(0, 4, 10, 10, need=128), job(0, 4, 10, 10, need=100), job(0, 4, 10, 10, need=256)]
    expected = {
        "exact": [(0, 0), (0, 10), (1, 0)],
        "fits": [(0, 0), (1, 0), (1, 10)],
        "any": [(0, 0), (1, 0), (0, 10)],
    }
    for match, due in expected.items():
        schedule = made(jobs, TWO_SIZES, f"fcfs(match={match})")
        assert schedule.node is not None
        starts = [start for start, _ in spans(schedule)]
        assert list(zip(schedule.node.tolist(), starts, strict=True)) == due


def test_easy_on_nodes() -> None:
    jobs = [job(0, 3, 10, 10), job(0, 4, 20, 20), job(1, 4, 5, 5), job(1, 1, 9, 9), job(11, 1, 30, 30)]
    assert [start for start, _ in spans(made(jobs, [node(), node()], "easy"))] == [0, 0, 10, 1, 15]
    jobs[3] = job(1, 1, 10, 10)  # one second too long: it waits until C is done
    assert [start for start, _ in spans(made(jobs, [node(), node()], "easy"))] == [0, 0, 10, 15, 15]


def test_nodes_are_numbered_as_the_platform_lists_them() -> None:
    # The large node comes first in the platform and last in the order of ties.
    schedule = made([job(0, 4, 10, 10), job(0, 4, 10, 10)], [node(memory=256), node()], "fcfs")
    assert schedule.node is not None and np.array_equal(schedule.node, [1, 0])
