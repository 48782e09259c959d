"""A key of the user's own in a spec, ``easy(order=./mine.py:key)``. Nothing is loaded until it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headway.errors import UsageError
from headway.grammar import Call, value_text


@dataclass(frozen=True)
class Key:
    """A function of a job, and perhaps of now, that gives a number; smaller keys go first."""

    name: str
    """As specs write it: ``./mine.py:key``."""
    params: Mapping[str, Any] = field(default_factory=dict)
    given: Callable[..., Any] | None = None
    """The function itself, where it was handed over in Python."""

    def __str__(self) -> str:
        items = ", ".join(f"{key}={value_text(value)}" for key, value in self.params.items())
        return f"{self.name}({items})" if items else self.name

    def __hash__(self) -> int:
        return hash(str(self))


def key_of(value: object) -> Key | None:
    """The key that a parameter's value means, or None if it means something else."""
    if isinstance(value, Key):
        return value
    if isinstance(value, Call) and ":" in value.name:
        if value.args:
            raise UsageError(f"{value.name}: write parameters as name=value")
        return Key(value.name, dict(value.kwargs))
    if isinstance(value, str) and ":" in value:
        return Key(value)
    if callable(value):
        from headway.policies.own.described import describe

        name, params, _ = describe(value)
        return Key(name, params, given=value)
    return None
