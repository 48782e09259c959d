"""Where compiled kernels are kept between runs: a folder of the user's alone, or nowhere.

What is kept is machine code behind a pickle, so whoever can write there can run code as the user. The folder
is therefore created by us with mode 700, or found to be ours with that mode, and nobody else may be able to
put another in its place: every folder above it belongs to the user or to root, and only they may write there
(in a folder such as /tmp its sticky bit sees to that). Where one of these fails nothing is kept and nothing
is loaded; every run then compiles what it needs.

numba's disk cache does not notice that a function called from another file changed, so the folder is named
after a digest of all kernel sources and of numba's version.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from headway.ownership import OTHERS, open_to_others

UNTUNED = "HEADWAY_UNTUNED"
"""Set, it leaves out all that :mod:`headway.jit.tuning` and :mod:`headway.jit.tables` do."""
BOUNDS = "NUMBA_BOUNDSCHECK"
"""Set, numba checks every index of a kernel."""
PRIVATE = 0o700
REMEDY = "set HEADWAY_CACHE_DIR to a folder of your own, in one that only you can write to"

_IMPORTED = re.compile(rb"^from headway\.([\w.]+) import (\([^)]*\)|.*)$", re.MULTILINE)
_CAPITAL = re.compile(rb"\b[A-Z]")

troubles: list[str] = []
"""What went wrong with the cache in this process, one sentence each; a run goes on without it."""


class Keeping(NamedTuple):
    """The folder in use, or None and why there is none."""

    folder: Path | None
    why_not: str = ""


def kernel_sources() -> list[Path]:
    """The files whose change makes compiled kernels stale: the engine, every module that compiles, and those
    that either has names with capitals from. Constants and rows of tables are part of the compiled code."""
    package = Path(__file__).parents[1]
    texts = {path: path.read_bytes() for path in package.rglob("*.py")}
    compiles = {path for path, text in texts.items() if b"from headway.jit.kernels import" in text}
    compiles |= {path for part in ("engine", "jit") for path in (package / part).rglob("*.py")}
    named = {
        package.joinpath(*module.decode().split("."))
        for path in compiles
        for module, names in _IMPORTED.findall(texts[path])
        if _CAPITAL.search(names)
    }
    files = {path for module in named for path in (module.with_suffix(".py"), module / "__init__.py")}
    return sorted(compiles | (files & texts.keys()))


@cache
def sources_digest() -> str:
    """A short digest of every source file that kernels are made of, and of how they are compiled."""
    package = Path(__file__).parents[1]
    how = [version("numba"), version("numpy"), *(os.environ.get(name, "") for name in (UNTUNED, BOUNDS))]
    digest = hashlib.sha256(" ".join(how).encode())
    for path in kernel_sources():
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def root() -> Path:
    """The folder that holds one folder for each state of the kernel sources."""
    given = os.environ.get("HEADWAY_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    base = given or os.path.expanduser("~/.cache")
    return Path(os.path.realpath(base)) / "headway"


def folders() -> Iterator[Path]:
    """The folders of kernels under the root, those of other versions too."""
    try:
        found = sorted(root().iterdir())
    except OSError:
        return
    for path in found:
        if re.fullmatch(r"[0-9a-f]{16}", path.name) and not path.is_symlink() and path.is_dir():
            yield path


@cache
def keeping() -> Keeping:
    """Where kernels are kept in this process; makes the folder."""
    home = root()
    folder = home / sources_digest()
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        for part in (home, folder):
            part.mkdir(PRIVATE, exist_ok=True)
        if why_not := reachable_by_others(folder):
            return Keeping(None, f"{why_not}; {REMEDY}")
        with tempfile.TemporaryFile(dir=folder):
            return Keeping(folder)
    except OSError as error:
        return Keeping(None, f"{folder} cannot be written ({error.strerror or error}); {REMEDY}")


def holds(kernel: str) -> bool:
    """Whether a compiled form of a kernel, or of any (""), is kept."""
    folder = keeping().folder
    kept = () if folder is None else folder.rglob("*.nbi")
    return any(path.name.split(".", 1)[-1].startswith(f"{kernel}-" if kernel else "") for path in kept)


def reachable_by_others(folder: Path) -> str:
    """Why another user might have put something into a folder, or a folder into its place; empty if none."""
    if not hasattr(os, "getuid"):
        return ""  # Windows: folders below the user's own are the user's own
    if (open_one := open_to_others(folder.parent)) is not None:
        part, theirs = open_one
        return f"{part} belongs to another user" if theirs else f"{part} can be written by other users"
    user, found, linked = os.getuid(), folder.lstat(), folder.resolve() != folder
    if linked or not stat.S_ISDIR(found.st_mode) or found.st_uid != user or found.st_mode & OTHERS:
        return f"{folder} is not a folder of yours with mode 700"
    for path in folder.rglob("*"):
        if path.lstat().st_uid != user or path.is_symlink():
            return f"{path} is not a file of yours"
    return ""


@contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """Let numba keep what is declared meanwhile in a folder, and nowhere else.

    Without this it would go to where the user's settings say, or to __pycache__ beside the file.
    """
    from numba.core import config

    settings: Any = config
    before = settings.CACHE_DIR, settings.CACHE_LOCATOR_CLASSES
    settings.CACHE_DIR, settings.CACHE_LOCATOR_CLASSES = str(folder), "UserProvidedCacheLocator"
    try:
        yield
    finally:
        settings.CACHE_DIR, settings.CACHE_LOCATOR_CLASSES = before


def share() -> None:
    """Let processes share what is kept: each kernel is compiled by one, and the others wait for it.

    A kernel that returns nothing is the same whether it was compiled for a call or for a signature; numba
    would keep two. A run goes on where kept code is damaged or cannot be written; numba would end it.
    """
    from numba.core import caching, sigutils, types

    kept: Any = caching.Cache
    parts_of: Any = sigutils.normalize_signature
    load, save = kept._load_overload, kept._save_overload
    compiling: dict[tuple[str, str], Turn] = {}

    def load_sound(self: Any, signature: Any, context: Any) -> Any:
        try:
            return load(self, signature, context)
        except Exception:  # a pickle that was cut short can raise anything
            Path(self._cache_file._index_path).unlink(missing_ok=True)  # the next run writes it anew
            return None

    def as_called(signature: Any) -> Any:
        arguments, returned = parts_of(signature)
        return arguments if returned == types.none else signature

    def load_overload(self: Any, signature: Any, context: Any) -> Any:
        signature = as_called(signature)
        found = load_sound(self, signature, context)
        if found is None:
            key = self._cache_file._index_path, str(signature)
            if failed := compiling.pop(key, None):  # the same was tried before in this process
                failed.over()
            turn = compiling[key] = Turn(*key)
            if turn.waited:
                found = load_sound(self, signature, context)
            if found is not None:
                turn.over()
        return found

    def save_overload(self: Any, signature: Any, data: Any) -> None:
        signature = as_called(signature)
        try:
            save(self, signature, data)
        except OSError as error:
            say_trouble(Path(self._cache_path).parent, error)
        finally:
            if turn := compiling.pop((self._cache_file._index_path, str(signature)), None):
                turn.over()

    setattr(kept, "_load_overload", load_overload)  # noqa: B010  (numba's types do not know them)
    setattr(kept, "_save_overload", save_overload)  # noqa: B010


class Turn:
    """The right to compile one kernel, which one process has at a time.

    Kernels call only kernels below them, so that two processes never wait for each other. One that takes too
    long, because its compiling failed and it lives on, is not waited for.
    """

    PATIENCE = 180.0
    """Seconds to wait for another process; the slowest policy takes about a minute."""

    def __init__(self, index: str, signature: str) -> None:
        self.waited = False
        self.file: int | None = None
        try:
            import fcntl

            name = hashlib.sha256(signature.encode()).hexdigest()[:8]
            self.file = os.open(f"{index}.{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except (ImportError, OSError):  # no such locks here, or no room: every process compiles for itself
            return
        give_up = time.monotonic() + self.PATIENCE
        while time.monotonic() < give_up:
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError:
                self.waited = True
                time.sleep(0.05)

    def over(self) -> None:
        """Let the next one in."""
        if self.file is not None:
            os.close(self.file)
            self.file = None


def say_trouble(folder: Path, error: OSError | None = None) -> None:
    """Note that kernels could not be kept; once for a process."""
    if not troubles:
        reason = f" ({error.strerror or error})" if error else ""
        troubles.append(
            f"compiled kernels could not be kept in {folder}{reason}, so they are compiled again next time; "
            "make room there with 'headway cache clear', or set HEADWAY_CACHE_DIR"
        )
