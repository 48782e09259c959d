"""A live grid to fuzz: its files, and programs that let agent, servers and clients read what was damaged.

Nothing of it runs a job, sends a signal or opens a socket. A program ends as a command of Headway does: with 0,
or with 2 and a sentence; what is left of the grid must answer sound requests afterwards.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from headway.cli import main
from headway.errors import HeadwayError
from headway.live.agent import LiveAgent
from headway.live.batch import Batch
from headway.live.grid_file import Grid, load_grid
from headway.live.journal import Journal
from headway.live.local_server import LocalServer
from headway.live.processes import Processes
from headway.live.queue_now import queue_now
from headway.live.server import ClusterServer
from headway.live.shadow import Shadow
from headway.live.slurm.commands import Slurm
from headway.live.slurm.server import SlurmServer
from headway.live.task import Task
from headway.live.wire import NoAnswer, Refused, Remote, _Requests
from headway.plain import one_line
from headway.policies.spec import parse_spec
from headway.units import SECOND
from live_grids import marked

GRID = b"""\
[grid]
policy = "reallocation(heuristic=mct, period=60, threshold=5)"
folder = "state"
listen = "unix"
poll = 1
timeout = 1

[control]
allow = ["submit", "cancel", "kill"]
acts_per_minute = 600

[[cluster]]
name = "bordeaux"
procs = 2

