"""The compiled form of a user's policy: a hook like ours, ``def hook(t, state)``, marked with ``@compiled``.

Everything such a hook needs is in :mod:`headway.policies.own.words`.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from headway.engine.tables import NO_MEMORY, Fault, JobTable, Table
from headway.errors import HeadwayError, PolicyError, UsageError
from headway.jit.kernels import by_address
from headway.policies.own import faults
from headway.policies.own.faults import compile_words
from headway.policies.own.view import PUBLIC

if TYPE_CHECKING:
    from headway.engine.setup import Jobs, Progress, Setup
    from headway.engine.tables import State
    from headway.policies.prepare import Arrivals


@by_address
class OwnTables(NamedTuple):
    """What ``state.memory`` is."""

    integers: Table
    """[row, place]"""
    floats: npt.NDArray[np.float64]
    """[row, place]"""


Maker = Callable[[Mapping[str, npt.NDArray[Any]], int], Any]


def made(maker: Maker | None, columns: Mapping[str, npt.NDArray[Any]], procs: int, where: str) -> Any:
    """The tables of a policy, or the engine's empty memory where it has none."""
    if maker is None:
        return NO_MEMORY
    try:
        integers, floats = maker({name: column.copy() for name, column in columns.items()}, procs)
        whole, real = (np.atleast_2d(np.array(table)) for table in (integers, floats))
    except (TypeError, ValueError) as error:
        raise PolicyError(
            f"{where}: tables gives two tables, whole numbers and floats ([row, place]; np.zeros((0, 0)) for "
            f"none), and did not: {error}"
        ) from None
    if whole.dtype.kind not in "iub" and whole.size:
        raise PolicyError(
            f"{where}: the first of its tables holds {whole.dtype}, and must hold whole numbers"
        )
    return OwnTables(
        np.ascontiguousarray(whole, np.int64).reshape(whole.shape[:2]),
        np.ascontiguousarray(real, np.float64).reshape(real.shape[:2]),
    )


def prototype(has_tables: bool) -> Any:
    """A memory with nothing in it, of the kind that a hook is compiled for."""
    return OwnTables(np.zeros((0, 0), np.int64), np.zeros((0, 0))) if has_tables else NO_MEMORY


# The compiled form of a user's policy: a hook like ours, ``def hook(t, state)``, marked with ``@compiled``.
#
# Everything such a hook needs is in :mod:`headway.policies.own.words`.

NOTES = 16
"""Entries of ``state.options`` behind the parameters, where a hook may keep notes between passes."""

KNOWN = {"headway", "numba", "numpy", *sys.stdlib_module_names}
"""Modules that do not change behind numba's back, which would run a stale hook from its cache."""


