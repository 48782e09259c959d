"""The agent's journal: every task, where it was handed to, and each act, written before it is done.

An attempt is one submission of a task to a server. Its states:

    submitting   about to be handed over; whether it arrived is unknown until the server was asked
    held         accepted; it may not start yet
    releasing    about to be let go
    released     it waits, runs, or has ended without our knowing yet
    cancelling   about to be taken back
    gone         taken back, or never arrived
    over         it ended

A task is in one place: it has at most one attempt that is released, and is let go somewhere only after it is
gone everywhere else. After a crash the journal and the servers' answers say what is to be done.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.errors import HeadwayError
from headway.live import outside
from headway.live.database import Database, sound
from headway.live.spans import Span
from headway.live.task import Task
from headway.schedule.pieces import WHY
from headway.units import SECOND
from headway.values import fits

WAITING, RUNNING, SUSPENDED = "waiting", "running", "suspended"
DONE, FAILED, KILLED, CANCELLED, REFUSED = "done", "failed", "killed", "cancelled", "refused"
OVER = (DONE, FAILED, KILLED, CANCELLED, REFUSED)
"""States in which a task stays."""
TASK_STATES = (WAITING, RUNNING, SUSPENDED, *OVER)
LIVE = ("submitting", "held", "releasing", "released", "cancelling")
ATTEMPT_STATES = (*LIVE, "gone", "over")
WHYS, POOLS = range(len(WHY)), range(2)
"""What a server may say of a start: why, and in the first or the second pool of its policy."""
TABLES = ("submissions", "attempts", "spans", "starts", "estimates", "decisions", "tasks")
"""Those with rows of a task."""
DECISIONS = 2000
"""Decisions that are remembered; moves are as long as their tasks are."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tasks (
    task INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, spec TEXT NOT NULL,
    submitted INTEGER NOT NULL, state TEXT NOT NULL, restarts INTEGER NOT NULL DEFAULT 0,
    started INTEGER, ended INTEGER, code INTEGER, latest_end INTEGER, moves INTEGER NOT NULL DEFAULT 0,
    wanted TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS tasks_state ON tasks (state);
