"""Bytes of a log, plain or gzipped, from a file or standard input, in chunks of whole lines."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from weakref import WeakSet

from headway.errors import InputError

CHUNK = 1 << 20
"""Bytes of text handed on at a time, about 10,000 jobs: parsed fast, and little beside the columns."""

LONGEST_LINE = 1 << 22

_GZIP = b"\x1f\x8b"

_FOREIGN = {
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
    b"\x1f\x9d": "compress",
}


def refuse_packed(first: bytes, name: str) -> None:
    """Say by its name how a file is packed, unless that is with gzip."""
    for magic, kind in _FOREIGN.items():
        if first.startswith(magic):
            raise InputError(f"is a {kind} file; unpack it, or pack it with gzip", file=name)


class LogStream:
    """Chunks of whole lines with `\\n` ends; `sha256` is of the bytes as stored, once all have been read."""

    def __init__(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        self._path, self.name = path, called(path)
        self._hash = hashlib.sha256()

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[bytes]:
        """Chunks of text, each ending at a line end (the last one perhaps without)."""
        pieces: list[bytes] = []
        held = 0
        for text in _one_line_end(self._text()):
            cut = text.rfind(b"\n") + 1
            if cut:
                yield b"".join((*pieces, text[:cut]))
                pieces, held = [], 0
            if cut < len(text):
                pieces.append(text[cut:])
                held += len(text) - cut
            if held > LONGEST_LINE:
                raise InputError("has a line of more than 4 MiB; is it a text file?", file=self.name)
        if pieces:
            yield b"".join(pieces)

    def parts(self) -> Iterator[bytes]:
        """The unpacked bytes in parts of any size, for formats that are not made of lines."""
        return self._text()

    def _text(self) -> Iterator[bytes]:
        """The bytes, unpacked where they are gzip data."""
        text = self._stored()
        first = _beginning(text)
        if first.startswith(_GZIP):
            text = self._unpacked(first, text)
            first = _beginning(text)
            if first.startswith(_GZIP):
                raise InputError("is packed with gzip twice; unpack it once", file=self.name)
        if first.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise InputError("is UTF-16 text; save it as plain ASCII or UTF-8", file=self.name)
        refuse_packed(first, self.name)
        yield first.removeprefix(b"\xef\xbb\xbf")
        yield from text

    def _stored(self) -> Iterator[bytes]:
        """The bytes as they lie there; never fewer than a file had when it was opened."""
        read = 0
        try:
            with opened(self._path) as (stored, length):
                while block := stored.read(CHUNK):
                    self._hash.update(block)
                    read += len(block)
                    yield block
        except (OSError, ValueError) as error:  # ValueError: a path with a null byte, a closed stream
            raise unreadable(error, self.name) from None
        if read < length:
            message = f"ended after {read} of {length} bytes; was it replaced or cut while it was read?"
            raise InputError(message, file=self.name)

    def _unpacked(self, block: bytes, stored: Iterator[bytes]) -> Iterator[bytes]:
        """Text of gzip data, which may have several members and zero bytes behind the last."""
        member = zlib.decompressobj(wbits=31)
        try:
            while block or (block := next(stored, b"")):
                if member.eof:
                    block = block.lstrip(b"\0")
                    if not block:
                        continue
                    member = zlib.decompressobj(wbits=31)
                yield member.decompress(block, CHUNK)
                block = member.unused_data if member.eof else member.unconsumed_tail
        except zlib.error:
            raise InputError("has damaged gzip data; copy or download it again", file=self.name) from None
        if not member.eof:
            raise InputError("has gzip data that end early; copy or download it again", file=self.name)


def _beginning(text: Iterator[bytes]) -> bytes:
    """As much of a text as tells what it is."""
    first = b""
    for more in text:
        first += more
        if len(first) >= 6:
            break
    return first


def unreadable(error: OSError | ValueError, name: str) -> InputError:
    """Why a file cannot be read, in a sentence."""
    if isinstance(error, FileNotFoundError):
        return InputError("there is no such file; check the path", file=name)
    if isinstance(error, IsADirectoryError):
        return InputError("is a folder; name a file in it", file=name)
    return InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=name)


_given: WeakSet[object] = WeakSet()


def standard_input() -> BinaryIO:
    """What `-` stands for, once: the bytes are gone when they have been read."""
    if sys.stdin is None:
        raise InputError("standard input is closed; name a file", file="-")
    if sys.stdin in _given:
        raise InputError("standard input can be read once only; name a file for the other", file="-")
    _given.add(sys.stdin)
    return sys.stdin.buffer


def called(path: str | os.PathLike[str] | BinaryIO) -> str:
    """What errors call a path or a stream."""
    return os.fspath(path) if isinstance(path, (str, os.PathLike)) else str(getattr(path, "name", "-"))


@contextmanager
def opened(path: str | os.PathLike[str] | BinaryIO) -> Iterator[tuple[BinaryIO, int]]:
    """What to read a path or a stream from, and how many bytes it has at least: those of a regular file."""
    if not isinstance(path, (str, os.PathLike)):
        yield path, int(getattr(path, "length", 0))
    elif os.fspath(path) == "-":
        yield standard_input(), 0
    else:
        with Path(path).open("rb") as file:
            found = os.fstat(file.fileno())
            yield file, found.st_size if stat.S_ISREG(found.st_mode) else 0


def _one_line_end(texts: Iterator[bytes]) -> Iterator[bytes]:
    """The texts with `\\r\\n` and `\\r` made `\\n`, also where a pair is split between two of them."""
    held = b""
    for part in texts:
        text = held + part
        held = b""
        if text.endswith(b"\r"):
            text, held = text[:-1], b"\r"
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if text:
            yield text
    if held:
        yield b"\n"
