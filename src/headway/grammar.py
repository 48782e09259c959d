"""The one small language of specs: a name with parameters, as in ``easy(backfill=sjf)``.

    call   = name [ "(" [ item { "," item } ] ")" ]
    item   = [ key "=" ] value
    value  = number | number "/" number | time | 'text' | "text" | "[" values "]" | call
    time   = number ( "s" | "min" | "h" | "d" ), a number of seconds: 24h is 86400

A bare word is a call without parentheses and stands for itself; true, false and none mean what they say.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TypeAlias

from headway.errors import UsageError
from headway.plain import cut
from headway.values import BITS64

DIGITS = 30
"""Characters of a whole number that can be in range."""

DEEPEST = 40
"""How deep values may be nested."""

_NAME = re.compile(r"[A-Za-z_./~][\w./:+~-]*")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?(?![\w.])")
_TIME = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(s|min|h|d)(?![\w.])")
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
_KEY = re.compile(r"([A-Za-z_]\w*)\s*=")
_SPACE = re.compile(r"\s*")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "none": None}

Value: TypeAlias = "int | float | str | bool | list[Value] | Call | None"


@dataclass(frozen=True)
class Call:
    """A name with positional and named values; str() writes it so that it parses back to itself."""

    name: str
    args: tuple[Value, ...] = ()
    kwargs: dict[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        items = [value_text(value) for value in self.args]
        items += [f"{key}={value_text(value)}" for key, value in self.kwargs.items()]
        return f"{name_text(self.name)}({', '.join(items)})" if items else name_text(self.name)


def name_text(name: str) -> str:
    """A name as the grammar writes it: quoted where it has blanks and the like, as paths may."""
    return name if _NAME.fullmatch(name) else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def value_text(value: object) -> str:
    """A value as the grammar writes it."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(value_text(item) for item in value)}]"
    if isinstance(value, str):
        return f'"{value}"' if value in _WORDS else name_text(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def parse_call(text: str) -> Call:
    """Read a whole spec; a mistake raises UsageError that shows the place."""
    reader = _Reader(text)
    value = reader.value()
    reader.space()
    if reader.at < len(text):
        raise reader.error("nothing more")
    if isinstance(value, str):
        return Call(value)
    if not isinstance(value, Call):
        raise UsageError(f"{cut(text, 200)}: expected a name, optionally with parameters in parentheses")
    return value


class _Reader:
    """A place in the text and the rules that read from it."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0

    def error(self, expected: str) -> UsageError:
        before, rest = self.text[: self.at], self.text[self.at :]
        seen = f"before {rest[:20]!r}" if rest else "at the end"
        path = "; put a path with blanks in quotes" if "/" in before and before[-1].isspace() else ""
        return UsageError(f"{cut(self.text, 200)}: expected {expected} {seen}{path}")

    def space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def take(self, mark: str) -> bool:
        self.space()
        if self.text.startswith(mark, self.at):
            self.at += len(mark)
            return True
        return False

    def match(self, pattern: re.Pattern[str]) -> str | None:
        self.space()
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found.group(0)

    def value(self) -> Value:
        self.depth += 1
        if self.depth > DEEPEST:
            raise UsageError(f"{cut(self.text)}: this is nested too deeply")
        try:
            return self.one_value()
        finally:
            self.depth -= 1

    def one_value(self) -> Value:
        self.space()
        if self.at < len(self.text) and self.text[self.at] in "'\"":
            return self.perhaps_called(self.quoted())
        if self.take("["):
            return self.listed()
        time = self.match(_TIME)
        if time is not None:
            return self.seconds(time)
        number = self.match(_NUMBER)
        if number is not None:
            return self.number(number)
        name = self.match(_NAME)
        if name is None:
            raise self.error("a name, a number, a time such as 10min, a quoted text or a list")
        value = self.perhaps_called(name)
        return _WORDS.get(name, name) if value is name else value

    def perhaps_called(self, name: str) -> str | Call:
        """A name, with its parameters where some follow."""
        if not self.text.startswith("(", self.at):
            return name
        self.at += 1
        return self.parameters(name)

    def number(self, first: str) -> int | float:
        value = self.in_range(first)
        if self.take("/"):
            below = self.match(_NUMBER)
            if below is None or not self.in_range(below):
                raise self.error("a number other than 0")
            return self.in_range(repr(value / self.in_range(below)))
        return value

    def in_range(self, text: str) -> int | float:
        """A number as it is written; one that is infinite, or whole and beyond 64 bits, is refused."""
        if re.search(r"[.eEn]", text):
            value: int | float = float(text)
        else:
            value = int(text) if len(text) <= DIGITS else math.inf
        fits = math.isfinite(value) if isinstance(value, float) else value in BITS64
        if not fits:
            raise UsageError(f"{cut(self.text)}: the number {cut(text)} is out of range")
        return value

    def seconds(self, text: str) -> int | float:
        found = _TIME.fullmatch(text)
        assert found is not None
        value = float(found[1]) * _SECONDS[found[2]]
        return int(value) if value.is_integer() else value

    def quoted(self) -> str:
        quote = self.text[self.at]
        self.at += 1
        read: list[str] = []
        while self.at < len(self.text):
            character = self.text[self.at]
            self.at += 1
            if character == quote:
                return "".join(read)
            if character == "\\" and self.at < len(self.text):
                character = self.text[self.at]
                self.at += 1
            read.append(character)
        raise self.error(f"a closing {quote}")

    def listed(self) -> list[Value]:
        values: list[Value] = []
        while not self.take("]"):
            if values and not self.take(","):
                raise self.error("',' or ']'")
            values.append(self.value())
        return values

    def parameters(self, name: str) -> Call:
        args: list[Value] = []
        kwargs: dict[str, Value] = {}
        while not self.take(")"):
            if (args or kwargs) and not self.take(","):
                raise self.error("',' or ')'")
            key = self.match(_KEY)
            if key is None:
                if kwargs:
                    raise self.error("'name=value'")
                args.append(self.value())
                continue
            key = key.rstrip("= \t\n")
            if key in kwargs:
                raise UsageError(f"{cut(self.text, 200)}: the parameter {key} is given twice")
            kwargs[key] = self.value()
        return Call(name, tuple(args), kwargs)
