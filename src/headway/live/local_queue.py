"""The queue of a local cluster on disk: its jobs, and the events from which its policy's state is made again.

The policy is deterministic: the same submissions, cancellations and ends at the same instants lead it to the
same plan, so a server that was killed replays them. When they have become many, its tables are written down,
and the events begin anew from there.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Container, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from headway.errors import HeadwayError
from headway.live.database import Database, sound
from headway.live.server import NAME
from headway.live.spans import Span
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


class LocalQueue(Database):
    """The file; the caller says when something is to be on disk, by :meth:`commit`."""

    name, error = "queue", Refused

    def __init__(self, path: Path, now: int) -> None:
        self.path = path
        self.lost = False
        """Whether something that was written since the last commit is not on disk, because it was full."""
        try:
            with ExitStack() as until_sound:
                super().__init__(path, isolation="IMMEDIATE")
                until_sound.callback(self.close)
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=FULL")
                self._db.executescript(SCHEMA)
                self._db.execute("INSERT OR IGNORE INTO facts VALUES ('epoch', ?)", (str(now),))
                self._db.commit()
                self.epoch = self.number("epoch") or 0
                """When the cluster's clock was 0 (µs since 1970)."""
                self.stood = self.number("stood") or 0
                """How long the clock stood still in all, because nobody looked after the cluster (µs)."""
                until_sound.pop_all()
        except UnicodeDecodeError:  # SQLite says what is wrong in words of the file
            raise self.damaged("its tables cannot be read") from None
        except sqlite3.Error as error:
            raise Refused(f"the queue {path} cannot be written ({error})") from None

    def read_again(self) -> None:
        """Go on from what is on disk."""
        self._db.rollback()
        self.lost, self.stood = False, self.number("stood") or 0

    def stand(self, time: int) -> None:
        """Let the clock have stood still for so long."""
        self.stood += time
        self.set_fact("stood", self.stood)

    def rows(self, sql: str, values: Iterable[Any] = ()) -> list[Any]:
        try:
            return self._db.execute(sql, tuple(values)).fetchall()
        except sqlite3.Error as error:
            raise self._unwritable(error) from None

    def commit(self) -> None:
        try:
            self._db.commit()
        except sqlite3.Error as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: sqlite3.Error) -> Refused:
        self.lost = True
        self._db.rollback()
        return Refused(f"the queue {self.path} cannot be written ({error}); free space on its disk")

    def _entry(self, row: Sequence[Any]) -> Entry:
        """A job as a row has it: the kernels would follow whatever it says."""
        entry = Entry(*row)
        if not _is_task(entry.task):
            raise self.damaged(f"job {row[0]} of it has no task")
        names = entry.name, entry.fence
        if not sound(Entry, row) or entry.procs < 1 or entry.state not in STATES:
            raise self.damaged(f"what it says of job {row[0]} cannot be read")
        if not all(map(NAME.fullmatch, names)):
            raise self.damaged(f"what it says of job {row[0]} cannot be read")
        return entry

    def add(self, name: str, fence: str, task: str, procs: int, now: int) -> Entry:
        """A job that is handed over, held."""
        self.rows(
            "INSERT INTO jobs (name, fence, task, procs, state, held, submitted) "
            "VALUES (?, ?, ?, ?, 'waiting', 1, ?)",
            (name, fence, task, procs, now),
        )
        found = self.named(name)
        if found is None:  # an index that does not know what the table has
            raise self.damaged("a job that was just written to it is not there")
        return found

    def named(self, name: str) -> Entry | None:
        rows = self.rows(f"SELECT {COLUMNS} FROM jobs WHERE name = ?", (name,))
        return self._entry(rows[0]) if rows else None

    def job(self, number: int) -> Entry:
        rows = self.rows(f"SELECT {COLUMNS} FROM jobs WHERE number = ?", (number,))
        if not rows:
            raise self.damaged(f"job {number} is not in it")
        return self._entry(rows[0])

    def live(self) -> list[Entry]:
        """Jobs that are not over, in order of submission."""
        rows = self.rows(f"SELECT {COLUMNS} FROM jobs WHERE state IN {LIVE!r} ORDER BY number")
        return [self._entry(row) for row in rows]

    def stragglers(self) -> list[Entry]:
        """Jobs that are over, and whose processes nobody has seen to end."""
        rows = self.rows(f"SELECT {COLUMNS} FROM jobs WHERE state NOT IN {LIVE!r} AND pid IS NOT NULL")
        return [self._entry(row) for row in rows]

    def set(self, number: int, **columns: Any) -> None:
        self.set_columns("jobs", "number", number, columns)

    def note(self, time: int, kind: str, job: int) -> None:
        """An event for the policy."""
        self.rows("INSERT INTO events (time, kind, job) VALUES (?, ?, ?)", (time, kind, job))

    def spans(self, job: int) -> list[Span]:
        """When a job was suspended, and its runs that were given up; times in µs since 1970."""
        return self.spans_of("job", job)

    def set_spans(self, job: int, spans: Iterable[Span]) -> None:
        self.rows("INSERT OR REPLACE INTO spans VALUES (?, ?)", (job, json.dumps(list(spans))))

    def events(self) -> list[tuple[int, str, int]]:
        found = self.rows("SELECT time, kind, job FROM events ORDER BY seq")
        for time, kind, job in found:
            if type(time) is not int or not 0 <= time < LATEST or kind not in EVENTS or type(job) is not int:
                raise self.damaged("an event of it cannot be read")
        return found

    def plan(self) -> tuple[str, bytes]:
        """The policy's tables before the events, none if it began with none, and of what kind all this is."""
        kind, tables = next(iter(self.rows("SELECT kind, tables FROM plan")), ("", b""))
        digest, _, kind = str(kind).partition(" ")
        return kind if digest == _digest(tables) else "damaged", tables

    def begin_anew(self, events: Iterable[tuple[int, str, int]], kind: str, plan: bytes = b"") -> None:
        """Other events that lead to the same state, from the policy's tables if they are given."""
        self.rows("DELETE FROM events")
        self.rows("DELETE FROM plan")
        self.rows("INSERT INTO plan VALUES (?, ?)", (f"{_digest(plan)} {kind}", plan))
        for event in events:
            self.note(*event)

    def forget(self, keep: int, asked: Container[str]) -> list[Entry]:
        """Drop the oldest jobs that are over but for ``keep``, and but for those still asked about."""
        rows = self.rows(
            f"SELECT {COLUMNS} FROM jobs WHERE state NOT IN {LIVE!r} AND number NOT IN "
            "(SELECT job FROM events) ORDER BY number DESC LIMIT -1 OFFSET ?",
            (keep,),
        )
        over = [entry for entry in map(self._entry, rows) if entry.name not in asked]
        for entry in over:
            self.rows("DELETE FROM jobs WHERE number = ?", (entry.number,))
            self.rows("DELETE FROM spans WHERE job = ?", (entry.number,))
        return over
