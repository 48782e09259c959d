"""Where compiled kernels are kept between runs, and how each is named after all that it was made of.

Kernels are built beforehand into the package (``make kernels``, and every wheel), for any processor of a
kind; what lies there is as trustworthy as the code next to it. What is not there, such as a user's own
policy, is compiled when it is first needed and kept in a folder of the user's.

What is kept is machine code inside a pickle, so whoever can write there can run code as the user. The user's
folder is therefore created by us with mode 700, or found to be ours with that mode, and nobody else may be
able to put another in its place: every folder above it belongs to the user or to root, and only they may
write there (in a folder such as /tmp its sticky bit sees to that). Where one of these fails nothing is kept
and nothing is loaded from there; every run then compiles what it needs.

A kernel's file is named after a digest of its own code and of all that it reaches (:func:`made_of`), of its
arguments' types, of numba, NumPy and Python, and after the processor. It depends on no path and on no file's
time, so files can be built elsewhere, moved and shipped, and after a change only those kernels are compiled
again that reach it.
"""

from __future__ import annotations

import dis
import gc
import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import EnumType
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import headway.jit
from headway.ownership import OTHERS, open_to_others

UNTUNED = "HEADWAY_UNTUNED"
"""Set, it leaves out all that :mod:`headway.jit.tuning` and :mod:`headway.jit.tables` do."""
BOUNDS = "NUMBA_BOUNDSCHECK"
"""Set, numba checks every index of a kernel."""
BUILDING = "HEADWAY_BUILD_KERNELS"
"""Set, kernels are compiled for any processor of this kind, into the package."""
BUILT = Path(__file__).parents[1] / "built"
"""The kernels that came with the package."""
GIVEN = ("numpy", "numba", "llvmlite")
"""Libraries that kernels are compiled with."""
PRIVATE = 0o700
SUFFIX = ".kernel"
REMEDY = "set HEADWAY_CACHE_DIR to a folder of your own, in one that only you can write to"

troubles: list[str] = []
"""What went wrong with the cache in this process, one sentence each; a run goes on without it."""
compiled: list[str] = []
"""Names of the kernels that this process has compiled because they were kept nowhere."""
used: set[str] = set()
"""Names of the files of all kernels that this process has loaded or compiled."""


class Keeping(NamedTuple):
    """The folder in use, or None and why there is none."""

    folder: Path | None
    why_not: str = ""


