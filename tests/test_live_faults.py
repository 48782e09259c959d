"""What is answered is what happened: on a full disk, after a lost reply, with children left behind."""

from __future__ import annotations

import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from headway.live import outside
from headway.live.clients import until_heard
from headway.live.journal import JournalError
from headway.live.local_server import LocalServer
from headway.live.processes import strays
from headway.live.script import job_script, read_fence
from headway.live.serving import alone
from headway.live.task import Task
from headway.live.wire import BrokenOff, NoAnswer, Refused, Remote
from live_grids import InProcess, cluster, folder, running, short, written


class Full:
    """A connection to a file on a disk that is full, but for the first so many commits."""

    def __init__(self, real: sqlite3.Connection, commits: int = 0) -> None:
        self.real, self.commits = real, commits

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def commit(self) -> None:
        self._write("COMMIT")
        self.real.commit()

    def execute(self, sql: str, values: Any = ()) -> Any:
        self._write(sql)
        return self.real.execute(sql, values)

    def _write(self, sql: str) -> None:
        if sql == "COMMIT" and self.real.in_transaction:
            if self.commits == 0:
                raise sqlite3.OperationalError("database or disk is full")
            self.commits -= 1


def server_of(live: InProcess) -> LocalServer:
    (server,) = live.servers
    assert isinstance(server, LocalServer)
    return server


# ---- a full disk ------------------------------------------------------------------------------------------


def test_a_task_of_which_nothing_was_done_never_runs() -> None:
    with folder() as path, running(written(path, cluster("a", 1))) as live:
        journal = live.agent.journal
        real = journal._db
        journal._db = Full(real)  # type: ignore[assignment]
        with pytest.raises(JournalError, match="nothing is done until it can"):
            live.agent.on_submit(short(0.1, mark=path / "m").as_json(), "mine")
        journal._db = real
        for _ in range(5):
            live.turn()
        assert journal.all_tasks() == [] and not (path / "m").exists()
        # It can be submitted again under its name, when there is space.
        assert live.agent.on_submit(short(0.1, mark=path / "m").as_json(), "mine")["task"] == 1


def test_a_task_that_is_in_the_journal_is_accepted_whatever_fails_then() -> None:
    with folder() as path, running(written(path, cluster("a", 1))) as live:
        journal = live.agent.journal
        real = journal._db
        journal._db = Full(real, commits=1)  # type: ignore[assignment]
        answer = live.agent.on_submit(short(0.1, mark=path / "m").as_json())
        assert answer["task"] == 1 and "cannot be written" in answer["waits_for"]
        journal._db = real
        live.until(live.all_over)
        assert live.agent.on_status(1)["state"] == "done" and (path / "m").read_text().count("\n") == 1


@pytest.mark.parametrize("commits", [0, 1])
def test_a_cluster_whose_queue_cannot_be_written_did_what_it_answered(commits: int) -> None:
    """Refused: it has no such job. Accepted: it has it, although its process could not be written down."""
    with folder() as path, running(written(path, cluster("a", 1))) as live:
        server = server_of(live)
        job = {"name": "hw-1.0.1", "fence": "hw-1.0", "task": short(0.1, mark=path / "m").as_json()}
        real = server.queue._db
        server.queue._db = Full(real, commits)  # type: ignore[assignment]
        if commits == 0:
            with pytest.raises(Refused, match="cannot be written"):
                server.handle("submit", job)
        else:
            server.handle("submit", job)
        server.queue._db = real
        server.tick()
        found = server.handle("poll", {"names": ["hw-1.0.1"]})["jobs"]["hw-1.0.1"]["state"]
        assert found == ("absent" if commits == 0 else "held")
        assert server.handle("picture", {})["procs"] == 1  # and it goes on


def test_a_cancellation_that_could_not_be_written_was_none() -> None:
    with folder() as path, running(written(path, cluster("a", 1))) as live:
        server = server_of(live)
        job = {"name": "hw-1.0.1", "fence": "hw-1.0", "task": short(0.1, mark=path / "m").as_json()}
        server.handle("submit", job)
        real = server.queue._db
        server.queue._db = Full(real)  # type: ignore[assignment]
        with pytest.raises(Refused, match="cannot be written"):
            server.handle("cancel", {"name": "hw-1.0.1"})
        server.queue._db = real
        server.handle("release", {"name": "hw-1.0.1"})
        end = time.monotonic() + 20
        while server.handle("poll", {"names": ["hw-1.0.1"]})["jobs"]["hw-1.0.1"]["state"] != "done":
            assert time.monotonic() < end
            server.tick()
            time.sleep(0.05)


def test_a_task_that_ended_while_nothing_could_be_written_is_done() -> None:
    with folder() as path, running(written(path, cluster("a", 1))) as live:
        server = server_of(live)
        live.agent.on_submit(short(0.5).as_json())
        live.until(lambda: live.agent.on_status(1)["state"] == "running")
        real = server.queue._db
        server.queue._db = Full(real)  # type: ignore[assignment]
        (entry,) = server.entries.values()
        end = time.monotonic() + 20
        while server.processes.is_alive(entry.pid or 0):
            assert time.monotonic() < end
            time.sleep(0.05)
        for _ in range(3):
            with pytest.raises(Refused, match="cannot be written"):
                server.tick()
        server.queue._db = real
        live.until(live.all_over)
        assert (live.agent.on_status(1)["state"], live.agent.on_status(1)["code"]) == ("done", 0)


