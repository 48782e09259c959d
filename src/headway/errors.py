"""What goes wrong because of input or use: one clear sentence each, exit status 2, no traceback."""

from __future__ import annotations

from pathlib import Path


class HeadwayError(Exception):
    """A mistake in input, arguments or a policy, told in one sentence that names the remedy."""


class UsageError(HeadwayError):
    """A bad argument, policy spec or parameter."""


class PolicyError(HeadwayError):
    """A policy asked for something the engine refuses, such as more processors than are free.

    ``law`` is the name of the law that it broke, where one is meant.
    """

    def __init__(self, message: str, *, law: str = "") -> None:
        super().__init__(message)
        self.law = law


class InputError(HeadwayError):
    """Bad content of a file; names the file, and the line and field where they are known."""

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        place = "" if file is None else str(file)
        if line is not None:
            place += f":{line}" if place else f"line {line}"
        parts = [part for part in (place, field, message) if part]
        super().__init__(": ".join(parts))
        self.file, self.line, self.field = file, line, field
