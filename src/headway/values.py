"""What a value of a document, a request or an answer may be: said as plain data, looked at in one way.

int, str, dict ...    a value of just that type: a truth value is no number
range(1, 9)           a whole number in it
[shape]               a list of such values
{"name": shape}       a table whose entries are so; what is missing counts as None, others may be there
{str: shape}          a table of any names
(shape, shape)        one of these
a function            what it says yes to
anything else         the value itself, such as None or a word
"""

from __future__ import annotations

from types import UnionType
from typing import Any, get_args, get_origin

from headway.units import LATEST

LARGEST = 2**63 - 1
BITS64 = range(-LARGEST - 1, LARGEST + 1)
"""Numbers beyond are a mistake, and would be one in all that comes."""
COUNT = range(LARGEST + 1)
NUMBER = (int, float)
INSTANT = range(1 - LATEST, LATEST)
"""Times that can be counted with (µs)."""


def fits(value: Any, shape: Any) -> bool:
    """Whether a value has a shape.

    >>> fits({"a": [1, 2], "b": "x"}, {"a": [int]}), fits({"a": [1, True]}, {"a": [int]})
    (True, False)
    """
    if isinstance(shape, type):
        return type(value) is shape
    if isinstance(shape, tuple):
        return any(fits(value, each) for each in shape)
    if isinstance(shape, range):
        return type(value) is int and value in shape
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(each, shape[0]) for each in value)
    if isinstance(shape, dict):
        return isinstance(value, dict) and not misfits(value, shape)
    if callable(shape):
        return bool(shape(value))
    return type(value) is type(shape) and value == shape


def misfits(table: dict[str, Any], shape: dict[Any, Any]) -> list[str]:
    """The entries of a table that are not as its shape says."""
    if str in shape:
        shape = dict.fromkeys(table, shape[str])
    return [name for name, each in shape.items() if not fits(table.get(name), each)]


def is_text(value: Any) -> bool:
    """Whether a value is text, and all of it are characters; a half of one cannot be stored."""
    return isinstance(value, str) and (value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value))


def shape_of(hint: Any, whole: range = BITS64) -> Any:
    """The shape of what a parameter or a field of a type takes, with whole numbers in a range."""
    if isinstance(hint, UnionType):
        return tuple(shape_of(each, whole) for each in get_args(hint))
    if get_origin(hint) is list:
        return [shape_of(get_args(hint)[0], whole)]
    named = {int: whole, str: is_text, type(None): None}
    return named.get(hint, get_origin(hint) or hint)
