"""Finds a user's Python: in a file, in an installed module, or behind an entry point."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import json
import os
import sys
from functools import cache
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import Any

from headway.errors import HeadwayError, UsageError
from headway.plain import close
from headway.policies.own import faults, sources


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
        loaded = sources.digests(path)
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
    others = _made_room(sources.sources(path))
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
            now = sources.digests(Path(module.__file__))
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
    package = sources.package_of(path)
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
    digests = sources.digests(path)
    return {
        "name": getattr(target, "__qualname__", str(target)),
        "file": faults.shown_path(str(path)),
        "sha256": digests.pop(""),
        **({"imports": digests} if digests else {}),
    }
