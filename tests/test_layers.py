"""A module imports only from its own layer and those above it, and light commands stay light."""

from __future__ import annotations

import ast
import gc
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import headway
from headway.policies.catalogue import ALIASES, POLICIES

PACKAGE = Path(headway.__file__).parent

LAYERS = (
    ("units", "arrays", "cores", "errors", "plain", "writing", "ownership", "values"),
    ("documents", "grammar", "binding"),
    ("jit",),
    ("workload", "platform", "site"),
    ("engine",),
    ("cuda",),
    ("policies",),
    ("schedule",),
    ("metrics",),
    ("figures",),
    ("result", "outcome", "simulate"),
    ("audit", "changes", "explain", "check", "replay"),
    ("campaign", "papers", "report", "export", "what_if", "forecast", "streams"),
    ("live", "batsim", "gym"),
    ("cli", "__main__"),
)
ROOMS_OF_SLURM = ("tables", "queue", "nodes", "limits", "life", "backfilling", "", "setup")
"""Each uses only itself and those before it; the files beside the rooms, without a name, are the loops."""
OF_POLICIES = ("headway.policies.spec", "headway.policies.pools")
"""What the audit may import of the policies: how a spec is read, and whom it asks. No policy."""

NAMES_COMPARED = {
    "live/batch.py", "live/engine.py", "live/grid_file.py", "live/record.py", "live/server.py",
    "live/shadow.py", "policies/grid/local_policies.py",
}  # fmt: skip
"""Files that still ask what a policy is called; whatever leaves the list does not come back."""

LAYER = {name: number for number, layer in enumerate(LAYERS) for name in layer}

