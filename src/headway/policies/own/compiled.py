"""The compiled form of a user's policy: a hook like ours, ``def hook(t, state)``, marked with ``@compiled``.

Everything such a hook needs is in :mod:`headway.policies.own.words`.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.errors import PolicyError, UsageError
from headway.policies.own import faults

if TYPE_CHECKING:
    from headway.engine.drive import Jobs, Progress, Setup
    from headway.engine.tables import State
    from headway.policies.prepare import Arrivals

NOTES = 16
"""Entries of ``state.options`` behind the parameters, where a hook may keep notes between passes."""

KNOWN = {"headway", "numba", "numpy", *sys.stdlib_module_names}
"""Modules that do not change behind numba's back, which would run a stale hook from its cache."""


@dataclass(frozen=True)
class Compiled:
    """A hook and its parameters, whole numbers that it reads at ``state.options[PARAMETERS + i]``."""

    hook: Callable[[int, Any], None]
    options: Mapping[str, int] = field(default_factory=dict)

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
        from headway.engine.drive import Setup
        from headway.engine.tables import KEY
        from headway.policies.ordering import AS_ORDER, FIXED, NO_AGE
        from headway.policies.prepare import ordered

        fill = ordered(arrivals, arrivals.walltime, {KEY: "fcfs"}, None)
        options = (FIXED, AS_ORDER, NO_AGE, *self.options.values(), *(0,) * NOTES)
        return Setup((procs,), checked_hook(self.hook), options, prepare=fill, drive=self.run)

    def run(self, jobs: Jobs, setup: Setup, progress: Progress | None) -> State:
        """Simulate; what the hook does wrong is told with the file and line where it stands."""
        from headway.engine import drive

        try:
            return drive.run(jobs, replace(setup, drive=None), progress)
        except PolicyError as error:
            raise PolicyError(f"{faults.defined_at(self.hook)}: {error}", law=error.law) from None


def compiled(*function: Callable[[int, Any], None], **options: int) -> Any:
    """Mark ``def hook(t, state)`` as a compiled policy; keywords are its parameters with their defaults.

    ``@compiled`` alone, or ``@compiled(limit=3)``, which the hook reads as ``state.options[PARAMETERS]``.
    """
    for key, value in options.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise UsageError(f"@compiled: the default of {key} must be a whole number, not {value!r}")
    if function:
        return Compiled(function[0], options)
    return lambda hook: Compiled(hook, options)


def checked_hook(hook: Callable[[int, Any], None]) -> Callable[[int, Any], None]:
    """The hook, compiled now, so that what cannot be compiled is told by the user's own line."""
    from headway import jit
    from headway.engine import drive

    if jit.INTERPRETED:
        return hook
    try:
        if may_be_kept(hook):
            return drive.compiled_hook(hook)
        return _compiled_for_now(hook)
    except Exception as error:
        raise PolicyError(compile_words(error, hook)) from None


@cache
def _compiled_for_now(hook: Callable[[int, Any], None]) -> Callable[[int, Any], None]:
    """Compiled for this process alone."""
    from headway import jit
    from headway.engine import drive

    done: Callable[[int, Any], None] = jit.njit(drive.hook_signature(), nogil=True, _nrt=False)(hook)
    return done


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


def compile_words(error: Exception, function: Callable[..., Any]) -> str:
    """Why a function cannot be compiled, by its own line and without the compiler's internals."""
    code = function.__code__
    line, reason = code.co_firstlineno, ""
    location = getattr(error, "loc", None)
    if location is not None and getattr(location, "filename", "") == code.co_filename:
        line = location.line
    text = re.sub(r"\x1b\[[0-9;]*m|[Nn]umba ", "", str(error))
    words = [part.strip() for part in text.splitlines() if part.strip()]
    own = f'{Path(code.co_filename).name}", line '
    for part in words:
        if own in part and part.rsplit("line ", 1)[-1].strip(": ").isdigit():
            line = int(part.rsplit("line ", 1)[-1].strip(": "))
    reason = next((part for part in words if not _internal(part)), type(error).__name__)
    return f"{faults.shown_path(code.co_filename)}:{line}: the policy cannot be compiled: {reason}"


def _internal(part: str) -> bool:
    """Whether a line of the compiler's message says nothing to a user."""
    noise = (
        "Failed in",
        "During:",
        "File ",
        "There are ",
        "- ",
        "<source",
        "Use of unsupported",
        "This error",
    )
    return part.startswith(noise) or part.startswith(("^", "def ", "Overload", "Rejected", "raised from"))
