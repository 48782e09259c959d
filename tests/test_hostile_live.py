"""What comes to a live grid from outside, or was damaged on its disk: a sentence, never a traceback."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from commands import SWF, Headway
from headway.cli import live as commands_of_live
from headway.cli.live import _row
from headway.errors import UsageError
from headway.live import wire
from headway.live.agent import LiveAgent
from headway.live.demo import GRID, remove_demonstration
from headway.live.grid_file import load_grid
from headway.live.journal import Journal, JournalError
from headway.live.local_server import LocalServer
from headway.live.page import page
from headway.live.proxy import Proxy
from headway.live.record import recorded
from headway.live.rehearsal import _begin_anew
from headway.live.simulated_server import SimulatedServer
from headway.live.task import Task
from headway.live.wire import NoAnswer, Refused, Remote, close, listen, read_token
from live_grids import cluster, folder, running, written
from slurm_clusters import free_port

DEEP = b"[" * 100_000


def refused(run: Headway, *words: str) -> str:
    """The one sentence with which a command ends."""
    done = run(*words)
    assert done.status == 2 and done.err.count("\n") == 1, done.err
    return done.err


def test_requests_that_nobody_sends(tmp_path: Path) -> None:
    """Lengths that are no numbers, documents without end, bytes that are no text: each gets an answer."""
    server = listen(f"unix:{tmp_path}/s", lambda request, data: data)
    lengths = {"\u00b2": b"413", "-1": b"413", "9" * 5000: b"413", "1" + "0" * 17: b"413", "": b"413"}
    bodies = {DEEP: b"400", b"[1]": b"400", b"\xff\xfe": b"400", b'{"a": NaN}': b"200", b"9" * 5000: b"400"}
    try:
        for length, status in lengths.items():
            assert answered(tmp_path / "s", length.encode("latin-1"), b"{}") == status, length
        for body, status in bodies.items():
            assert answered(tmp_path / "s", str(len(body)).encode(), body) == status, body[:20]
    finally:
        close(server)


def answered(path: Path, length: bytes, body: bytes) -> bytes:
    """The status of the answer to a request."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(path))
        head = b"POST /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: "
        client.sendall(head + length + b"\r\n\r\n" + body)
        return client.recv(1 << 16).split()[1]


