"""Finds a user's Python: in a file, in an installed module, or behind an entry point."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import json
import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module, invalidate_caches
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import headway
from headway.errors import HeadwayError, UsageError
from headway.plain import close
from headway.policies.own import faults

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
        for name, place in _imports_of(file, package):
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


def _imports_of(file: Path, package: str) -> Iterator[tuple[str, Path]]:
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


# Finds a user's Python: in a file, in an installed module, or behind an entry point.


def find(file: str | None, module: str | None, attribute: str) -> Any:
    """The object that a spec names."""
    if file is not None:
        home, where = load_file(file), file
    else:
        assert module is not None
        home, where = load_module(module), module
    thing: Any = home
    for part in attribute.split("."):
        if not hasattr(thing, part):
            known = [name for name, value in vars(home).items() if _is_users(name, value, home)]
            defined = f"it defines {', '.join(known) or 'nothing'}"
            raise UsageError(f"{where}: there is no {attribute!r}{close(attribute, known)}; {defined}")
        thing = getattr(thing, part)
    return thing


def _is_users(name: str, value: object, home: ModuleType) -> bool:
    value = getattr(value, "hook", value)  # a compiled policy holds the function that it was made of
    mine = getattr(value, "__module__", None) == home.__name__
    return mine and callable(value) and not name.startswith("_")


def load_file(file: str) -> ModuleType:
    """The module in a Python file; read again only when its content has changed."""
    path = Path(os.path.expanduser(file)).resolve()
    if not path.is_file():
        wrong = "is not a regular file" if path.exists() else "there is no such file"
        raise UsageError(f"{file}: {wrong}; name a Python file")
    try:
        loaded = digests(path)
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror or error}") from None
    digest = hashlib.sha256(json.dumps(loaded).encode()).hexdigest()
    return _load(path, digest)


@cache
def _load(path: Path, digest: str) -> ModuleType:
    # A name that depends on the file and all it is made of: two files, or two versions, never meet.
    name = f"headway_own_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}_{digest[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    beside = str(path.parent)
    added = beside not in sys.path
    if added:
        sys.path.insert(0, beside)  # the file may import its neighbours, as a script can
    others = _made_room(sources(path))
    # Kept bytecode is told from an edit by the second only, and the folder is the user's.
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        raise _broken(error, str(path)) from error
    finally:
        sys.dont_write_bytecode = kept
        _note_imported(others)
        if added:
            sys.path.remove(beside)
    return module


_imported: dict[str, tuple[Path, str, ModuleType | None]] = {}
"""File, digest and module of the neighbours that policies have imported in this process, by name."""


def _made_room(found: dict[str, Path]) -> dict[str, ModuleType]:
    """Let neighbours be imported anew that have changed, or that are another folder's of the same name.

    Gives the modules of those names that were not imported by a policy; they are for others to keep.
    """
    invalidate_caches()
    others: dict[str, ModuleType] = {}
    for name, place in found.items():
        digest = hashlib.sha256(place.read_bytes()).hexdigest()
        there, known = sys.modules.get(name), _imported.get(name)
        if not name or (known is not None and known == (place, digest, there)):
            continue
        sys.modules.pop(name, None)
        if there is not None and (known is None or there is not known[2]):
            others[name] = there
        _imported[name] = place, digest, None
    return others


def _note_imported(others: dict[str, ModuleType]) -> None:
    """Remember what policies have imported, and put back what is not theirs."""
    for name, (place, digest, _) in list(_imported.items()):
        _imported[name] = place, digest, sys.modules.get(name)
    for name in others:
        del _imported[name]
    sys.modules.update(others)


_modules: dict[str, dict[str, str]] = {}
"""Digests of what modules were made of when they were first loaded."""


def load_module(name: str) -> ModuleType:
    """An installed module."""
    try:
        module = import_module(name)
        if module.__file__ and module.__file__.endswith(".py"):
            now = digests(Path(module.__file__))
            if _modules.setdefault(name, now) != now:
                raise UsageError(f"the module {name} has changed since it was loaded; start Python again")
        return module
    except UsageError:
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise UsageError(
                f"there is no module {name!r}; a file is written with its ending, ./{name}.py:Name"
            ) from None
        raise _broken(error, name) from error
    except BaseException as error:
        raise _broken(error, name) from error


def _broken(error: BaseException, where: str) -> UsageError:
    if isinstance(error, SyntaxError) and error.filename:
        text = f" ({error.text.strip()})" if error.text else ""
        place = f"{faults.shown_path(error.filename)}:{error.lineno}{text}"
        if "codec can't decode" in str(error.msg):
            return UsageError(f"{place}: is not UTF-8; save the file as UTF-8")
        return UsageError(f"{place}: this is not Python: {error.msg}")
    place = faults.users_line(error.__traceback__) or faults.shown_path(where)
    if isinstance(error, HeadwayError):
        return UsageError(str(error) if str(error).startswith(place) else f"{place}: {error}")
    remedy = _by_its_package(Path(where)) if "no known parent package" in str(error) else ""
    return UsageError(f"{place}: {faults.error_words(error)} when the file was loaded{remedy}")


def _by_its_package(path: Path) -> str:
    """How to name a policy whose file imports others by leading dots."""
    package = package_of(path)
    if not package:
        return "; name the module without dots: the file's own folder is searched"
    home = path.parents[package.count(".") + 1]
    return f"; set PYTHONPATH={home} and name the policy {package}.{path.stem}:Name"


def source_of(thing: Any) -> dict[str, Any]:
    """Where a policy comes from, for provenance: its file, and the digests of that and of what it imports."""
    thing = getattr(thing, "func", getattr(thing, "hook", thing))
    target = thing if inspect.isroutine(thing) or inspect.isclass(thing) else type(thing)
    try:
        file = inspect.getsourcefile(target)
    except TypeError:
        file = None
    path = Path(file) if file else None
    if path is None or not path.is_file():  # typed into an interpreter
        return {"name": getattr(target, "__qualname__", str(target))}
    found = digests(path)
    return {
        "name": getattr(target, "__qualname__", str(target)),
        "file": faults.shown_path(str(path)),
        "sha256": found.pop(""),
        **({"imports": found} if found else {}),
    }
