"""A folder of results appears whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from headway.errors import UsageError


def refuse_occupied(folder: Path, force: bool = False) -> None:
    """Complain now if `folder` cannot be written later, so that no long run is lost for it."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, not a folder; give another name")
    above = next((parent for parent in folder.parents if parent.exists()), None)
    if above is not None and not above.is_dir():
        raise UsageError(f"{folder} cannot be written: {above} is a file; choose another folder")
    if not force and folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; give another folder, or --force to replace its files")


@contextmanager
def whole_folder(folder: Path, force: bool = False, stale: Iterable[str] = ()) -> Iterator[Path]:
    """A temporary sibling to write into, which becomes `folder` when the block ends well.

    With `force`, entries of the same names are replaced one by one, entries named in `stale` that were
    not written again are removed, and everything else in the folder is left alone.
    """
    refuse_occupied(folder, force)
    draft = _sibling(folder, "part")
    try:
        draft.mkdir(parents=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}; choose another folder") from None
    try:
        yield draft
        refuse_occupied(folder, force)
        if folder.is_dir() and any(folder.iterdir()):
            _replace_entries(draft, folder, stale)
        else:
            if folder.is_dir():
                folder.rmdir()  # not every system renames onto an empty folder
            draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _replace_entries(draft: Path, folder: Path, stale: Iterable[str]) -> None:
    fresh = sorted(entry.name for entry in draft.iterdir())
    for name in fresh:
        target = folder / name
        if target.is_dir() and not target.is_symlink():
            old = _sibling(target, "old")
            target.rename(old)
            (draft / name).rename(target)
            shutil.rmtree(old)
        else:
            os.replace(draft / name, target)
    for name in stale:
        if name not in fresh:
            (folder / name).unlink(missing_ok=True)


def _sibling(folder: Path, suffix: str) -> Path:
    absolute = Path(os.path.abspath(folder))
    return absolute.parent / f".{absolute.name}.{os.getpid()}.{suffix}"
