"""Policies on nodes on instances worked by hand, each for the simulator and for its plain reference.

Every term of the score, every presence, every match, windows, memory sizes, both levels of area filling.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import pytest

from headway.audit import audit
from headway.errors import InputError
from headway.policies.nodes.setup import fill_level, planned_areas, planned_cores
from nodes_reference import SIZES, TWO_SIZES, by_reference, job, node, simulated
from reference import size_classes
from reference.jobs import SECOND, Job
from reference.nodes import Node


@dataclass
class Outcome:
    """Per job; times in seconds."""

    nodes: list[int]
    spans: list[tuple[int, int]]
    waits: list[int]
    killed: list[bool]
    loads: int
    reuses: int

    @property
    def starts(self) -> list[int]:
        return [start for start, _ in self.spans]


Made = Callable[[Sequence[Job], Sequence[Node], str], Outcome]


def by_the_simulator(jobs: Sequence[Job], nodes: Sequence[Node], spec: str) -> Outcome:
    schedule = simulated(jobs, nodes, spec)
    assert schedule.node is not None
    return Outcome(
        schedule.node.tolist(),
        list(zip((schedule.start // SECOND).tolist(), (schedule.end // SECOND).tolist(), strict=True)),
        (schedule.notes["file_wait"] // SECOND).tolist(),
        schedule.killed.tolist(),
        int(str(schedule.own["file_loads"])),
        int(str(schedule.own["file_reuses"])),
    )


def by_the_reference(jobs: Sequence[Job], nodes: Sequence[Node], spec: str) -> Outcome:
    placed = by_reference(jobs, nodes, spec)
    return Outcome(
        placed.nodes,
        [(result.start // SECOND, result.end // SECOND) for result in placed.results],
        [wait // SECOND for wait in placed.overheads],
        [result.killed for result in placed.results],
        placed.loads,
        placed.reuses,
    )


@pytest.fixture(params=[by_the_simulator, by_the_reference])
def made(request: pytest.FixtureRequest) -> Made:
    def numbered(jobs: Sequence[Job], nodes: Sequence[Node], spec: str) -> Outcome:
        found: Outcome = request.param([replace(one, id=k + 1) for k, one in enumerate(jobs)], nodes, spec)
        return found

    return numbered


# One node of 4 cores, file f of 3 GB. A (0) loads to 3 and runs 5: 0-8. B (1) waits for that load until 3:
# 1-8. C comes at 8, when both end: the file is there, 8-9. D at 9: the same, 9-10. E at 12, run 1.
FILES = [
    job(0, 2, 20, 5, "f", 3),
    job(1, 2, 20, 5, "f", 3),
    job(8, 2, 20, 1, "f", 3),
    job(9, 2, 20, 1, "f", 3),
    job(12, 2, 20, 1, "f", 3),
]


def test_presence_contiguous(made: Made) -> None:
    # Nobody uses f between 10 and 12: E loads it again.
    found = made(FILES, [node()], "eft")
    assert found.spans == [(0, 8), (1, 8), (8, 9), (9, 10), (12, 16)]
    assert found.waits == [3, 2, 0, 0, 3]
    assert (found.loads, found.reuses) == (2, 3)


def test_presence_until_next_start(made: Made) -> None:
    # Nothing started on the node after 10: the file is still there at 12.
    assert made(FILES, [node()], "eft(presence=until-next-start)").spans[4] == (12, 13)
    # A start at that very instant changes nothing; one at 11 does.
    beside = made([*FILES[:4], job(12, 1, 5, 5), FILES[4]], [node()], "eft(presence=until-next-start)")
    assert beside.spans[5] == (12, 13)
    other = made([*FILES, job(11, 1, 5, 5)], [node()], "eft(presence=until-next-start)")
    assert other.spans[4] == (12, 16)
    # Nor does a user of no length push out its own file at 11; one without the file beside it does.
    users = [*FILES[:4], job(11, 1, 5, 0, "f", 3), job(14, 2, 20, 1, "f", 3)]
    assert made(users, [node()], "eft(presence=until-next-start)").spans[4:] == [(11, 11), (14, 15)]
    between = made([*users, job(11, 1, 5, 5)], [node()], "eft(presence=until-next-start)")
    assert between.spans[5] == (14, 18)


def test_presence_lru(made: Made) -> None:
    # 8 GB of memory. f (3) at 0, g (4) at 10, f at 20 (there), h (4) at 30: 11 > 8, g is longest unused and
    # goes. f at 40 is there. g at 50 loads again: 11 > 8, h goes (last used at 35, f at 41). h at 60 loads.
    names = [("f", 3), ("g", 4), ("f", 3), ("h", 4), ("f", 3), ("g", 4), ("h", 4)]
    jobs = [job(10 * k, 1, 9, 1, name, gb) for k, (name, gb) in enumerate(names)]
    assert made(jobs, [node(memory=8)], "fcfs(presence=lru)").waits == [3, 4, 0, 4, 0, 4, 4]


def test_presence_lru_of_a_load_that_was_cut(made: Made) -> None:
    # 8 GB of memory. f (3) at 0; g (4) at 10 is killed at 12, in the middle of its load, and leaves nothing.
    # So h (4) at 20 has room beside f, which is there at 30. With g in memory it would have gone: 11 > 8.
    cut = [job(0, 1, 9, 1, "f", 3), job(10, 1, 2, 1, "g", 4)]
    jobs = [*cut, job(20, 1, 9, 1, "h", 4), job(30, 1, 9, 1, "f", 3)]
    assert made(jobs, [node(memory=8)], "fcfs(presence=lru)").spans == [(0, 4), (10, 12), (20, 25), (30, 31)]
    # The same in a plan: h and f want all cores at 10, and wait for g.
    jobs = [*cut, job(10, 4, 9, 1, "h", 4), job(10, 4, 9, 1, "f", 3)]
    assert made(jobs, [node(memory=8)], "eft(presence=lru)").spans == [(0, 4), (10, 12), (12, 17), (17, 18)]


def test_the_load_counts_in_the_walltime(made: Made) -> None:
    # Load 3 + run 3 against a walltime of 4: killed at 4.
    found = made([job(0, 1, 4, 3, "f", 3)], [node()], "fcfs")
    assert found.spans == [(0, 4)] and found.killed == [True]


def test_a_load_that_was_cut_is_lost(made: Made) -> None:
    # A is killed at 2, in the middle of its load; B, at 2, has to load anew: 2-6.
    jobs = [job(0, 4, 2, 1, "f", 3), job(0, 4, 9, 1, "f", 3)]
    assert made(jobs, [node()], "fcfs").spans == [(0, 2), (2, 6)]


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
        ("score(load=2, copies=0)", (1, 1, 7)),  # 10 against 9
        ("score(load=2.5, copies=0)", (0, 6, 8)),  # 10 against 11
        ("score(load=2.25, copies=0)", (0, 6, 8)),  # 10 against 10: the tie goes to node 0
        ("score(load=0, copies=2)", (1, 1, 7)),  # one copy elsewhere: 10 against 1 + 2 x 4
        ("score(load=0, copies=3)", (0, 6, 8)),  # 10 against 13
        ("score", (1, 1, 7)),  # A + B + C + D: 10 against 1 + 4 + 4, and only one file is about
    ],
)
def test_start_load_and_copies(made: Made, spec: str, expected: tuple[int, int, int]) -> None:
    found = made(SHARED, [node(), node()], spec)
    assert (found.nodes[1], *found.spans[1]) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("eft", (0, 3, 5)),  # 3 + 1 against 1 + 4
        ("lea", (0, 3, 5)),  # 3 + 500 x 1 against 1 + 500 x 4
        ("leo", (1, 1, 6)),  # 3 + 500 x 1 against 1 + 4, because node 1 is free now
    ],
)
def test_leo_is_eft_where_a_node_is_free_and_lea_elsewhere(
    made: Made, spec: str, expected: tuple[int, int, int]
) -> None:
    # Node 0 loads four times as fast, and is held until 3.
    nodes = [replace(node(), bandwidth_gb_s=Fraction(4)), node()]
    found = made([job(0, 4, 3, 3), job(1, 4, 9, 1, "f", 4)], nodes, spec)
    assert (found.nodes[1], *found.spans[1]) == expected


@pytest.mark.parametrize("submit", [0, 1])
def test_lem_is_lea_where_every_node_runs_something(made: Made, submit: int) -> None:
    # As above, but a job of one core runs on node 1, perhaps since this very instant.
    jobs = [SHARED[0], job(submit, 1, 20, 20), job(1, 2, 10, 2, "f", 4)]
    assert made(jobs, [node(), node()], "lem").spans[2] == (6, 8)
    assert made(jobs, [node(), node()], "eft").spans[2] == (1, 7)
    assert made(jobs, [node(), node(), node()], "lem").spans[2] == (1, 7)


def test_copies_count_only_where_the_job_would_load(made: Made) -> None:
    # Three nodes, f of 4 GB, weight 2. A on node 0 to 10; B: node 0 at 10, or node 1 now with one copy
    # elsewhere: 0 + 2*4: node 1, to 12. C at 1: node 0 at 10 (there), node 1 at 12 (there), node 2: 1 + 2*2*4
    # = 17: it waits for node 0.
    jobs = [job(0, 4, 10, 6, "f", 4), job(0, 4, 12, 8, "f", 4), job(1, 4, 5, 1, "f", 4)]
    found = made(jobs, [node(), node(), node()], "score(load=0, copies=2)")
    assert found.nodes == [0, 1, 0] and found.spans == [(0, 10), (0, 12), (10, 11)]


def test_evictions(made: Made) -> None:
    # A (f, 4 GB) on node 0 to 5, B (g, 2 GB) on node 1 to 6. C (h) at 1: node 0 at 5, or with evictions 5 + 4
    # against 6 + 2: it waits; at 6 f is long gone and g ended just now: 6 against 6 + 2.
    jobs = [job(0, 4, 5, 9, "f", 4), job(0, 4, 6, 9, "g", 2), job(1, 4, 9, 1, "h", 1)]
    two = [node(), node()]
    for spec, expected in (("score(evict=0)", (0, 5)), ("score", (0, 6))):
        found = made(jobs, two, spec)
        assert (found.nodes[2], found.starts[2]) == expected
    # On 2 of the 4 cores half of it counts: 5 + 2 against 6 + 1, a tie.
    halved = made([*jobs[:2], job(1, 2, 9, 1, "h", 1)], two, "score")
    assert (halved.nodes[2], halved.starts[2]) == (0, 5)


@pytest.mark.parametrize("spec", ["lea", "lem(threshold=0)", "score"])
def test_a_job_killed_while_it_loads_leaves_nothing_to_push_out(made: Made, spec: str) -> None:
    # A (f, 8 GB) would load until 8 on node 0 and is killed at 5; B (g, 2 GB) runs on node 1 to 6. C (h) at
    # 1: node 0 at 5, where nothing is pushed out, or node 1 at 6 with g: it has node 0 at 5.
    jobs = [job(0, 4, 5, 9, "f", 8), job(0, 4, 6, 9, "g", 2), job(1, 4, 9, 1, "h", 1)]
    found = made(jobs, [node(), node()], spec)
    assert found.nodes == [0, 1, 0] and found.starts == [0, 0, 5]
    # The same of a job in the plan: A (f) is to start at 5 and to be killed at 10, B runs to 12. C: 10.
    jobs = [job(0, 4, 5, 5), job(0, 4, 12, 12, "g", 2), job(1, 4, 5, 9, "f", 8), job(1, 4, 9, 1, "h", 1)]
    found = made(jobs, [node(), node()], spec)
    assert found.nodes == [0, 1, 0, 0] and found.starts == [0, 0, 5, 10]
    # Another job of 2 cores waits for A's load until 8 and ends at 10: it leaves f. B runs to 11. C: node 0
    # at 10 and 8 for f against node 1 at 11 and 2 for g; at 11 f is long gone, and C has node 0.
    jobs = [job(0, 2, 5, 9, "f", 8), job(0, 2, 10, 2, "f", 8), job(0, 4, 11, 9, "g", 2), jobs[3]]
    found = made(jobs, [node(), node()], spec)
    assert found.nodes == [0, 0, 1, 0] and found.starts == [0, 0, 0, 11]


def test_windows_only_with_backfilling(made: Made) -> None:
    # 4 cores. A (2) 0-10; B (4) planned at 10-15; C (2, walltime 9) at 1 would fit 1-10.
    jobs = [job(0, 2, 10, 10), job(0, 4, 5, 5), job(1, 2, 9, 9)]
    assert made(jobs, [node()], "fcfs").starts == [0, 10, 15]
    for spec in ("fcfs(backfill=conservative)", "conservative"):
        assert made(jobs, [node()], spec).starts == [0, 10, 1]


def test_backfill_on_bigger_nodes(made: Made) -> None:
    # B finds 128 busy and 256 idle: it goes there, 1-11. C waits for 11. D can start nowhere now: planned on
    # its own size, 10.
    found = made(SIZES, TWO_SIZES, "backfill-big")
    assert found.nodes == [0, 1, 1, 0] and found.starts == [0, 1, 11, 10]


def test_backfill_big_with_an_allowance(made: Made) -> None:
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
    assert made(jobs, TWO_SIZES, "backfill-big").starts == [0, 0, 90, 100, 100]
    assert made(jobs, TWO_SIZES, "backfill-big(allowance=mean)").starts == [0, 0, 90, 100, 96]


def test_area_filling(made: Made) -> None:
    # Areas 100 and 40; level 70: the big node takes its 40 and 30 of the small. B (40) does not fit in 30: it
    # waits for A. C 2-12. D (20) fits: its own size is planned for B until 20, the big one is free at 12.
    found = made(SIZES, TWO_SIZES, "area-filling(areas=all)")
    assert found.starts == [0, 10, 2, 12] and found.nodes == [0, 0, 1, 1]
    # The mean is the same level here.
    assert made(SIZES, TWO_SIZES, "area-filling(areas=all, tmax=mean)").starts == [0, 10, 2, 12]


def test_areas_of_earlier_days(made: Made) -> None:
    # Until 10 nothing is known: B is planned on its own size, at 10. From then on A to D are: areas 100 and
    # 40, level 70, 30 for the big node. D (20) takes it at 12, when C has left; for E (20) nothing is left.
    jobs = [*SIZES, job(11, 4, 5, 5, need=128)]
    found = made(jobs, TWO_SIZES, f"area-filling(areas={10 / 86_400})")
    assert found.starts == [0, 10, 2, 12, 20] and found.nodes == [0, 0, 1, 1, 0]
    # A day is not over here: every job keeps to its own size.
    found = made(jobs, TWO_SIZES, "area-filling")
    assert found.starts == [0, 10, 2, 20, 25] and found.nodes == [0, 0, 1, 0, 0]


def test_areas_of_another_log(tmp_path: Path) -> None:
    # It has one small job: areas 40 and 0, level 20, all of it for small jobs on the big node: room for D.
    log, spec = tmp_path / "earlier.swf", f"area-filling(areas={tmp_path / 'earlier.swf'})"
    log.write_text("; MaxProcs: 8\n1 0 0 10 4 -1 -1 4 10 -1 1 1 1 1 1 1 -1 -1\n")
    numbered = [replace(each, id=k) for k, each in enumerate(SIZES)]
    with pytest.raises(InputError, match=r"needs_node_gb in earlier.annotations.csv"):
        simulated(numbered, TWO_SIZES, spec)
    (tmp_path / "earlier.annotations.csv").write_text("job,needs_node_gb\n1,128\n")
    found = simulated(numbered, TWO_SIZES, spec)
    assert found.node is not None and found.node.tolist() == [0, 0, 1, 1]
    assert audit(found).ok


def test_files_and_sizes_together(made: Made) -> None:
    # A fills the small node until 100, B the big one until 10. C, small, comes at 1: with match=fits it has
    # the big node at 10, and D, which needs that, waits for it. With match=now D goes first; C has what is
    # left at once, at 15, and does not wait for its own size until 100.
    jobs = [
        job(0, 4, 100, 100, need=128),
        job(0, 4, 10, 10, need=256),
        job(1, 4, 5, 5, need=128),
        job(2, 4, 5, 5, need=256),
    ]
    assert made(jobs, TWO_SIZES, "score(match=fits)").starts == [0, 0, 10, 15]
    assert made(jobs, TWO_SIZES, "score(match=now)").starts == [0, 0, 15, 10]
    assert made(jobs, TWO_SIZES, "score(match=exact)").starts == [0, 0, 100, 10]
    # Two big nodes stand idle for a small job, and the second has its file: LEA takes that one.
    nodes = [node(), node(memory=256), node(memory=256)]
    jobs = [
        job(0, 4, 100, 100, need=128),
        job(0, 4, 10, 10, "b", 4, need=256),
        job(0, 4, 10, 10, "c", 4, need=256),
        job(10, 4, 20, 5, "c", 4, need=128),
    ]
    assert made(jobs, nodes, "lea(match=now)").nodes == [0, 1, 2, 2]
    assert made(jobs, nodes, "backfill-big").nodes == [0, 1, 2, 1]


@pytest.mark.parametrize("planned", [planned_areas, size_classes.planned_areas])
def test_planned_areas_of_the_authors_note(planned: Callable[..., list[list[Fraction]]]) -> None:
    # The level is 6.4: two big nodes hold 12.8, their own 2 and 10.8 of the middle size, which keeps 19.2.
    plan = planned([15, 30, 2], [5, 3, 2], "max")
    assert plan == [[15, 0, 0], [0, Fraction("19.2"), 0], [0, Fraction("10.8"), 2]]
    assert plan[1][1] / Fraction("6.4") == 3
    # With the mean, 4.7, the middle size is overfull and takes nothing of the small; the big one takes 7.4.
    mean = planned([15, 30, 2], [5, 3, 2], "mean")
    assert mean == [[15, 0, 0], [0, Fraction("22.6"), 0], [0, Fraction("7.4"), 2]]
    assert sum(mean[1]) > Fraction("4.7") * 3
    # 90/5, 30/2 and 10/1: the level is 18. Big: own 10, 8 of the middle. Middle: 12 left, 6 of the small.
    assert planned([60, 20, 10], [3, 1, 1], "max") == [[54, 0, 0], [6, 12, 0], [0, 8, 10]]
    # With the mean a big size can be overfull: 30 on one node where the mean is 6; nothing is added.
    assert planned([0, 0, 30], [3, 1, 1], "mean") == [[0, 0, 0], [0, 0, 0], [0, 0, 30]]


def test_levels_of_the_authors_note() -> None:
    assert fill_level([15, 30, 2], [5, 3, 2], "max") == Fraction("6.4")
    assert fill_level([15, 30, 2], [5, 3, 2], "mean") == Fraction("4.7")


def test_cores_of_the_ratio_form() -> None:
    # At the level of 6.4 the two big nodes hold 12.8; 10.8 of it is 84.375 % of their 40 cores.
    plan = planned_areas([15, 30, 2], [5, 3, 2])
    expected = [0, Fraction("33.75"), Fraction("6.25")]
    assert planned_cores(plan, Fraction("6.4"), [5, 3, 2], [100, 60, 40])[2] == expected


def test_an_area_that_fits_the_ratio_exactly_is_allowed(made: Made) -> None:
    # Areas 60 + 5 and 55, level 60: the big node takes its 55 and 5 of the small, 1/12 of it, which is a
    # third of a core. At 15 that makes 5, just what C takes; on its own size it would wait for B until 20.
    jobs = [job(0, 1, 55, 55, need=256), job(5, 4, 15, 15, need=128), job(15, 1, 5, 5, need=128)]
    found = made(jobs, TWO_SIZES, "area-filling(areas=all, form=ratio)")
    assert found.starts == [0, 5, 15] and found.nodes == [1, 0, 1]
    jobs[2] = job(14, 1, 5, 5, need=128)  # a second earlier a third of a processor-second is missing
    assert made(jobs, TWO_SIZES, "area-filling(areas=all, form=ratio)").starts == [0, 5, 20]


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ("exact", [(0, 0), (0, 10), (1, 0)]),
        ("fits", [(0, 0), (1, 0), (1, 10)]),
        ("any", [(0, 0), (1, 0), (0, 10)]),
    ],
)
def test_match(made: Made, match: str, expected: list[tuple[int, int]]) -> None:
    # A and B need 128, C needs 256; all take a whole node for 10.
    jobs = [job(0, 4, 10, 10, need=128), job(0, 4, 10, 10, need=100), job(0, 4, 10, 10, need=256)]
    found = made(jobs, TWO_SIZES, f"fcfs(match={match})")
    assert list(zip(found.nodes, found.starts, strict=True)) == expected


def test_easy_on_nodes(made: Made) -> None:
    # Two nodes of 4. A (3) on 0 to 10, B (4) on 1 to 20. C (4) at 1: reserved on node 0 at 10. D (1, walltime
    # 9) at 1 ends by 10: starts. E (1, walltime 30) at 11: C runs on node 0 10-15: it goes there at 15.
    jobs = [job(0, 3, 10, 10), job(0, 4, 20, 20), job(1, 4, 5, 5), job(1, 1, 9, 9), job(11, 1, 30, 30)]
    assert made(jobs, [node(), node()], "easy").starts == [0, 0, 10, 1, 15]
    jobs[3] = job(1, 1, 10, 10)  # one second too long: it waits until C is done
    assert made(jobs, [node(), node()], "easy").starts == [0, 0, 10, 15, 15]


def test_a_plan_between_two_others_is_replayed_with_them(made: Made) -> None:
    # Backfilling plans jobs of one node out of the order of their starts; the last, H (a, 1 core), finds in
    # the memory what all of them leave there, in the order of time. At 7 D has just ended on node 1 and left
    # e. G (a, 2 cores): node 1 at 19, when E (b) has ended, is 19 + 500 + 2/4 of 2 (b) and 6 (e) = 523, node
    # 0 at 21 is 21 + 500: node 0. H then has a there at 27, against 7 + 500 + 1/4 of 6 on node 1: it waits.
    # At 10 e is long gone, G is planned on node 1 (519 + 1), and H starts there: 10 + 500 against 21 + 500.
    rows = [(1, 4, 20, 20, "d"), (1, 2, 15, 13, "d"), (1, 3, 9, 9, "b"), (1, 1, 6, 6, "e")]
    rows += [(1, 3, 9, 7, "b"), (1, 3, 9, 9, "d"), (2, 2, 6, 6, "a"), (4, 1, 6, 6, "a")]

    def run(e: int) -> Outcome:
        sizes = {"a": 1, "b": 2, "d": 5, "e": e}
        jobs = [job(*row, gb=sizes[row[4]]) for row in rows]
        return made(jobs, [node(memory=8), node(memory=8)], "lea(presence=lru, backfill=conservative)")

    found = run(6)
    assert found.starts == [1, 21, 1, 1, 10, 34, 17, 10] and found.nodes == [0, 0, 1, 1, 1, 0, 1, 1]
    # With 7 GB D is killed in the last second of its load and leaves nothing: node 1 is 520 for G at 7.
    assert run(7).starts == [1, 21, 1, 1, 10, 34, 17, 7]


def test_nodes_are_numbered_as_the_platform_lists_them(made: Made) -> None:
    # The large node comes first in the platform and last in the order of ties.
    assert made([job(0, 4, 10, 10), job(0, 4, 10, 10)], [node(memory=256), node()], "fcfs").nodes == [1, 0]
