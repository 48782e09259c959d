"""Read a workload of any known format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from headway.errors import InputError, UsageError
from headway.workload.formats import looked_at, recognised
from headway.workload.stream import LogStream
from headway.workload.table import Workload

if TYPE_CHECKING:
    from headway.workload.datasets.registry import Copy


class Reader(Protocol):
    """What reads one format: a path, reading rules, and whether compiled code may be used."""

    def __call__(
        self,
        path: str | os.PathLike[str] | BinaryIO,
        rules: Mapping[str, str] | None = None,
        *,
        compiled: bool | None = None,
    ) -> Workload: ...


READERS = {
    "swf": "headway.workload.swf:read_swf",
    "sacct": "headway.workload.slurm:read_sacct",
    "sacct-json": "headway.workload.slurm:read_sacct_json",
    "batsim": "headway.workload.batsim:read_batsim",
}
"""Format -> its reader, by name, so that a format's imports wait until it is read."""


def reader_of(format: str) -> Reader:
    """What reads a format."""
    module, _, name = READERS[format].partition(":")
    reader: Reader = getattr(import_module(module), name)
    return reader


def read(
    path: str | os.PathLike[str] | BinaryIO,
    *,
    format: str | None = None,
    compiled: bool | None = None,
    **rules: str,
) -> Workload:
    """Read a job log: SWF, Slurm's `sacct` as text or JSON, or a Batsim workload; "-" is standard input.

    The format is found from the content unless `format` names it. `path` may also be the name of a
    registered dataset. Keywords are reading rules, such as `overrun="trust"`.
    """
    if format is not None and format not in READERS:
        raise UsageError(f"there is no format {format!r}; the formats are {', '.join(READERS)}")
    copy = registered(path) if isinstance(path, str) else None
    if copy is not None:
        path = copy.path
    if format is None:
        name = os.fspath(path) if isinstance(path, str | os.PathLike) else "-"
        with looked_at(path) as (first, begun):
            format = recognised(first, name) or "swf"
            workload = reader_of(format)(begun, rules, compiled=compiled)
    else:
        workload = reader_of(format)(path, rules, compiled=compiled)
    if copy is not None and workload.source.sha256 != copy.sha256:
        message = "has changed since it was registered; register it again with 'headway datasets add'"
        raise InputError(message, file=copy.path)
    return workload


class _Beginning:
    """The first lines of a log, unpacked, as something to read from; `whole`: they were all there are."""

    def __init__(self, path: str, most: int) -> None:
        self.name, self.whole = path, False
        self._chunks, self._left, self._rest = iter(LogStream(path)), most, b""

    def read(self, size: int = -1) -> bytes:
        while (size < 0 or len(self._rest) < size) and self._left > 0:
            chunk = next(self._chunks, b"")
            self.whole = not chunk
            self._left = 0 if self.whole else self._left - len(chunk)
            self._rest += chunk
        end = len(self._rest) if size < 0 else size
        found, self._rest = self._rest[:end], self._rest[end:]
        return found


def read_beginning(path: str, most: int) -> tuple[Workload | None, bool]:
    """The first lines of a log, about so many bytes of text, and whether that is all of it.

    A document in JSON is read as a whole, or not at all where it has more bytes.
    """
    with looked_at(path) as (first, _):
        format = recognised(first, path) or "swf"
    if format in ("swf", "sacct"):
        begun = _Beginning(path, most)
        return reader_of(format)(cast(BinaryIO, begun)), begun.whole
    if os.path.getsize(path) > most:
        return None, False
    return read(path, format=format), True


def read_requests(path: str, rules: Mapping[str, str]) -> Workload:
    """A log with what Slurm knew of each request where it is output of sacct; as `read` does otherwise."""
    if registered(path) is not None:
        return read(path, format=None, compiled=None, **rules)
    with looked_at(path) as (first, source):
        format = recognised(first, path) or "swf"
        more = {"requests": True} if format.startswith("sacct") else {}
        return reader_of(format)(source, rules, **more)


def registered(name: str) -> Copy | None:
    """The registered copy a name stands for; None where it is a file or no dataset."""
    if name == "-" or os.path.exists(name):
        return None
    from headway.workload.datasets.registry import find

    return find(name)
