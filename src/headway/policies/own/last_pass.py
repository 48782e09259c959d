"""Finds the line of a compiled policy at which a pass went wrong.

Compiled code does not say where it is. A simulation is the same every time, so it is run again, compiled, up
to the pass in question, and that one pass is run as plain Python.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from headway.engine import clock, verbs
from headway.engine.driver import Driver
from headway.engine.setup import Jobs, Setup, grow
from headway.engine.tables import Phase, State, Step, World
from headway.errors import PolicyError
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


# Finds the line of a compiled policy at which a pass went wrong.
#
# Compiled code does not say where it is. A simulation is the same every time, so it is run again, compiled,
# up
# to the pass in question, and that one pass is run as plain Python.


class Refused(Exception):
    """A verb was refused."""


def refuse(state: State, fault: int, job: int) -> bool:
    """In the place of the verb that notes the first fault: stops at once."""
    raise Refused


def line_of(hook: Callable[..., Any], jobs: Jobs, setup: Setup, instant: int) -> str:
    """``file:line (code)`` of the user's where pass number ``instant`` fails; empty if not found."""
    found = before(jobs, setup, instant)
    if found is None:
        return ""
    state, world = found
    copies = Interpreter({verbs.refuse: refuse})
    step = copies.copy(clock.step)
    while (code := step(state, world)) == Step.GROW:
        state, world = grow(state, world)
    if code != Step.PASS:
        return ""
    # Compiled code raises where a number is divided by zero; so must this.
    with np.errstate(divide="raise", invalid="raise", over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            copies.copy(hook)(int(state.clock.now), state)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return faults.users_line(error.__traceback__, hook)
    return ""


def before(jobs: Jobs, setup: Setup, instant: int) -> tuple[State, World] | None:
    """The simulation as it is when pass number ``instant`` comes next; nothing if it does not come so far."""
    driver = Driver(jobs, setup)
    while (left := instant - 1 - int(driver.state.clock.instants)) > 0:
        try:
            more = driver.advance(left)
        except PolicyError:
            return None
        if not more:
            return None
    return driver.state, driver.world


def raised(
    error: BaseException, hook: Callable[..., Any], line: str, state: State, jobs: Jobs
) -> PolicyError:
    """The user's hook raised an exception."""
    place = line or faults.users_line(error.__traceback__, hook) or faults.defined_at(hook)
    ids = jobs.ids[state.jobs.phase == Phase.WAITING].tolist() if jobs.ids is not None else []
    free, size = int(state.pools.free[0]), int(state.pools.size[0])
    words = faults.situation_words(int(state.clock.now), ids, free, size)
    return PolicyError(f"{place}: the policy raised {faults.error_words(error)}, {words}", law="answers")
