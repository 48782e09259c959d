"""Verbs are the only writers of what the engine keeps: policies call them, and write rows of their own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import headway
from headway.engine import tables, verbs
from headway.engine.setup import Jobs, Setup, make_state

POLICIES = Path(headway.__file__).parent / "policies"
ENGINES_ROWS = {
    "jobs": {"submit", "procs", "wall", "phase", "run", "kept", "stretch_by", "stretch_over"},
    "runs": set(tables.Runs),
    "pools": {"size", "free"},
    "clock": {"now", "first_new", "last_new", "ended", "wake", "runs", "fresh", "waits", "finished"},
}
MAKERS = ("fill", "prepare", "let_finish", "__init__", "gathered", "_as_requested", "drop_withdrawn")
"""Functions that fill tables before the first instant, make those of a copy or of a result, or number jobs
anew."""


def written(path: Path) -> Iterator[str]:
    """``file:line table.row`` for every row of the engine's that a policy writes in the course of a run."""
    tree = ast.parse(path.read_text("utf-8"))
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        if function.name in MAKERS:
            continue
        for node in ast.walk(function):
            targets = node.targets if isinstance(node, ast.Assign) else []
            targets = [node.target] if isinstance(node, ast.AugAssign) else targets
            for target in (part for each in targets for part in ast.walk(each)):
                named = target.value if isinstance(target, ast.Subscript) else target
                is_written = isinstance(target, ast.Subscript | ast.Attribute) and isinstance(
                    target.ctx, ast.Store
                )
                if not is_written or not isinstance(named, ast.Attribute):
                    continue
                table, row = named.value, named.attr
                is_state = isinstance(table, ast.Attribute) and getattr(table.value, "id", "") == "state"
                name = getattr(table, "attr" if is_state else "id", "")  # or `jobs = DbfJobs(state.jobs)`
                if row in ENGINES_ROWS.get(name, set()) and (is_state or name == "jobs"):
                    yield f"{path.relative_to(POLICIES)}:{named.lineno} {name}.{row}"


def test_policies_write_only_rows_of_their_own() -> None:
    found = [line for path in sorted(POLICIES.rglob("*.py")) for line in written(path)]
    assert not found, found


def test_a_policy_that_writes_itself_is_found(tmp_path: Path) -> None:
    file = POLICIES / "deadline" / "dbf.py"
    changed = file.read_text("utf-8").replace("turn_away(state, job)", "state.jobs.phase[job] = 5")
    assert changed != file.read_text("utf-8")
    (tmp_path / "dbf.py").write_text(changed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "POLICIES", tmp_path)
        assert [line.partition(" ")[2] for line in written(tmp_path / "dbf.py")] == ["jobs.phase"]


@pytest.mark.parametrize("verb", [verbs.turn_away, verbs.withdraw, verbs.resubmit, verbs.reshape])
def test_only_waiting_jobs_leave_or_change(verb: Any) -> None:
    """A job that has not come yet is refused by these verbs, and nothing is changed."""
    import numpy as np

    one = np.ones(1, np.int64)
    state, _ = make_state(Jobs(one, one, one, one, one), Setup((1,), lambda t, s: None))
    python = getattr(verb, "py_func", verb)
    before = state.jobs.table.copy()
    given = {"turn_away": (), "withdraw": (), "resubmit": (5, 5), "reshape": (1, 5, 1, 1)}[python.__name__]
    with pytest.MonkeyPatch.context() as patch:
        for name in ("refuse", "leave_for_good", "stretch"):
            plain = getattr(verbs, name)
            patch.setitem(python.__globals__, name, getattr(plain, "py_func", plain))
        assert not python(state, 0, *given)
    assert state.clock.fault == tables.Fault.NOT_WAITING
    assert (state.jobs.table == before).all()
