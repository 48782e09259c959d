"""Whether other users of the machine can put something in the place of a file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

OTHERS = 0o077
"""What a mode lets everybody but the owner do."""


def open_to_others(folder: Path) -> tuple[Path, bool] | None:
    """The first of a folder and those above it in which another user can replace what is there, and whether
    it is that user's. Below one that is closed to all others nobody can do anything."""
    user = os.getuid()
    for part in (*reversed(folder.parents), folder):
        found = part.stat()
        theirs = found.st_uid not in (0, user)
        if theirs or _writable_by_others(found):
            return part, theirs
        if found.st_uid == user and not found.st_mode & OTHERS:
            break
    return None


def _writable_by_others(found: os.stat_result) -> bool:
    """Whether somebody else may rename what is in a folder."""
    if found.st_mode & stat.S_ISVTX:
        return False
    own_group = found.st_uid == os.getuid() and _is_private_group(found.st_gid)
    return bool(found.st_mode & (stat.S_IWOTH if own_group else stat.S_IWOTH | stat.S_IWGRP))


def _is_private_group(number: int) -> bool:
    """Whether a group is the one that many systems make for each user, with nobody else in it."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.getuid()), grp.getgrgid(number)
    except KeyError:
        return False
    return user.pw_gid == number and group.gr_name == user.pw_name and not {*group.gr_mem} - {user.pw_name}
