"""The loop of the clock as plain Python over lists, for the first simulation on a machine.

Nothing is compiled yet then, and to compile takes longer than a few ten thousand jobs take this way. The
kernels are rewritten for lists (:mod:`headway.engine.rewriting`). The rows of tables that they name become
lists, and what they change is written back into the tables when the clock stops, so the results are the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from headway.engine import clock as clockwork
from headway.engine.fitting import scan
from headway.engine.profile import (
    BLOCK,
    BLOCK_ROWS,
    BLOCKS_USED,
    COUNTS,
    FIRST,
    LEVEL,
    NO_STEP,
    STEP_ROWS,
    TIME,
    Profile,
    base_of,
    find,
    leave_unused,
    locate,
    move_back,
)
from headway.engine.rewriting import Function, Program, row_name
from headway.engine.syntax import Kernel, NotPlain
from headway.engine.tables import Q_FIELDS, Entry, State, Table, World
from headway.units import NEVER

__all__ = ["NotPlain", "run_loop"]

Shapes = tuple[tuple[str, int, str], ...]
"""Name, dimensions and kind of number of each table."""


def run_loop(hook: Kernel, state: State, world: World, instants: int) -> int:
    """:func:`headway.engine.clock.loop`; NotPlain before anything has happened."""
    tables = {**dict(tables_of("state", state)), **dict(tables_of("world", world))}
    shapes = tuple((name, table.ndim, table.dtype.kind) for name, table in tables.items())
    lists = Lists(program_of(hook, shapes, tuple(state.options.tolist())), tables)
    code: int = lists.names[lists.program.loop.name](instants)
    lists.write_back()
    return code


@cache
def program_of(hook: Kernel, shapes: Shapes, options: tuple[int, ...]) -> Program:
    """The loop with a policy, rewritten."""
    return Program(clockwork.loop, hook, shapes, options, WITH_LISTS)


def tables_of(name: str, tables: Any) -> Iterator[tuple[str, Table]]:
    """All tables of a tuple with their names, such as ``state.profile.steps``."""
    if isinstance(tables, np.ndarray):
        yield name, tables
    else:
        for part, inside in tables._asdict().items():
            yield from tables_of(f"{name}.{part}", inside)


class Lists:
    """Tables as lists, and what else a program finds by name."""

    def __init__(self, program: Program, tables: dict[str, Table]) -> None:
        self.program, self.tables = program, tables
        self.names: dict[str, Any] = {}
        self.bind()

    def bind(self) -> None:
        """Add what the program does not find yet."""
        program, names = self.program, self.names
        names.update(program.others)
        names.update({name: self.tables[table].shape[axis] for name, (table, axis) in program.sizes.items()})
        for name, (table, row) in program.rows.items():
            if name not in names:
                names[name] = self.whole(table) if row is None else self.row(table, row)
        for name, function in program.called.items():
            if name not in names:
                names[name] = self.not_written_yet(function)

    def row(self, table: str, row: int) -> list[Any]:
        """A row of a table."""
        whole = self.names.get(row_name(table, None))
        return self.tables[table][row].tolist() if whole is None else whole[row]

    def whole(self, table: str) -> list[Any]:
        """A whole table; rows that have been named are the same lists."""
        if self.tables[table].ndim == 1:
            return self.tables[table].tolist()
        return [
            self.names.get(row_name(table, row)) or numbers.tolist()
            for row, numbers in enumerate(self.tables[table])
        ]

    def not_written_yet(self, function: Function) -> Kernel:
        """A function that is written when it is first called."""

        def write_and_call(*arguments: int) -> Any:
            self.names[function.name] = written = FunctionType(function.code, self.names)
            self.bind()
            return written(*arguments)

        return write_and_call

    def write_back(self) -> None:
        """Let the tables have what the program has changed."""
        for name in self.program.changed & self.names.keys():
            table, row = self.program.rows[name]
            self.tables[table][... if row is None else row] = self.names[name]


def locate_in_list(profile: Profile, k: int, x: int) -> int:
    """:func:`headway.engine.profile.locate` by what Python has for lists in ascending order."""
    used = profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED]
    return bisect_right(profile.blocks[BLOCK_ROWS * k + FIRST, :], x, 1, used) - 1


def find_in_list(profile: Profile, k: int, b: int, x: int) -> int:
    """:func:`headway.engine.profile.find` likewise."""
    low = base_of(profile, k, b)
    return bisect_right(profile.steps[STEP_ROWS * k + TIME, :], x, low + 1, low + BLOCK) - 1


def move_back_in_list(profile: Profile, k: int, low: int, high: int) -> None:
    """:func:`headway.engine.profile.move_back`, all at once."""
    times, levels = profile.steps[STEP_ROWS * k + TIME, :], profile.steps[STEP_ROWS * k + LEVEL, :]
    times[low + 1 : high + 1] = times[low:high]
    levels[low + 1 : high + 1] = levels[low:high]


def leave_unused_in_list(profile: Profile, k: int, low: int, high: int) -> None:
    """:func:`headway.engine.profile.leave_unused`, all at once."""
    profile.steps[STEP_ROWS * k + TIME, low:high] = [NO_STEP] * (high - low)
    profile.steps[STEP_ROWS * k + LEVEL, low:high] = [NEVER] * (high - low)


def scan_in_list(state: State, q: int, begin: int, end: int, free: int, limit: int, extra: int) -> int:
    """:func:`headway.engine.fitting.scan` along a part of a list."""
    plans = state.queue[Q_FIELDS * q + Entry.PLAN, :]
    for i, procs in enumerate(state.queue[Q_FIELDS * q + Entry.PROCS, begin:end], begin):
        if procs <= free and (plans[i] <= limit or procs <= extra):
            return i
    return -1


WITH_LISTS: dict[Kernel, Kernel] = {
    locate: locate_in_list,
    find: find_in_list,
    move_back: move_back_in_list,
    leave_unused: leave_unused_in_list,
    scan: scan_in_list,
}
"""Kernels that are another procedure with lists."""
