"""The node references (files, scores, size classes, EASY) against laws; instances: test_nodes_golden."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes_reference import PRESENCES, SIZES, TWO_SIZES, job, node
from random_examples import examples
from reference.conservative import simulate_conservative
from reference.easy import simulate_easy
from reference.easy_nodes import simulate_easy_nodes
from reference.instances import job_lists
from reference.jobs import Job
from reference.locality import simulate_locality
from reference.nodes import Placed
from reference.size_classes import planned_areas, simulate_area_filling, simulate_backfill_big
from reference.strict import simulate_strict

locality = partial(simulate_locality, second=1)
RULES = ("fcfs", "eft", "lea", "leo", "lem")


def spans(outcome: Placed) -> list[tuple[int, int]]:
    return [(r.start, r.end) for r in outcome.results]


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
@examples(30)
@given(jobs=file_jobs(), backfill=st.sampled_from(["none", "conservative"]))
def test_laws_of_scores(rule: str, presence: str, jobs: list[Job], backfill: str) -> None:
    check(jobs, locality(jobs, NODES, rule, backfill, presence))


@given(jobs=file_jobs(), presence=st.sampled_from(PRESENCES), tmax=st.sampled_from(["max", "mean"]))
def test_laws_of_the_others(jobs: list[Job], presence: str, tmax: str) -> None:
    check(jobs, simulate_easy_nodes(jobs, NODES, presence, second=1))
    check(jobs, simulate_backfill_big(jobs, NODES, second=1))
    check(jobs, simulate_area_filling(jobs, NODES, tmax, second=1))


@examples(25)
@given(jobs=file_jobs())
def test_named_rules_are_scores(jobs: list[Job]) -> None:
    def free(load: int, evict: int) -> Placed:
        return locality(jobs, NODES, "score", load=load, evict=evict, copies=0)

    assert free(0, 0) == locality(jobs, NODES, "fcfs")
    assert free(1, 0) == locality(jobs, NODES, "eft")
    assert free(500, 1) == locality(jobs, NODES, "lea")
    assert locality(jobs, NODES, "lem", threshold=0) == locality(jobs, NODES, "lea")
    assert locality(jobs, NODES, "lem", threshold=2) == locality(jobs, NODES, "eft")


@pytest.mark.parametrize("backfill", ["none", "conservative"])
@examples(25)
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
