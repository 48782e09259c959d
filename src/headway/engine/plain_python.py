"""Kernels in a form that Python runs in half the time, for the first simulation on a machine.

Interpreted, most of a kernel's time goes into reading single numbers of tables. Here the tables are lists of
rows, and each kernel that a policy reaches is rewritten for them from its source::

    state.jobs[Job.PHASE, job]     state.jobs_7[job]
    table[Job.PHASE, job]          table[7][job]
    state.jobs.shape[1]            len(state.jobs_0)
    Note.SWEEPS                    5

The numbers are written back into the tables when the clock stops. Nothing else changes, so the results are
the same.
"""

from __future__ import annotations

import ast
import inspect
import sys
from bisect import bisect_right
from collections.abc import Callable
from enum import EnumType, IntEnum
from functools import cache
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from headway.engine import clock as clockwork
from headway.engine.profile import (
    BLOCK,
    BLOCK_ROWS,
    COUNTS,
    HALF,
    LEVEL,
    STEP_ROWS,
    TIME,
    USED,
    find,
    step_from,
)
from headway.engine.tables import State, World

Kernel = Callable[..., Any]
OURS = "headway."


class NotPlain(Exception):
    """A kernel cannot be rewritten: it is no function of a module, or its source is not there."""


def run_loop(hook: Kernel, state: State, world: World, instants: int) -> int:
    """:func:`headway.engine.clock.loop`; NotPlain before anything has happened."""
    loop, turn = rewritten(clockwork.loop), rewritten(hook)
    tables: list[tuple[Any, Any]] = []
    plain_state, plain_world = _listed(state, tables), _listed(world, tables)
    try:
        code: int = loop(turn, plain_state, plain_world, instants)
    finally:
        for table, rows in tables:
            table[...] = rows
    return code


def _listed(tuple_of_tables: Any, tables: list[tuple[Any, Any]]) -> Any:
    """The tables of a tuple as lists, and their rows; ``tables`` notes which list is which table's."""
    listed: dict[str, Any] = {}
    for name, value in tuple_of_tables._asdict().items():
        if isinstance(value, np.ndarray):
            rows = listed[name] = value.tolist()
            tables.append((value, rows))
            if value.ndim == 2:
                listed |= {row_name(name, number): row for number, row in enumerate(rows)}
        else:
            listed[name] = _listed(value, tables)
    made = type("Listed", (), {"__slots__": tuple(listed)})()  # slots are the attributes found quickest
    for name, rows in listed.items():
        setattr(made, name, rows)
    return made


def row_name(table: str, number: int) -> str:
    """What a row of a table is called beside the table."""
    return f"{table}_{number}"


def find_in_list(profile: Any, k: int, b: int, x: int) -> int:
    """:func:`headway.engine.profile.find` by what Python has for lists in ascending order."""
    half, times = profile.blocks[BLOCK_ROWS * k + COUNTS][HALF], profile.steps[STEP_ROWS * k + TIME]
    low = half * (len(times) >> 1) + b * BLOCK
    return bisect_right(times, x, low + 1, low + BLOCK) - 1


def step_from_in_list(profile: Any, k: int, b: int, place: int, x: int, now: int) -> int:
    """:func:`headway.engine.profile.step_from`, which moves what follows all at once."""
    times, levels = profile.steps[STEP_ROWS * k + TIME], profile.steps[STEP_ROWS * k + LEVEL]
    if times[place] == x:
        return place
    if x == now:
        times[place] = now
        return place
    half, used = profile.blocks[BLOCK_ROWS * k + COUNTS][HALF], profile.blocks[BLOCK_ROWS * k + USED]
    end = half * (len(times) >> 1) + b * BLOCK + used[b]
    times[place + 1 : end + 1] = [x, *times[place + 1 : end]]
    levels[place + 1 : end + 1] = [levels[place], *levels[place + 1 : end]]
    used[b] += 1
    return place + 1


WITH_LISTS: dict[Kernel, Kernel] = {find: find_in_list, step_from: step_from_in_list}
"""Kernels that are another procedure with lists."""


@cache
def rewritten(kernel: Kernel) -> Kernel:
    """The same kernel for tables that are lists, with all kernels that it calls."""
    if kernel in WITH_LISTS:
        return WITH_LISTS[kernel]
    if not isinstance(kernel, FunctionType) or kernel.__closure__ or not kernel.__module__.startswith(OURS):
        raise NotPlain(kernel)
    space = _names_of(kernel.__module__)
    found = _sources_of(kernel.__module__).get(kernel.__name__)
    if found is None or kernel.__qualname__ != kernel.__name__:
        raise NotPlain(kernel)
    made = FunctionType(_code_of(found, kernel), space, kernel.__name__, kernel.__defaults__)
    made.__kwdefaults__ = kernel.__kwdefaults__
    for name in kernel.__code__.co_names:
        called = kernel.__globals__.get(name)
        if isinstance(called, FunctionType) and called.__module__.startswith(OURS):
            space[name] = made if called is kernel else rewritten(called)
    return made


@cache
def _names_of(module: str) -> dict[str, Any]:
    """What the rewritten kernels of a module find by name."""
    return dict(vars(sys.modules[module]))


@cache
def _sources_of(module: str) -> dict[str, ast.FunctionDef]:
    """The functions of a module."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError, SyntaxError):
        return {}
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _code_of(source: ast.FunctionDef, kernel: FunctionType) -> CodeType:
    """The code of a kernel for lists."""
    source.decorator_list, source.returns = [], None
    arguments = source.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    arguments.defaults, arguments.kw_defaults = [], [None for _ in arguments.kw_defaults]
    module = ast.Module([_ForLists(kernel).visit(source)], [])
    whole = compile(ast.fix_missing_locations(module), kernel.__code__.co_filename, "exec")
    return next(part for part in whole.co_consts if isinstance(part, CodeType))


class _ForLists(ast.NodeTransformer):
    """Rewrites what a kernel asks of tables, and writes its constants out."""

    def __init__(self, kernel: FunctionType) -> None:
        self.names, self.local = kernel.__globals__, set(kernel.__code__.co_varnames)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self.names.get(node.id)
        if type(value) is int and isinstance(node.ctx, ast.Load) and node.id not in self.local:
            return ast.copy_location(ast.Constant(value), node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        names = self.names.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if isinstance(names, EnumType) and issubclass(names, IntEnum) and node.attr in names.__members__:
            return ast.copy_location(ast.Constant(int(names[node.attr])), node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return self._length(node.value.value, node.slice)
        if isinstance(node.slice, ast.Tuple):
            row, place = node.slice.elts
            if isinstance(row, ast.Slice) or isinstance(place, ast.Slice):
                raise NotPlain(ast.unparse(node))
            return ast.Subscript(self._row(node.value, row), place, node.ctx)
        return node

    def _row(self, table: ast.expr, row: ast.expr) -> ast.expr:
        """A row of a table; one with a fixed number of a tuple's table has a name of its own."""
        if isinstance(table, ast.Attribute) and isinstance(row, ast.Constant) and isinstance(row.value, int):
            return ast.Attribute(table.value, row_name(table.attr, row.value), ast.Load())
        return ast.Subscript(table, row, ast.Load())

    def _length(self, table: ast.expr, axis: ast.expr) -> ast.expr:
        """How many rows a table has, or numbers in each."""
        if not isinstance(axis, ast.Constant) or axis.value not in (0, 1):
            raise NotPlain(ast.unparse(table))
        row = self._row(table, ast.Constant(0)) if axis.value else table
        return ast.Call(ast.Name("len", ast.Load()), [row], [])
