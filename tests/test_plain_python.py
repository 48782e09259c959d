"""Kernels rewritten for lists do what they do with tables, and none of those of first use is left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from headway.engine import drive, plain_python
from headway.engine.driver import Driver
from headway.engine.plain_python import NotPlain, rewritten
from headway.engine.tables import Clock
from headway.jit import INTERPRETED
from headway.simulate import run_policy
from headway.workload.models import lublin

pytestmark = [
    pytest.mark.interpreted,
    pytest.mark.skipif(not INTERPRETED, reason="kernels are compiled in this run"),
]

POLICIES = (
    "fcfs", "sjf", "f2", "lxf", "strict(order=wfp3)", "easy", "easy(backfill=sjf)", "easy(order=lxf, age=2h)",
    "easy(depth=3)", "easy(depth=all)", "easy(estimate=exact)", "easy(urgent=first)", "easy(dialect=pyss)",
    "easy(dialect=batsched-fast)", "easy(dialect=cqsim)", "conservative", "conservative(compress=none)",
    "conservative(compress=scratch)", "conservative(hole=open)",
)  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES)
def test_lists_and_tables_end_alike(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    workload = lublin(jobs=120, procs=32, seed=7, load=1.3, estimates="f(3)")
    used: list[str] = []
    run = plain_python.run_loop

    def noted(*given: Any) -> int:
        used.append(policy)
        return run(*given)

    monkeypatch.setattr(plain_python, "run_loop", noted)
    lists = run_policy(workload, 32, policy).state
    assert used == [policy]
    monkeypatch.setattr(drive, "QUEUES", ())
    views = run_policy(workload, 32, policy).state
    assert used == [policy]
    for name, table in lists._asdict().items():
        if isinstance(table, np.ndarray):
            assert np.array_equal(table, getattr(views, name)), name
    assert all(map(np.array_equal, lists.profile, views.profile))


def test_tables_grow_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Driver.__init__, "__defaults__", (None, 4, None))
    workload = lublin(jobs=60, procs=8, seed=3, load=2.0)
    small = run_policy(workload, 8, "easy").state
    assert small.clock[Clock.LIVE_ROOM] > 4
    monkeypatch.undo()
    large = run_policy(workload, 8, "easy").state
    assert np.array_equal(small.jobs, large.jobs)


def rows_of(table: Any) -> Any:
    return table[:, 0]


def outer() -> Any:
    chosen = 1

    def inner(table: Any) -> Any:
        return table[chosen, 0]

    return inner


@pytest.mark.parametrize("kernel", [rows_of, outer(), len, np.add])
def test_what_cannot_be_rewritten_runs_as_it_is(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_python, "OURS", "test")
    with pytest.raises(NotPlain):
        rewritten(kernel)


def total(table: Any, row: int = 1) -> int:
    """A table as kernels use it."""
    found: int = 0
    for place in range(table.shape[1]):
        if place >= table.shape[0]:
            table[row, place], table[0, place] = table[0, place], table[row, place]
        found += table[row, place] * FACTOR
    return found


FACTOR = 3


def test_a_kernel_is_rewritten_for_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_python, "OURS", "")
    table = np.arange(8).reshape(2, 4)
    rows = table.tolist()
    assert rewritten(total)(rows) == total(table)
    assert rows == table.tolist()
    assert "FACTOR" not in rewritten(total).__code__.co_names
