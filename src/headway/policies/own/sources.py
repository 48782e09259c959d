"""Every file that a policy of one's own is made of: its own, and what it imports that is not installed.

Found from the text of the files, without running them. What a policy imports by a computed name or reads
while it runs is not found; :func:`unseen` says where a file does such a thing.
"""

from __future__ import annotations

import ast
import hashlib
import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import headway

READS = frozenset((
    "open", "read_text", "read_bytes", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "read_csv",
    "read_parquet", "read_json", "import_module", "__import__", "exec_module", "run_path", "urlopen",
))  # fmt: skip
"""Names of functions by which a file takes in what its text does not show."""


class Import(NamedTuple):
    """A module that a file names: dotted name, how many dots lead it, what is taken from it, and the line."""

    name: str
    level: int
    taken: tuple[str, ...]
    line: int


def sources(path: Path) -> dict[str, Path]:
    """The file and every file that it imports, directly or not, by the name each is imported by.

    The first is named ``""``. Installed packages, the standard library and this package are left out, except
    for the package that the file itself belongs to.
    """
    path = path.resolve()
    found: dict[str, Path] = {"": path}
    own = package_of(path)
    waiting = [(path, own)]
    while waiting:
        file, package = waiting.pop()
        for name, place in _imported(file, package):
            if name not in found and place not in found.values() and not _is_installed(place, path):
                found[name] = place
                folder = name if place.name == "__init__.py" else name.rpartition(".")[0]
                waiting.append((place, folder))
    return found


def digests(path: Path) -> dict[str, str]:
    """SHA-256 of every one of the files, by the names of :func:`sources`."""
    return {
        name: hashlib.sha256(place.read_bytes()).hexdigest() for name, place in sorted(sources(path).items())
    }


def unseen(path: Path) -> list[str]:
    """``file:line`` of all by which a policy takes in what :func:`digests` does not cover.

    Calls that read or import something, also under another name, and imports of what lies nowhere yet: the
    file may change Python's path before.
    """
    found = []
    for place in sources(path).values():
        text = place.read_bytes()
        lines = [wanted.line for wanted in _imports(text) if not _is_somewhere(wanted, place)]
        nodes = list(ast.walk(_tree(text)))
        taken = [alias for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names]
        reads = READS | {alias.asname for alias in taken if alias.asname and alias.name in READS}
        for node in nodes:
            if isinstance(node, ast.Call):
                function = node.func
                name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
                if name in reads:
                    lines.append(node.lineno)
        found += [f"{place.name}:{line}" for line in sorted(set(lines))]
    return found


def _is_somewhere(wanted: Import, file: Path) -> bool:
    """Whether the first module of an import is known; loading says what is wrong with one behind dots."""
    first = wanted.name.partition(".")[0]
    if wanted.level or first in sys.stdlib_module_names or first == "headway":
        return True
    return _home(first, file, package_of(file)) is not None


def _tree(text: bytes) -> ast.AST:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])  # loading it will say what is wrong


@lru_cache(256)
def _imports(text: bytes) -> tuple[Import, ...]:
    """What a file imports anywhere in it."""
    found = []
    for node in ast.walk(_tree(text)):
        if isinstance(node, ast.Import):
            found += [Import(alias.name, 0, (), node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            taken = tuple(alias.name for alias in node.names)
            found.append(Import(node.module or "", node.level, taken, node.lineno))
    return tuple(found)


def _imported(file: Path, package: str) -> Iterator[tuple[str, Path]]:
    """Name and file of every module that a file may import; ``package`` is what its dots count from."""
    for wanted in _imports(file.read_bytes()):
        name = wanted.name
        if wanted.level:
            parts = package.split(".") if package else []
            parts = parts[: len(parts) - wanted.level + 1]
            name = ".".join((*parts, *([name] if name else [])))
        parts = name.split(".") if name else []
        whole = [".".join(parts[: count + 1]) for count in range(len(parts))]
        for module in (*whole, *(f"{name}.{taken}" for taken in wanted.taken if name and taken != "*")):
            if (place := _file_of(module, file, package)) is not None:
                yield module, place


def _file_of(module: str, file: Path, package: str) -> Path | None:
    """The file of a module, None where it is none that can be read; nothing is imported to find it."""
    first, *rest = module.split(".")
    home = _home(first, file, package)
    for name in rest:
        if home is None:
            return None
        home = _in_folder(home.parent if home.name == "__init__.py" else home, name)
    return home if home is not None and home.is_file() else None


def _home(first: str, file: Path, package: str) -> Path | None:
    """The file or folder of a module without dots: beside the file, or on Python's path."""
    beside = file.parent
    for _ in package.split(".") if package else ():
        beside = beside.parent  # where the file's top package lies
    home = _in_folder(beside, first)
    # A folder alone gives way to a module, wherever that is found.
    return _on_path(first, home) if home is None or home.is_dir() else home


def _in_folder(folder: Path, name: str) -> Path | None:
    """The file of a module or package in a folder, or the folder of a package without a file of its own."""
    home = os.path.join(folder, name)  # as text: every run asks for every name
    for place in (os.path.join(home, "__init__.py"), f"{home}.py"):
        if os.path.isfile(place):
            return Path(place).resolve()
    return Path(home).resolve() if name and os.path.isdir(home) else None


def _on_path(name: str, folder: Path | None) -> Path | None:
    """The file of a module or package on Python's path; else ``folder``, or that of a package without one."""
    if name in sys.stdlib_module_names or name == "headway" or not name.isidentifier():
        return None
    try:
        found = find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return folder
    if found is not None and found.origin:
        return Path(found.origin).resolve()
    folders = found.submodule_search_locations if found is not None else None
    return folder or next((Path(each).resolve() for each in folders or ()), None)


def _is_installed(place: Path, of: Path) -> bool:
    """Whether a file belongs to the standard library, to this package, or to another installed package."""
    if place.suffix != ".py" or place.is_relative_to(Path(headway.__file__).parent):
        return True
    for folder in {sysconfig.get_path(kind) for kind in ("purelib", "platlib", "stdlib", "platstdlib")}:
        if place.is_relative_to(folder):
            top = Path(folder, place.relative_to(folder).parts[0])
            return not (of.is_relative_to(top) and top.is_dir())
    return False


def package_of(path: Path) -> str:
    """The dotted name of the package that a file lies in, empty where it stands alone."""
    parts: list[str] = []
    folder = path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)