def test_who_sends_byte_by_byte_has_no_longer_than_who_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger that keeps a connection busy would keep others from it for ever."""
    monkeypatch.setattr(wire._Listener, "patience", 0.5)
    port = free_port()
    server = listen(f"http://127.0.0.1:{port}", lambda request, data: data, token="x" * 20)
    try:
        with socket.create_connection(("127.0.0.1", port)) as client:
            begun = time.monotonic()
            with pytest.raises(OSError):
                for byte in itertools.cycle(b"POST /hello HTTP/1.1\r\nX: "):
                    assert time.monotonic() < begun + 5
                    client.sendall(bytes([byte]))
                    time.sleep(0.05)
        remote = Remote(f"http://127.0.0.1:{port}", token="x" * 20)
        with closing(remote):  # who has shown the token is not hurried
            assert remote.ask("hello", a=1) == {"a": 1}
            connection = remote._connection
            time.sleep(1)
            assert remote.ask("hello", a=2) == {"a": 2} and remote._connection is connection
    finally:
        close(server)


@pytest.mark.parametrize(
    ("request_", "data", "sentence"),
    [
        ("submit", {}, "submit needs 'task'"),
        ("submit", {"task": {}, "a": 1}, "submit takes no 'a'; it takes task"),
        ("submit", {"task": 5}, "submit: 'task' must be a JSON object"),
        ("status", {"task": 10**30}, "status: 'task' must be a whole number"),
        ("status", {"task": True}, "status: 'task' must be a whole number"),
        ("explain", {"task": "x"}, "explain: 'task' must be a whole number"),
        ("queue", {"count": 1.5}, "queue: 'count' must be a whole number"),
        ("state", {"count": 1}, "state takes no 'count'; it takes nothing"),
    ],
)
def test_requests_that_do_not_fit(request_: str, data: dict[str, object], sentence: str) -> None:
    with folder() as path:
        agent = LiveAgent(written(path, cluster("a", 2)), True, print)
        with pytest.raises(Refused, match=re.escape(sentence)):
            agent.handle(request_, data)
        assert agent.handle("explain", {"task": None}) == {"decisions": []}
        agent.stop()


@pytest.mark.parametrize(
    ("request_", "data"),
    [
        ("poll", {"names": 5}),
        ("poll", {"names": [1, None]}),
        ("poll", {"names": ["x"], "prefix": 5}),
        ("cancel", {"name": "\ud800"}),
        ("describe", {"name": "x"}),
    ],
)
def test_requests_to_a_server_that_do_not_fit(request_: str, data: dict[str, object]) -> None:
    with folder() as path:
        grid = written(path, cluster("a", 2, kind="simulated"))
        with pytest.raises(Refused, match=r"must be|takes no"):
            SimulatedServer(grid, grid.sites[0], control=True).handle(request_, data)


@pytest.mark.parametrize(
    "wrong",
    [
        {"deadline": 10**30}, {"deadline": -1}, {"memory_mb": 2**53}, {"memory_mb": 0}, {"max_procs": 0},
        {"max_procs": 10**30}, {"runtime": -1}, {"runtime": 10**30}, {"walltime": 10**30},
        {"stage_time": 10**30}, {"forms": [[1, 10**30]]}, {"command": ["\ud800"]}, {"name": "\ud800"},
    ],
)  # fmt: skip
def test_tasks_that_no_cluster_could_count_with(wrong: dict[str, object]) -> None:
    sound: dict[str, object] = {"command": ["true"], "walltime": 1_000_000}
    with pytest.raises(UsageError, match="a task's"):
        Task.from_json(sound | wrong)


def test_words_that_are_no_text_reach_the_program_as_they_are() -> None:
    """A file may have a name that is no UTF-8; a server that could not write the script ended, for ever."""
    with folder() as path, running(written(path, cluster("a", 1))) as live:
        name = os.fsdecode(os.fsencode(path) + b"/\xff\xfe")
        live.agent.on_submit(Task(("touch", name), 1, 5_000_000).as_json())
        live.until(live.all_over)
        assert (live.agent.on_status(1)["state"], os.path.exists(name)) == ("done", True)


def test_a_token_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"\xff" * 20)
    (tmp_path / "token").chmod(0o600)
    with pytest.raises(UsageError, match="cannot be read \\(it is not text\\)"):
        read_token(tmp_path / "token")


@pytest.mark.parametrize("spec", ["{", "[]", '{"procs": "many"}', '{"unknown": 1}', DEEP.decode(), 7, None])
def test_a_damaged_task_of_a_journal(tmp_path: Path, spec: object) -> None:
    journal = Journal(tmp_path / "journal.db")
    journal.add_task(Task(command=("true",), procs=1, walltime=1_000_000), 0)
    journal.close()
    with sqlite3.connect(tmp_path / "journal.db") as database:
        if spec is None:
            database.execute("UPDATE facts SET value = 'never' WHERE name = 'epoch'")
        else:
            database.execute("UPDATE tasks SET spec = ?", (spec,))
    database.close()
    damaged = pytest.raises(JournalError, match=r"journal\.db is damaged: .*; put a copy back, or start")
    with damaged, closing(Journal(tmp_path / "journal.db")) as again:
        again.all_tasks()


def test_a_journal_that_is_cut_or_overwritten(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.db")
    journal.add_task(Task(command=("true",), procs=1, walltime=1_000_000), 0)
    journal.close()
    sound = (tmp_path / "journal.db").read_bytes()
    for number, data in enumerate((sound[:5000], sound[: len(sound) // 2], b"no database" * 99, DEEP)):
        file = tmp_path / f"{number}.db"
        file.write_bytes(data)
        with pytest.raises(JournalError, match=f"the journal .*{number}.db"), closing(Journal(file)) as again:
            again.all_tasks()


@pytest.mark.parametrize(
    "line",
    [
        "{", "[]", "7", DEEP.decode(), '{"time": 1}', '{"time": 1e999, "policies": {}, "slurm": []}',
        '{"time": 1, "policies": [], "slurm": []}', '{"time": 1, "policies": {"a": 1}, "slurm": []}',
        '{"time": 1, "policies": {"a": {"start": [[]]}}, "slurm": []}',
        '{"time": 1, "policies": {}, "slurm": [{"job": "7", "start": 1' + "0" * 400 + "}]}",
        '{"time": 1, "policies": {}, "slurm": [1]}', '{"time": 1, "policies": {}, "slurm": [{"job": {}}]}',
    ],
)  # fmt: skip
def test_a_record_of_looks_that_shadow_did_not_write(run: Headway, line: str) -> None:
    sound = json.dumps({"time": 1, "policies": {}, "slurm": []})
    run.write("week.jsonl", f"{sound}\n{line}\n")
    said = refused(run, "live", "shadow", "week.jsonl")
    assert "week.jsonl:2: is not a record that headway live shadow wrote" in said


def test_quotation_marks_that_are_not_closed(run: Headway) -> None:
    what_if, submit = ("what-if", run.write("log.swf", SWF)), ("live", "submit", "--walltime", "1m")
    run.write("variants", "nodes='+2\n")
    assert "not closed in the variant" in refused(run, *what_if, "--variants", "variants")
    assert "not closed in the variant" in refused(run, *what_if, "--against", "'")
    run.write("variants", b"\xff\xfe")
    assert "is not text in UTF-8" in refused(run, *what_if, "--variants", "variants")
    assert "--stage has a quotation mark" in refused(run, *submit, "--stage", "'", "true")
    for size in ("\u00b2", "9" * 5000):
        assert "--form must be N:TIME" in refused(run, *submit, "--form", f"{size}:1m", "true")


def test_a_record_of_an_exchange_that_is_none(run: Headway) -> None:
    run.write("log.swf", SWF)
    for text in ("{\n{}\n", DEEP.decode() + "\n{}\n"):
        run.write("exchange.jsonl", text)
        said = refused(run, "batsim", "run", "log.swf", "--procs", "4", "--replay", "exchange.jsonl")
        assert "message 1 of the record is not JSON" in said
    run.write("exchange.jsonl", "{}\n{}\n")
    replayed = ("--replay", "exchange.jsonl", "--record", "/dev/null")
    words = ("batsim", "run", "log.swf", "--procs", "4", *replayed)
    assert "/dev/null is a device; only regular files are replaced" in refused(run, *words)


def test_the_words_of_a_command_are_its_own(run: Headway, monkeypatch: pytest.MonkeyPatch) -> None:
    """Options of headway stand before the command; what follows its first word is the program's."""
    asked: list[Task] = []

    def heard(grid: object, request: str, task: dict[str, object], submission: str) -> dict[str, object]:
        asked.append(Task.from_json(task))
        return {"task": 1, "waits_for": "nobody"}

    monkeypatch.setattr(commands_of_live, "ask", heard)
    run.write("grid.toml", '[[cluster]]\nname = "a"\nprocs = 1\n')
    words = ("solve", "-n", "4", "--name", "x", "--urgent", "--", "-h")
    assert run("live", "submit", "--walltime", "9", "--name", "mine", *words).status == 0
    assert run("live", "submit", "--walltime", "9", "--", "-odd", "name").status == 0
    assert [(task.command, task.name, task.urgent) for task in asked] == [
        (words, "mine", False),
        (("-odd", "name"), "", False),
    ]


