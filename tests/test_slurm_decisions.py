"""The compiled policy, given the recorded state, decides what real Slurm decided."""

from __future__ import annotations

import pytest

from truth import compare
from truth.compiled import Compiled
from truth.runs import load


def driven(
    name: str, monkeypatch: pytest.MonkeyPatch, first: int = 0, last: int | None = None
) -> compare.Score:
    """The score of the compiled policy on a recorded run, or a stretch of its passes."""
    run = load(name)
    compiled = Compiled(run)
    monkeypatch.setattr(compare, "backfill_cycle", compiled.backfill_cycle)
    monkeypatch.setattr(compare, "main_pass", compiled.main_pass)
    return compare.drive(run, first=first, last=last)


def assert_alike(score: compare.Score, share: float) -> None:
    """Every start of the main loop, and nearly every plan and start of backfill.

    A cycle goes on over several seconds, and a job that it starts late ends late: plans behind it then differ
    by these seconds, which the policy does not know.
    """
    assert score.main_alike == score.main_starts
    assert score.plans_alike >= share * score.plans
    assert score.starts_alike >= 0.99 * score.starts


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [("kth-a", 5000, 5040), ("sdsc-a", 2800, 2840), ("mix-a", 850, 900), ("e-share-a", 1000, 1060)],
)
def test_part_of_a_recorded_run(name: str, first: int, last: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_alike(driven(name, monkeypatch, first, last), 0.99)


@pytest.mark.long
@pytest.mark.parametrize("name", ["kth-a", "kth-b", "sdsc-a", "mix-a", "e-share-a"])
def test_whole_recorded_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    score = driven(name, monkeypatch)
    assert_alike(score, 0.99)