@dataclass(frozen=True)
class Compiled:
    """A hook and its parameters, whole numbers that it reads at ``state.options[PARAMETERS + i]``."""

    hook: Callable[[int, Any], None]
    options: Mapping[str, int] = field(default_factory=dict)
    tables: Maker | None = None
    """Makes the tables that it keeps between passes (:mod:`headway.policies.own.compiled`)."""

    def __call__(self, **options: int) -> Compiled:
        """The same policy with other parameters."""
        return self.with_options(options, self.hook.__qualname__)

    def __hash__(self) -> int:
        return hash((self.hook, *self.options.items()))

    def with_options(self, options: Mapping[str, Any], name: str) -> Compiled:
        for key, value in options.items():
            if key not in self.options:
                has = f"it has {', '.join(self.options)}" if self.options else "it has none"
                raise UsageError(f"{name} has no parameter {key!r}; {has}")
            if isinstance(value, bool) or not isinstance(value, int):
                raise UsageError(f"{name}: {key} must be a whole number, not {value!r}")
        return replace(self, options={**self.options, **options})

    def setup(self, arrivals: Arrivals, procs: int) -> Setup:
        """What the engine runs."""
        from headway.engine.setup import Setup
        from headway.policies.queueing.ordering import AS_ORDER, FIXED, NO_AGE
        from headway.policies.queueing.setup import ordered

        fill = ordered(arrivals, arrivals.walltime, {JobTable["key"]: "fcfs"}, None)
        options = (FIXED, AS_ORDER, NO_AGE, *self.options.values(), *(0,) * NOTES)
        columns = {name: arrivals.columns[name] for name in PUBLIC if name in arrivals.columns}
        memory = made(self.tables, columns, procs, faults.defined_at(self.hook))
        hook = checked_hook(self.hook, memory)
        return Setup((procs,), hook, options, prepare=fill, drive=self.run, memory=memory)

    def run(self, jobs: Jobs, setup: Setup, progress: Progress | None) -> State:
        """Simulate; what the hook does wrong is told with the line in it, the instant and the jobs."""
        from headway.engine.driver import Driver
        from headway.policies.own import last_pass

        kept: list[State] = []
        setup = replace(setup, drive=None)

        def prepare(state: State) -> None:
            assert setup.prepare is not None
            setup.prepare(state)
            kept.append(state)  # its clock, jobs and pools stay the run's own

        try:
            return Driver(jobs, replace(setup, prepare=prepare)).run(progress)
        except BaseException as error:
            if not kept or isinstance(error, KeyboardInterrupt):
                raise
            state, line = kept[0], ""
            if state.clock.fault != Fault.NONE or not isinstance(error, HeadwayError):
                line = last_pass.line_of(self.hook, jobs, setup, int(state.clock.instants))
            if not isinstance(error, HeadwayError):
                raise last_pass.raised(error, self.hook, line, state, jobs) from None
            place = line or faults.defined_at(self.hook)
            raise PolicyError(f"{place}: {error}", law=getattr(error, "law", "")) from None


def compiled(*function: Callable[[int, Any], None], tables: Maker | None = None, **options: int) -> Any:
    """Mark ``def hook(t, state)`` as a compiled policy; keywords are its parameters with their defaults.

    ``@compiled`` alone, or ``@compiled(limit=3)``, which the hook reads as ``state.options[PARAMETERS]``.
    With ``tables``, a function of the jobs' columns and the processors, the hook has tables of its own.
    """
    for key, value in options.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise UsageError(f"@compiled: the default of {key} must be a whole number, not {value!r}")
    if function:
        return Compiled(function[0], options, tables)
    return lambda hook: Compiled(hook, options, tables)


def checked_hook(hook: Callable[[int, Any], None], memory: Any) -> Callable[[int, Any], None]:
    """The hook, compiled now, so that what cannot be compiled is told by the user's own line."""
    from headway.jit import kernels

    if inspect.isgeneratorfunction(hook):
        raise PolicyError(f"{faults.defined_at(hook)}: a compiled policy starts jobs itself; it cannot yield")
    if kernels.INTERPRETED:
        return hook
    try:
        return _compiled(hook, memory is not NO_MEMORY)
    except Exception as error:
        raise PolicyError(compile_words(error, hook)) from None


@cache
def _compiled(hook: Callable[[int, Any], None], has_tables: bool) -> Callable[[int, Any], None]:
    """Compiled once; on disk too, where that is safe."""
    from headway.engine.compiled import hook_signature
    from headway.jit import kernels

    make: Any = kernels.kept if may_be_kept(hook) else kernels.unkept
    done: Callable[[int, Any], None] = make(
        hook, hook_signature(prototype(has_tables)), nogil=True, _nrt=False, boundscheck=True
    )
    return done


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that a compiled policy calls: inlined there, and it looks where it reads and writes."""
    from headway.jit import kernels

    return kernels.unkept(
        function, nogil=True, _nrt=False, boundscheck=True, forceinline=True, no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
    )  # fmt: skip


def may_be_kept(hook: Callable[..., Any]) -> bool:
    """Whether the compiled hook may be kept on disk: only where its file stands alone.

    numba notices a change of the file of a function, but not of another file that it imports from.
    """
    try:
        tree = ast.parse(Path(inspect.getfile(hook)).read_bytes())
    except (OSError, TypeError, SyntaxError):
        return False
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add("" if node.level else (node.module or "").split(".")[0])
    return imported <= KNOWN