CREATE TABLE IF NOT EXISTS attempts (
    attempt INTEGER PRIMARY KEY AUTOINCREMENT, task INTEGER NOT NULL REFERENCES tasks, server TEXT NOT NULL,
    name TEXT NOT NULL UNIQUE, state TEXT NOT NULL, procs INTEGER NOT NULL DEFAULT 0, made INTEGER NOT NULL,
    start INTEGER, completion INTEGER, walltime INTEGER, why TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS attempts_task ON attempts (task);
CREATE INDEX IF NOT EXISTS attempts_state ON attempts (state);
CREATE TABLE IF NOT EXISTS spans (attempt INTEGER PRIMARY KEY, task INTEGER NOT NULL, told TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS submissions (key TEXT PRIMARY KEY, task INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS starts (
    attempt INTEGER PRIMARY KEY, task INTEGER NOT NULL, why INTEGER NOT NULL, pool INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS decisions (
    number INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, kind TEXT NOT NULL, task INTEGER,
    data TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS estimates (
    attempt INTEGER PRIMARY KEY, task INTEGER NOT NULL, server TEXT NOT NULL, made INTEGER NOT NULL,
    start INTEGER NOT NULL, completion INTEGER NOT NULL, started INTEGER, ended INTEGER);
"""


class JournalError(HeadwayError):
    """The journal cannot be written; nothing is done that it does not know."""


@dataclass(frozen=True)
class TaskRow:
    """A task as the journal knows it; times in µs."""

    number: int
    key: str
    task: Task
    submitted: int
    state: str
    restarts: int
    started: int | None
    ended: int | None
    code: int | None
    latest_end: int | None
    moves: int
    wanted: str
    """``cancelled`` where the client wants it to be taken back."""

    @property
    def fence(self) -> str:
        """The name of its fence: another one after a restart that was wanted."""
        return f"{self.key}.{self.restarts}"


@dataclass(frozen=True)
class Attempt:
    """A submission of a task to a server."""

    number: int
    task: int
    server: str
    name: str
    state: str
    procs: int
    made: int
    start: int | None
    completion: int | None
    walltime: int | None
    why: str


TASK_COLUMNS = "task, key, spec, submitted, state, restarts, started, ended, code, latest_end, moves, wanted"
ATTEMPT_COLUMNS = "attempt, task, server, name, state, procs, made, start, completion, walltime, why"


class Journal(Database):
    """The file. Every method is one transaction; :meth:`together` makes several one."""

    name, error = "journal", JournalError

    def __init__(self, path: Path, epoch: int | None = None) -> None:
        """``epoch`` (µs since 1970) is when the clock of a new journal is 0; None: this very second."""
        self.path, self._depth = path, 0
        with self._sentences(), ExitStack() as until_sound:
            super().__init__(path, isolation=None)
            until_sound.callback(self.close)
            self._db.execute("PRAGMA auto_vacuum=INCREMENTAL")  # first: it holds for a file that is empty
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.executescript(SCHEMA)
            self._db.execute(
                "INSERT OR IGNORE INTO facts VALUES ('grid', ?), ('epoch', ?)",
                (outside.word(4), str(outside.now() // SECOND * SECOND if epoch is None else epoch)),
            )
            self.grid = self.fact("grid") or ""
            """A word that no other journal has: names of jobs begin with it."""
            self.epoch = self.number("epoch") or 0
            """When the clock of the grid was 0 (µs since 1970)."""
            until_sound.pop_all()

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except UnicodeDecodeError:  # SQLite says what is wrong in words of the file
            raise self.damaged("its tables cannot be read") from None
        except sqlite3.Error as error:
            if type(error) is sqlite3.DatabaseError:
                raise self.damaged(str(error)) from None
            raise JournalError(
                f"the journal {self.path} cannot be written ({error}); nothing is done until it can: free "
                "space on its disk, or check that nobody else has it open"
            ) from None

    @contextmanager
    def together(self) -> Iterator[None]:
        """All or nothing."""
        if self._depth:
            yield
            return
        with self._sentences():
            self._db.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:  # also of COMMIT, which may leave it open: what follows would be lost
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            finally:
                self._depth -= 1

    def _run(self, sql: str, values: Iterable[Any] = ()) -> sqlite3.Cursor:
        with self._sentences():
            return self._db.execute(sql, tuple(values))

    def rows(self, sql: str, values: Iterable[Any] = ()) -> list[Any]:
        with self._sentences():
            return self._db.execute(sql, tuple(values)).fetchall()

    # ---- tasks --------------------------------------------------------------------------------------------

    def add_task(self, task: Task, now: int, submission: str = "") -> TaskRow:
        """A new task; ``submission`` is the client's own name of it, if it has one."""
        with self.together():
            made = self._run(
                "INSERT INTO tasks (key, spec, submitted, state) VALUES (?, ?, ?, ?)",
                (outside.word(8), task.text(), now, WAITING),
            )
            number = int(made.lastrowid or 0)
            self._run("UPDATE tasks SET key = ? WHERE task = ?", (f"hw-{self.grid}-{number}", number))
            if submission:
                self._run("INSERT INTO submissions VALUES (?, ?)", (submission, number))
        return self.task(number)

    def task(self, number: int) -> TaskRow:
        rows = list(self._tasks("WHERE task = ?", (number,)))
        if not rows:
            raise HeadwayError(f"there is no task {number}; headway live queue lists those there are")
        return rows[0]

    def submitted_as(self, submission: str) -> TaskRow | None:
        """The task that a client has submitted under a name of its own."""
        return next(
            self._tasks("WHERE task IN (SELECT task FROM submissions WHERE key = ?)", (submission,)), None
        )

    def live_tasks(self) -> list[TaskRow]:
        """Tasks that are not over, in order of submission."""
        return list(self._tasks(f"WHERE state NOT IN {OVER!r} ORDER BY task"))

    def unsettled(self) -> list[TaskRow]:
        """Tasks that are not over, and of which something is half done, wanted, or nowhere."""
        half = "('submitting', 'held', 'releasing', 'cancelling')"
        return list(
            self._tasks(
                f"AS t WHERE state NOT IN {OVER!r} AND (wanted != '' "
                f"OR EXISTS (SELECT 1 FROM attempts a WHERE a.task = t.task AND a.state IN {half}) "
                "OR NOT EXISTS (SELECT 1 FROM attempts a WHERE a.task = t.task AND a.state = 'released')) "
                "ORDER BY task"
            )
        )

    def last_tasks(self, count: int) -> list[TaskRow]:
        return list(self._tasks("ORDER BY task DESC LIMIT ?", (count,)))[::-1]

    def all_tasks(self) -> list[TaskRow]:
        return list(self._tasks("ORDER BY task"))

    def _tasks(self, where: str, values: Iterable[Any] = ()) -> Iterator[TaskRow]:
        for row in self.rows(f"SELECT {TASK_COLUMNS} FROM tasks {where}", values):
            number, key, spec, *rest = row
            try:
                task = Task.from_json(json.loads(spec))
            except (HeadwayError, TypeError, ValueError, RecursionError):
                raise self.damaged(f"task {number} of it is no task") from None
            found = TaskRow(number, key, task, *rest)
            if not sound(TaskRow, (number, key, task, *rest)) or found.state not in TASK_STATES:
                raise self.damaged(f"what it says of task {number} cannot be read")
            yield found

    def set_task(self, number: int, **columns: Any) -> None:
        self.set_columns("tasks", "task", number, columns)

    def counts(self) -> dict[str, int]:
        return dict(self.rows("SELECT state, COUNT(*) FROM tasks GROUP BY state"))

    # ---- attempts -----------------------------------------------------------------------------------------

    def add_attempt(self, row: TaskRow, server: str, now: int) -> Attempt:
        """About to be handed to a server."""
        with self.together():
            made = self._run(
                "INSERT INTO attempts (task, server, name, state, made) VALUES (?, ?, ?, 'submitting', ?)",
                (row.number, server, outside.word(8), now),
            )
            number = int(made.lastrowid or 0)
            self.set_attempt(number, name=f"{row.fence}.{number}")
        return self.attempt(number)

    def attempt(self, number: int) -> Attempt:
        return next(self._attempts("WHERE attempt = ?", (number,)))

    def attempts_of(self, task: int) -> list[Attempt]:
        return list(self._attempts("WHERE task = ? ORDER BY attempt", (task,)))

    def live_attempts(self) -> list[Attempt]:
        return list(self._attempts(f"WHERE state IN {LIVE!r} ORDER BY attempt"))

    def attempt_named(self, name: str) -> Attempt | None:
        return next(self._attempts("WHERE name = ?", (name,)), None)

    def _attempts(self, where: str, values: Iterable[Any] = ()) -> Iterator[Attempt]:
        for row in self.rows(f"SELECT {ATTEMPT_COLUMNS} FROM attempts {where}", values):
            found = Attempt(*row)
            if not sound(Attempt, row) or found.state not in ATTEMPT_STATES:
                raise self.damaged(f"attempt {row[0]} of it cannot be read")
            yield found

    def set_attempt(self, number: int, **columns: Any) -> None:
        self.set_columns("attempts", "attempt", number, columns)

    def spans(self, attempt: int) -> list[Span]:
        """When a task was suspended at a server, and its runs there that were given up."""
        return self.spans_of("attempt", attempt)

    def set_spans(self, attempt: Attempt, spans: Iterable[Span]) -> None:
        told = json.dumps(list(spans))
        self._run("INSERT OR REPLACE INTO spans VALUES (?, ?, ?)", (attempt.number, attempt.task, told))

    def start_of(self, attempt: int) -> tuple[int, int] | None:
        """Why a task started last at a server, and in which of its pools; None: the server does not say."""
        rows = self.rows("SELECT why, pool FROM starts WHERE attempt = ?", (attempt,))
        if rows and not all(map(fits, rows[0], (WHYS, POOLS))):
            raise self.damaged(f"why attempt {attempt} of it started cannot be read")
        return rows[0] if rows else None

    def set_start(self, attempt: Attempt, why: int, pool: int) -> None:
        self._run(
            "INSERT OR REPLACE INTO starts VALUES (?, ?, ?, ?)", (attempt.number, attempt.task, why, pool)
        )

    # ---- decisions and estimates --------------------------------------------------------------------------

    def decide(self, now: int, kind: str, task: int | None, **data: Any) -> None:
        """Remember a decision and its reasons."""
        self._run(
            "INSERT INTO decisions (time, kind, task, data) VALUES (?, ?, ?, ?)",
            (now, kind, task, json.dumps(data)),
        )

    def decisions(self, count: int = 50, task: int | None = None) -> list[dict[str, Any]]:
        """The last decisions, the newest first; of one task if it is given."""
        where, values = ("WHERE task = ?", (task,)) if task is not None else ("", ())
        rows = self.rows(
            f"SELECT number, time, kind, task, data FROM decisions {where} ORDER BY number DESC LIMIT ?",
            (*values, count),
        )
        try:
            return [
                {"number": number, "time": int(time), "kind": str(kind), "task": of, **json.loads(data)}
                for number, time, kind, of, data in rows
            ]
        except (TypeError, ValueError, OverflowError, RecursionError):
            raise self.damaged("a decision of it cannot be read") from None

    def estimated(self, attempt: Attempt, start: int, completion: int) -> None:
        """What a server expected of a task when it was handed over."""
        self._run(
            "INSERT OR REPLACE INTO estimates (attempt, task, server, made, start, completion) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (attempt.number, attempt.task, attempt.server, attempt.made, start, completion),
        )

    def happened(self, attempt: int, started: int | None, ended: int | None) -> None:
        self._run("UPDATE estimates SET started = ?, ended = ? WHERE attempt = ?", (started, ended, attempt))

    def estimates(self) -> list[tuple[str, int, int, int, int, int]]:
        """(server, made, start, completion, started, ended) of attempts that ran to their end."""
        return self.rows(
            "SELECT server, made, start, completion, started, ended FROM estimates WHERE ended IS NOT NULL"
        )

    # ---- forgetting ---------------------------------------------------------------------------------------

    def forget(self, keep: int) -> list[str]:
        """Drop the oldest tasks that are over but for ``keep``; the fences that nobody needs any more."""
        over = self.rows(
            f"SELECT task, key, restarts FROM tasks WHERE state IN {OVER!r} "
            "ORDER BY task DESC LIMIT -1 OFFSET ?",
            (keep,),
        )
        with self.together():
            for task, _, _ in over:
                for table in TABLES:
                    self._run(f"DELETE FROM {table} WHERE task = ?", (task,))
            self._run(
                "DELETE FROM decisions WHERE kind != 'moved' "
                "AND number <= (SELECT MAX(number) FROM decisions) - ?",
                (DECISIONS,),
            )
        if over:
            self._run("PRAGMA incremental_vacuum")
        return [f"{key}.{restart}" for _, key, restarts in over for restart in range(restarts + 1)]
