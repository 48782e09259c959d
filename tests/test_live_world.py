"""Agent, servers and clients in a world made from a seed: little reaches beyond them."""

from __future__ import annotations

import ast
import re
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from headway import live
from headway.live import outside
from headway.live.journal import ATTEMPT_STATES, Journal, JournalError
from headway.live.proxy import HERE
from headway.live.task import Task
from live_world.aims import WRITES, aimed
from live_world.world import tried

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


SEEDS = 50
"""Of `make test`."""


PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "live.md"
MODEL = Path(__file__).parent / "models" / "live.pml"
Steps = set[tuple[str, str]]


def failures(seeds: range) -> tuple[list[str], Counter[tuple[str, str]], Counter[str], Steps]:
    """What is wrong with which seeds, at which writes processes were killed, which there were, and the steps
    of attempts."""
    wrong, killed, seen, steps = list[str](), Counter[tuple[str, str]](), Counter[str](), Steps()
    for seed in seeds:
        world, found = tried(seed, **aimed(seed))
        wrong += [f"seed {seed}: {found}"] if found else []
        killed, seen, steps = killed + world.written, seen + world.seen, steps | world.steps
    return wrong, killed, seen, steps


def steps_of_page() -> Steps:
    return set(re.findall(r"^\| (\w+) → (\w+) \|", PAGE.read_text("utf-8"), re.MULTILINE))


def steps_of_model() -> Steps:
    text = MODEL.read_text("utf-8")
    text = text.replace("STEP(a, before, after)", "")
    steps = set(re.findall(r"STEP\(a, (\w+), (\w+)\)", text))
    for before in re.findall(r"TAKE_BACK\(a, (\w+)\)", text):
        steps |= {(before, "cancelling"), ("cancelling", before)}
    for before, after in [step for step in steps if "was" in step]:  # of what is at its server
        steps.remove((before, after))
        steps |= {(each, after) for each in HERE} if before == "was" and after != "cancelling" else set()
    return steps


def test_page_and_model_name_the_same_steps() -> None:
    assert steps_of_page() == steps_of_model()
    states = {state for step in steps_of_page() for state in step}
    assert states == {"none", *ATTEMPT_STATES}


@pytest.mark.parametrize("first", range(0, SEEDS, 50))
def test_what_clients_are_told_agrees_with_what_tasks_did(first: int) -> None:
    """Whatever goes wrong in between: `python -m live_world SEED` shows the history of one that fails."""
    wrong, _, seen, steps = failures(range(first, first + 50))
    assert not wrong
    assert steps <= steps_of_page()
    assert set(seen) <= WRITES.keys()  # each is aimed at by some seeds


def test_a_seed_decides_everything() -> None:
    first, again = (tried(3, **aimed(3))[0].history for _ in range(2))
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
