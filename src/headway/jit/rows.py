"""Tables whose rows have names, declared once for every way in which a kernel runs.

    class Jobs(Rows):
        submit: Row  # µs
        procs: Row

    jobs = Jobs(np.zeros((len(Jobs), 10), np.int64))
    jobs.procs[3] = 4                    the row of the same table, in Python and in kernels
    jobs[Jobs["procs"], 3] == 4          a row by its number, where it is not known when this is written

A class that is derived from another has further rows after those of the other. ``FurtherJobs(jobs)`` is the
same table with the names of more rows. :class:`Entries` are the same of a list, whose names stand for single
numbers: ``clock.now += 1``.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from headway.jit.kernels import INTERPRETED

Row = npt.NDArray[np.int64]
FloatRow = npt.NDArray[np.float64]
ByteRow = npt.NDArray[np.uint8]
EACH = "Each"
Each = npt.NDArray[np.int64]
"""[k, column] a row that is there for each queue, pool or the like: rows of this kind follow each other in
blocks, one block for each."""


class Declared(type):
    """The class of such classes: ``len(Jobs)`` rows, number ``Jobs["procs"]``, names in their order."""

    _fields: tuple[str, ...]
    _kinds: tuple[str, ...]
    _numbers: dict[str, int]

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Declared:
        inherited: Any = bases[0] if bases else None
        kinds = {} if "_accessor" in body else dict(body.get("__annotations__", {}))
        body["_fields"] = (*getattr(inherited, "_fields", ()), *kinds)
        body["_kinds"] = (*getattr(inherited, "_kinds", ()), *kinds.values())
        if "__slots__" not in body and inherited is not None and not hasattr(inherited, "__dict__"):
            body["__slots__"] = ()
        body["_numbers"] = {field: number for number, field in enumerate(body["_fields"])}
        made = super().__new__(mcs, name, bases, body)
        each = made._kinds.count(EACH)
        for field, kind in kinds.items():
            number = made._numbers[field]
            accessor: Any = made._accessor  # type: ignore[attr-defined]
            setattr(made, field, accessor(field, slice(number, None, each) if kind == EACH else number))
        return made

    def __len__(cls) -> int:
        return len(cls._fields)

    def __iter__(cls) -> Iterator[str]:
        return iter(cls._fields)

    def __getitem__(cls, name: str) -> int:
        return cls._numbers[name]


class _Row:
    """A name in a class of tables; found once for each table and then kept with it."""

    def __init__(self, name: str, place: Any) -> None:
        self.name, self.place = name, place

    def __get__(self, rows: Any, owner: type) -> Any:
        if rows is None:
            return self
        table = rows.table
        row = (
            table[self.place] if type(table) is not memoryview else memoryview(np.asarray(table)[self.place])
        )
        rows.__dict__[self.name] = row
        return row


class _Entry:
    """A name in a class of lists."""

    def __init__(self, name: str, place: Any) -> None:
        self.place = place

    def __get__(self, entries: Any, owner: type) -> Any:
        return self if entries is None else entries.table[self.place]

    def __set__(self, entries: Any, value: Any) -> None:
        entries.table[self.place] = value


class Named:
    """What tables and lists have in common; the table itself is ``table``."""

    __slots__ = ()
    table: Any

    def __getitem__(self, index: Any) -> Any:
        return self.table[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.table[index] = value

    def __len__(self) -> int:
        return len(self.table)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.table.shape  # type: ignore[no-any-return]

    def __init__(self, table: Any) -> None:
        """All is done when it is made."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.table, dtype, copy=copy)

    def __reduce__(self) -> Any:
        return type(self), (np.asarray(self.table),)


Table = TypeVar("Table", bound=Named)


class Rows(Named, metaclass=Declared):
    """A table [row, column] whose rows have names."""

    _accessor = _Row

    def __new__(cls, table: Any) -> Self:
        if isinstance(table, Rows):
            key = f"{cls.__module__}.{cls.__qualname__}"
            known = table.__dict__.get(key)
            if known is None:
                known = table.__dict__[key] = table if isinstance(table, cls) else cls(table.table)
            return known
        rows = super().__new__(cls)
        rows.__dict__["table"] = table
        return rows

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"write {type(self).__name__}.{name}[...] = ..., which changes the table")


class Entries(Named, metaclass=Declared):
    """A list [entry] whose entries have names."""

    __slots__ = ("table",)
    _accessor = _Entry

    def __new__(cls, table: Any) -> Self:
        entries = super().__new__(cls)
        entries.table = table.table if isinstance(table, Entries) else table
        return entries


def zeros(named: type[Table], *columns: int, more: int = 0) -> Table:
    """A list with nothing in it, or a table with so many columns; with ``more`` rows that have no names."""
    kinds = cast(Declared, named)._kinds
    is_float = bool(kinds) and kinds[0] in ("float", "FloatRow")
    return named(np.zeros((len(kinds) + more, *columns), np.float64 if is_float else np.int64))


def same(table: Any, new: Any) -> Any:
    """Another array in place of that of a table, with names of rows where that has them."""
    return type(table)(new) if isinstance(table, Named) else new


def array_of(table: Any) -> npt.NDArray[Any]:
    """The array of a table, whether its rows have names or not."""
    return table.table if isinstance(table, Named) else table  # type: ignore[no-any-return]


def plain_numbers(table: Any) -> Any:
    """The same table, whose single numbers are Python's own, which is faster than NumPy's."""
    if not isinstance(table, Named):
        return memoryview(table)
    view: Any = same(table, memoryview(table.table))
    if isinstance(view, Rows):
        for name in type(view):
            getattr(view, name)
    return view


if not INTERPRETED:
    import_module("headway.jit.row_types")
