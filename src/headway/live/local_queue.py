"""The queue of a local cluster on disk: its jobs, and the events from which its policy's state is made again.

The policy is deterministic: the same submissions, cancellations and ends at the same instants lead it to the
same plan, so a server that was killed replays them. When they have become many, its tables are written down,
and the events begin anew from there.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Container, Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.live.journal import private
from headway.live.spans import Span, told_spans
from headway.live.wire import Refused

SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, fence TEXT NOT NULL,
    task TEXT NOT NULL, procs INTEGER NOT NULL, state TEXT NOT NULL, held INTEGER NOT NULL,
    submitted INTEGER NOT NULL, started INTEGER, began INTEGER, ended INTEGER, code INTEGER, pid INTEGER,
    runs INTEGER NOT NULL DEFAULT 0, why INTEGER NOT NULL DEFAULT 0, pool INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS jobs_state ON jobs (state);
CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, kind TEXT NOT NULL, job INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS plan (kind TEXT NOT NULL, tables BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS spans (job INTEGER PRIMARY KEY, told TEXT NOT NULL);
"""
COLUMNS = (
    "number, name, fence, task, procs, state, held, submitted, started, began, ended, code, pid, runs, why, "
    "pool"
)
LIVE = ("waiting", "due", "running", "suspended")
"""States of jobs that are not over. ``due``: the policy started it, but it is held."""


@dataclass(frozen=True)
class Entry:
    """A job of the local queue; times in µs on the cluster's clock."""

    number: int
    name: str
    fence: str
    task: str
    procs: int
    state: str
    held: int
    submitted: int
    started: int | None
    began: int | None
    """The same in µs since 1970, as are ``ended`` and what others are told."""
    ended: int | None
    code: int | None
    pid: int | None
    runs: int
    why: int
    pool: int

    @property
    def loaded(self) -> dict[str, Any]:
        """The task as plain data."""
        found = json.loads(self.task)
        assert isinstance(found, dict)
        return found


class LocalQueue:
    """The file; the caller says when something is to be on disk, by :meth:`commit`."""

    def __init__(self, path: Path, now: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = path
        private(path)
        try:
            with ExitStack() as until_sound:
                database = sqlite3.connect(path, isolation_level="IMMEDIATE", check_same_thread=False)
                self._db = until_sound.enter_context(closing(database))
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=NORMAL")
                self._db.executescript(SCHEMA)
                self._db.execute("INSERT OR IGNORE INTO facts VALUES ('epoch', ?)", (str(now),))
                self._db.commit()
                until_sound.pop_all()
        except sqlite3.Error as error:
            raise Refused(f"the queue {path} cannot be written ({error})") from None
        self.epoch = int(self._all("SELECT value FROM facts WHERE name = 'epoch'")[0][0])
        """When the cluster's clock was 0 (µs since 1970)."""
        stood = self._all("SELECT value FROM facts WHERE name = 'stood'")
        self.stood = int(stood[0][0]) if stood else 0
        """How long the clock stood still in all, because nobody looked after the cluster (µs)."""

    def stand(self, time: int) -> None:
        """Let the clock have stood still for so long."""
        self.stood += time
        self._all("INSERT OR REPLACE INTO facts VALUES ('stood', ?)", (str(self.stood),))

    def _all(self, sql: str, values: Iterable[Any] = ()) -> list[Any]:
        try:
            return self._db.execute(sql, tuple(values)).fetchall()
        except sqlite3.Error as error:
            self._db.rollback()
            raise self._unwritable(error) from None

    def commit(self) -> None:
        try:
            self._db.commit()
        except sqlite3.Error as error:
            self._db.rollback()
            raise self._unwritable(error) from None

    def _unwritable(self, error: sqlite3.Error) -> Refused:
        return Refused(f"the queue {self.path} cannot be written ({error}); free space on its disk")

    def close(self) -> None:
        self._db.close()

    def add(self, name: str, fence: str, task: str, procs: int, now: int) -> Entry:
        """A job that is handed over, held."""
        self._all(
            "INSERT INTO jobs (name, fence, task, procs, state, held, submitted) "
            "VALUES (?, ?, ?, ?, 'waiting', 1, ?)",
            (name, fence, task, procs, now),
        )
        found = self.named(name)
        assert found is not None
        return found

    def named(self, name: str) -> Entry | None:
        rows = self._all(f"SELECT {COLUMNS} FROM jobs WHERE name = ?", (name,))
        return Entry(*rows[0]) if rows else None

    def job(self, number: int) -> Entry:
        return Entry(*self._all(f"SELECT {COLUMNS} FROM jobs WHERE number = ?", (number,))[0])

    def live(self) -> list[Entry]:
        """Jobs that are not over, in order of submission."""
        rows = self._all(f"SELECT {COLUMNS} FROM jobs WHERE state IN {LIVE!r} ORDER BY number")
        return [Entry(*row) for row in rows]

    def stragglers(self) -> list[Entry]:
        """Jobs that are over, and whose processes nobody has seen to end."""
        rows = self._all(f"SELECT {COLUMNS} FROM jobs WHERE state NOT IN {LIVE!r} AND pid IS NOT NULL")
        return [Entry(*row) for row in rows]

    def set(self, number: int, **columns: Any) -> None:
        names = ", ".join(f"{name} = ?" for name in columns)
        self._all(f"UPDATE jobs SET {names} WHERE number = ?", (*columns.values(), number))

    def note(self, time: int, kind: str, job: int) -> None:
        """An event for the policy."""
        self._all("INSERT INTO events (time, kind, job) VALUES (?, ?, ?)", (time, kind, job))

    def spans(self, job: int) -> list[Span]:
        """When a job was suspended, and its runs that were given up; times in µs since 1970."""
        rows = self._all("SELECT told FROM spans WHERE job = ?", (job,))
        return (told_spans(json.loads(rows[0][0])) or []) if rows else []

    def set_spans(self, job: int, spans: Iterable[Span]) -> None:
        self._all("INSERT OR REPLACE INTO spans VALUES (?, ?)", (job, json.dumps(list(spans))))

    def events(self) -> list[tuple[int, str, int]]:
        return self._all("SELECT time, kind, job FROM events ORDER BY seq")

    def plan(self) -> tuple[str, bytes]:
        """The policy's tables before the events, and what kind they are of; nothing if it began with none."""
        return next(iter(self._all("SELECT kind, tables FROM plan")), ("", b""))

    def begin_anew(self, events: Iterable[tuple[int, str, int]], kind: str = "", plan: bytes = b"") -> None:
        """Other events that lead to the same state, from the policy's tables if they are given."""
        self._all("DELETE FROM events")
        self._all("DELETE FROM plan")
        if plan:
            self._all("INSERT INTO plan VALUES (?, ?)", (kind, plan))
        for event in events:
            self.note(*event)

    def forget(self, keep: int, asked: Container[str]) -> list[Entry]:
        """Drop the oldest jobs that are over but for ``keep``, and but for those still asked about."""
        rows = self._all(
            f"SELECT {COLUMNS} FROM jobs WHERE state NOT IN {LIVE!r} AND number NOT IN "
            "(SELECT job FROM events) ORDER BY number DESC LIMIT -1 OFFSET ?",
            (keep,),
        )
        over = [entry for entry in (Entry(*row) for row in rows) if entry.name not in asked]
        for entry in over:
            self._all("DELETE FROM jobs WHERE number = ?", (entry.number,))
            self._all("DELETE FROM spans WHERE job = ?", (entry.number,))
        return over
