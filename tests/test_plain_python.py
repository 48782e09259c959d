"""Kernels rewritten for lists do what they do with tables, and none of those of first use is left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from headway.engine import compiled, plain_python
from headway.engine.driver import Driver
from headway.engine.plain_python import NotPlain
from headway.engine.profile import move_forward
from headway.engine.tables import Clock
from headway.jit.kernels import INTERPRETED
from headway.simulate import run_policy
from headway.workload.models import lublin
from instances import busy

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


WORKLOADS = (
    lublin(jobs=120, procs=32, seed=7, load=1.3, estimates="f(3)"),
    *(busy(60, 32, load=1.8, seed=seed) for seed in range(3)),
)


@pytest.fixture(autouse=True)
def rewrite_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "WORTH_REWRITING", 0)


@pytest.mark.parametrize("policy", POLICIES)
def test_lists_and_tables_end_alike(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []
    run = plain_python.run_loop

    def noted(*given: Any) -> int:
        used.append(run(*given))
        return used[-1]

    monkeypatch.setattr(plain_python, "run_loop", noted)
    with_lists = [run_policy(workload, 32, policy).state for workload in WORKLOADS]
    assert len(used) == len(WORKLOADS)
    monkeypatch.setattr(compiled, "QUEUES", ())
    for workload, lists in zip(WORKLOADS, with_lists, strict=True):
        views = run_policy(workload, 32, policy).state
        for name, table in lists._asdict().items():
            if isinstance(table, np.ndarray):
                assert np.array_equal(table, getattr(views, name)), name
        assert all(map(np.array_equal, lists.profile, views.profile))
    assert len(used) == len(WORKLOADS)


def test_tables_grow_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Driver.__init__, "__defaults__", (None, 4, None))
    workload = lublin(jobs=60, procs=8, seed=3, load=2.0)
    small = run_policy(workload, 8, "easy").state
    assert small.clock[Clock.LIVE_ROOM] > 4
    monkeypatch.undo()
    large = run_policy(workload, 8, "easy").state
    assert np.array_equal(small.jobs, large.jobs)


def test_few_jobs_are_not_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    workload = lublin(jobs=60, procs=8, seed=3)
    monkeypatch.setattr(compiled, "WORTH_REWRITING", len(workload) + 1)
    monkeypatch.setattr(plain_python, "run_loop", None)  # to call it would raise
    run_policy(workload, 8, "easy")


def test_what_cannot_be_rewritten_on_the_way_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    workload = busy(60, 32, load=1.8)
    expected = run_policy(workload, 32, "conservative").state
    refused: list[NotPlain] = []
    run = plain_python.run_loop

    def noted(*given: Any) -> int:
        try:
            return run(*given)
        except NotPlain as error:
            refused.append(error)
            raise

    monkeypatch.setattr(plain_python, "run_loop", noted)
    monkeypatch.setattr(plain_python, "program_of", plain_python.program_of.__wrapped__)
    monkeypatch.setitem(plain_python.WITH_LISTS, move_forward, len)
    again = run_policy(workload, 32, "conservative").state
    assert len(refused) == 1
    assert np.array_equal(again.jobs, expected.jobs) and np.array_equal(again.runs, expected.runs)
