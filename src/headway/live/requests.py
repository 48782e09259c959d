"""Requests as calls: what comes over a wire fits what answers it, or is refused in a sentence."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_args, get_origin, get_type_hints

from headway.live.wire import Refused

KINDS = {int: "a whole number", str: "text", list: "a list of texts", dict: "a JSON object"}
LARGEST = 1 << 63


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
        elif not _fits(data[name], hints[name]):
            kind = next(words for each, words in KINDS.items() if each in _kinds(hints[name]))
            raise Refused(f"{request}: {name!r} must be {kind}")
    return answers(**data)


def _kinds(hint: Any) -> set[Any]:
    """The types of a hint, such as those of ``int | None``."""
    origin = get_origin(hint)
    return {origin} if origin in (list, dict) else set(get_args(hint)) or {hint}


def _fits(value: object, hint: Any) -> bool:
    kinds = _kinds(hint)
    if kinds & {object, Any}:
        return True
    if isinstance(value, list):
        return list in kinds and all(isinstance(each, str) and is_text(each) for each in value)
    if isinstance(value, str):
        return str in kinds and is_text(value)
    if isinstance(value, int):
        return int in kinds and not isinstance(value, bool) and -LARGEST <= value < LARGEST
    return type(value) in kinds


def is_text(value: str) -> bool:
    """Whether all of it are characters; a half of one cannot be stored."""
    return not any("\ud800" <= character <= "\udfff" for character in value)