@pytest.mark.parametrize("number", ["9" * 30, "-1", "x"])
def test_numbers_that_no_task_has(run: Headway, number: str) -> None:
    run.write("grid.toml", '[[cluster]]\nname = "a"\nprocs = 1\n')
    assert "TASK must be" in refused(run, "live", "status", "--", number)
    assert "TASK must be" in refused(run, "live", "cancel", "--", number)


@pytest.mark.skipif(
    signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, reason="under nohup nothing ends with its terminal"
)
def test_an_agent_says_why_a_server_has_ended_and_ends_with_its_terminal(tmp_path: Path) -> None:
    with folder() as path:
        table = cluster("a", 2, policy="redirection(group=1)")
        grid = written(path, table, more="timeout = 1", allow='"submit"')
        words = [sys.executable, "-m", "headway", "live", "agent", str(grid.file), "--servers", "--control"]
        agent = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        try:
            assert agent.stderr is not None
            said = next(line for line in agent.stderr if "has ended" in line)
            assert "the server of a has ended: cluster a: redirection needs the act requeue" in said
            agent.send_signal(signal.SIGHUP)
            assert agent.wait(60) == 0
            assert not (path / "state/agent.sock").exists()
        finally:
            agent.kill()
            agent.communicate()


def test_names_of_tasks_end_no_script_of_the_page() -> None:
    """Not even by beginning a comment with a script in it, in which the page's own end would not count."""
    for name in ("<!--<script>", "</script><script>alert(1)</script>"):
        written_page = page({"tasks": [{"name": name}]}).decode()
        assert name not in written_page and "\\u003c" in written_page


