"""The queue of a local cluster on disk: its jobs, and the events from which its policy's state is made again.

The policy is deterministic: the same submissions, cancellations and ends at the same instants lead it to the
same plan, so a server that was killed replays them. When they have become many, its tables are written down,
and the events begin anew from there.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Container, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from headway.errors import HeadwayError
from headway.live.journal import private, sound
from headway.live.server import NAME
from headway.live.spans import Span, stored_spans
from headway.live.task import Task
from headway.live.wire import Refused
from headway.units import LATEST

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
STATES = (*LIVE, "done", "failed", "killed", "cancelled", "fenced")
EVENTS = ("submit", "cancel", "end", "turn")


def _digest(tables: object) -> str:
    """By which tables are known to be those that were written: kernels follow whatever stands in them."""
    return hashlib.sha256(tables if isinstance(tables, bytes) else b"").hexdigest()


@lru_cache(10_000)
def _is_task(text: object) -> bool:
    try:
        Task.from_json(json.loads(str(text)))
    except (HeadwayError, ValueError, RecursionError):
        return False
    return True


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
    def parsed(self) -> Task:
        return Task.from_json(json.loads(self.task))


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
        except UnicodeDecodeError:  # SQLite says what is wrong in words of the file
            raise self._damaged("its tables cannot be read") from None
        except sqlite3.Error as error:
            raise Refused(f"the queue {path} cannot be written ({error})") from None
        try:
            self.epoch = self._number("epoch")
            """When the cluster's clock was 0 (µs since 1970)."""
            self.stood = self._number("stood")
            """How long the clock stood still in all, because nobody looked after the cluster (µs)."""
        except Refused:
            self.close()
            raise

    def _number(self, name: str) -> int:
        """A fact that is a number; 0 where it is not known."""
        found = self._all("SELECT value FROM facts WHERE name = ?", (name,))
        if found and not re.fullmatch("-?[0-9]{1,18}", str(found[0][0])):
            raise self._damaged(f"its {name} is no number")
        return int(found[0][0]) if found else 0

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

    def _damaged(self, how: str) -> Refused:
        return Refused(f"the queue {self.path} is damaged: {how}; put a copy back, or begin anew")

    def _entry(self, row: Sequence[Any]) -> Entry:
        """A job as a row has it: the kernels would follow whatever it says."""
        entry = Entry(*row)
        if not _is_task(entry.task):
            raise self._damaged(f"job {row[0]} of it has no task")
        names = entry.name, entry.fence
        if not sound(Entry, row) or entry.procs < 1 or entry.state not in STATES:
            raise self._damaged(f"what it says of job {row[0]} cannot be read")
        if not all(map(NAME.fullmatch, names)):
            raise self._damaged(f"what it says of job {row[0]} cannot be read")
        return entry

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
        if found is None:  # an index that does not know what the table has
            raise self._damaged("a job that was just written to it is not there")
        return found

    def named(self, name: str) -> Entry | None:
        rows = self._all(f"SELECT {COLUMNS} FROM jobs WHERE name = ?", (name,))
        return self._entry(rows[0]) if rows else None

    def job(self, number: int) -> Entry:
        rows = self._all(f"SELECT {COLUMNS} FROM jobs WHERE number = ?", (number,))
        if not rows:
            raise self._damaged(f"job {number} is not in it")
        return self._entry(rows[0])

    def live(self) -> list[Entry]:
        """Jobs that are not over, in order of submission."""
        rows = self._all(f"SELECT {COLUMNS} FROM jobs WHERE state IN {LIVE!r} ORDER BY number")
        return [self._entry(row) for row in rows]

    def stragglers(self) -> list[Entry]:
        """Jobs that are over, and whose processes nobody has seen to end."""
        rows = self._all(f"SELECT {COLUMNS} FROM jobs WHERE state NOT IN {LIVE!r} AND pid IS NOT NULL")
        return [self._entry(row) for row in rows]

    def set(self, number: int, **columns: Any) -> None:
        names = ", ".join(f"{name} = ?" for name in columns)
        self._all(f"UPDATE jobs SET {names} WHERE number = ?", (*columns.values(), number))

    def note(self, time: int, kind: str, job: int) -> None:
        """An event for the policy."""
        self._all("INSERT INTO events (time, kind, job) VALUES (?, ?, ?)", (time, kind, job))

    def spans(self, job: int) -> list[Span]:
        """When a job was suspended, and its runs that were given up; times in µs since 1970."""
        rows = self._all("SELECT told FROM spans WHERE job = ?", (job,))
        found = stored_spans(rows[0][0]) if rows else []
        if found is None:
            raise self._damaged(f"when job {job} of it was suspended cannot be read")
        return found

    def set_spans(self, job: int, spans: Iterable[Span]) -> None:
        self._all("INSERT OR REPLACE INTO spans VALUES (?, ?)", (job, json.dumps(list(spans))))

    def events(self) -> list[tuple[int, str, int]]:
        found = self._all("SELECT time, kind, job FROM events ORDER BY seq")
        for time, kind, job in found:
            if type(time) is not int or not 0 <= time < LATEST or kind not in EVENTS or type(job) is not int:
                raise self._damaged("an event of it cannot be read")
        return found

    def plan(self) -> tuple[str, bytes]:
        """The policy's tables before the events, none if it began with none, and of what kind all this is."""
        kind, tables = next(iter(self._all("SELECT kind, tables FROM plan")), ("", b""))
        digest, _, kind = str(kind).partition(" ")
        return kind if digest == _digest(tables) else "damaged", tables

    def begin_anew(self, events: Iterable[tuple[int, str, int]], kind: str, plan: bytes = b"") -> None:
        """Other events that lead to the same state, from the policy's tables if they are given."""
        self._all("DELETE FROM events")
        self._all("DELETE FROM plan")
        self._all("INSERT INTO plan VALUES (?, ?)", (f"{_digest(plan)} {kind}", plan))
        for event in events:
            self.note(*event)

    def forget(self, keep: int, asked: Container[str]) -> list[Entry]:
        """Drop the oldest jobs that are over but for ``keep``, and but for those still asked about."""
        rows = self._all(
            f"SELECT {COLUMNS} FROM jobs WHERE state NOT IN {LIVE!r} AND number NOT IN "
            "(SELECT job FROM events) ORDER BY number DESC LIMIT -1 OFFSET ?",
            (keep,),
        )
        over = [entry for entry in map(self._entry, rows) if entry.name not in asked]
        for entry in over:
            self._all("DELETE FROM jobs WHERE number = ?", (entry.number,))
            self._all("DELETE FROM spans WHERE job = ?", (entry.number,))
        return over
