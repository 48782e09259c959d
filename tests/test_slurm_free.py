"""The reference left to itself on recorded submissions and run times."""

from __future__ import annotations

import pytest

from reference.slurm.loop import Clocks
from truth.free import free_run
from truth.runs import load


def test_recorded_passes_give_the_recorded_schedule() -> None:
    """With the seconds of Slurm's passes the reference's own state stays on the recorded path to the end."""
    nearness = free_run(load("e-share-a"), Clocks(epilog=0), recorded_passes=True)
    assert nearness.within_60 == 1.0
    assert abs(nearness.wait_error) < 0.001


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "within", "error"),
    [("kth-a", 0.80, 0.06), ("mix-a", 0.70, 0.12)],
)
def test_own_clocks(name: str, within: float, error: float) -> None:
    """As near as another run of the real Slurm: starts within ten minutes, and the mean wait."""
    nearness = free_run(load(name), Clocks.seeded(3, late=0.4))
    assert nearness.within_600 >= within
    assert abs(nearness.wait_error) <= error
