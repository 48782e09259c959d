"""The reference of Slurm's two loops, given the recorded state, decides what real Slurm decided."""

from __future__ import annotations

import pytest

from truth.compare import Score, drive
from truth.runs import load

WHOLE = ("kth-a", "kth-b", "sdsc-a", "mix-a", "e-share-a", "b-resv-a", "d-gang", "e2411", "e2605")
"""Runs in which every decision comes out alike."""

NEARLY = ("a-array-a", "c-node", "d-qos-a", "f-limits")
"""Runs with a handful of cycles that something unrecorded changed: a node's return or a hold just then."""


def assert_alike(score: Score) -> None:
    """Every start of both loops and every plan, nodes included."""
    assert score.different == []
    assert score.main_alike == score.main_starts
    assert score.plans_alike == score.plans
    assert score.starts_alike == score.starts
    assert score.passes_alike == score.passes
    assert score.cycles_alike + score.cut_short == score.cycles


@pytest.mark.parametrize(
    ("name", "first", "last", "plans"),
    [
        ("kth-a", 5000, 5030, 250),
        ("kth-b", 900, 930, 250),
        ("sdsc-a", 2800, 2825, 250),
        ("mix-a", 850, 940, 800),
        ("e-share-a", 1000, 1150, 1000),
        ("a-array-a", 600, 620, 300),
        ("b-resv-a", 1200, 1260, 500),
        ("c-node", 900, 960, 500),
        ("d-qos-a", 700, 760, 200),
        ("d-gang", 600, 700, 200),
        ("f-limits", 0, 200, 100),
        ("e2411", 300, 360, 300),
        ("e2605", 300, 400, 300),
    ],
)
def test_part_of_a_recorded_run(name: str, first: int, last: int, plans: int) -> None:
    """`plans` guards against a stretch in which nothing had to be decided."""
    score = drive(load(name), first=first, last=last)
    assert_alike(score)
    assert score.plans > plans


@pytest.mark.long
@pytest.mark.parametrize("name", WHOLE)
def test_whole_recorded_run(name: str) -> None:
    assert_alike(drive(load(name)))


@pytest.mark.long
@pytest.mark.parametrize("name", NEARLY)
def test_nearly_all_of_a_recorded_run(name: str) -> None:
    score = drive(load(name))
    assert score.main_alike >= 0.98 * score.main_starts
    assert score.starts_alike >= 0.99 * score.starts
    assert score.plans_alike >= 0.99 * score.plans
    assert len(score.different) <= 5
