"""The one place that knows numba: how kernels are compiled, and where the results are kept.

Kernels are plain Python functions over NumPy tables. ``NUMBA_DISABLE_JIT=1`` runs every one of them
interpreted, for debugging and coverage, with the same results.

Three options matter for speed and never for results, as does what :mod:`headway.jit_tuning` and
:mod:`headway.jit_tables` do.
``_nrt=False`` leaves out the reference counting of arrays at calls, the great cost of small helpers; such
kernels cannot allocate. ``forceinline`` joins the helpers into their caller. ``nogil`` lets threads run
kernels side by side.

numba's disk cache does not notice that a function called from another file changed, so the cache
folder is named after a digest of all kernel sources and of numba's version.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
Tuple = TypeVar("Tuple", bound=type)


def kernel_sources() -> list[Path]:
    """The files whose change makes compiled kernels stale: the engine, and every module that compiles."""
    package = Path(__file__).parent
    others = (path for path in package.rglob("*.py") if b"from headway.jit import" in path.read_bytes())
    return sorted(
        {*(package / "engine").rglob("*.py"), *others, *package.glob("jit*.py"), package / "units.py"}
    )


def sources_digest() -> str:
    """A short digest of every source file that kernels are made of, and of the compiler's version."""
    package = Path(__file__).parent
    digest = hashlib.sha256(f"{version('numba')} {version('numpy')}".encode())
    for path in kernel_sources():
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where compiled kernels are kept: the user's cache, or a temporary folder where that is read-only."""
    base = os.environ.get("HEADWAY_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    root = Path(base) if base else Path.home() / ".cache"
    wanted = root / "headway" / sources_digest()
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=wanted):
            return wanted
    except OSError:
        return Path(tempfile.gettempdir()) / "headway" / sources_digest()


if "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = str(cache_folder())

import numba  # noqa: E402  (numba reads the cache folder when it is imported)
from numba.core import types as types  # noqa: E402

from headway import jit_tuning as tuning  # noqa: E402
from headway.jit_tables import pass_by_address  # noqa: E402

njit: Any = numba.njit  # untyped here: `_nrt` is a private option that numba's types do not know

INTERPRETED = bool(getattr(numba.config, "DISABLE_JIT"))  # noqa: B009  (set at run time)
"""True when kernels run as plain Python."""


if not INTERPRETED:
    tuning.count_from_the_front()
    tuning.leave_inner_code_raw()
    tuning.ask_once()


def kernel(function: Function) -> Function:
    """Compile a helper on first use, inlined into its callers. It must not allocate."""
    compiled: Function = njit(
        nogil=True, _nrt=False, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True
    )(function)
    return compiled if INTERPRETED else tuning.for_any_number(compiled)


def routine(function: Function) -> Function:
    """Compile a larger kernel that is called, not inlined. It must not allocate."""
    # Said here, because what is not said is taken over from the kernel that is being compiled.
    compiled: Function = njit(
        nogil=True, _nrt=False, forceinline=False, no_cpython_wrapper=True, no_cfunc_wrapper=True
    )(function)
    return compiled if INTERPRETED else tuning.for_any_number(compiled)


def woven(function: Function) -> Function:
    """A part of a larger kernel that is joined into its callers before they are compiled.

    Every level of calls is optimised anew with all that is below it, so parts of one long procedure that call
    large kernels are better woven together than compiled one by one.
    """
    compiled: Function = njit(cache=True, nogil=True, _nrt=False, inline="always", no_cfunc_wrapper=True)(
        function
    )
    return compiled


def entry(function: Function) -> Function:
    """Compile a kernel that Python calls."""
    compiled: Function = njit(cache=True, nogil=True, _nrt=False)(function)
    return compiled


def with_signature(signature: Any) -> Callable[[Function], Function]:
    """Compile now for exactly these types, so that a function handed over as a value has one address."""

    def decorate(function: Function) -> Function:
        compiled: Function = njit(signature, cache=True, nogil=True, _nrt=False)(function)
        return compiled

    return decorate


def function_type(signature: Any) -> Any:
    """The type of a compiled function passed as an argument."""
    return types.FunctionType(signature)


class Addressed(types.WrapperAddressProtocol):
    """A compiled function that is handed over as a value again and again: its address is looked up once."""

    def __init__(self, compiled: Any, signature: Any) -> None:
        self._compiled, self._signature = compiled, signature
        made = compiled.get_compile_result(signature)
        self._address = made.library.get_pointer_to_function(made.fndesc.llvm_cfunc_wrapper_name)

    def __wrapper_address__(self) -> int:
        return int(self._address)

    def signature(self) -> Any:
        return self._signature


def by_address(named: Tuple) -> Tuple:
    """A class of named tuples of tables, which compiled functions pass on by their address."""
    if not INTERPRETED:
        pass_by_address(named)
    return named


def type_of(value: Any) -> Any:
    """numba's type of a value such as a tuple of tables."""
    typeof: Any = numba.typeof
    return typeof(value)


def in_cache(function: Callable[..., Any]) -> bool:
    """Whether a compiled form of a function is on disk."""
    name = f"{function.__qualname__}-"
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    return any(path.name.split(".", 1)[-1].startswith(name) for path in folder.rglob("*.nbi"))
