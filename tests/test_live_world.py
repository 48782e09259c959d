"""Agent, servers and clients in a world made from a seed: little reaches beyond them."""

from __future__ import annotations

import ast
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import live_world
from headway import live
from headway.live import outside
from headway.live.journal import Journal, JournalError
from headway.live.task import Task

ROOM = Path(live.__file__).parent
OUTSIDE = {
    "time": {"outside.py", "wire.py"},
    "secrets": {"outside.py"},
    "socket": {"wire.py", "demo.py"},  # where a port is free
    "select": {"wire.py"},
    "http.client": {"wire.py"},
    "subprocess": {"processes.py", "launch.py", "slurm/commands.py"},
    "sqlite3.connect": {"outside.py"},
    "threading.Thread": {"wire.py", "launch.py"},
    "threading.Timer": set[str](),
    "random": {"demo.py"},  # the demonstration's tasks, the same ones every time
}
"""What only some modules may use."""


def used(file: Path) -> set[str]:
    """Modules that a file imports, and attributes of modules that it names."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {str(node.module)} | {f"{node.module}.{each.name}" for each in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add(f"{node.value.id}.{node.attr}")
    return found


def test_few_modules_reach_beyond_the_process() -> None:
    """No sleep, no thread and no random number outside of them: a seed is to decide everything."""
    by_file = {str(file.relative_to(ROOM)): used(file) for file in ROOM.rglob("*.py")}
    for name, allowed in OUTSIDE.items():
        assert {file for file, names in by_file.items() if name in names} == allowed, name


SEEDS = 12
"""Of `make test`."""


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_clients_are_told_agrees_with_what_tasks_did(seed: int) -> None:
    """Whatever goes wrong in between: `python -m live_world SEED` shows the history of one that fails."""
    assert live_world.tried(seed)[1] == ""


def test_a_seed_decides_everything() -> None:
    first, again = (live_world.tried(3)[0].history for _ in range(2))
    assert first == again


class FullAtTheEnd(sqlite3.Connection):
    """A file on a disk that is full just when a transaction is to be written."""

    full = False

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        if self.full and sql == "COMMIT":
            raise sqlite3.OperationalError("database or disk is full")
        return super().execute(sql, *values)


def test_a_transaction_that_cannot_be_written_is_not_left_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that came after it stood in it, and on no disk."""
    made = sqlite3.connect(
        tmp_path / "j", isolation_level=None, check_same_thread=False, factory=FullAtTheEnd
    )
    monkeypatch.setattr(outside, "connect", lambda *_: made)
    with closing(Journal(tmp_path / "j")) as journal:
        made.full = True
        with pytest.raises(JournalError, match="disk is full"):
            journal.add_task(Task(("true",), 1, 1), 0)
        made.full = False
        assert journal.add_task(Task(("true",), 1, 1), 0).number == 1
        with closing(sqlite3.connect(tmp_path / "j")) as other:
            assert other.execute("SELECT COUNT(*) FROM tasks").fetchone() == (1,)
