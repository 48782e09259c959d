"""The audit knows what redirection may do: each rule broken once in a schedule that kept it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import headway
from headway import Schedule
from headway.audit import audit
from headway.schedule import ENDED, Pieces
from headway.units import SECOND
from headway.workload import Workload

SPEC = "redirection(theta=1, group=2)"


def held_up() -> Schedule:
    """Job 1 runs from 0 and is redirected at 3; job 2 waits for all four processors until 52."""
    log = Workload.from_arrays(
        unit="s", submit=[0, 1, 2, 3], procs=[2, 4, 2, 1], walltime=[100, 10, 50, 5], runtime=[100, 10, 50, 5]
    )
    return headway.simulate(log, 4, SPEC)


def broken(made: Schedule, law: str = "redirections") -> list[str]:
    return [str(fault) for fault in audit(made).faults if fault.law == law]


def test_a_schedule_that_keeps_the_rules() -> None:
    verdict = audit(held_up())
    assert verdict.ok, verdict.faults
    assert "redirections" in {law.name for law in verdict.laws}
    assert "group capacity" in {law.name for law in verdict.laws}


def test_too_wide_for_the_group() -> None:
    made = held_up()
    made.groups = {"principal": 4, "redirection": 1}
    assert any("needs 2 processors, the redirection group has 1" in text for text in broken(made))
    assert broken(made, "group capacity")


def test_stopped_when_nothing_arrived() -> None:
    made = held_up()
    assert made.pieces is not None
    stop = int(np.flatnonzero(made.pieces.ended == ENDED.index("redirected"))[0])
    made.pieces.end[stop] -= SECOND // 2
    assert any("though no job was submitted then" in text for text in broken(made))


@pytest.mark.parametrize("where", ["redirected but stays", "there without being sent"])
def test_in_the_wrong_group(where: str) -> None:
    made = held_up()
    assert made.pieces is not None and made.pieces.group is not None and made.group is not None
    if where == "redirected but stays":
        made.pieces.group[:] = 0
        made.group[:] = 0
        assert any("does not run in the redirection group" in text for text in broken(made))
    else:
        made.group[3] = 1
        assert any("was not redirected" in text for text in broken(made))


def test_two_at_one_instant() -> None:
    made = held_up()
    assert made.pieces is not None and made.pieces.group is not None and made.group is not None
    one = made.pieces
    assert one.ended[0] == ENDED.index("redirected")
    names = ("run", "state", "start", "end", "procs", "ended", "group")
    twice: dict[str, Any] = {name: np.append(getattr(one, name), getattr(one, name)[0]) for name in names}
    made.pieces = Pieces(job=np.append(one.job, 2), **twice)
    assert any("together with another" in text for text in broken(made))


def test_files_say_the_same(tmp_path: object) -> None:
    made = held_up()
    folder = made.save(f"{tmp_path}/out")
    again = Schedule.load(folder)
    assert audit(again).ok and "redirections" in {law.name for law in audit(again).laws}
    assert made.runs().filter(made.runs()["job"] == 1)["ended"].to_list() == ["redirected", "done"]
