"""Archives of a site's files: unpacked with care, because they come from elsewhere, and packed the same."""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from headway.errors import InputError
from headway.workload.stream import refuse_packed
from headway.writing import replacing

GZIP = b"\x1f\x8b"
"""What a file packed with gzip begins with."""
LARGEST = 8 << 30
"""Bytes of all files of a site together, beyond which they are taken for a mistake or an attack."""
MOST_FILES = 10_000
"""Files of an archive, beyond which it is taken for a mistake or an attack."""
LONGEST_HEADER = 1 << 16
"""Bytes before a file of an archive that say what it is: a name, and a map if it is sparse."""
PIECE = 1 << 20
"""Bytes looked at, or copied at a time."""

SUFFIXES = (".tar.gz", ".tgz", ".tar")

_BROKEN = (
    tarfile.TarError, zlib.error, OSError, EOFError, ValueError, LookupError, ArithmeticError, RecursionError,
)  # fmt: skip
"""What reading a damaged archive may raise."""


def is_archive(path: Path) -> bool:
    """Whether a name is that of an archive."""
    return path.name.lower().endswith(SUFFIXES)


def beginning(first: bytes, name: str | Path) -> bytes:
    """The first bytes of what was packed with gzip."""
    try:
        return zlib.decompressobj(wbits=31).decompress(first, PIECE)
    except zlib.error as error:
        raise _damaged(error, name) from None


class Stream:
    """A file that is read once from beginning to end, so that a pipe will do, and never as a whole."""

    def __init__(self, file: IO[bytes] | gzip.GzipFile | Stream, name: str | Path) -> None:
        self._file, self.name = file, name
        self._ahead, self._place = b"", 0
        self.allowed = LARGEST
        """How many bytes may still be read, skipped ones not counted."""

    def peek(self, count: int = PIECE) -> bytes:
        """The next bytes, which are read again."""
        if len(self._ahead) < count:
            self._ahead += self._next(count - len(self._ahead))
        return self._ahead[:count]

    def read(self, size: int) -> bytes:
        """So many bytes, or fewer at the end."""
        if size > self.allowed:
            raise tarfile.ReadError("what it says of a file has no end")
        part, self._ahead = self._ahead[:size], self._ahead[size:]
        part += self._next(size - len(part))
        self.allowed -= len(part)
        self._place += len(part)
        return part

    def tell(self) -> int:
        """How many bytes have been read."""
        return self._place

    def seek(self, place: int) -> None:
        """Skip what comes before a place."""
        if place < self._place:
            raise tarfile.ReadError("one of its files begins inside another")
        if place > LARGEST:
            raise InputError(f"unpacks to more than {LARGEST >> 30} GiB; is it a site?", file=self.name)
        allowed, self.allowed = self.allowed, LARGEST
        while self._place < place and self.read(min(place - self._place, PIECE)):
            pass
        self.allowed = allowed

    def unpacked(self) -> Stream:
        """What was packed with gzip."""
        return Stream(gzip.GzipFile(fileobj=self), self.name)

    def _next(self, count: int) -> bytes:
        try:
            return self._file.read(count)
        except _BROKEN as error:
            raise _damaged(error, self.name) from None


def holds_files(packed: Stream) -> bool:
    """Whether a stream, unpacked where that is needed, is an archive."""
    first = packed.peek(1 << 12)
    return (beginning(first, packed.name) if first.startswith(GZIP) else first)[257:262] == b"ustar"


def members(packed: Stream) -> Iterator[Stream]:
    """The files of an archive, by their names without folders; links and the like are passed over.

    Each is to be read before the next is asked for.
    """
    refuse_packed(packed.peek(6), str(packed.name))
    stream = packed.unpacked() if packed.peek(2) == GZIP else packed
    stream.peek(1)  # damage of the packing is told as such
    stream.allowed = LONGEST_HEADER
    try:
        archive = tarfile.TarFile(fileobj=stream)  # type: ignore[arg-type]
        for _ in range(MOST_FILES):
            stream.allowed = LONGEST_HEADER
            if (member := archive.next()) is None:
                return
            name = PurePosixPath(member.name).name
            if not member.isreg() or not name or name.startswith("."):
                continue
            if member.issparse():
                message = f"has a sparse file, {name}, and a site has none; pack it without --sparse"
                raise InputError(message, file=packed.name)
            if (file := archive.extractfile(member)) is not None:
                stream.allowed = member.size
                yield Stream(file, name)
        raise InputError(f"has more than {MOST_FILES:,} files; is it a site?", file=packed.name)
    except _BROKEN as error:
        why = error if isinstance(error, tarfile.TarError) else "what it says of a file is damaged"
        message = f"is not a tar archive that can be read ({why}); copy it again"
        raise InputError(message, file=packed.name) from None


def _damaged(error: Exception, name: str | Path) -> InputError:
    return InputError(f"cannot be unpacked ({error}); copy it again", file=name)


def pack(folder: Path, target: Path) -> None:
    """Write the files of a folder into an archive, in order and without owners or times."""
    plain = target.name.lower().endswith(".tar")
    with replacing(target) as draft, draft.open("wb") as file:
        packed = file if plain else gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)
        with packed, tarfile.open(fileobj=packed, mode="w") as archive:
            for path in sorted(entry for entry in folder.iterdir() if entry.is_file()):
                with path.open("rb") as content:
                    member = tarfile.TarInfo(f"site/{path.name}")
                    member.size = path.stat().st_size
                    archive.addfile(member, content)
