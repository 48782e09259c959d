"""Files of tables on a disk that can be full, and loses what no fsync has reached when the power goes."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from live_world.world import World

BETWEEN = ("world.py", "journal.py", "database.py", "local_queue.py", "contextlib.py", "disk.py")
"""Files between the statement and the one who wants something to be written."""
SYNCED = ("FULL", "EXTRA")
"""Levels of SQLite at which a commit waits for fsync."""
CHANGES = ("INSERT", "UPDATE", "DELETE")


class Killed(BaseException):
    """A process has ended in the middle of what it did; its machine with it where the power went."""

    def __init__(self, power: bool = False) -> None:
        self.power = power


class Tables(sqlite3.Connection):
    """A file whose writes the world sees."""

    world: World
    path: Path
    is_synced = False
    """Whether each commit waits for fsync."""
    synced = 0
    """So many bytes of the log of writes are on the disk whatever happens."""

    @classmethod
    def opened(cls, world: World, path: Path, isolation: Any) -> Tables:
        made = sqlite3.connect(path, isolation_level=isolation, check_same_thread=False, factory=cls)
        made.world, made.path = world, path
        made.execute("PRAGMA wal_autocheckpoint=0")  # the log of writes only grows, so that it can be cut
        world.opened(made)
        return made

    @property
    def log(self) -> Path:
        return self.path.with_name(self.path.name + "-wal")

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        word = sql.split(None, 1)[0]
        if word in CHANGES:
            found: sqlite3.Cursor = self._written(lambda: super(Tables, self).execute(sql, *values), word)
            return found
        if word == "COMMIT":
            found = self._written(lambda: super(Tables, self).execute(sql, *values), word, ends=True)
            return found
        if sql.startswith("PRAGMA synchronous="):
            self.is_synced = sql.rpartition("=")[2] in SYNCED
        return super().execute(sql, *values)

    def commit(self) -> None:
        if self.in_transaction:
            self._written(super().commit, "COMMIT", ends=True)

    def _written(self, act: Callable[[], Any], word: str, ends: bool = False) -> Any:
        """Let something be written; a process may be killed before, after, and while it commits."""
        site = f"{_writer()} {word}"
        self.world.writes(site, "before")
        torn = ends and self.world.wrong("torn write", site)
        done = act()
        if torn:
            raise Killed(power=True)
        if self.is_synced and not self.in_transaction and self.log.exists():
            self.synced = self.log.stat().st_size
        self.world.writes(site, "after")
        return done

    def end(self, power: bool) -> None:
        """What is left when its process was killed, or its machine has lost its power."""
        if not power or not self.log.exists():
            self.close()
            return
        tables, log = self.path.read_bytes(), self.log.read_bytes()
        cut = self.world.draw.randint(min(self.synced, len(log)), len(log))
        torn = self.world.draw.randint(cut, len(log))
        self.close()
        self.path.write_bytes(tables)
        self.log.write_bytes(log[:cut] + bytes(torn - cut))
        self.path.with_name(self.path.name + "-shm").unlink(missing_ok=True)


def _writer() -> str:
    """Whoever wants something to be written, and by which method of the journal or the queue."""
    frame, method = sys._getframe(2), ""
    while (file := frame.f_code.co_filename).endswith(BETWEEN) or frame.f_code.co_name == "_set":
        if not file.endswith(("contextlib.py", "disk.py")):
            method = frame.f_code.co_name
        assert frame.f_back is not None
        frame = frame.f_back
    stem = file.rpartition("/")[2].removesuffix(".py")
    return f"{stem}.{frame.f_code.co_name} {method}"
