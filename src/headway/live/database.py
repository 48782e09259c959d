"""What the agent's journal and a cluster's queue have in common: tables that only their owner can read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_type_hints

from headway.errors import HeadwayError
from headway.live import outside
from headway.live.spans import Span, stored_spans
from headway.values import INSTANT, fits, shape_of


class Database:
    """A file of tables, which anything may have become of; ``name`` is what people call it."""

    name: str
    error: type[HeadwayError]

    def __init__(self, path: Path, isolation: Literal["IMMEDIATE"] | None) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(OSError):  # SQLite says what is wrong with the place
            path.touch(mode=0o600, exist_ok=True)  # commands of tasks stand in it
        self._db = outside.connect(path, isolation)

    def close(self) -> None:
        self._db.close()

    def rows(self, sql: str, values: Iterable[Any] = ()) -> list[Any]:
        """What a statement finds; SQLite looks at a row when it is fetched."""
        raise NotImplementedError

    def damaged(self, how: str) -> HeadwayError:
        return self.error(f"the {self.name} {self.path} is damaged: {how}; put a copy back, or start again")

    def fact(self, name: str) -> str | None:
        """What is kept under a name; None where nothing is."""
        found = self.rows("SELECT value FROM facts WHERE name = ?", (name,))
        return str(found[0][0]) if found else None

    def number(self, name: str) -> int | None:
        """A fact that is a whole number; None where it is not known."""
        if (text := self.fact(name)) is None:
            return None
        if not re.fullmatch("-?[0-9]{1,18}", text):
            raise self.damaged(f"its {name} is no number")
        return int(text)

    def set_fact(self, name: str, value: object) -> None:
        self.rows("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, str(value)))

    def set_columns(self, table: str, key: str, number: int, columns: dict[str, Any]) -> None:
        """Change some columns of the row that has a number."""
        names = ", ".join(f"{name} = ?" for name in columns)
        self.rows(f"UPDATE {table} SET {names} WHERE {key} = ?", (*columns.values(), number))

    def spans_of(self, key: str, number: int) -> list[Span]:
        """When a job or an attempt was suspended, and its runs that were given up."""
        rows = self.rows(f"SELECT told FROM spans WHERE {key} = ?", (number,))
        found = stored_spans(rows[0][0]) if rows else []
        if found is None:
            raise self.damaged(f"when {key} {number} of it was suspended cannot be read")
        return found


def sound(kind: type, values: Sequence[Any]) -> bool:
    """Whether a row of a table has what the fields of a class may hold; SQLite takes anything anywhere."""
    shapes = _shapes_of(kind)
    return len(values) == len(shapes) and all(map(fits, values, shapes))


@cache
def _shapes_of(kind: type) -> tuple[Any, ...]:
    hints = get_type_hints(kind)
    return tuple(shape_of(hints[each.name], INSTANT) for each in fields(kind))
