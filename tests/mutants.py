"""Change one thing in a kernel, and see whether a test notices.

    python tests/mutants.py --mutants 20 --under policies/deadline

A mutant is a function of its number and the seed: a comparison that is shifted or turned round, a sum that is
a difference, an ``and`` that is an ``or``, a call that is left out. Tests run on a copy of the source, those
of the room: first, with the kernels interpreted, those on small instances, by hand and against a reference,
which takes a minute or two; a mutant that they do not notice is compiled and meets all tests of the room that
are not long. One that no test notices survives, and is shown. Some that survive change nothing, such as a
shortcut that is not taken: look at each.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src"
KERNELS = {"kernel", "routine", "entry", "woven", "with_signature"}
TESTS = {
    "engine": "engine queue ends profile stretch verbs driver policies reference",
    "backfilling": "policies_golden policies_equal policies_deep dialects learned long_holes outages",
    "queueing": "policies_golden_strict policies_equal reference_queue",
    "deadline": "dbf",
    "redirection": "redirection group_size",
    "urgent": "ujfb urgent",
    "nodes": "nodes",
    "grid": "grid",
    "slurm": "slurm_bits slurm_instances by_hand slurm_policy slurm_quick slurm_turns slurm_gang",
    "own": "user_policy check",
    "agent": "gym",
}
"""Words in the names of the tests of each room."""
SMALL = {
    "engine": "policies_golden redirection_golden policies_equal",
    "backfilling": "policies_golden policies_equal named_nodes.py learned dialects",
    "queueing": "policies_golden policies_equal",
    "deadline": "dbf.py dbf_equal",
    "redirection": "redirection_golden redirection_equal",
    "urgent": "ujfb.py ujfb_equal ujfb_deadlines",
    "nodes": "nodes_golden nodes_equal",
    "grid": "grid_golden grid_equal",
    "slurm": "slurm_life_by_hand slurm_requests_by_hand slurm_partitions_by_hand",
}
"""The same for those on small instances, which run interpreted, the long ones of them too."""
FLIPPED: dict[type, Any] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.And: ast.Or, ast.Or: ast.And, ast.FloorDiv: ast.Mult,
}  # fmt: skip


def kernels(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            calls = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
            if {getattr(each, "id", "") for each in calls} & KERNELS:
                yield node


def changed(node: ast.AST) -> ast.AST | None:
    """What a node becomes, None where nothing is tried."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in FLIPPED:
        return ast.Compare(node.left, [FLIPPED[type(node.ops[0])](), *node.ops[1:]], node.comparators)
    if isinstance(node, ast.BinOp) and type(node.op) in FLIPPED:
        return ast.BinOp(node.left, FLIPPED[type(node.op)](), node.right)
    if isinstance(node, ast.BoolOp):
        return ast.BoolOp(FLIPPED[type(node.op)](), node.values)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return ast.Pass()
    return None


def mutants(folder: Path) -> list[tuple[Path, ast.AST, ast.AST]]:
    """Every change of every kernel below a folder."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        for function in kernels(ast.parse(path.read_text("utf-8"))):
            for statement in function.body:
                for node in ast.walk(statement):
                    if (after := changed(node)) is not None:
                        found.append((path, node, after))
    return found


def text_with(path: Path, node: ast.AST, after: ast.AST) -> str:
    """The file with a node replaced."""
    place = node
    assert isinstance(place, (ast.expr, ast.stmt)) and place.end_lineno and place.end_col_offset
    lines = path.read_bytes().splitlines(keepends=True)
    first, last = place.lineno - 1, place.end_lineno - 1
    words = ast.unparse(ast.fix_missing_locations(after))
    new = words if isinstance(after, ast.Pass) else f"({words})"
    whole = lines[first][: place.col_offset] + new.encode() + lines[last][place.end_col_offset :]
    return b"".join([*lines[:first], whole, *lines[last + 1 :]]).decode()


def tests_of(path: Path, table: dict[str, str] = TESTS) -> list[str]:
    room = path.relative_to(SOURCE / "headway").parts
    words = table.get(room[1] if room[0] == "policies" else room[0], table["engine"]).split()
    return sorted(str(file) for file in HERE.glob("test_*.py") if any(word in file.name for word in words))


def survives(path: Path, text: str, seconds: float, interpreted: bool) -> bool:
    """Whether every test of a file's room passes with this text in the file, or every interpreted one."""
    small = [*tests_of(path, SMALL), "-m", "long or not long"]
    unseen = passes(path, text, seconds, small, {"NUMBA_DISABLE_JIT": "1"})
    return unseen and (interpreted or passes(path, text, seconds, [*tests_of(path), "-m", "not long"], {}))


def passes(path: Path, text: str, seconds: float, tests: list[str], settings: dict[str, str]) -> bool:
    """Whether these tests pass with this text in the file."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "src"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        (copy / path.relative_to(SOURCE)).write_text(text, "utf-8")
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(copy), str(HERE)]),
            "HEADWAY_CACHE_DIR": place,
            **settings,
        }
        words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        words += tests
        try:
            done = subprocess.run(
                words, env=environment, cwd=HERE.parent, timeout=seconds, stdout=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            return False  # a loop without end is noticed
        return done.returncode == 0


def main() -> int:
    options = argparse.ArgumentParser(prog="mutants", description=__doc__)
    options.add_argument("--mutants", type=int, default=20)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--under", default="engine,policies", help="folders below src/headway, with commas")
    options.add_argument("--seconds", type=float, default=1800, help="what a mutant's tests may take at most")
    options.add_argument("--interpreted", action="store_true", help="only the tests that run interpreted")
    given = options.parse_args()
    every = [mutant for name in given.under.split(",") for mutant in mutants(SOURCE / "headway" / name)]
    chosen = random.Random(given.seed).sample(every, min(given.mutants, len(every)))
    for tests, path in {tuple(tests_of(path)): path for path, _, _ in chosen}.items():
        if not survives(path, path.read_text("utf-8"), given.seconds, given.interpreted):
            say(f"without any change the tests fail, or take over {given.seconds:g} s: {' '.join(tests)}")
            return 1
    alive = 0
    for number, (path, node, after) in enumerate(chosen, 1):
        unseen = survives(path, text_with(path, node, after), given.seconds, given.interpreted)
        alive += unseen
        line = f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}"
        told = "SURVIVES" if unseen else "noticed"
        say(f"{number}: {told} {line}: {ast.unparse(node)!r} -> {ast.unparse(after)!r}")
    say(f"{len(chosen)} of {len(every)} mutants tried: {len(chosen) - alive} noticed, {alive} survive")
    return 0


def say(words: str) -> None:
    print(words, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