HEAVY = ("numba", "polars", "matplotlib", "numpy")


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def dotted(path: Path) -> str:
    """How a file of the package is imported."""
    return ".".join(("headway", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


def is_module(name: str) -> bool:
    place = PACKAGE.joinpath(*name.split(".")[1:])
    return place.is_dir() or place.with_suffix(".py").is_file()


@cache
def parsed(path: Path) -> ast.Module:
    """A file's tree, made while no garbage is looked for: there is none, and that would take longer."""
    gc.disable()
    try:
        return ast.parse(path.read_text("utf-8"))
    finally:
        gc.enable()


def part(module: str) -> str:
    """The second component of a dotted name: what the layers are named after."""
    return module.split(".")[1] if "." in module else ""


def statements(node: ast.AST, types: bool = True) -> Iterator[ast.AST]:
    """Every statement inside of a node, however deep, perhaps but those for types alone; no expressions."""
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        for inner in getattr(node, field, ()):
            if types or not (isinstance(inner, ast.If) and ast.unparse(inner.test) == "TYPE_CHECKING"):
                yield inner
                yield from statements(inner, types)


def imported(path: Path, types: bool = True) -> Iterator[tuple[ast.stmt, str]]:
    """Statement and dotted name of every headway module that a file imports, anywhere in it."""
    package = ["headway", *path.relative_to(PACKAGE).parts[:-1]]
    for node in statements(parsed(path), types):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "headway":
                    yield node, alias.name
        elif isinstance(node, ast.ImportFrom):
            home = node.module or ""
            if node.level:
                home = ".".join([*package[: len(package) - node.level + 1], *([home] if home else [])])
            if home.split(".")[0] == "headway":
                for alias in node.names:
                    inner = f"{home}.{alias.name}"
                    yield node, inner if home == "headway" or is_module(inner) else home


def assigned(node: ast.ClassDef) -> list[ast.Assign]:
    """What the body of a class gives names to."""
    return [each for each in node.body if isinstance(each, ast.Assign)]


def faults(path: Path) -> list[str]:
    """What in a file breaks the layers."""
    name = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if name == "__init__":
        return []  # the public face: it imports nothing at run time, as the test below holds
    if name not in LAYER:
        return [f"{path.relative_to(PACKAGE)}: {name} has no layer"]
    return [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: imports {module}, which is in a lower layer"
        for node, module in imported(path)
        if part(module) in LAYER and LAYER[part(module)] > LAYER[name]
    ]


def test_no_module_imports_from_a_lower_layer() -> None:
    assert len(modules()) > 10
    assert [fault for path in modules() for fault in faults(path)] == []


def test_every_package_that_is_required_is_imported() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    required = {re.split(r"[^\w-]", each)[0] for each in project["dependencies"]}
    found = {
        name.split(".")[0]
        for path in modules()
        for node in statements(parsed(path))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert len(required) > 3 and required - found == set()


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Not even late, inside a function; what is imported for types alone makes no circle."""
    graph = {dotted(path): {module for _, module in imported(path, types=False)} for path in modules()}
    assert "headway.engine.tables" in graph["headway.engine.setup"]
    TopologicalSorter(graph).prepare()  # CycleError names the circle


def room_of_slurm(module: str) -> str:
    """The room of a module of Slurm's rules."""
    inside = module.removeprefix("headway.policies.slurm").strip(".").split(".")
    return inside[0] if inside[0] in ROOMS_OF_SLURM else ""


def test_rooms_of_slurm_use_only_those_before_them() -> None:
    at, home = ROOMS_OF_SLURM.index, "headway.policies.slurm."
    found = {
        (dotted(path), module)
        for path in (PACKAGE / "policies" / "slurm").rglob("*.py")
        for _, module in imported(path, types=False)
        if module.startswith(home) and at(room_of_slurm(module)) > at(room_of_slurm(dotted(path)))
    }
    assert {importer for importer, _ in found} == {home + "policy"}, (
        "the policy's object alone asks the setup"
    )


def test_the_audit_imports_no_policy() -> None:
    found = {
        module
        for path in (PACKAGE / "audit").rglob("*.py")
        for _, module in imported(path)
        if part(module) == "policies"
    }
    assert found == set(OF_POLICIES)


@pytest.mark.parametrize(
    ("place", "text", "fault"),
    [
        ("engine/clock.py", "from headway.policies.spec import Spec", True),
        ("engine/clock.py", "def f():\n    import headway.simulate", True),
        ("engine/clock.py", "from headway import schedule", True),
        ("engine/clock.py", "from ..cli import main", True),
        ("engine/clock.py", "from . import heap\nfrom headway.workload import Workload\nimport numpy", False),
        ("schedule/schedule.py", "import headway.metrics", True),
        ("schedule/schedule.py", "def f():\n    import headway.metrics", True),
        ("mystery.py", "", True),
    ],
)
def test_the_check_sees_every_form_of_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, text: str, fault: bool
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    file = tmp_path / place
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    assert bool(faults(file)) == fault


def test_the_public_face_imports_nothing_of_the_package() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    outside = [node for node in tree.body if not isinstance(node, ast.If)]
    found = [
        ast.unparse(node)
        for node in outside
        if "headway" in ast.unparse(node) and isinstance(node, ast.ImportFrom)
    ]
    assert found == []


def loaded_by(code: str) -> set[str]:
    """Which of the heavy libraries a fresh interpreter has loaded after running some code."""
    loaded = f"[name for name in {HEAVY!r} if name in sys.modules]"
    script = f"{code}\nimport json, sys\nprint(json.dumps({loaded}), file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(run.stderr.splitlines()[-1]))


def test_importing_headway_loads_nothing_heavy() -> None:
    assert loaded_by("import headway; headway.UsageError; headway.Platform.procs(4)") == set()


LIGHT = (["--help"], ["--version"], ["simulate", "--help"], ["policies"], ["policies", "easy"])


def test_light_commands_load_nothing_heavy() -> None:
    code = (
        "import sys\nfrom headway.cli import main\n"
        f"for arguments in {LIGHT!r}:\n"
        "    sys.argv = ['headway', *arguments]\n"
        "    try:\n        main()\n    except SystemExit as end:\n        assert not end.code, end.code\n"
        f"    assert sys.modules.keys().isdisjoint({HEAVY!r}), arguments"
    )
    assert loaded_by(code) == set()


def test_public_names_exist_and_functions_are_not_hidden_by_their_modules() -> None:
    code = (
        "import headway, headway.simulate, headway.audit\n"
        "from headway.simulate import simulate as function\n"
        "assert headway.simulate is function and callable(headway.audit), headway.simulate\n"
        "for name in headway.__all__:\n    getattr(headway, name)\n"
        "assert set(headway.__all__) <= set(dir(headway))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        headway.nothing  # noqa: B018


def test_no_file_outside_a_policys_folder_compares_its_name() -> None:
    """What is so of a policy is asked of it; the papers' studies name the policies that they are about."""
    folders = {name: info.__module__.split(".")[2] for name, info in POLICIES.items()}
    folders |= {alias: folders[name] for alias, name in ALIASES.items()}
    some, test = f'"({"|".join(folders)})"', "(?:==|!=|in|not in)"
    compared = re.compile(
        rf'(?:\.name|policy\.split\("\("\)\[0\]) {test} .*?{some}|{some} {test} [\w.]*(?:\.name|policies)\b'
    )
    found = {
        str(path.relative_to(PACKAGE))
        for path in modules()
        for names in compared.findall(path.read_text("utf-8"))
        if not {"papers", *(folders[name] for name in names if name)} & {*path.relative_to(PACKAGE).parts}
    }
    assert found <= NAMES_COMPARED, found - NAMES_COMPARED


def test_members_of_enumerations_have_numbers_of_their_own() -> None:
    """Two members of one number would be one, the second only another name for the first."""
    numbers = {
        (dotted(path), node.name): Counter(ast.unparse(each.value) for each in assigned(node))
        for path in modules()
        for node in statements(parsed(path))
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "IntEnum" for base in node.bases)
    }
    assert ("headway.engine.tables", "Phase") in numbers
    assert [table for table, found in numbers.items() if max(found.values()) > 1] == []
