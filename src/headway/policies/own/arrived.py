"""Columns of the jobs that have arrived, copied as they come: nothing in them leads to those yet to come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[Any]

PENDING = 4096
"""Jobs that are kept as they came before their values go into the columns."""


class Arrived:
    """A table that grows by a row with each arrival; a column of it is looked at by name, read-only."""

    __slots__ = ("_columns", "_count", "_pending", "names")

    def __init__(self, kinds: Mapping[str, np.dtype[Any]]) -> None:
        self.names = tuple(kinds)
        self._columns: dict[str, Column] = {name: np.zeros(0, kind) for name, kind in kinds.items()}
        self._count = 0
        self._pending: list[tuple[Any, ...]] = []

    def __len__(self) -> int:
        return self._count + len(self._pending)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def add(self, row: tuple[Any, ...]) -> None:
        """A job with its values in the order of the names."""
        self._pending.append(row)
        if len(self._pending) >= PENDING:
            self._fill()

    def column(self, name: str) -> Column:
        """The values of all jobs that have arrived, by number."""
        if self._pending:
            self._fill()
        seen = self._columns[name][: self._count]
        seen.flags.writeable = False
        return seen

    def _fill(self) -> None:
        first, self._count = self._count, len(self)
        for name, values in zip(self.names, zip(*self._pending, strict=True), strict=True):
            column = self._columns[name]
            if self._count > len(column):
                larger = np.zeros(max(2 * self._count, PENDING), column.dtype)
                larger[:first] = column[:first]
                column = self._columns[name] = larger
            column[first : self._count] = values
        self._pending = []
