"""Runs a compiled function as plain Python: the same function with everything it calls not compiled either.

Kernels cannot be called from Python one by one, and what they raise does not say where. But their Python
text is at hand: a copy of it, in which the names of other kernels mean copies too, runs and can be traced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CellType, FunctionType, ModuleType
from typing import Any

from headway.jit.kernels import as_written
from headway.policies.own import faults


class Interpreter:
    """Makes copies in plain Python; ``instead`` names functions in whose place others are called."""

    def __init__(self, instead: Mapping[Callable[..., Any], Callable[..., Any]]) -> None:
        self._made: dict[int, Any] = {id(as_written(old)): new for old, new in instead.items()}
        self._kept: list[Any] = []  # an id stays the thing's own only while the thing is there

    def copy(self, thing: Any) -> Any:
        """The thing itself, or a copy of a kernel, or a module that gives copies."""
        function = as_written(thing)
        if isinstance(thing, ModuleType):
            return _Module(thing, self)
        if not isinstance(function, FunctionType) or (function is thing and of_library(thing)):
            return thing
        if id(function) not in self._made:
            self._kept.append(function)
            names, cells = dict(function.__globals__), function.__closure__ or ()
            copies = tuple(CellType() for _ in cells)
            made = FunctionType(
                function.__code__, names, function.__name__, function.__defaults__, copies or None
            )
            made.__kwdefaults__ = function.__kwdefaults__
            self._made[id(function)] = made  # before its names: kernels may call each other
            for name in _names(function):
                if name in names:
                    names[name] = self.copy(names[name])
            for cell, copy in zip(cells, copies, strict=True):
                copy.cell_contents = self.copy(cell.cell_contents)
        return self._made[id(function)]


class _Module:
    """A module whose kernels are copies in plain Python."""

    def __init__(self, module: ModuleType, interpreter: Interpreter) -> None:
        self._module, self._interpreter = module, interpreter

    def __getattr__(self, name: str) -> Any:
        return self._interpreter.copy(getattr(self._module, name))


def of_library(function: FunctionType) -> bool:
    """Whether a function was never compiled and is neither ours nor the user's."""
    return faults.of_library(function.__code__.co_filename) and not faults.is_ours(function)


def _names(function: FunctionType) -> set[str]:
    """Every name a function looks up outside, those in functions within it too."""
    names: set[str] = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names |= set(code.co_names)
        codes += [part for part in code.co_consts if isinstance(part, type(code))]
    return names