def test_a_name_of_two_lines_is_one_line_of_the_queue() -> None:
    task = {"task": 1, "name": "a\n2 b", "state": "done", "moves": 0}
    times = dict.fromkeys(("started", "ended", "submitted"))
    assert _row(task | times)[:3] == ["1", "a 2 b", "done"]


RUNS = {"state": "running", "started": 5}
NO_ANSWERS: list[tuple[str, object]] = [
    ("estimate", {}),
    ("estimate", {"completion": "soon", "procs": 4}),
    ("estimate", {"completion": 5, "procs": 4.5}),
    ("submit", {"completion": None, "procs": 4}),
    ("cancel", {"gone": "yes"}),
    ("kill", {}),
    ("poll", {"jobs": [], "others": []}),
    ("poll", {"jobs": {}, "others": []}),
    ("poll", {"jobs": {"mine": {}}, "others": []}),
    ("poll", {"jobs": {"mine": {"state": 3}}, "others": []}),
    ("poll", {"jobs": {"mine": {"state": "running", "started": "now"}}, "others": []}),
    ("poll", {"jobs": {"mine": RUNS, "never asked for": RUNS}, "others": []}),
    ("poll", {"jobs": {"mine": RUNS}, "others": [7]}),
    ("poll", {"jobs": {"mine": RUNS}}),
]


@pytest.mark.parametrize(("asked", "answer"), NO_ANSWERS)
def test_a_server_that_answers_something_else_has_not_answered(
    tmp_path: Path, asked: str, answer: object
) -> None:
    """Its tasks stay where they are, and the agent goes on with the other clusters."""
    server = listen(f"unix:{tmp_path}/s", lambda request, data: answer)
    remote, journal = Remote(f"unix:{tmp_path}/s"), Journal(tmp_path / "journal")
    try:
        with pytest.raises(NoAnswer, match=f"cluster odd does not answer {asked} soundly"):
            Proxy("odd", remote, journal).ask(asked, names=["mine"])
    finally:
        journal.close()
        remote.close()
        close(server)


def test_a_sound_answer_is_passed_on(tmp_path: Path) -> None:
    answer = {"jobs": {"mine": RUNS}, "others": ["left over"], "now": 7}
    server, remote = listen(f"unix:{tmp_path}/s", lambda request, data: answer), Remote(f"unix:{tmp_path}/s")
    journal = Journal(tmp_path / "journal")
    try:
        assert Proxy("even", remote, journal).ask("poll", names=["mine"]) == answer
    finally:
        journal.close()
        remote.close()
        close(server)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE events SET time = 1e300", "UPDATE events SET time = -5", "UPDATE events SET kind = 'x'",
        "UPDATE events SET job = 77", "UPDATE events SET job = 'x'", "UPDATE jobs SET procs = 'x'",
        "UPDATE jobs SET procs = -1", "UPDATE jobs SET task = '{'", "UPDATE jobs SET submitted = 'x'",
        "UPDATE jobs SET name = '../../x'", "UPDATE jobs SET fence = '../../x'", "UPDATE jobs SET pid = 'x'",
        "UPDATE facts SET value = 'x'", "INSERT INTO spans VALUES (1, '[[0]]')", "DELETE FROM jobs",
    ],
)  # fmt: skip
def test_a_damaged_queue_of_a_local_cluster(damage: str) -> None:
    """The kernels follow what stands there: one of these ended the server without a word."""
    with folder() as path:
        grid = written(path, cluster("a", 1))
        server = LocalServer(grid, grid.sites[0], control=True)
        server.submit("hw-g-1.0.1", "hw-g-1.0", Task(("true",), 1, 5_000_000).as_json())
        server.stop()
        with closing(sqlite3.connect(grid.folder / "a" / "queue.db")) as database, database:
            database.execute(damage)
        with pytest.raises(Refused, match=r"the queue .*queue\.db is damaged: .*; put a copy back"):
            again = LocalServer(grid, grid.sites[0], control=True)
            again.queue.spans(1)


