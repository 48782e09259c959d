"""Archives of a site's files: unpacked with care, because they come from elsewhere, and packed the same."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from headway.errors import InputError
from headway.writing import replacing

LARGEST = 8 << 30
"""Bytes of all files of an archive together, beyond which it is taken for a mistake or an attack."""

SUFFIXES = (".tar.gz", ".tgz", ".tar")


def is_archive(path: Path) -> bool:
    """Whether a name is that of an archive."""
    return path.name.lower().endswith(SUFFIXES)


def holds_files(content: bytes) -> bool:
    """Whether bytes, unpacked, are an archive."""
    return content[257:262] == b"ustar"


def unpacked(content: bytes, name: str | Path, most: int = LARGEST) -> bytes:
    """The beginning, up to so many bytes, of what was packed with gzip."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            return file.read(most)
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(f"cannot be unpacked ({error}); copy it again", file=name) from None


def members(path: Path, content: bytes | None = None) -> Iterator[tuple[str, bytes]]:
    """Names, without folders, and contents of the files of an archive; links and the like are passed over.

    `content` is the archive where it has been read already, from a pipe say.
    """
    total = 0
    try:
        with tarfile.open(path, "r:*", None if content is None else io.BytesIO(content)) as archive:
            for member in archive:
                name = PurePosixPath(member.name).name
                if not member.isreg() or not name or name.startswith("."):
                    continue
                total += member.size
                if total > LARGEST:
                    raise InputError(f"unpacks to more than {LARGEST >> 30} GiB; is it a site?", file=path)
                file = archive.extractfile(member)
                if file is not None:
                    yield name, file.read()
    except FileNotFoundError:
        raise InputError("there is no such archive", file=path) from None
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        why = "it is no tar archive" if "could not be opened" in str(error) else error  # else many lines
        message = f"is no archive that can be unpacked ({why}); copy it again"
        raise InputError(message, file=path) from None


def pack(folder: Path, target: Path) -> None:
    """Write the files of a folder into an archive, in order and without owners or times."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for file in sorted(entry for entry in folder.iterdir() if entry.is_file()):
            content = file.read_bytes()
            member = tarfile.TarInfo(f"site/{file.name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    raw = packed.getvalue()
    plain = target.name.lower().endswith(".tar")
    with replacing(target) as draft:
        draft.write_bytes(raw if plain else gzip.compress(raw, mtime=0))
