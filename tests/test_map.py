"""The map of the code agrees with the code: layers, files, functions, and imports from step to step."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from test_layers import LAYERS, PACKAGE, imported

PAGE = Path(__file__).parent.parent / "docs" / "contribute" / "map.md"
TEXT = PAGE.read_text("utf-8")
NAMED = re.compile(r"`([a-z_]+(?:/[a-z_]+)*(?:\.py|/))(?::(\w+))?`")
STEP = re.compile(r"^\| \d+ \| `([^`:]+)(?::\w+)?` \|", re.MULTILINE)


def test_the_layers_are_those_that_the_tests_hold() -> None:
    block = re.search(r"```text\n(.*?)```", TEXT, re.DOTALL)
    assert block is not None
    assert [tuple(line.split(", ")) for line in block[1].splitlines()] == list(LAYERS)
    found = {path.name.removesuffix(".py") for path in PACKAGE.iterdir() if path.suffix in ("", ".py")}
    assert found - {"__init__", "__pycache__", "built"} == {name for layer in LAYERS for name in layer}


def test_what_the_map_names_exists() -> None:
    named = NAMED.findall(TEXT)
    assert len(named) > 15
    for file, name in named:
        path = PACKAGE / file
        assert path.exists(), file
        if name:
            assert name in defined(path), f"{file} has no {name}"


def defined(path: Path) -> set[str]:
    """The functions, classes and constants of a file."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        found.add(getattr(node, "name", ""))
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def reached(path: Path) -> set[Path]:
    """The files that a file imports or names ("headway.a.b:C"), and what packages among them import."""
    modules = re.findall(r'"(headway[.a-z_]+):\w+"', path.read_text("utf-8"))
    for node, module in imported(path):
        modules += [module, *(f"{module}.{alias.name}" for alias in getattr(node, "names", ()))]
    found = {file_of(module) for module in modules}
    inside = [file for file in found if file.name == "__init__.py" and file.exists()]
    return found | {file_of(module) for file in inside for _, module in imported(file)}


def file_of(module: str) -> Path:
    place = PACKAGE.joinpath(*module.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def test_each_step_of_a_way_is_reached_from_one_before() -> None:
    ways = TEXT.split("## A ")[1:]
    assert len(ways) == 2
    for way in ways:
        steps = [PACKAGE / file for file in STEP.findall(way)]
        assert len(steps) > 5
        for number, step in enumerate(steps[1:], 1):
            before = set().union(*(reached(each) for each in steps[:number]))
            assert step in before, f"nothing before {step.relative_to(PACKAGE)} imports it"
