"""Which format a log is in, from its first bytes."""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path
from typing import BinaryIO, cast

from headway.errors import InputError

PEEK = 1 << 16
"""Bytes looked at."""


class Rewound:
    """A stream whose first bytes have been looked at and are read again."""

    def __init__(self, first: bytes, rest: BinaryIO, name: str) -> None:
        self._first, self._rest, self.name = first, rest, name

    def read(self, size: int = -1) -> bytes:
        if not self._first:
            return self._rest.read(size)
        if size < 0:
            first, self._first = self._first, b""
            return first + self._rest.read()
        first, self._first = self._first[:size], self._first[size:]
        return first


def looked_at(path: str | os.PathLike[str] | BinaryIO) -> tuple[bytes, str | os.PathLike[str] | BinaryIO]:
    """The first bytes of a log, unpacked, and what to read it from now."""
    if isinstance(path, str | os.PathLike) and os.fspath(path) != "-":
        try:
            with Path(path).open("rb") as file:
                return _unpacked(file.read(PEEK)), path
        except (OSError, ValueError):
            return b"", path  # the reader says what is wrong with it
    stream = sys.stdin.buffer if isinstance(path, str | os.PathLike) else path
    first = b""
    while len(first) < PEEK and (more := stream.read(PEEK - len(first))):
        first += more
    name = "-" if isinstance(path, str | os.PathLike) else str(getattr(path, "name", "-"))
    return _unpacked(first), cast(BinaryIO, Rewound(first, stream, name))


def _unpacked(first: bytes) -> bytes:
    if first.startswith(b"\x1f\x8b"):
        try:
            first = zlib.decompressobj(wbits=31).decompress(first, PEEK)
        except zlib.error:
            return b""  # the reader says what is wrong with it
    return first.removeprefix(b"\xef\xbb\xbf")


def recognised(first: bytes, name: str) -> str | None:
    """The format the first bytes show, or None where they show none.

    >>> recognised(b"JobID|User|State", "-"), recognised(b"; MaxProcs: 4", "-"), recognised(b"", "-")
    ('sacct', None, None)
    """
    text = first.lstrip()
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
    return None
