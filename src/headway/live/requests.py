"""Requests as calls: what comes over a wire fits what answers it, or is refused in a sentence."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from headway.live.wire import Refused
from headway.values import fits, shape_of

KINDS = {int: "a whole number", str: "text", list: "a list of texts", dict: "a JSON object"}


def called(answers: Callable[..., Any], request: str, data: dict[str, Any]) -> Any:
    """What a method answers to the data of a request."""
    takes = inspect.signature(answers).parameters
    for name in data:
        if name not in takes:
            raise Refused(f"{request} takes no {name!r}; it takes {', '.join(takes) or 'nothing'}")
    hints = get_type_hints(answers)
    for name, parameter in takes.items():
        if name not in data:
            if parameter.default is parameter.empty:
                raise Refused(f"{request} needs {name!r}")
        elif not fits(data[name], shape_of(hints[name])):
            raise Refused(f"{request}: {name!r} must be {_kind(hints[name])}")
    return answers(**data)


def _kind(hint: Any) -> str:
    """What a type is called; ``int | None`` is a whole number that may be left out."""
    first = get_args(hint)[0] if isinstance(hint, UnionType) else hint
    return KINDS[get_origin(first) or first]
