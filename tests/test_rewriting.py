"""Kernels that are rewritten and joined do what they did, in the same order."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from headway.engine import syntax
from headway.engine.plain_python import Lists, tables_of
from headway.engine.rewriting import Program
from headway.engine.syntax import NotPlain

Table = npt.NDArray[np.int64]


class Row(IntEnum):
    """Rows of `jobs`."""

    FIRST = 0
    SECOND = 1


class Part(NamedTuple):
    """A tuple of tables inside another."""

    inner: Table


class State(NamedTuple):
    """Tables like the engine's."""

    clock: Table
    jobs: Table
    part: Part
    options: Table


class World(NamedTuple):
    """No tables of its own."""


def new_state() -> State:
    jobs = np.arange(8).reshape(2, 4) - 3
    return State(np.arange(5, 0, -1), jobs, Part(np.arange(6).reshape(3, 2)), np.array([7, 0]))


def loop(hook, state, world, instants):  # type: ignore[no-untyped-def]
    return hook(state, instants)


FACTOR = 3


def bump(state: State, i: int) -> int:
    state.clock[i] += 1
    return int(state.clock[i])


def sign(x: int) -> int:
    if x < 0:
        return -1
    if x == 0:
        return 0
    return 1


def first_at_least(state: State, x: int) -> int:
    for i in range(state.jobs.shape[1]):
        if state.jobs[Row.SECOND, i] >= x:
            return i
    return -1


def first_of_both(state: State, x: int) -> int:
    while True:
        for i in range(3):
            if state.clock[i] < x:
                return i
        x += 1


def twice(x: int) -> int:
    return x * FACTOR + x


def option(state: State, name: int) -> int:
    return int(state.options[name])


def swap(table: Table, row: int, i: int) -> None:
    table[row, i], table[row, i + 1] = table[row, i + 1], table[row, i]


def reads_before_a_change(state: State, n: int) -> int:
    return int(state.clock[0] * 100 + bump(state, 0))


def changes_twice(state: State, n: int) -> int:
    return int(bump(state, 0) * 100 + bump(state, 0) * 10 + state.clock[0])


def adds_what_changes_it(state: State, n: int) -> int:
    state.clock[0] += bump(state, 0)
    return int(state.clock[0])


def changes_only_if_reached(state: State, n: int) -> int:
    if n > 0 and bump(state, 0) > 5:
        n = 5 if n < 3 else bump(state, 1)
    return n


def loops_over_a_change(state: State, n: int) -> int:
    found = 0
    while bump(state, 1) < 12:
        if state.clock[1] % 2 == 0:
            continue
        found += state.clock[1]
    return found


def joins_what_returns_early(state: State, n: int) -> int:
    a, b = sign(n - 1), sign(state.jobs[Row.FIRST, n])
    return a * 10 + b + sign(-n)


def joins_a_loop(state: State, n: int) -> int:
    place = first_at_least(state, n)
    if place < 0:
        place = first_at_least(state, -n)
    return place * 10 + first_of_both(state, n)


def has_constants(state: State, n: int) -> int:
    row, k = Row.SECOND, 1
    table = state.part.inner
    if k > option(state, 1):
        swap(table, 2 * k, 0)
        swap(state.jobs, row - 1, n)
    else:
        table[5, 5] = unknown  # type: ignore[name-defined]  # noqa: F821
    return int(table[2, k] + twice(n) + min(n, state.clock[1]) + max(twice(n), option(state, 0)))


def names_nobody_shares(state: State, n: int) -> int:
    i, x = 1, n
    x = bump(state, i) + x
    i += first_at_least(state, i)
    return x * 100 + i


def known_only_where_it_is_reached(state: State, n: int) -> int:
    row = 0
    if option(state, 1) > 0:
        row = 1
    for field in range(2):
        state.jobs[row, field] += field + 1
    return int(state.jobs[row, n])


def known_in_one_of_two_ways(state: State, n: int) -> int:
    row = 0
    if n > 1:
        row = 1
    return int(state.jobs[row, 0])


def counts_a_little(state: State, n: int) -> int:
    for i in range(3):
        if i == n:
            continue
        state.clock[i] += 1
    for j in range(2):
        state.clock[j] += n
    return i + j


HOOKS: tuple[Callable[[State, int], int], ...] = (
    reads_before_a_change,
    changes_twice,
    adds_what_changes_it,
    changes_only_if_reached,
    loops_over_a_change,
    joins_what_returns_early,
    joins_a_loop,
    has_constants,
    names_nobody_shares,
    known_only_where_it_is_reached,
    known_in_one_of_two_ways,
    counts_a_little,
)


def lists_of(hook: Any, state: State) -> Lists:
    tables = dict(tables_of("state", state))
    shapes = [(name, table.ndim, table.dtype.kind) for name, table in tables.items()]
    return Lists(Program(loop, hook, shapes, tuple(state.options.tolist()), {}), tables)


@pytest.fixture(autouse=True)
def ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "OURS", __name__)


@pytest.mark.parametrize("n", range(3))
@pytest.mark.parametrize("hook", HOOKS)
def test_the_same_is_done(hook: Callable[[State, int], int], n: int) -> None:
    plain, state = new_state(), new_state()
    lists = lists_of(hook, state)
    found = lists.names[lists.program.loop.name](n)
    lists.write_back()
    assert found == hook(plain, n)
    assert np.array_equal(plain.clock, state.clock)
    assert np.array_equal(plain.jobs, state.jobs)
    assert np.array_equal(plain.part.inner, state.part.inner)


def test_what_is_short_is_joined_and_what_is_known_is_not_computed() -> None:
    lists = lists_of(has_constants, new_state())
    lists.names[lists.program.loop.name](1)
    assert list(lists.program.called) == [lists.program.loop.name]
    assert not {"unknown", "FACTOR", "max"} & set(lists.program.loop.code.co_names)
    assert "state_options" not in lists.names


def rows_of(state: State, n: int) -> Any:
    return state.jobs[:, n]


def of_unknown_table(state: State, n: int) -> int:
    table = state.jobs
    if n > 5:
        table = state.part.inner
    return int(table[0, 0])


def changes_options(state: State, n: int) -> None:
    state.options[0] = n


def calls_itself(state: State, n: int) -> int:
    return calls_itself(state, n - 1) if n > 0 else 0


def outer() -> Any:
    chosen = 1

    def inner(state: State, n: int) -> Any:
        return state.clock[chosen]

    return inner


@pytest.mark.parametrize("hook", [rows_of, of_unknown_table, changes_options, calls_itself, outer(), len])
def test_what_cannot_be_rewritten_says_so(hook: Any) -> None:
    with pytest.raises(NotPlain):
        lists_of(hook, new_state()).program.loop.code  # noqa: B018
