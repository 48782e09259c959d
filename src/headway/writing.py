"""Files appear whole or not at all: written beside their place under another name, then renamed.

Only a regular file is ever replaced: never a device, a FIFO, or what a link points to. A draft bears the
name of the machine and the process that write it, so that what a killed one left is removed by the next.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from headway.errors import UsageError

PART, OLD = "part", "old"
CUT_SHORT = "Invalid thrift: transport error"
"""Polars' words for a Parquet file whose end could not be written; why, it does not say."""
_KINDS = (
    (stat.S_ISLNK, "a link"), (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"), (stat.S_ISSOCK, "a socket"),
)  # fmt: skip


def check_replaceable(target: Path) -> None:
    """Complain about a target that is there and is no regular file."""
    try:
        mode = target.lstat().st_mode
    except (OSError, ValueError):
        return  # not there, or writing will say what is wrong
    for is_kind, words in _KINDS:
        if is_kind(mode):
            raise UsageError(f"{target} is {words}; only regular files are replaced, so give another name")


def refuse_existing(target: Path, force: bool) -> None:
    """Complain now about a file that is there already, so that no long run is lost for it."""
    if target.exists() and not force:
        raise UsageError(f"{target} exists; give another name, or --force to replace it")


def check_utf8(target: Path) -> None:
    """Complain about a name that Polars writes no tables under."""
    try:
        str(target).encode()
    except UnicodeEncodeError:
        raise UsageError(f"{target} is not a name in UTF-8, as tables need; give another") from None


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A draft to write, which takes the place of ``path`` when the block ends well, and is gone otherwise."""
    target = Path(path)
    check_replaceable(target)
    remove_drafts(target)
    draft = draft_of(target)
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())  # a full disk may be noticed only now
        check_replaceable(target)
        os.replace(draft, target)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{target} cannot be written: {reason}; choose another place") from None
    except Exception as error:
        if (why := disk_trouble(error, draft)) is None:
            raise
        raise UsageError(f"{target} cannot be written: {why}; choose another place") from None
    finally:
        with suppress(OSError, ValueError):
            draft.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder to fill, which takes the place of ``path`` when the block ends well, and is gone otherwise.

    What was at ``path`` goes as a whole, so that nobody finds a mixture of the two.
    """
    target = Path(os.path.realpath(path))  # a link stays, what it leads to is written
    if target.exists() and not target.is_dir():
        raise UsageError(f"{target} is a file, not a folder; give another name")
    remove_drafts(target)
    draft, old = draft_of(target), draft_of(target, OLD)
    try:
        draft.mkdir(parents=True)
        yield draft
        if target.is_dir():
            target.rename(old)
        draft.rename(target)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}; choose another place") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if old.is_dir() and not target.exists():
            old.rename(target)  # the draft could not take its place
        shutil.rmtree(old, ignore_errors=True)


def disk_trouble(error: Exception, draft: Path) -> str | None:
    """What a disk has against a draft, where an error is about that; Polars tells it in words alone."""
    told = re.search(r"(?:IO error: |^)([^:]*?) \(os error \d+\)", str(error))
    if told:
        return told[1]
    if CUT_SHORT in str(error):
        return "the disk takes no more"
    if not isinstance(error, OSError) or not (error.errno and error.strerror):
        return None
    of_draft = error.filename is None or Path(os.fsdecode(error.filename)).is_relative_to(draft)
    return error.strerror if of_draft else None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, whole or not at all."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def write_lines(path: str | os.PathLike[str], lines: Iterable[bytes]) -> None:
    """Write a file of lines, gzipped if its name ends with .gz; "-" is standard output."""
    name = os.fspath(path)
    if name == "-":
        sys.stdout.buffer.writelines(lines)
        sys.stdout.buffer.flush()
        return
    with replacing(name) as draft, draft.open("wb") as file:
        if not name.endswith(".gz"):
            file.writelines(lines)
            return
        import gzip

        # No name and no time in the gzip header: the same lines give the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as packed:
            packed.writelines(lines)


def draft_of(target: Path, suffix: str = PART) -> Path:
    """Where this process writes what is to become ``target``."""
    absolute = Path(os.path.abspath(target))
    return absolute.parent / f".{absolute.name}.{_host()}-{os.getpid()}.{suffix}"


def remove_drafts(target: Path) -> None:
    """Remove what processes of this machine that are no more have left of drafts of ``target``."""
    absolute = Path(os.path.abspath(target))
    left = re.compile(rf"\.{re.escape(absolute.name)}\.{re.escape(_host())}-(\d{{1,9}})\.({PART}|{OLD})")
    with suppress(OSError):
        for entry in absolute.parent.iterdir():
            found = left.fullmatch(entry.name)
            if found and not _is_alive(int(found[1])):
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry, ignore_errors=True)
                else:
                    entry.unlink(missing_ok=True)


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", socket.gethostname())[:30] or "here"


def _is_alive(process: int) -> bool:
    if os.name != "posix":
        return True  # there, asking would end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