def root() -> Path:
    """The user's folder of kernels."""
    given = os.environ.get("HEADWAY_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    base = given or os.path.expanduser("~/.cache")
    return Path(os.path.realpath(base)) / "headway" / "kernels"


@cache
def keeping() -> Keeping:
    """Where this process keeps what it compiles; makes the folder."""
    if os.environ.get(BUILDING):
        BUILT.mkdir(exist_ok=True)
        return Keeping(BUILT)
    folder = root()
    try:
        folder.parent.parent.mkdir(parents=True, exist_ok=True)
        for part in (folder.parent, folder):
            part.mkdir(PRIVATE, exist_ok=True)
        if why_not := reachable_by_others(folder):
            return Keeping(None, f"{why_not}; {REMEDY}")
        with tempfile.TemporaryFile(dir=folder):
            return Keeping(folder)
    except OSError as error:
        return Keeping(None, f"{folder} cannot be written ({error.strerror or error}); {REMEDY}")


def reachable_by_others(folder: Path) -> str:
    """Why another user might have put something into a folder, or a folder into its place; empty if none."""
    if not hasattr(os, "getuid"):
        return ""  # Windows: folders below the user's own are the user's own
    if (open_one := open_to_others(folder.parent)) is not None:
        part, theirs = open_one
        return f"{part} belongs to another user" if theirs else f"{part} can be written by other users"
    user, found, linked = os.getuid(), folder.lstat(), folder.resolve() != folder
    if linked or not folder.is_dir() or found.st_uid != user or found.st_mode & OTHERS:
        return f"{folder} is not your own folder with mode 700"
    with os.scandir(folder) as files:
        for each in files:
            if each.stat(follow_symlinks=False).st_uid != user or each.is_symlink():
                return f"{each.path} is not your own file"
    return ""


class Unknown(Exception):
    """A kernel uses a value of which we cannot say when it has changed."""


@cache
def made_of(function: FunctionType) -> tuple[str, list[Any]]:
    """A digest of the code of a kernel and of all that it reaches, and the kernels among that.

    Comments, docstrings and places in files are no part of it.
    """
    digest, found, kernels = hashlib.sha256(_how()), [function], []
    number = {function: 0}
    for each in found:  # grows meanwhile
        text, values = _text_of(each)
        digest.update(text)
        for value in values:
            plain = getattr(value, "py_func", value)
            if plain not in number:
                number[plain] = len(found)
                found.append(plain)
                if plain is not value:
                    kernels.append(value)
                    digest.update(repr(sorted(value.targetoptions.items())).encode())
            digest.update(number[plain].to_bytes(4, "little"))
    return digest.hexdigest()[:24], kernels


@cache
def _text_of(function: FunctionType) -> tuple[bytes, list[Any]]:
    """What a function is made of, and the functions that it names."""
    functions: list[Any] = []

    def told(value: Any) -> str:
        kind = type(value)
        if isinstance(value, EnumType):
            members: Any = value
            return f"{value.__qualname__}{[(one.name, one.value) for one in members]}"
        if isinstance(value, type):
            return f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
        if value is None or kind in (int, float, complex, bool, str, bytes) or isinstance(value, int):
            return repr(value)
        if kind in (tuple, list, frozenset) or hasattr(value, "_fields"):
            inside = [told(one) for one in value]
            return f"{kind.__qualname__}{sorted(inside) if kind is frozenset else inside}"
        if kind.__module__ == "numpy" and hasattr(value, "tobytes"):
            return f"{value.dtype.str}{value.shape}{value.tobytes()!r}"
        if isinstance(plain := getattr(value, "py_func", value), FunctionType):
            if _is_given(plain.__module__):
                return f"{plain.__module__}.{plain.__qualname__}"
            functions.append(value)
            return "a function"
        if isinstance(made := getattr(value, "_defn", None), FunctionType):  # an instruction of our own
            functions.append(made)
            return "an instruction"
        if hasattr(value, "mangling_args"):  # one of the compiler's types
            return _described(value)
        if isinstance(value, BuiltinFunctionType) or kind.__module__.partition(".")[0] in (*GIVEN, "typing"):
            return str(value)
        if isinstance(value, ModuleType) and _is_given(value.__name__):
            return value.__name__
        raise Unknown(f"{function.__module__}.{function.__name__} uses {value!r:.60}")

    code, names = function.__code__, _names(function.__code__)
    parts = [_text(code), told(function.__defaults__)]
    for name in global_names(code):
        value = function.__globals__.get(name)
        if name not in function.__globals__:
            continue
        parts.append(name)
        if not isinstance(value, ModuleType):
            parts.append(told(value))
        elif _is_given(value.__name__):
            parts.append(value.__name__)
        else:
            parts += [told(getattr(value, each)) for each in names if hasattr(value, each)]
    for cell in function.__closure__ or ():
        parts.append(told(cell.cell_contents))
    return "\n".join(parts).encode("utf-8", "surrogatepass"), functions


def _is_given(module: str | None) -> bool:
    """Whether a module is Python's, or of a library whose version is part of every digest."""
    top = (module or "").partition(".")[0]
    return top in GIVEN or top in sys.stdlib_module_names


def _names(code: CodeType) -> list[str]:
    """The names of what a function, or one inside it, may find outside."""
    inside = [_names(one) for one in code.co_consts if isinstance(one, CodeType)]
    return list(dict.fromkeys([*code.co_names, *(name for names in inside for name in names)]))


@cache
def global_names(code: CodeType) -> tuple[str, ...]:
    """Those that a function takes from its module: rows of tables may be called like functions."""
    loads = ("LOAD_GLOBAL", "LOAD_NAME")
    own = [one.argval for one in dis.get_instructions(code) if one.opname in loads]
    inside = [global_names(one) for one in code.co_consts if isinstance(one, CodeType)]
    return tuple(dict.fromkeys([*own, *(name for names in inside for name in names)]))


def _text(code: CodeType) -> str:
    """The code of a function without its docstring and its place in a file."""
    constants = list(code.co_consts)
    has_docstring = code.co_flags & 0x4000000 or sys.version_info < (3, 13)
    if constants and isinstance(constants[0], str) and has_docstring and code.co_flags & 2:
        constants[0] = None
    told = [
        # The order of a set differs from process to process.
        _text(one) if isinstance(one, CodeType) else str(sorted(map(repr, one))) if isinstance(one, frozenset)
        else repr(one)
        for one in constants
    ]  # fmt: skip
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return f"{code.co_name}{code.co_code!r}{told}{names}{code.co_argcount}{code.co_exceptiontable!r}"


@cache
def _how() -> bytes:
    """By what kernels are compiled: the tools, our own use of them, and what asks for other code."""
    import numba
    import numpy

    numpy_version = numpy.__version__.rpartition(".")[0]  # a patch release changes nothing that we compile
    tools = [f"numba {numba.__version__}", f"numpy {numpy_version}"]
    asked = [os.environ.get(name, "") for name in (UNTUNED, BOUNDS)]
    loader: Any = __spec__ and __spec__.loader
    ours = []
    for name in ("kernels", "row_types", "rows", "tables", "tuning"):
        code = type(loader)(f"headway.jit.{name}", str(Path(__file__).with_name(f"{name}.py"))).get_code(
            f"headway.jit.{name}"
        )
        ours.append(_text(code))
    return "\n".join([*tools, *asked, str(sys.implementation.cache_tag), *ours]).encode()


@cache
def processors() -> list[str]:
    """For which processors a kernel may have been compiled that runs here, best first."""
    from llvmlite import binding as llvm
    from numba.core import config as numba_config

    config: Any = numba_config
    triple = llvm.get_process_triple()
    if config.CPU_NAME:
        return [f"{triple}.{config.CPU_NAME}"]
    features = hashlib.sha256(llvm.get_host_cpu_features().flatten().encode()).hexdigest()[:8]
    return [f"{triple}.{llvm.get_host_cpu_name()}-{features}", f"{triple}.generic"]


def _described(kind: Any) -> str:
    """The type of an argument, with the names of what is in it."""
    named = getattr(kind, "named", kind)
    signature = getattr(kind, "signature", None)
    inside = [*getattr(named, "types", ()), *getattr(signature, "args", ())]
    fields = getattr(named, "fields", ())
    return f"{kind}{fields}{[_described(one) for one in inside if hasattr(one, 'name')]}"


class Kept:
    """The compiled forms of one kernel that Python calls: numba's cache for it, and who compiles it.

    Each form is compiled by one process, and the others wait for it, however long that takes.
    """

    def __init__(self, dispatcher: Any) -> None:
        self.dispatcher, self.function = dispatcher, dispatcher.py_func
        self.compile_alone = dispatcher._compiler.compile
        dispatcher._compiler.compile, dispatcher._cache = self.compile, self
        self.cache_path = str(keeping().folder)

    def files(self, arguments: Any, returned: Any) -> list[Path]:
        """Where a form of the kernel may be; where we write it comes first, and there is none without."""
        from numba.core import types

        # A kernel that returns nothing is the same for a call and for a signature.
        told = f"{[_described(one) for one in arguments]} {None if returned == types.none else returned}"
        try:
            digest = hashlib.sha256((made_of(self.function)[0] + told).encode()).hexdigest()[:24]
        except Unknown:
            return []
        names = [f"{self.function.__name__}.{digest}.{processor}{SUFFIX}" for processor in processors()]
        folder = keeping().folder
        return [*([folder / names[0]] if folder else []), *(BUILT / name for name in names)]

    def load_overload(self, signature: Any, context: Any) -> Any:
        """A compiled form from where it is kept, or None."""
        from numba.core import sigutils

        normalize: Any = sigutils.normalize_signature
        for file in self.files(*normalize(signature)):
            try:
                content = file.read_bytes()
            except OSError:
                continue
            try:
                used.add(file.name)
                return self.rebuilt(content, context)
            except Exception:  # a pickle that was cut short can raise anything
                with suppress(OSError):
                    file.unlink()  # it is compiled and written again
        return None

    def rebuilt(self, content: bytes, context: Any) -> Any:
        """A compiled form from its file."""
        from numba.core.compiler import CompileResult
        from numba.core.runtime.nrt import rtsys

        if self.function.__module__.startswith("headway."):
            # All that ours need. To make numba ready for more takes as long as a small simulation.
            rtsys.initialize(context)
        else:
            context.refresh()
        rebuild: Any = CompileResult._rebuild
        return rebuild(context, *pickle.loads(content))

    def compile(self, arguments: Any, returned: Any) -> Any:
        """Compile the kernel, or take what another process has compiled meanwhile, and keep it."""
        file = next(iter(self.files(arguments, returned)), None)
        if file is None or keeping().folder is None:
            return self.compile_now(arguments, returned)
        with _turn(file) as waited:
            asked = arguments if returned is None else returned(*arguments)
            if waited and (found := self.load_overload(asked, self.dispatcher.targetctx)) is not None:
                return found
            made = self.compile_now(arguments, returned)
            try:
                _write(file, made)
                used.add(file.name)
            except OSError as error:
                say_trouble(error)
            return made

    def compile_now(self, arguments: Any, returned: Any) -> Any:
        """Compile the kernel. Python looks for circles of objects afterwards: the compiler makes millions
        that live as long as it works, and to go through them again and again would take an eighth longer."""
        compiled.append(self.function.__name__)
        collects = gc.isenabled()
        gc.disable()
        try:
            with headway.jit.while_compiling(self.function.__name__, self.share_compiled):
                return self.compile_alone(arguments, returned)
        finally:
            if collects:
                gc.enable()

    def share_compiled(self) -> tuple[int, int]:
        """How many of the kernels that this one reaches have been compiled, and how many it reaches."""
        try:
            inside = made_of(self.function)[1]
        except Unknown:
            return 0, 0
        return sum(bool(one.overloads) for one in inside), len(inside)

    def save_overload(self, signature: Any, made: Any) -> None:
        """Done by :meth:`compile`."""

    enable = disable = flush = lambda self: None


def _write(file: Path, made: Any) -> None:
    """Write a compiled form; a file is whole or not there."""
    from numba.core.serialize import dumps

    if made.library.has_dynamic_globals or any(not one.can_cache for one in made.lifted):
        return
    parts = list(made._reduce())
    parts[6] = ""  # its types as text, with lines and paths of the sources
    dump: Any = dumps
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".", suffix=SUFFIX)
    try:
        with open(handle, "wb") as out:
            out.write(dump(tuple(parts)))
        if os.environ.get(BUILDING):
            os.chmod(name, 0o644)
        os.replace(name, file)
    except BaseException:
        os.unlink(name)
        raise


@contextmanager
def _turn(file: Path) -> Iterator[bool]:
    """The right to compile one kernel, which one process has at a time; whether we had to wait for it.

    Its lock goes with the process that has it. Kernels call only kernels below them, so that two processes
    never wait for each other.
    """
    try:
        import fcntl

        lock = os.open(f"{file}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except (ImportError, OSError):  # no such locks here, or no space: every process compiles for itself
        yield False
        return
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            waited = False
        except OSError:
            fcntl.flock(lock, fcntl.LOCK_EX)
            waited = True
        yield waited
    finally:
        with suppress(OSError):
            os.unlink(f"{file}.lock")
        os.close(lock)


def say_trouble(error: OSError) -> None:
    """Note that kernels could not be kept; once for a process."""
    if not troubles:
        troubles.append(
            f"compiled kernels could not be kept in {keeping().folder} ({error.strerror or error}), so they "
            "are compiled again next time; make room there with 'headway cache clear', or set "
            "HEADWAY_CACHE_DIR"
        )
