"""Tables that fit a terminal: widths of columns, and a table in parts where not even the words fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import takewhile
from textwrap import wrap

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table

WIDEST = 10_000
"""Columns that no table has."""
WORD = 40
"""Characters of a word, such as a list of nodes, from which on it may be cut."""


def fitted(console: Console, table: Table, width: int, parts: bool) -> list[Table]:
    """The table with its columns in a width; where its words do not fit, wider, or in parts.

    Numbers are neither cut nor broken into two. Each part repeats the columns that say what a line is of.
    """
    least, most = _extents(console, table)
    if sum(least) <= width or not parts:
        return [_with(table, table.columns, shares(least, most, width))]
    titles = _titles(table.columns, least, width)
    found: list[Table] = []
    for places in _groups(least, titles, width):
        chosen = [*range(titles), *places]
        sizes = shares([least[i] for i in chosen], [most[i] for i in chosen], width)
        part = _with(table, [table.columns[i] for i in chosen], sizes)
        part.title = None if found else table.title
        found.append(part)
    return found


def shares(least: Sequence[int], most: Sequence[int], width: int) -> list[int]:
    """A width for each column: none below its least or above its most, the widest narrowed first.

    >>> shares([4, 5, 5], [6, 30, 20], 40)
    [6, 17, 17]
    >>> shares([4, 50], [6, 90], 40)
    [4, 50]
    """
    level = max(most, default=0)
    while level and sum(_between(least, level, most)) > width:
        level -= 1
    return _between(least, level, most)


def _between(least: Sequence[int], level: int, most: Sequence[int]) -> list[int]:
    return [max(low, min(level, high)) for low, high in zip(least, most, strict=True)]


def _extents(console: Console, table: Table) -> tuple[list[int], list[int]]:
    """The least and the largest width of each column, with the space next to it."""
    wide = console.options.update(width=WIDEST)
    most = [table._measure_column(console, wide, column).maximum for column in table.columns]
    least = [
        table._get_padding_width(place) + min(_words(console, column), WORD)
        for place, column in enumerate(table.columns)
    ]
    return least, most


def _words(console: Console, column: Column) -> int:
    """The width that the words of a column need, or its longest cell where cells are not broken."""
    cells = [console.measure(cell) for cell in column.cells]
    title = max(map(cell_len, str(column.header).split()), default=0)
    return max([title, *(one.maximum if column.no_wrap else one.minimum for one in cells)])


def _titles(columns: Sequence[Column], least: Sequence[int], width: int) -> int:
    """How many columns at the left say what a line is of: text before the first number."""
    count = len(list(takewhile(lambda column: column.justify == "left", columns)))
    return count if sum(least[:count]) <= width // 2 and count < len(columns) else 1


def _groups(least: Sequence[int], titles: int, width: int) -> Iterator[list[int]]:
    """The other columns, as many to a group as fit next to those titles."""
    room = width - sum(least[:titles])
    group: list[int] = []
    for place in range(titles, len(least)):
        if group and sum(least[i] for i in (*group, place)) > room:
            yield group
            group = []
        group.append(place)
    yield group


def _with(table: Table, columns: Sequence[Column], sizes: Sequence[int]) -> Table:
    """The table with these of its columns, so wide."""
    made = copy(table)
    made.columns = [copy(column) for column in columns]
    for place, (column, size) in enumerate(zip(made.columns, sizes, strict=True)):
        column._index = place
        column.width = size - table._get_padding_width(columns[place]._index)
        if column.no_wrap:
            column.header = "\n".join(wrap(str(column.header), max(column.width, 1)))
    return made
