"""Read a workload of any known format."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import BinaryIO, Protocol

from headway.errors import UsageError
from headway.workload.swf import read_swf
from headway.workload.table import Workload


class Reader(Protocol):
    """What reads one format: a path, reading rules, and whether compiled code may be used."""

    def __call__(
        self,
        path: str | os.PathLike[str] | BinaryIO,
        rules: Mapping[str, str] | None = None,
        *,
        compiled: bool | None = None,
    ) -> Workload: ...


READERS: dict[str, Callable[[], Reader]] = {"swf": lambda: read_swf}
"""Format -> how to get its reader; a function, so that a format's imports wait until it is read."""

ENDINGS: dict[str, str] = {".swf": "swf"}
"""File name endings (before .gz) that tell the format; all other files are taken for SWF."""


def format_of(name: str) -> str:
    """The format a file's name stands for.

    >>> format_of("KTH-SP2.swf.gz"), format_of("-")
    ('swf', 'swf')
    """
    plain = name.lower().removesuffix(".gz")
    return next((kind for ending, kind in ENDINGS.items() if plain.endswith(ending)), "swf")


def read(
    path: str | os.PathLike[str] | BinaryIO,
    *,
    format: str | None = None,
    compiled: bool | None = None,
    **rules: str,
) -> Workload:
    """Read a job log; "-" is standard input. Keywords are reading rules, such as `overrun="trust"`."""
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else "-"
    kind = format_of(name) if format is None else format
    if kind not in READERS:
        raise UsageError(f"there is no format {kind!r}; the formats are {', '.join(READERS)}")
    return READERS[kind]()(path, rules, compiled=compiled)
