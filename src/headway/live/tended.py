"""What a process of ours looks after, a cluster or the grid: others ask it things, and a bell wakes it."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from queue import Empty, SimpleQueue
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from headway.live.grid_file import Grid
from headway.live.safety import Guard
from headway.live.wire import Refused
from headway.values import fits, shape_of

KINDS = {int: "a whole number", str: "text", list: "a list of texts", dict: "a JSON object"}


def called(answers: Callable[..., Any], request: str, data: dict[str, Any]) -> Any:
    """What a method answers to the data of a request."""
    takes, hints = _signature(getattr(answers, "__func__", answers))
    for name in data:
        if name not in takes:
            raise Refused(f"{request} takes no {name!r}; it takes {', '.join(takes) or 'nothing'}")
    for name, parameter in takes.items():
        if name not in data:
            if parameter.default is parameter.empty:
                raise Refused(f"{request} needs {name!r}")
        elif not fits(data[name], shape_of(hints[name])):
            raise Refused(f"{request}: {name!r} must be {_kind(hints[name])}")
    return answers(**data)


@cache
def _signature(function: Any) -> tuple[dict[str, inspect.Parameter], dict[str, Any]]:
    """The parameters of a method but for itself, and their types."""
    takes = dict(inspect.signature(function).parameters)
    takes.pop("self", None)
    return takes, get_type_hints(function)


def _kind(hint: Any) -> str:
    """What a type is called; ``int | None`` is a whole number that may be left out."""
    first = get_args(hint)[0] if isinstance(hint, UnionType) else hint
    return KINDS[get_origin(first) or first]


class Bell:
    """Wakes who waits for it. Unlike an event of threading it may be rung by the handler of a signal.

    A handler runs in the main thread, between any two steps of what that is doing; where this is the waiting
    itself, an event's handler would wait for a lock that its own thread holds, for ever.
    """

    def __init__(self) -> None:
        self._rung: SimpleQueue[None] = SimpleQueue()

    def ring(self) -> None:
        """Wake who waits, or who waits next."""
        if self._rung.empty():
            self._rung.put(None)

    def wait(self, seconds: float) -> None:
        """Wait until it rings, or has rung since the last wait; not longer than so many seconds."""
        with suppress(Empty):
            self._rung.get(timeout=max(seconds, 0))


class Tended:
    """What answers requests, one at a time, and is looked after in between."""

    requests: tuple[str, ...]
    prefix = ""
    """What the methods that answer requests are called, before the name of the request."""

    def __init__(self, grid: Grid, control: bool) -> None:
        self.grid, self.guard = grid, Guard(grid, control)
        self.lock, self.bell = threading.RLock(), Bell()

    def handle(self, request: str, data: dict[str, Any]) -> Any:
        """Answer a request."""
        if request not in self.requests:
            raise Refused(f"there is no request {request!r}; there are {', '.join(self.requests)}")
        with self.lock:
            return called(getattr(self, self.prefix + request), request, data)

    def tick(self) -> float:
        """Look after it; seconds until it should be done again."""
        return self.grid.poll

    def stop(self) -> None:
        """End; every job stays where it is."""