def test_tables_of_a_plan_that_are_not_those_that_were_written() -> None:
    """What waits joins the queue again."""
    with folder() as path:
        grid = written(path, cluster("a", 1))
        server = LocalServer(grid, grid.sites[0], control=True)
        server.submit("hw-g-1.0.1", "hw-g-1.0", Task(("true",), 1, 5_000_000).as_json())
        server.batch.close()
        server.queue.begin_anew([], server._kind, server.batch.saved())
        assert server.queue.plan()[0] == server._kind
        server.stop()
        with closing(sqlite3.connect(grid.folder / "a" / "queue.db")) as database, database:
            database.execute("UPDATE plan SET tables = substr(tables, 1, 100)")
        again = LocalServer(grid, grid.sites[0], control=True)
        assert again.poll(["hw-g-1.0.1"])["jobs"]["hw-g-1.0.1"]["state"] == "held"
        again.stop()


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("UPDATE tasks SET ended = 'x'", "what it says of task 1 cannot be read"),
        ("UPDATE tasks SET ended = 1", "what it says of task 1 does not agree"),
        ("UPDATE attempts SET walltime = 'x'", "attempt 1 of it cannot be read"),
        ("UPDATE attempts SET procs = 0", "what it says of task 1 does not agree"),
        ("UPDATE attempts SET state = 'gone'", "what it says of task 1 does not agree"),
        ("UPDATE attempts SET state = 'x'", "attempt 1 of it cannot be read"),
        ("INSERT INTO spans VALUES (1, 1, '[[0, \"x\", 1, 2]]')", "suspended cannot be read"),
        ("INSERT INTO decisions VALUES (1, 1, 'moved', 1, '{\"source\": \"z\"}')", "a move of task 1"),
        ("INSERT INTO decisions VALUES (1, 'x', 'moved', 1, '{}')", "a decision of it cannot be read"),
    ],
)
def test_a_damaged_journal_of_tasks_that_ran(damage: str, sentence: str) -> None:
    with folder() as path:
        grid = written(path, cluster("a", 1))
        with closing(Journal(grid.folder / "journal.db")) as journal:
            now = journal.epoch
            row = journal.add_task(Task(("true",), 1, 5_000_000), now)
            attempt = journal.add_attempt(row, "a", now)
            journal.set_attempt(attempt.number, state="over", procs=1, walltime=5_000_000)
            journal.set_task(1, state="done", started=now, ended=now + 7)
            assert len(recorded(grid, journal)) == 1
            journal._run(damage)
            with pytest.raises(JournalError, match=f"is damaged: .*{sentence}.*; put a copy back"):
                recorded(grid, journal)


def test_a_rehearsal_takes_nothing_away_but_the_journal_of_an_earlier_one() -> None:
    """The folder of a grid may be the one that everything else lies in."""
    with folder() as path:
        text = '[grid]\nfolder = "."\n' + cluster("a", 4, kind="simulated")
        (path / "grid.toml").write_text(text)
        (path / "mine.txt").write_text("precious")
        (path / "a").mkdir()
        (path / "a" / "mine.txt").write_text("precious")
        grid = load_grid(path / "grid.toml")
        Journal(path / "journal.db", epoch=0).close()
        _begin_anew(grid)
        left = sorted(str(file.relative_to(path)) for file in path.rglob("*.*"))
        assert left == ["a/mine.txt", "grid.toml", "mine.txt"]
        Journal(path / "journal.db").close()
        with pytest.raises(UsageError, match="journal of a grid that was not simulated"):
            _begin_anew(grid)
        assert (path / "journal.db").exists()


def test_a_demonstration_takes_nothing_away_but_an_earlier_one(run: Headway) -> None:
    for name in ("home", "grid", "old", "old/state"):
        (run.folder / name).mkdir()
    run.write("home/thesis.tex", "precious")
    assert "thesis.tex, which is of no demonstration" in refused(
        run, "live", "demo", "--out", "home", "--force"
    )
    run.write("grid/grid.toml", "[grid]\n")
    assert "grid.toml, which is of no demonstration" in refused(
        run, "live", "demo", "--out", "grid", "--force"
    )
    assert {"home/thesis.tex", "grid/grid.toml"} <= {*run.files()}
    run.write("old/grid.toml", GRID)
    run.write("old/state/agent.log", "")
    remove_demonstration(run.folder / "old")
    assert not list((run.folder / "old").iterdir())
