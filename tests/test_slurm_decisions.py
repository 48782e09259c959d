"""The compiled policy, given the recorded state, decides what real Slurm decided."""

from __future__ import annotations

import pytest

from truth.compare import Score, drive
from truth.compiled import Compiled
from truth.runs import load


def driven(name: str, first: int = 0, last: int | None = None) -> Score:
    """The score of the compiled policy on a recorded run, or a stretch of its passes."""
    run = load(name)
    return drive(run, Compiled(run), first=first, last=last)


def assert_alike(score: Score, share: float) -> None:
    """Every start of the main loop, and nearly every plan and start of backfill.

    A cycle goes on over several seconds, and a job that it starts late ends late: plans behind it then differ
    by these seconds, which the policy does not know.
    """
    assert score.main_alike == score.main_starts
    assert score.plans_alike >= share * score.plans
    assert score.starts_alike >= 0.99 * score.starts


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("kth-a", 5000, 5015),
        ("sdsc-a", 2800, 2815),
        ("mix-a", 850, 862),
        ("e-share-a", 1000, 1060),
        ("a-array-a", 600, 615),
        ("b-resv-a", 1200, 1230),
        ("c-node", 900, 930),
        ("d-qos-a", 700, 730),
        ("d-gang", 600, 630),
        ("f-limits", 0, 150),
        ("site-a", 3000, 3012),
        ("e2411", 200, 220),
        ("e2605", 200, 220),
    ],
)
def test_part_of_a_recorded_run(name: str, first: int, last: int) -> None:
    score = driven(name, first, last)
    assert_alike(score, 0.99)
    assert score.plans > 0


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["kth-a", "kth-b", "sdsc-a", "mix-a", "e-share-a", "a-array-a", "b-resv-a", "e2411", "e2605"]
)
def test_whole_recorded_run(name: str) -> None:
    assert_alike(driven(name), 0.99)


@pytest.mark.long
@pytest.mark.parametrize("name", ["c-node", "d-qos-a", "d-gang", "f-limits", "site-a"])
def test_whole_recorded_run_with_what_was_not_recorded(name: str) -> None:
    """A few passes saw an epilog, a requeue or a release whose second was not recorded."""
    score = driven(name)
    assert score.main_alike >= 0.98 * score.main_starts
    assert score.plans_alike >= 0.99 * score.plans
    assert score.starts_alike >= 0.99 * score.starts
    assert score.victims_alike >= 0.9 * score.victims
