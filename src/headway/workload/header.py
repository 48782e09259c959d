"""Where a workload came from: the comment lines of its log and the bytes they were read from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from headway.plain import counted

_KEY = re.compile(r"\s*;+\s*([A-Za-z][A-Za-z0-9_]*)\s*:\s*(.*?)\s*$")
_LEADING_NUMBER = re.compile(r"\s*(\d{1,3}(?:,\d{3})+|\d{1,18})(?![\d,]|\.0*[1-9])")


@dataclass(frozen=True, slots=True)
class Source:
    """Name of the input ("-" is standard input), SHA-256 of its bytes as stored, and its format.

    `not_modelled` counts the jobs that had what no simulation here takes into account, by feature.
    """

    name: str
    sha256: str = ""
    format: str = ""
    not_modelled: dict[str, int] = field(default_factory=dict, hash=False)


DIGITS = 18
"""Digits of a number in a header; more do not fit into 64 bits, and are no number of anything."""


class Header:
    """Comment lines as read, in order, without their line ends; `; Key: value` lines can be asked by key."""

    __slots__ = ("_values", "lines")

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self.lines: tuple[str, ...] = tuple(lines)
        self._values: dict[str, list[str]] = {}
        for line in self.lines:
            if match := _KEY.match(line):
                self._values.setdefault(match[1].lower(), []).append(match[2])

    def __contains__(self, key: str) -> bool:
        return key.lower() in self._values

    def get(self, key: str, default: str | None = None) -> str | None:
        """The first value of a key (case does not matter), or `default`."""
        values = self._values.get(key.lower())
        return values[0] if values else default

    def all(self, key: str) -> list[str]:
        """Every value of a key that may repeat, such as Note or Queue."""
        return list(self._values.get(key.lower(), ()))

    def number(self, key: str) -> int | None:
        """The whole number a value begins with, as in `400 (48 interactive)` or `93,312`, or None."""
        match = _LEADING_NUMBER.match(self.get(key) or "")
        digits = match[1].replace(",", "") if match else ""
        return int(digits) if digits and len(digits) <= DIGITS else None

    @property
    def max_procs(self) -> int | None:
        """Processors of the machine: MaxProcs, else MaxNodes, else None."""
        return self.number("MaxProcs") or self.number("MaxNodes") or None

    @property
    def without_procs(self) -> str:
        """What the header says where it tells no number of processors."""
        given = [name for name in ("MaxProcs", "MaxNodes") if name in self]
        return f"no number in {' and '.join(given)}" if given else "neither MaxProcs nor MaxNodes"

    @property
    def unix_start(self) -> int | None:
        """When the log's clock was 0, in seconds since 1970 (UnixStartTime), or None."""
        return self.number("UnixStartTime") or None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Header) and self.lines == other.lines

    def __hash__(self) -> int:
        return hash(self.lines)

    def __repr__(self) -> str:
        return f"Header({counted(len(self.lines), 'line')}, max_procs={self.max_procs})"
