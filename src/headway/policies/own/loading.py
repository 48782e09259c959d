"""Finds a user's Python: in a file, in an installed module, or behind an entry point."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from headway.errors import HeadwayError, UsageError
from headway.policies.own import faults


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
            close = get_close_matches(attribute, known, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            raise UsageError(
                f"{where}: there is no {attribute!r}{hint}; it defines {', '.join(known) or 'nothing'}"
            )
        thing = getattr(thing, part)
    return thing


def _is_users(name: str, value: object, home: ModuleType) -> bool:
    value = getattr(value, "hook", value)  # a compiled policy holds the function that it was made of
    mine = getattr(value, "__module__", None) == home.__name__
    return mine and callable(value) and not name.startswith("_")


def load_file(file: str) -> ModuleType:
    """The module in a Python file; read again only when its content has changed."""
    path = Path(file).expanduser().resolve()
    if not path.is_file():
        wrong = "is not a regular file" if path.exists() else "there is no such file"
        raise UsageError(f"{file}: {wrong}; name a Python file")
    return _load(path, hashlib.sha256(path.read_bytes()).hexdigest())


@cache
def _load(path: Path, digest: str) -> ModuleType:
    # A name that depends on the file and its content: two files, or two versions, never meet.
    name = f"headway_own_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}_{digest[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    beside = str(path.parent)
    added = beside not in sys.path
    if added:
        sys.path.insert(0, beside)  # the file may import its neighbours, as a script can
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, HeadwayError) or not isinstance(error, Exception):
            raise
        raise _broken(error, str(path)) from error
    finally:
        if added:
            sys.path.remove(beside)
    return module


def load_module(name: str) -> ModuleType:
    """An installed module."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise UsageError(
                f"there is no module {name!r}; a file is written with its ending, ./{name}.py:Name"
            ) from None
        raise _broken(error, name) from error
    except Exception as error:
        raise _broken(error, name) from error


def _broken(error: Exception, where: str) -> UsageError:
    if isinstance(error, SyntaxError) and error.filename:
        text = f" ({error.text.strip()})" if error.text else ""
        place = f"{faults.shown_path(error.filename)}:{error.lineno}{text}"
        return UsageError(f"{place}: this is not Python: {error.msg}")
    place = faults.users_line(error.__traceback__) or faults.shown_path(where)
    return UsageError(f"{place}: {faults.error_words(error)} when the file was loaded")


def source_of(thing: Any) -> dict[str, str]:
    """Where a policy comes from, for provenance: its file and the digest of that file's content."""
    thing = getattr(thing, "func", getattr(thing, "hook", thing))
    target = thing if inspect.isroutine(thing) or inspect.isclass(thing) else type(thing)
    try:
        file = inspect.getsourcefile(target)
    except TypeError:
        file = None
    path = Path(file) if file else None
    if path is None or not path.is_file():  # typed into an interpreter
        return {"name": getattr(target, "__qualname__", str(target))}
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {
        "name": getattr(target, "__qualname__", str(target)),
        "file": faults.shown_path(str(path)),
        "sha256": digest,
    }