[[cluster]]
name = "lyon"
procs = 4
speed = 1.5
policy = "easy(depth=2)"
"""
SLURM = b"""
[[cluster]]
name = "toulouse"
procs = 8
kind = "slurm"
policy = "easy"
"""
HOUR = 3600 * SECOND
FIRST = 1 << 23
"""Processes have smaller numbers."""
NAME = "hw-feed0000-{0}.0.{0}"
"""The names of attempts: each task of the ground has one, of its own number."""


class Nothing(Processes):
    """Jobs that run until they are told to have ended; no process is touched."""

    def __init__(self) -> None:
        super().__init__()
        self.given, self.over = FIRST, frozenset[int]()

    def launch(self, script: Path, output: Path) -> int:
        self.given += 1
        return self.given

    def is_own(self, pid: int) -> bool:
        return True

    def is_alive(self, pid: int, script: str = "") -> bool:
        return pid not in self.over

    def send(self, pid: int, name: str, what: object) -> None:
        pass


class Idle(LocalServer):
    """A local cluster whose jobs are no processes."""

    def _processes(self) -> Processes:
        return Nothing()


class Beside:
    """A server of this process in the place of one behind a socket."""

    def __init__(self, handle: Callable[[str, dict[str, Any]], Any]) -> None:
        self.handle = handle

    def ask(self, request: str, **data: Any) -> dict[str, Any]:
        try:
            answer = json.loads(json.dumps(self.handle(request, json.loads(json.dumps(data)))))
        except NoAnswer:
            raise
        except (HeadwayError, ValueError) as error:
            raise Refused(str(error)) from None
        assert isinstance(answer, dict)
        return answer

    def close(self) -> None:
        pass


class Live:
    """An agent and its servers, all in this process."""

    def __init__(self, grid: Grid) -> None:
        self.grid, self.said = grid, list[str]()
        with contextlib.ExitStack() as until_sound, mock.patch.object(Batch, "warm"):
            self.agent = LiveAgent(grid, True, self.said.append)
            until_sound.callback(self.agent.stop)
            self.servers: list[ClusterServer] = []
            for site, proxy in zip(grid.sites, self.agent.proxies, strict=True):
                server = Idle(grid, site, True)
                until_sound.callback(server.stop)
                self.servers.append(server)
                proxy.remote = Beside(server.handle)  # type: ignore[assignment]
            self._close = until_sound.pop_all()

    def stop(self) -> None:
        self._close.close()

    def turn(self) -> None:
        for server in self.servers:
            server.tick()
        self.agent.tick()


@contextlib.contextmanager
def living(folder: Path) -> Iterator[Live]:
    """The grid of a folder at work."""
    live = Live(load_grid(folder / "grid.toml"))
    try:
        yield live
    finally:
        live.stop()


def lay(folder: Path) -> None:
    """A grid with tasks that wait, run, are over and were moved."""
    folder.mkdir()
    (folder / "grid.toml").write_bytes(GRID)
    (folder / "state").mkdir()
    with contextlib.closing(Journal(folder / "state" / "journal.db")) as journal:
        journal.set_fact("grid", "feed0000")
    with living(folder) as live:
        for procs, fraction in ((2, None), (4, 0.9), (2, None), (1, None), (4, None), (1, None)):
            task = Task(("sleep", "{procs}"), procs, HOUR, name=f"task {procs}", parallel_fraction=fraction)
            live.agent.handle("submit", {"task": task.as_json()})
            live.turn()
        live.agent.handle("cancel", {"task": 6})
        _end(live, 1)
        live.turn()
        journal, now = live.agent.journal, live.agent.now
        journal.set_task(5, moves=1)
        journal.decide(now, "moved", 5, source="lyon", target="bordeaux", before=now + HOUR, after=now,
                       told=now, procs_before=2, procs_after=2)  # fmt: skip
        states = [row.state for row in journal.all_tasks()]
    assert states[0] == "done" and {"running", "waiting", "cancelled"} <= {*states}, states


def _end(live: Live, number: int) -> None:
    """Let the task of a number have ended."""
    attempt = live.agent.journal.attempts_of(number)[-1]
    fence = live.grid.fence / attempt.name.rpartition(".")[0]
    fence.mkdir(parents=True)
    [server] = [each for each in live.servers if each.site.name == attempt.server]
    assert isinstance(server, Idle) and isinstance(server.processes, Nothing)
    entry = server.queue.named(attempt.name)
    assert entry is not None and entry.pid is not None
    (fence / "started").write_text(f"{entry.pid} {attempt.server}\n")
    (fence / "exit").write_text("0\n")
    server.processes.over = frozenset({entry.pid})
    server.tick()
    server.processes.over = frozenset()


# ---- programs --------------------------------------------------------------------------------------------


def program(work: Callable[..., None]) -> Callable[[], None]:
    """A program that gets a copy of the live grid and its words, and ends as a command does."""

    def run() -> None:
        ground, *words = sys.argv[1:]
        copy = Path(ground) / "made"
        shutil.copytree(Path(ground) / "live", copy)
        try:
            work(copy, *words)
        except (HeadwayError, ValueError) as error:
            sys.stderr.write(f"headway: {one_line(str(error))}\n")
            sys.exit(2)
        finally:
            shutil.rmtree(copy, ignore_errors=True)

    return run


def _wake(grid: Path) -> None:
    """Agent and servers begin with what is on disk, have their turns and answer."""
    with living(grid) as live:
        live.turn()
        _look(live)


def _look(live: Live) -> None:
    """Ask for everything that can be asked for without changing anything."""
    state = live.agent.handle("state", {})
    json.dumps(state)
    for task in state["tasks"]:
        json.dumps([live.agent.handle(what, {"task": task["task"]}) for what in ("status", "explain")])
    for server in live.servers:
        json.dumps([server.handle("poll", {"names": [NAME.format(1), "x"]}), server.handle("picture", {})])


class _Connection:
    """What a client sends, in the place of a socket."""

    def __init__(self, sent: bytes) -> None:
        self.sent, self.answer = sent, io.BytesIO()

    def makefile(self, *_: object) -> io.BytesIO:
        return io.BytesIO(self.sent)

    def sendall(self, data: bytes) -> None:
        self.answer.write(data)

    def settimeout(self, _: object) -> None:
        pass

    def shutdown(self, _: object) -> None:
        pass


def answered(handle: Callable[[str, dict[str, Any]], Any], sent: bytes) -> tuple[int, bytes]:
    """(status, body) of the answer to the bytes of a request; 0: they were none. A fault of ours is raised."""
    failures: list[Exception] = []
    turn = contextlib.nullcontext()
    server = SimpleNamespace(
        handler=handle, token=None, unix=True, pages=None, turn=turn, failed=failures.append
    )
    connection = _Connection(sent)
    client = SimpleNamespace(client="", known=True, is_gone=False, turn=turn)
    _Requests(connection, client, server)  # type: ignore[arg-type]
    if failures:
        raise AssertionError("the request failed") from failures[0]
    head, _, body = connection.answer.getvalue().partition(b"\r\n\r\n")
    return int(head.split()[1]) if head else 0, body


def _ask(grid: Path, whom: str, file: str) -> None:
    """Send the agent or a server what the file holds; whatever it is, others are answered afterwards."""
    with living(grid) as live:
        tended = live.agent if whom == "agent" else live.servers[1]
        status, body = answered(tended.handle, _request(Path(file).read_bytes()))
        with contextlib.suppress(HeadwayError):
            live.turn()
        _sound(lambda: _look(live))
    with living(grid) as again:
        _sound(lambda: _look(again))
    if status != 200:
        raise Refused(str(json.loads(body)["error"]) if body.startswith(b"{") else f"status {status}")


def _sound(look: Callable[[], None]) -> None:
    """What was damaged by what somebody else said is a fault, however well it is told."""
    try:
        look()
    except HeadwayError as error:
        raise AssertionError("others are not answered any more") from error


def _request(sent: bytes) -> bytes:
    """A request that is written as JSON, [name, data], is sent as clients do; any other as it is."""
    if sent.startswith((b"POST", b"GET")):
        return sent
    name, body = "submit", sent
    with contextlib.suppress(ValueError, TypeError, RecursionError):
        said, data = json.loads(sent)
        name, body = "".join(filter(str.isalnum, str(said)))[:100], json.dumps(data).encode()
    return post(name, body)


def post(name: str, body: bytes) -> bytes:
    """The bytes of a request."""
    head = f"POST /{name} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _hear(grid: Path, file: str) -> None:
    """An agent whose second server answers with what the file has for each request."""
    try:
        said = json.loads(Path(file).read_bytes())
    except RecursionError:
        raise NoAnswer("something that is not JSON") from None

    def answer(request: str, data: dict[str, Any]) -> Any:
        if not isinstance(said, dict) or not isinstance(said.get(request), dict):
            raise NoAnswer("no answer")
        return said[request]

    refused: HeadwayError | None = None
    with living(grid) as live:
        agent, task = live.agent, Task(("true",), 3, HOUR).as_json()
        agent.proxies[1].remote = Beside(answer)  # type: ignore[assignment]
        acts: tuple[Callable[[], object], ...] = (
            agent.tick,
            lambda: agent.handle("submit", {"task": task}),
            lambda: agent.reallocate(agent.now),
            lambda: agent.handle("cancel", {"task": 2}),
            lambda: json.dumps(agent.handle("state", {})),
        )
        for act in acts:
            try:
                act()
            except HeadwayError as error:
                refused = error
    with living(grid) as again:
        _sound(again.turn)
        _sound(lambda: _look(again))
    if refused is not None:
        raise refused


def client() -> None:
    """``FILE COMMAND...``: a command of Headway that hears from the agent what the file says."""
    said = Path(sys.argv[1]).read_bytes()
    with (
        mock.patch.object(Remote, "_exchange", lambda *_: (200, said)),
        mock.patch.object(sys, "argv", ["headway", *sys.argv[2:]]),
    ):
        main()


def _slurm(grid: Path, command: str, file: str) -> None:
    """A Slurm cluster one of whose commands prints what the file says."""
    printed = {name: said.decode() for name, said in PRINTED.items()}
    printed[command] = Path(file).read_bytes().decode("utf-8", "replace")
    (grid / "grid.toml").write_bytes(GRID + SLURM)
    of = load_grid(grid / "grid.toml")
    site, task = of.sites[2], Task(("true",), 3, HOUR).as_json()
    requests: tuple[tuple[str, dict[str, Any]], ...] = (
        ("poll", {"names": [NAME.format(4), NAME.format(5), "x.1"], "prefix": "hw-feed0000-"}),
        ("estimate", {"name": "", "task": task}),
        ("picture", {}),
        ("submit", {"name": "hw-x.1", "fence": "hw-x", "task": task}),
        ("release", {"name": "hw-x.1"}),
        ("cancel", {"name": NAME.format(5)}),
        ("kill", {"name": NAME.format(4)}),
    )

    def run(_: Slurm, *words: str, text: str = "") -> str:
        said = printed[words[0]]
        return marked(words, *said.split("\n")[: said.count("\n")]) if words[0] == "squeue" else said

    with mock.patch.object(Batch, "warm"), mock.patch.object(Slurm, "run", run):
        try:
            server = SlurmServer(of, site, True)
            for name, data in requests:
                json.dumps(server.handle(name, data))
            Shadow(of, site, [parse_spec("fcfs")]).look()
            queue_now(of, site)
        except ValueError as error:  # a command would end with a traceback
            raise AssertionError("it is not told what is wrong") from error


wake, ask, hear, slurm = program(_wake), program(_ask), program(_hear), program(_slurm)

# ---- what is said ----------------------------------------------------------------------------------------

_TASK = {
    "command": ["solve", "{procs}"], "procs": 2, "walltime": HOUR, "name": "mine", "parallel_fraction": 0.5,
    "max_procs": 4, "folder": "/tmp", "stage": ["true"], "stage_time": SECOND, "deadline": 1800000000000000,
    "urgent": False, "memory_mb": 512, "runtime": 5, "cluster": "lyon",
}  # fmt: skip
_FORMS = {"script": "#!/bin/sh\ntrue {procs}\n", "walltime": HOUR, "forms": [[1, HOUR], [4, HOUR // 2]]}
_TO_AGENT: tuple[tuple[str, object], ...] = (
    ("submit", {"task": _TASK}), ("submit", {"task": _FORMS}), ("estimate", {"task": _TASK}), ("status", {"task": 3}),
    ("queue", {"count": 5}), ("cancel", {"task": 4}), ("explain", {"task": 1, "count": 9}), ("state", {}), ("ready", {}),
)  # fmt: skip
_TO_SERVER: tuple[tuple[str, object], ...] = (
    ("submit", {"name": "hw-feed0000-9.0.9", "fence": "hw-feed0000-9.0", "task": _TASK}),
    ("submit", {"name": "hw-feed0000-9.0.9", "fence": "hw-feed0000-9.0", "task": _FORMS}),
    ("estimate", {"name": "", "task": _TASK}), ("release", {"name": NAME.format(2)}),
    ("cancel", {"name": NAME.format(5)}), ("kill", {"name": NAME.format(2)}), ("picture", {}), ("describe", {}),
    ("poll", {"names": [NAME.format(2), NAME.format(5)], "prefix": "hw-feed0000-"}),
)  # fmt: skip
TO_AGENT, TO_SERVER = ([json.dumps(each).encode() for each in to] for to in (_TO_AGENT, _TO_SERVER))
RAW = [post("submit", json.dumps({"task": _TASK}).encode()), b"GET / HTTP/1.1\r\nHost: localhost:80\r\n\r\n"]

BEGUN = 1_790_000_000 * SECOND
OF_SERVER = json.dumps(
    {
        "describe": {"name": "lyon", "procs": 4, "control": True},
        "estimate": {"completion": BEGUN + HOUR, "procs": 3, "start": BEGUN, "only_watches": False},
        "submit": {
            "completion": BEGUN + HOUR, "procs": 3, "start": BEGUN, "walltime": HOUR, "latest_end": BEGUN + 2 * HOUR,
        },
        "release": {"released": True}, "cancel": {"gone": False}, "kill": {"gone": True},
        "poll": {
            "jobs": {
                NAME.format(2): {
                    "state": "suspended", "procs": 4, "code": None, "started": BEGUN, "ended": None, "runs": 1, "why": 0,
                    "spans": [[0, "given up", BEGUN - HOUR, BEGUN], [1, "suspended", BEGUN + 1, None]],
                },
                NAME.format(5): {"state": "done", "procs": 4, "code": 0, "started": BEGUN, "ended": BEGUN + HOUR},
            },
            "others": ["hw-feed0000-77.0.77"], "now": BEGUN,
        },
        "picture": {"procs": 4, "jobs": [{"name": NAME.format(2), "state": "running", "procs": 4}], "now": BEGUN},
    }
).encode()  # fmt: skip
"""What a server says to each request."""

_STATUS: dict[str, object] = {
    "task": 3, "key": "hw-feed0000-3", "name": "mine", "state": "running", "submitted": BEGUN, "started": BEGUN, "ended": None, "code": None,
    "latest_end": BEGUN + HOUR, "moves": 1, "wanted": "", "cluster": "lyon", "procs": 4, "batch_name": NAME.format(3),
    "start": BEGUN, "completion": BEGUN + HOUR, "walltime": HOUR,
}  # fmt: skip
_DECISIONS = [
    {"number": 2, "time": BEGUN, "kind": "moved", "task": 3, "source": "lyon", "target": "bordeaux", "before": BEGUN,
     "after": BEGUN - 5, "procs_before": 2, "procs_after": 4},
    {"number": 1, "time": BEGUN, "kind": "mapped", "task": 3, "cluster": "lyon",
     "answers": {"lyon": {"completion": BEGUN, "procs": 4}, "bordeaux": {"silent": "no answer"}}},
]  # fmt: skip
OF_AGENT = {
    "queue": json.dumps({"tasks": [_STATUS], "counts": {"running": 1, "done": 2}}).encode(),
    "status": json.dumps(_STATUS | {"decisions": _DECISIONS, "counts": {"done": 1}}).encode(),
    "ready": json.dumps({"clusters": {"bordeaux": "", "lyon": ""}}).encode(),
}
"""What the agent says to clients."""

PRINTED = {
    "squeue": b"""\
7|RUNNING|4|1700000000|1700003600|1:00:00|None|100|1699990000|main|ada|phys|normal|n[1-2]|run
8|PENDING|4|N/A|N/A|1-00:00:00|Priority|90|1699990001|main,short|bob|(null)|N/A||a name | of it
9_3|PENDING|1|1700009000|N/A|UNLIMITED|Resources|80|1699990002|main|bob||||hw-feed0000-5.0.5
10|SUSPENDED|2|1700000000|1700003600|10:00|None|70|1699990003|main|ada|||n2|hw-feed0000-4.0.4
""",
    "sinfo": b"n1|main*|up|mixed|2/2/0/4\nn2|main*|up|allocated|4/0/0/4\nn3|main*|up|down*|0/0/4/4\n",
    "sacct": b"11|CANCELLED by 1000|4|1700000000|1700000060|00:10:00|1699999000|main|ada\n",
    "scontrol": b"JobId=10 JobName=x\n   SuspendTime=1700000100 SecsPreSuspend=5\n   NodeList=n2\n   ExitCode=0:0\n"
    b"AccountingStorageType = accounting_storage/slurmdbd\n",
    "sbatch": b"12\n",
    "scancel": b"",
}
"""What Slurm's commands print."""
