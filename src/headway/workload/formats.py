"""Which format a log is in, from its first bytes."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO, cast

from headway.errors import InputError
from headway.workload.stream import called, opened, refuse_packed, unreadable

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