@pytest.mark.parametrize("code", [0, 3, 255])
def test_the_end_of_a_task_needs_no_space(tmp_path: Path, code: int) -> None:
    """Its exit status goes where space was taken before it began."""
    look = f"stat -c '%i %s' {tmp_path}/fence/exit.new > {tmp_path}/before; exit {code}"
    script = tmp_path / "script"
    script.write_text(job_script(Task(("sh", "-c", look), walltime=1), tmp_path / "fence", "k", 1, "a"))
    assert subprocess.run(["/bin/sh", script]).returncode == code
    fence, after = read_fence(tmp_path / "fence"), (tmp_path / "fence" / "exit").stat()
    assert fence is not None and fence.code == code and fence.ended is not None
    assert (tmp_path / "before").read_text().split() == [str(after.st_ino), str(after.st_size)]


def test_a_task_whose_fence_cannot_be_written_has_not_begun(tmp_path: Path) -> None:
    text = job_script(Task(("touch", str(tmp_path / "ran")), walltime=1), tmp_path / "fence", "k", 1, "a")
    assert subprocess.run(["/bin/sh", "-c", f"ulimit -f 0; trap '' XFSZ; {text}"]).returncode == 74
    assert not (tmp_path / "fence").exists() and not (tmp_path / "ran").exists()


# ---- a lost reply -----------------------------------------------------------------------------------------


class Lossy:
    """An agent whose first reply is lost after it has done what it was asked for."""

    def __init__(self, agent: Any) -> None:
        self.agent, self.lost = agent, 0

    def ask(self, request: str, **data: Any) -> Any:
        answer = self.agent.handle(request, data)
        if self.lost == 0:
            self.lost += 1
            raise BrokenOff("the connection was reset")
        return answer


def test_a_reply_that_was_lost_makes_no_second_task() -> None:
    with folder() as path, running(written(path, cluster("a", 1))) as live:
        asked = {"task": short(0.1, mark=path / "m").as_json(), "submission": "mine"}
        agent: Any = Lossy(live.agent)
        assert until_heard(agent, "submit", asked)["task"] == 1
        assert agent.lost == 1 and len(live.agent.journal.all_tasks()) == 1
        with pytest.raises(Refused, match="the submission mine is task 1, and that is another one"):
            live.agent.on_submit(short(0.2).as_json(), "mine")
        assert live.agent.on_submit(short(0.2).as_json(), "other")["task"] == 2
        live.until(live.all_over)
        assert until_heard(agent, "submit", asked)["state"] == "done"  # also when it is over
        assert (path / "m").read_text().count("\n") == 1


def test_who_was_never_there_is_not_asked_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(outside, "sleep", lambda _: pytest.fail("it waits"))
    with pytest.raises(NoAnswer, match="does not answer"):
        until_heard(Remote(f"unix:{tmp_path}/s"), "submit", {"task": {}, "submission": "mine"})


# ---- what a task leaves behind ----------------------------------------------------------------------------

LEFT = {
    "in the background": "sleep 1000 & sleep 0.5",
    "as a daemon": "setsid sleep 1000 & sleep 0.5",
    "as the daemon of a daemon": "setsid sh -c 'setsid sleep 1000 & exit' & sleep 0.5",
}


@pytest.mark.parametrize("how", LEFT)
@pytest.mark.parametrize("ended", ["by itself", "by its walltime", "by its client"])
def test_what_a_task_has_started_ends_with_it(how: str, ended: str) -> None:
    command = LEFT[how] + ("" if ended == "by itself" else "; sleep 100")
    with folder() as path, running(written(path, cluster("a", 1))) as live:
        walltime = 2_000_000 if ended == "by its walltime" else 60_000_000
        name = live.agent.on_submit(Task(("sh", "-c", command), 1, walltime).as_json())["batch_name"]
        live.until(lambda: any("sleep\x001000" in _words(pid) for pid in strays(name)))
        if ended == "by its client":
            live.agent.on_cancel(1)
        live.until(lambda: live.all_over() and not strays(name))
        wanted = {"by itself": "done", "by its walltime": "killed", "by its client": "cancelled"}
        assert live.agent.on_status(1)["state"] == wanted[ended]


def test_what_an_earlier_server_left_behind_ends_too() -> None:
    with folder() as path:
        grid = written(path, cluster("a", 1))
        with running(grid) as live:
            task = Task(("sh", "-c", LEFT["as a daemon"]), 1, 60_000_000)
            name = live.agent.on_submit(task.as_json())["batch_name"]
            live.until(lambda: any("sleep\x001000" in _words(pid) for pid in strays(name)))
        with running(grid) as live:
            live.until(lambda: live.all_over() and not strays(name))
            assert live.agent.on_status(1)["state"] == "done"


def _words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_locks_are_their_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "agent.lock").touch(0o644)  # as an earlier version left it
    for name in ("agent", "a"):
        with alone(tmp_path, name):
            assert (tmp_path / f"{name}.lock").stat().st_mode & 0o777 == 0o600
