"""Priorities by the reference's formula beside those that real Slurm logged."""

from __future__ import annotations

import pytest

from truth.runs import load
from truth.standing import compare_priorities


@pytest.mark.parametrize(
    ("name", "phase", "missed"),
    [("e-share-a", 0, 0), ("sdsc-a", 100, 0), ("mix-a", 100, 4)],
)
def test_priority_at_submission(name: str, phase: int, missed: int) -> None:
    """Exact, but where a calculation fell between the reference's second and the real one."""
    rows = [row for row in compare_priorities(load(name), phase) if not row[2]]
    assert len(rows) == len(load(name).asked)
    assert sum(logged != mine for *_, logged, mine in rows) <= missed


def test_priorities_at_tests_of_shared_runs() -> None:
    """Calculations in the recorded runs come up to 90 s late, which moves age by 1 to 2 points."""
    for name, slack in (("e-share-a", 0), ("mix-a", 2)):
        rows = [row for row in compare_priorities(load(name), 100) if row[2]]
        assert len(rows) > 250
        assert all(abs(logged - mine) <= slack for *_, logged, mine in rows)
