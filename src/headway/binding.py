"""Specs to functions: a function's signature and docstring are its catalogue entry.

``describe`` reads them once; ``bind`` turns a parsed call into checked keyword arguments, and every
mistake into one sentence that lists what exists. A parameter that is a Python keyword is written with a
trailing underscore in the function (`from_`) and without in specs.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from headway.errors import UsageError
from headway.grammar import Call, value_text
from headway.plain import close, counted
from headway.values import LARGEST

MOST_JOBS = 100_000_000
"""Jobs of a workload that is drawn; more would not fit into any memory."""

REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Parameter:
    """A parameter of a spec: its name there, its type, its default (REQUIRED if none) and what it means."""

    name: str
    annotation: Any
    default: Any
    doc: str

    @property
    def keyword(self) -> str:
        """The name in the Python function."""
        return self.name + "_" if self.name in ("from", "with", "in", "not") else self.name

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    def expected(self) -> str:
        """The values it takes, in words."""
        words = _words(self.annotation)
        return f"{words} of seconds or a time such as 10min" if self._is_time else words

    @property
    def _is_time(self) -> bool:
        return self.annotation is float and "seconds" in self.doc


@cache
def describe(function: Callable[..., Any], skip: int = 0) -> tuple[Parameter, ...]:
    """Parameters of a function after the first `skip`, explained by `name: meaning` docstring lines."""
    hints = get_type_hints(function)
    docs = _parameter_docs(inspect.getdoc(function) or "")
    found = list(inspect.signature(function).parameters.values())[skip:]
    return tuple(
        Parameter(p.name.rstrip("_"), hints[p.name], p.default, docs.get(p.name.rstrip("_"), ""))
        for p in found
    )


def summary(function: Callable[..., Any]) -> str:
    """The first sentence of a function's docstring."""
    return (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ")


def bind(call: Call, parameters: tuple[Parameter, ...], *, where: str) -> dict[str, Any]:
    """Keyword arguments for a call's values, by position or by name; `where` begins every error sentence."""
    names = [p.name for p in parameters]
    if len(call.args) > len(parameters):
        raise UsageError(
            f"{where}: takes {counted(len(parameters), 'parameter')} ({', '.join(names) or 'none'})"
        )
    given = dict(zip(names, call.args, strict=False))
    for name, value in call.kwargs.items():
        if name not in names:
            known = f"there are {', '.join(names) or 'none'}"
            raise UsageError(f"{where}: no parameter {name}{close(name, names)}; {known}")
        if name in given:
            raise UsageError(f"{where}: the parameter {name} is given twice")
        given[name] = value
    bound = {}
    for parameter in parameters:
        if parameter.name in given:
            bound[parameter.keyword] = check(parameter, given[parameter.name], where)
        elif parameter.required:
            raise UsageError(f"{where}: {parameter.name} is missing; give {parameter.expected()}")
    return bound


def check(parameter: Parameter, value: object, where: str) -> Any:
    """The value in the parameter's type, or a UsageError that says what is expected."""
    converted = _converted(parameter.annotation, value)
    if parameter.name == "seed" and isinstance(converted, int) and converted < 0:
        raise UsageError(f"{where}: seed must be a whole number from 0 on, not {converted}")
    if parameter.name == "jobs" and isinstance(converted, int) and converted > MOST_JOBS:
        raise UsageError(f"{where}: jobs must be at most {MOST_JOBS:,}, not {converted:,}")
    if converted is _NO:
        raise UsageError(f"{where}: {parameter.name} must be {parameter.expected()}, not {value_text(value)}")
    return converted


@contextmanager
def numbers_of(where: str) -> Iterator[None]:
    """Tell what numbers cannot be drawn or computed with as a mistake in a spec."""
    import numpy as np

    try:
        with np.errstate(over="raise", invalid="raise"):
            yield
    except (ValueError, ArithmeticError) as error:
        raise UsageError(f"{where}: these values are not possible: {error}") from None


def canonical(name: str, parameters: tuple[Parameter, ...], arguments: dict[str, Any]) -> str:
    """The spec with every parameter written out, defaults included."""
    items = (f"{p.name}={value_text(arguments.get(p.keyword, p.default))}" for p in parameters)
    text = ", ".join(items)
    return f"{name}({text})" if text else name


_NO = object()


def _converted(annotation: Any, value: object) -> Any:
    """The value as the annotation wants it, or _NO."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        for option in get_args(annotation):
            converted = _converted(option, value)
            if converted is not _NO:
                return converted
        return _NO
    if origin is Literal:
        return value if value in get_args(annotation) and not isinstance(value, bool) else _NO
    if origin in (list, tuple):
        items = value if isinstance(value, (list, tuple)) else [value]
        inner = get_args(annotation)[0] if get_args(annotation) else Any
        converted_items = [_converted(inner, item) for item in items]
        return _NO if any(item is _NO for item in converted_items) else converted_items
    if annotation is Any:
        return value
    if annotation is type(None):
        return None if value is None else _NO
    if annotation is bool:
        return value if isinstance(value, bool) else _NO
    if isinstance(value, bool):
        return _NO
    if annotation is float:
        return float(value) if isinstance(value, (int, float)) else _NO
    if annotation is int:
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return int(value) if whole and isinstance(value, (int, float)) and abs(value) < LARGEST else _NO
    if annotation is str and isinstance(value, Call):
        return str(value)
    return value if isinstance(annotation, type) and isinstance(value, annotation) else _NO


def _words(annotation: Any) -> str:
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        return " or ".join(_words(option) for option in get_args(annotation))
    if origin is Literal:
        return "|".join(str(choice) for choice in get_args(annotation))
    if origin in (list, tuple):
        inner = get_args(annotation)
        return f"a list [{_words(inner[0]) if inner else 'values'}, ...]"
    names = {int: "a whole number", float: "a number", str: "a text", bool: "true|false", type(None): "none"}
    return names.get(annotation, "a spec" if annotation is Call else "a value")


def _parameter_docs(doc: str) -> dict[str, str]:
    """`name: meaning` paragraphs; a meaning may go on in the following lines."""
    docs: dict[str, str] = {}
    current = ""
    for line in doc.splitlines()[1:]:
        match = re.match(r"([a-z_]+(?:, [a-z_]+)*): (.*)", line)
        if match:
            names = match[1].split(", ")
            current = names[0]
            docs.update(dict.fromkeys(names, match[2]))
            aliases = names
        elif current and line.strip():
            for name in aliases:
                docs[name] += " " + line.strip()
        else:
            current = ""
    return docs
