"""A folder of results appears whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from headway.errors import UsageError
from headway.writing import OLD, check_replaceable, check_utf8, disk_trouble, draft_of, remove_drafts

ON_COMMAND_LINE, IN_PYTHON = "--force", "force=True"
"""What replaces the files of a folder, in the words of who asked."""
LAST = ("comparison.json", "run.json")
"""Files by which a folder is known to hold results, and which tie the others together."""


def refuse_occupied(folder: Path, force: bool = False, remedy: str = ON_COMMAND_LINE) -> None:
    """Complain now if `folder` cannot be written later, so that no long run is lost for it."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, not a folder; give another name")
    above = next((parent for parent in folder.parents if parent.exists()), None)
    if above is not None and not above.is_dir():
        raise UsageError(f"{folder} cannot be written: {above} is a file; choose another folder")
    if not force and folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; give another folder, or {remedy} to replace its files")


@contextmanager
def whole_folder(
    folder: Path, force: bool = False, stale: Iterable[str] = (), remedy: str = ON_COMMAND_LINE
) -> Iterator[Path]:
    """A temporary sibling to write into, which becomes `folder` when the block ends well.

    With `force`, entries of the same names are replaced one by one, entries named in `stale` that were
    not written again are removed, and everything else in the folder is left alone. What says that the folder
    holds a run (LAST) goes first and comes last, so that one who is killed in between leaves no mixture.
    """
    folder = Path(os.path.realpath(folder))  # a link stays, what it leads to is written
    check_utf8(folder)
    refuse_occupied(folder, force, remedy)
    remove_drafts(folder)
    draft = draft_of(folder)
    try:
        draft.mkdir(parents=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}; choose another folder") from None
    try:
        yield draft
        refuse_occupied(folder, force, remedy)
        if folder.is_dir() and any(folder.iterdir()):
            _replace_entries(draft, folder, stale)
        else:
            if folder.is_dir():
                folder.rmdir()  # not every system renames onto an empty folder
            draft.rename(folder)
    except Exception as error:
        if (why := disk_trouble(error, draft)) is None:
            raise
        raise UsageError(f"{folder} cannot be written: {why}; choose another folder") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _remove(entry: Path) -> None:
    """Remove a file, a link or a folder, if it is there."""
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink(missing_ok=True)


def _replace_entries(draft: Path, folder: Path, stale: Iterable[str]) -> None:
    fresh = sorted((entry.name for entry in draft.iterdir()), key=lambda name: (name in LAST, name))
    for name in fresh:
        if not (folder / name).is_dir() or (folder / name).is_symlink():
            check_replaceable(folder / name)
    for name in (*LAST, *stale):
        if name in LAST or name not in fresh:
            _remove(folder / name)
    for name in fresh:
        target = folder / name
        if target.is_dir():
            remove_drafts(target)
            old = draft_of(target, OLD)
            target.rename(old)
            (draft / name).rename(target)
            shutil.rmtree(old)
        else:
            os.replace(draft / name, target)
