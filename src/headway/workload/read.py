"""Read a workload of any known format, which is recognised by the first bytes of the log."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from headway.errors import InputError, UsageError
from headway.workload.stream import LogStream, called, opened, refuse_packed, unreadable
from headway.workload.table import Workload

if TYPE_CHECKING:
    from headway.workload.datasets.registry import Copy

PEEK = 1 << 16
"""Bytes looked at."""


class Rewound:
    """A stream whose first bytes have been looked at and are read again."""

    def __init__(self, first: bytes, rest: BinaryIO, name: str, length: int) -> None:
        self._first, self._rest, self.name, self.length = first, rest, name, length

    def read(self, size: int = -1) -> bytes:
        if not self._first:
            return self._rest.read(size)
        if size < 0:
            first, self._first = self._first, b""
            return first + self._rest.read()
        first, self._first = self._first[:size], self._first[size:]
        return first


@contextmanager
def looked_at(
    path: str | os.PathLike[str] | BinaryIO,
) -> Iterator[tuple[bytes, str | os.PathLike[str] | BinaryIO]]:
    """The first bytes of a log, unpacked, and what to read it from while this is open.

    A log is opened once and read forward, so that a pipe loses nothing.
    """
    with ExitStack() as stack:
        name, first = called(path), b""
        try:
            stream, length = stack.enter_context(opened(path))
            while len(first) < PEEK and (more := stream.read(PEEK - len(first))):
                first += more
        except (OSError, ValueError) as error:
            raise unreadable(error, name) from None
        yield _unpacked(first), cast(BinaryIO, Rewound(first, stream, name, length))


def _unpacked(first: bytes) -> bytes:
    if first.startswith(b"\x1f\x8b"):
        try:
            first = zlib.decompressobj(wbits=31).decompress(first, PEEK)
        except zlib.error:
            return b""  # the reader says what is wrong with it
    return first.removeprefix(b"\xef\xbb\xbf")


_RELATIVES = {
    "squeue or scontrol show job": (b'"job_resources"', b'"array_task_string"', b'"batch_flag"'),
    "sinfo or scontrol show node": (b'"sinfo"', b'"alloc_cpus"', b'"architecture"'),
    "scontrol show partition": (b'"partitions"',),
    "sacctmgr show associations": (b'"associations"',),
    "sacctmgr show qos": (b'"QOS"',),
}
"""Other commands of Slurm and what only their JSON has."""


def _refuse_relatives(text: bytes, name: str) -> None:
    """Say by its name what some other command of Slurm wrote, or YAML."""
    remedy = "; export the accounting with sacct --json, or --parsable2"
    if text.startswith((b"---", b"%YAML")) or re.match(rb"(?:meta|jobs|errors|warnings):\s", text):
        raise InputError(f"is YAML{remedy}", file=name)
    if not text.startswith(b"{"):
        return
    kind = next((kind for kind, marks in _RELATIVES.items() if any(mark in text for mark in marks)), None)
    if kind is not None and b'"association"' not in text and b'"nb_res"' not in text:
        raise InputError(f"is the output of {kind}, which has no record of what ran{remedy}", file=name)


_COLUMNS = re.compile(rb'"?[a-z_][\w ."]*([,;\t][^,;\t]*)+$', re.IGNORECASE)
"""The first line of a table with names of columns."""


def _refuse_tables(text: bytes, line: bytes, name: str) -> None:
    """Say by its name what is no log of jobs in any format: a table, a packed folder."""
    logs = "logs are SWF, sacct's text or JSON, or Batsim's JSON"
    if text.startswith(b"PAR1"):
        raise InputError(f"is a Parquet file; {logs}", file=name)
    if text[257:262] == b"ustar":
        raise InputError("is a tar archive; unpack it, and name a log in it", file=name)
    marked = text.startswith((b"\xff\xfe", b"\xfe\xff"))  # UTF-16 has a sentence of its own
    if text.count(b"\0") > len(text) // 1000 + 8 and not marked:
        raise InputError(f"is not text; {logs}", file=name)
    if line.startswith(b"job,submit,start,end,"):
        raise InputError("is a schedule; headway audit checks it. Name the log it was made from", file=name)
    if _COLUMNS.match(line):
        raise InputError(f"begins like a table in CSV; {logs}", file=name)


def recognised(first: bytes, name: str) -> str | None:
    """The format the first bytes show, or None where they show none.

    >>> recognised(b"JobID|User|State", "-"), recognised(b"; MaxProcs: 4", "-"), recognised(b"", "-")
    ('sacct', None, None)
    """
    refuse_packed(first, name)
    text = first.lstrip()
    _refuse_relatives(text, name)
    if text.startswith(b"{"):
        if b'"subtime"' in first or b'"nb_res"' in first or b'"profiles"' in first:
            return "batsim"
        if b'"job_id"' in first or b'"meta"' in first or b'"jobs"' in first:
            return "sacct-json"
        raise InputError("is JSON of a kind that is not known; sacct --json and Batsim's are", file=name)
    line = text.split(b"\n", 1)[0].lower()
    if b"|" in line and not line.startswith(b";"):
        return "sacct"
    if line.startswith((b"jobid", b"cluster", b"user")) and b"jobid" in line:
        return "sacct"
    _refuse_tables(first, line.strip(), name)
    return None


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
