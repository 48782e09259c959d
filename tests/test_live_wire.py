"""Requests between processes: sockets that only the owner opens, tokens, TLS, and what a shell never sees."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from headway import ownership
from headway.cli.live import ask
from headway.errors import InputError, UsageError
from headway.live import wire
from headway.live.agent import LiveAgent
from headway.live.grid_file import load_grid
from headway.live.journal import Journal, JournalError
from headway.live.script import FENCED, job_script, read_fence
from headway.live.serving import alone, serve, server_of
from headway.live.shapes import Shapes
from headway.live.task import Task
from headway.live.tended import Bell, Tended
from headway.live.wire import (
    NoAnswer,
    Refused,
    Remote,
    TooSlow,
    check_safe,
    checked,
    close,
    listen,
    read_token,
)  # fmt: skip
from headway.platform import Cluster
from headway.policies.grid.local_policies import TUNINGS
from headway.policies.grid.notes import NO_ANSWER
from headway.policies.spec import parse_spec
from headway.units import SECOND
from live_grids import cluster, folder, running, short, written
from slurm_clusters import free_port

TOKEN = "a token of more than sixteen characters"


def echo(request: str, data: dict[str, Any]) -> Any:
    if request == "fail":
        raise Refused("this is refused")
    return {"request": request, **data}


@contextmanager
def listening(address: str, **options: Any) -> Iterator[wire._Listener]:
    made = listen(address, echo, **options)
    try:
        yield made
    finally:
        close(made)


def answers(address: str, **options: Any) -> bool:
    with closing(Remote(address, **options)) as remote:
        return remote.ask("hello") == {"request": "hello"}


def test_a_socket_that_only_the_owner_can_open() -> None:
    with folder() as path, listening(f"unix:{path}/s"):
        assert stat.S_IMODE((path / "s").stat().st_mode) == 0o600
        remote = Remote(f"unix:{path}/s")
        assert remote.ask("hello", number=1) == {"request": "hello", "number": 1}
        with pytest.raises(Refused, match="this is refused"):
            remote.ask("fail")
        remote.close()
    with pytest.raises(NoAnswer, match="does not answer"):
        Remote(f"unix:{path}/s").ask("hello")


def test_tcp_needs_the_token() -> None:
    address = f"http://127.0.0.1:{free_port()}"
    with listening(address, token=TOKEN):
        right, wrong, none = (Remote(address, token=token) for token in (TOKEN, "another one", None))
        assert right.ask("hello") == {"request": "hello"}
        for other in (wrong, none):
            with pytest.raises(Refused, match="the token is wrong"):
                other.ask("hello")
        for each in (right, wrong, none):
            each.close()
    with listening(address):  # without a token nobody is trusted there
        remote = Remote(address)
        with pytest.raises(Refused, match="the token is wrong"):
            remote.ask("hello")
        remote.close()


def test_other_machines_need_tls() -> None:
    with pytest.raises(UsageError, match="must be https://"):
        checked("http://0.0.0.0:8900")
    with pytest.raises(UsageError, match="needs tls_cert, tls_key and token"):
        listen(f"https://0.0.0.0:{free_port()}", echo)
    with certified() as path:
        address = f"https://localhost:{free_port()}"
        with listening(address, token=TOKEN, tls=(str(path / "c"), str(path / "k"))):
            remote = Remote(address, token=TOKEN, ca=str(path / "c"))
            assert remote.ask("hello") == {"request": "hello"}
            remote.close()
            with pytest.raises(NoAnswer, match=r"certificate that is not trusted.*; tls_ca in"):
                Remote(address, token=TOKEN).ask("hello")
            other = address.replace("localhost", "127.0.0.1")
            with pytest.raises(
                NoAnswer, match=r"certificate that is not trusted.*; one for tls_cert there must"
            ):
                Remote(other, token=TOKEN, ca=str(path / "c")).ask("hello")
            (path / "t").write_text(TOKEN)
            (path / "t").chmod(0o600)
            files = f'listen = "{address}"\ntoken = "t"\ntls_cert = "c"\ntls_key = "k"'
            with pytest.raises(UsageError, match=r"the agent was not asked: .*tls_ca") as error:
                ask(written(path, cluster("a", 1), more=files), "queue")
            assert "start it" not in str(error.value)


@contextmanager
def certified(*words: str) -> Iterator[Path]:
    """A folder with a certificate for localhost in c, and its key in k; words are options of openssl."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate of this test, and is not installed")
    how = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -days 1 -subj /CN=localhost"
    with folder() as path:
        names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", f"{path}/k", "-out", f"{path}/c"]
        subprocess.run([*how.split(), *names, *(words or ["-nodes"])], check=True, capture_output=True)
        yield path


def test_a_port_that_speaks_tls_or_does_not_is_hinted_at() -> None:
    with certified() as path:
        secured, plain = (f"localhost:{free_port()}" for _ in range(2))
        tls = (str(path / "c"), str(path / "k"))
        with (
            listening(f"https://{secured}", token=TOKEN, tls=tls),
            listening(f"http://{plain}", token=TOKEN),
        ):
            with pytest.raises(NoAnswer, match="its port may want TLS: then give https:// and tls_ca"):
                Remote(f"http://{secured}", token=TOKEN).ask("hello")
            with pytest.raises(NoAnswer, match="is its port without TLS, at http://"):
                Remote(f"https://{plain}", token=TOKEN, ca=str(path / "c")).ask("hello")


def test_files_of_tls_that_cannot_be_used_are_named() -> None:
    """And no pass phrase is asked for: an agent in the background would wait for it for ever."""
    address = f"https://localhost:{free_port()}"
    with certified("-passout", "pass:a secret") as path:
        cert, key, none = (f"{path}/{name}" for name in ("c", "k", "none"))
        for tls, sentence in (
            ((cert, key), f"tls_key: {key} is locked with a pass phrase"),
            ((none, key), f"tls_cert: {none} cannot be read \\(No such file"),
            ((cert, none), f"tls_key: {none} cannot be read \\(No such file"),
            ((cert, cert), f"tls_cert {cert} and tls_key {cert} do not belong together"),
        ):
            with pytest.raises(UsageError, match=sentence):
                listen(address, echo, token=TOKEN, tls=tls)
        for ca, sentence in ((none, "cannot be read"), (key, "holds no certificate; name a file in PEM")):
            with pytest.raises(NoAnswer, match=f"tls_ca: {ca} {sentence}"):
                Remote(address, token=TOKEN, ca=ca).ask("hello")


def test_a_token_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o644)
    with pytest.raises(UsageError, match="can be read by others; chmod 600"):
        read_token(file)
    file.chmod(0o600)
    assert read_token(file) == TOKEN
    file.write_text("short")
    with pytest.raises(UsageError, match="shorter than 16 characters"):
        read_token(file)
    for text in ("two lines\nof a secret that is long", "\N{SNOWMAN}" * 20):
        file.write_text(text)
        with pytest.raises(UsageError, match="one line of ASCII") as error:
            read_token(file)
        assert text[:5] not in str(error.value)


def test_a_page_is_not_given_to_the_name_of_another_site() -> None:
    address = f"http://127.0.0.1:{free_port()}"
    with listening(address, pages=lambda path: ("text/plain", b"state")):
        assert urllib.request.urlopen(address).read() == b"state"
        other = urllib.request.Request(address, headers={"Host": "evil.example:80"})
        with pytest.raises(urllib.error.HTTPError, match="404") as answer:
            urllib.request.urlopen(other)
        answer.value.close()


def test_a_page_is_not_given_to_another_machine_that_says_it_is_this_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    with listening(address, pages=lambda path: ("text/plain", b"state")):
        # The Host that a client sends is its own affair; where it comes from is not.
        monkeypatch.setattr(wire._Requests, "setup", from_elsewhere(wire._Requests.setup))
        with pytest.raises(urllib.error.HTTPError, match="404") as answer:
            urllib.request.urlopen(address)
        answer.value.close()


class OnePass(Tended):
    """What a process looks after for one moment: it is asked for a page at each address, and then ended."""

    def __init__(self, *addresses: str) -> None:
        self.lock, self.bell = threading.RLock(), Bell()
        self.addresses, self.got = addresses, dict[str, int]()

    def handle(self, request: str, data: dict[str, Any]) -> Any:
        return {}

    def tick(self) -> float:
        for address in self.addresses:
            try:
                with urllib.request.urlopen(f"{address}/state.json") as answer:
                    self.got[address] = answer.status
            except urllib.error.HTTPError as error:
                with error:
                    self.got[address] = error.code
        os.kill(os.getpid(), signal.SIGTERM)
        return 0

    def stop(self) -> None:
        """Nothing to end."""


def test_the_page_is_at_its_own_address_alone() -> None:
    """It needs no token, so that the agent's own address must not show it."""
    agent, page = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    with folder() as path:
        (path / "t").write_text(TOKEN)
        (path / "t").chmod(0o600)
        addresses = f'listen = "{agent}"\npage = "{page}"\ntoken = "t"'
        grid = written(path, cluster("a", 1), more=addresses)
        tended = OnePass(agent, page)
        serve(grid, tended, [agent, page], print, lambda path: ("application/json", b"{}"))
    assert tended.got == {agent: 404, page: 200}


FLOODED = """
import os, signal, threading, time
from types import SimpleNamespace
from headway.live.tended import Bell
from headway.live.serving import serve

def children_end():
    until = time.monotonic() + 1
    while time.monotonic() < until:
        os.kill(os.getpid(), signal.SIGCHLD)
        time.sleep(0.00005)
    os.kill(os.getpid(), signal.SIGTERM)

threading.Thread(target=children_end, daemon=True).start()
tended = SimpleNamespace(bell=Bell(), tick=lambda: 0.001, stop=lambda: print("ended"))
serve(SimpleNamespace(page=None, tls=None), tended, [], print)
"""


def test_jobs_that_end_at_any_moment_do_not_stop_the_process_that_looks_after_them() -> None:
    """What a signal's handler does may come between any two steps of the loop."""
    done = subprocess.run([sys.executable, "-c", FLOODED], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"ended\n", b"")


def from_elsewhere(setup: Any) -> Any:
    def changed(requests: Any) -> None:
        setup(requests)
        requests.client_address.client = "192.0.2.1"

    return changed


def test_who_has_no_token_is_answered_before_all_of_a_large_request_is_read() -> None:
    port = free_port()
    head = b"POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 6000000\r\n\r\n"
    listener = listening(f"http://127.0.0.1:{port}", token=TOKEN)
    with listener, socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(head + b" " * wire.STRANGERS)
        assert client.recv(100).startswith(b"HTTP/1.1 403")


def test_the_loopback_of_ipv6() -> None:
    try:
        with socket.socket(socket.AF_INET6) as free:
            free.bind(("::1", 0))
            address = f"http://[::1]:{free.getsockname()[1]}"
    except OSError:
        pytest.skip("this machine has no IPv6")
    with listening(address, token=TOKEN):
        assert answers(address, token=TOKEN)


@contextmanager
def hanging(path: Path) -> Iterator[list[socket.socket]]:
    """Somebody who takes connections, and answers nothing; the connections that were made."""
    made: list[socket.socket] = []

    def take() -> None:
        with suppress(OSError):
            while True:
                made.append(server.accept()[0])

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        threading.Thread(target=take, daemon=True).start()
        try:
            yield made
        finally:
            server.shutdown(socket.SHUT_RDWR)
            for each in made:
                each.close()


def test_who_hangs_is_left_alone_for_a_while() -> None:
    with folder() as path, hanging(path / "s") as made:
        remote = Remote(f"unix:{path}/s", timeout=0.2, rest=1)
        for _ in range(5):
            with pytest.raises(TooSlow, match=r"does not answer \(timed out\)"):
                remote.ask("hello")
        assert len(made) == 1
        time.sleep(1.1)
        with pytest.raises(TooSlow):
            remote.ask("hello")
        assert len(made) == 2


def test_an_agent_that_hangs_may_have_heard_what_it_was_asked_for() -> None:
    with folder() as path, hanging(path / "agent.sock"):
        grid = written(path, cluster("a", 1), more='listen = "unix:agent.sock"\ntimeout = 0.1')
        assert grid.listen == f"unix:{path}/agent.sock"
        with pytest.raises(UsageError, match=r"busy or hangs.*look with headway live queue before"):
            ask(grid, "submit", task={})


def test_so_may_one_that_is_ended_while_it_is_asked() -> None:
    with folder() as path, socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path / "agent.sock"))
        server.listen()

        def hear_and_end() -> None:
            heard, _ = server.accept()
            with heard:
                heard.recv(1 << 16)

        threading.Thread(target=hear_and_end, daemon=True).start()
        grid = written(path, cluster("a", 1), more='listen = "unix:agent.sock"')
        with pytest.raises(UsageError, match=r"it may have done .*look with headway live queue"):
            ask(grid, "submit", task={})


@pytest.mark.parametrize("address", ["http://127.0.0.1:99999", "http://127.0.0.1:0", "http://[::1", "unix:"])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(UsageError, match="is not an address; give unix:PATH"):
        checked(address)


def test_only_a_socket_that_nobody_listens_on_is_replaced(tmp_path: Path) -> None:
    with folder() as path:
        file = path / "thesis.txt"
        file.write_text("years of work")
        with pytest.raises(UsageError, match="it is a file and not a socket"):
            listen(f"unix:{file}", echo)
        assert file.read_text() == "years of work"
        with listening(f"unix:{path}/s"):
            with pytest.raises(UsageError, match="another process does; end it first"):
                listen(f"unix:{path}/s", echo)
            assert answers(f"unix:{path}/s")
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(f"{path}/s")  # as a process that was killed leaves it
        with listening(f"unix:{path}/s"):
            assert answers(f"unix:{path}/s")


def test_a_socket_in_the_hands_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    with folder() as path, listening(f"unix:{path}/s"):
        monkeypatch.setattr(os, "getuid", lambda: 12345)
        os.chown(path / "s", 54321, -1) if os.geteuid() == 0 else None
        with pytest.raises(NoAnswer, match="the socket is somebody else's"):
            Remote(f"unix:{path}/s").ask("hello")
        monkeypatch.undo()
        monkeypatch.setattr(ownership, "_is_private_group", lambda number: False)
        for mode in (0o777, 0o770):  # all others, and those of a group
            path.chmod(mode)
            with pytest.raises(UsageError, match=r"cannot listen on .*others can write to"):
                listen(f"unix:{path}/t", echo)
            with pytest.raises(UsageError, match=r"others can write to .*chmod 700"), alone(path, "agent"):
                pass
        monkeypatch.setattr(ownership, "_is_private_group", lambda number: True)
        with alone(path, "agent"):  # the group that a system makes for each user
            pass


def test_a_folder_that_others_can_replace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever can write to a folder above it can rename it and put another one there."""
    monkeypatch.setattr(ownership, "_is_private_group", lambda number: False)
    with folder() as path, folder() as elsewhere:
        state, link = path / "shared" / "mine" / "state", elsewhere / "state"
        state.mkdir(parents=True)
        link.symlink_to(state)
        for part in (path, elsewhere):
            part.chmod(0o755)  # else nobody could get below it, and all would be well
        for mode in (0o777, 0o770, 0o775):
            (path / "shared").chmod(mode)
            for name in (state, link):
                with pytest.raises(UsageError, match=rf"others can write to .*chmod go-w {path}/shared, or"):
                    check_safe(name)
        for above, mode in ((path, 0o700), (path / "shared", 0o1777), (path / "shared", 0o755)):
            above.chmod(mode)  # closed to others; sticky, as /tmp; not to be written
            check_safe(state)
            check_safe(link)
            above.chmod(0o755 if above == path else 0o777)
        monkeypatch.setattr(os, "getuid", lambda: 12345)
        if os.geteuid() == 0:
            os.chown(path / "shared", 54321, -1)
        with pytest.raises(UsageError, match="belongs to somebody else"):
            check_safe(state)


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o1770])
def test_a_fence_to_which_others_can_add_files(monkeypatch: pytest.MonkeyPatch, mode: int) -> None:
    """A task whose fence says that it has ended is done: nobody else may write one."""
    monkeypatch.setattr(ownership, "_is_private_group", lambda number: False)
    with folder() as path:
        path.chmod(0o755)
        (path / "fence").mkdir()
        (path / "fence").chmod(mode)
        grid = written(path, cluster("a", 1), more='fence = "fence"')
        sentence = rf"others can write to {path}/fence; chmod 700 {path}/fence, or"
        with pytest.raises(UsageError, match=sentence):
            server_of(grid, grid.sites[0], True)


def test_nothing_that_a_client_sends_reaches_a_shell(tmp_path: Path) -> None:
    words = (
        "printf",
        "%s|",
        "$(touch bad)",
        "`touch bad`",
        "a;touch bad",
        "'",
        '"',
        "{procs}",
        "{cluster}",
        "{x}",
    )
    task = Task(words, 3, SECOND, folder=str(tmp_path))
    script = job_script(task, tmp_path / "fence", "hw-1", 3, "a")
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split("|")[:-1] == [
        "$(touch bad)",
        "`touch bad`",
        "a;touch bad",
        "'",
        '"',
        "3",
        "a",
        "{x}",
    ]
    assert not (tmp_path / "bad").exists()
    fence = read_fence(tmp_path / "fence")
    assert fence is not None and (fence.code, fence.cluster) == (0, "a")
    again = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
    assert (again.returncode, again.stdout) == (FENCED, "")


@pytest.mark.parametrize(
    ("words", "code"),
    [(("exit", "3"), 127), (("exec", "true"), 127), (("if", "true"), 127), (("X=1", "true"), 127),
     (("leave", "0"), 127), (("sh", "-c", "exit 3"), 3)],
)  # fmt: skip
def test_words_of_the_shell_are_no_words_for_it(tmp_path: Path, words: tuple[str, ...], code: int) -> None:
    script = job_script(Task(words, 1, SECOND), tmp_path / "fence", "hw-1", 1, "a")
    assert subprocess.run(["sh", "-c", script], capture_output=True).returncode == code
    fence = read_fence(tmp_path / "fence")
    assert fence is not None and fence.code == code


def test_scripts_inputs_and_exit_statuses(tmp_path: Path) -> None:
    script = "#!/bin/sh\nread word < input\necho $word on {procs}\nHEADWAY\nexit 3\n"
    task = Task((), 2, SECOND, script=script.replace("HEADWAY", ": HEADWAY"), folder=str(tmp_path),
                stage=("sh", "-c", "echo staged > input"), stage_time=SECOND)  # fmt: skip
    text = job_script(task, tmp_path / "fence", "hw-1", 2, "a")
    done = subprocess.run(["sh", "-c", text], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "staged on 2\n")
    fence = read_fence(tmp_path / "fence")
    assert fence is not None and fence.code == 3


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = 1", "unknown key; a grid file has"),
        ("[grid]\nfoo = 1", "grid: foo: unknown key"),
        ('[grid]\npolicy = "easy"', "must be reallocation"),
        ('[[cluster]]\nname = "a"', "procs is missing"),
        ('[[cluster]]\nname = "a"\nprocs = 2\nkind = "cloud"', "must be one of local, slurm, simulated"),
        ('[[cluster]]\nname = "a"\nprocs = 2\npolicy = "none"', "none"),
        ('[control]\nallow = ["reboot"]\n[[cluster]]\nname = "a"\nprocs = 2', "'reboot' is none of submit"),
        ('[grid]\nlisten = "http://0.0.0.0:1"\n[[cluster]]\nname = "a"\nprocs = 2', "must be https"),
        ('[[cluster]]\nname = ".."\nprocs = 2', "needs a name of letters"),
        ('[[cluster]]\nname = "agent"\nprocs = 2', "cannot be called agent"),
        ('[grid]\nlisten = "http://127.0.0.1:8"\n[[cluster]]\nname = "a"\nprocs = 2', "8 needs a token"),
        ('[grid]\npage = "https://[2001:db8::1]:8"\n[[cluster]]\nname = "a"\nprocs = 2', "of this machine"),
        ('[grid]\nlisten = "unix:s"\n[[cluster]]\nname = "a"\nprocs = 2\nlisten = "unix:s"', "two of agent"),
        ('[grid]\nfolder = true\n[[cluster]]\nname = "a"\nprocs = 2', "grid: folder: must be text in quotes"),
        (
            '[grid]\nfolder = "~nemo/x"\n[[cluster]]\nname = "a"\nprocs = 2',
            "below the home of somebody",
        ),
        ('[grid]\nfolder = ""\n[[cluster]]\nname = "a"\nprocs = 2', "grid: folder: is empty; name a file"),
        ('[grid]\ntoken = ["t"]\n[[cluster]]\nname = "a"\nprocs = 2', "grid: token: must be text in quotes"),
        ('[grid]\nfence = "\\u0000"\n[[cluster]]\nname = "a"\nprocs = 2', "grid: fence: must be text"),
        ('[[cluster]]\nname = "a"\nprocs = 2\nconf = 5', "cluster 1: conf: must be text in quotes, not 5"),
        ("[grid", "is not valid TOML"),
        ("", "has no cluster"),
    ],
)
def test_mistakes_in_a_grid_file(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "grid.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=sentence) as error:
        load_grid(file)
    assert str(file) in str(error.value)


def test_a_socket_is_named_beside_the_grid_file(tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    file.write_text('[grid]\nlisten = "unix:s"\n[[cluster]]\nname = "a"\nprocs = 2')
    assert load_grid(file).listen == f"unix:{tmp_path / 's'}"


def test_a_journal_that_cannot_be_written_stops_everything() -> None:
    with folder() as path:
        grid = written(path, cluster("a", 1))
        with running(grid) as live:
            live.agent.on_submit(short(0.1, 5).as_json())
            live.agent.journal._db.execute("PRAGMA max_page_count = 1")  # as a full disk
            with pytest.raises(JournalError, match=r"cannot be written .*full.*free space on its disk"):
                for _ in range(300):
                    live.agent.on_submit(short(0.1, 5, name="x" * 1000).as_json())
            running_there = len(live.servers[0].handle("picture", {})["jobs"])
            assert running_there <= len(
                live.agent.journal.all_tasks()
            )  # nothing that the journal does not know


def test_the_journal_does_not_grow_for_ever(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.db")
    sizes = []
    for number in range(240):
        row = journal.add_task(Task(("true",), 1, SECOND), number)
        attempt = journal.add_attempt(row, "a", number)
        journal.set_attempt(attempt.number, state="over")
        journal.set_task(row.number, state="done")
        journal.decide(number, "mapped", row.number, cluster="a")
        if number % 20 == 19:
            journal.forget(20)
            sizes.append(int(journal._run("PRAGMA page_count").fetchone()[0]))
    assert len(journal.all_tasks()) == 20 and len(journal.decisions(10_000)) <= 2000
    assert max(sizes[3:]) <= sizes[2] + 2, sizes
    journal.close()


def test_tasks_are_checked() -> None:
    for data, sentence in (
        ({"command": ["true"]}, "a walltime above 0"),
        ({"walltime": 1}, "a command or a script"),
        ({"command": ["true"], "walltime": 1, "procs": 0}, "at least one processor"),
        ({"command": ["true"], "walltime": "1"}, "walltime must be a whole number"),
        ({"command": "true", "walltime": 1}, "command must be a list"),
        ({"script": "echo", "walltime": 1}, "must begin with #!"),
        ({"command": ["true"], "walltime": 1, "shell": 1}, "a task has no shell"),
        ({"command": ["true"], "walltime": 1, "forms": [[n, 1] for n in range(1, 66)]}, "at most 64 forms"),
        ({"command": ["a\0b"], "walltime": 1}, "zero byte"),
    ):
        with pytest.raises(UsageError, match=sentence):
            Task.from_json(data)
    task = Task(("solve", "{procs}"), 4, SECOND, forms=((4, SECOND), (8, SECOND // 2)), urgent=True)
    assert Task.from_json(json.loads(task.text())) == task
    many = Task(("solve",), 4, SECOND, forms=((4, 2), (8, 3), (4, 1), *[(8, 2)] * 100_000))
    assert many.forms == ((4, 2), (8, 3))


@contextmanager
def idle(count: int, port: int, source: str = "127.0.0.1") -> Iterator[list[socket.socket]]:
    """Connections on which nothing is said."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), 20, (source, 0)))
            for _ in range(count)
        ]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_idle_connections_without_the_token_shut_nobody_out(scheme: str) -> None:
    port = free_port()
    address = f"{scheme}://localhost:{port}".replace("http://localhost", "http://127.0.0.1")
    with certified() as path:
        tls = (str(path / "c"), str(path / "k")) if scheme == "https" else None
        ca = tls and tls[0]
        with listening(address, token=TOKEN, tls=tls), closing(Remote(address, token=TOKEN, ca=ca)) as first:
            assert first.ask("hello")
            connection = first._connection
            with idle(300, port):
                assert all(answers(address, token=TOKEN, ca=ca) for _ in range(30))
                assert first.ask("hello") and first._connection is connection


def test_strangers_lose_places_by_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who holds most of the few places gives one away; who waits briefly is left alone."""
    monkeypatch.setattr(wire, "STRANGE", 3)
    port = free_port()
    with (
        listening(f"http://127.0.0.1:{port}", token=TOKEN),
        idle(1, port, "127.0.0.2") as (quiet,),
        idle(6, port) as flood,
    ):
        assert [each.recv(1) for each in flood[:4]] == [b""] * 4
        for each in (quiet, *flood[4:]):
            each.sendall(b"POST /hello HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
            assert each.recv(100).startswith(b"HTTP/1.1 403")


def test_those_who_have_shown_the_token_lose_idle_connections_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """They make them again without a word; one that waits for its turn stays."""
    monkeypatch.setattr(wire, "KNOWN", 2)
    address, turn = f"http://127.0.0.1:{free_port()}", threading.Lock()
    with listening(address, token=TOKEN, turn=turn) as listener, ExitStack() as stack:
        remotes = [stack.enter_context(closing(Remote(address, token=TOKEN))) for _ in range(4)]
        for remote in remotes * 2:
            assert remote.ask("hello") and len(listener.connections) <= 2
        with turn:
            waits = threading.Thread(target=remotes[0].ask, args=("wait",))
            waits.start()
            until(lambda: any(each.state == wire.WAITING for each in listener.connections))
            threads = [threading.Thread(target=each.ask, args=("hello",)) for each in remotes[1:2]]
            for each in threads:
                each.start()
        for each in (waits, *threads):
            each.join(20)
            assert not each.is_alive()


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("scheme", ["unix", "http", "https"])
def test_work_for_a_caller_that_is_gone_is_dropped(scheme: str) -> None:
    heard: list[str] = []
    turn = threading.Lock()
    with certified() as path:
        tls = (str(path / "c"), str(path / "k")) if scheme == "https" else None
        address = f"unix:{path}/s" if scheme == "unix" else f"{scheme}://localhost:{free_port()}"

        def remote(timeout: float) -> Remote:
            return Remote(address, token=TOKEN, ca=tls and tls[0], timeout=timeout)

        token = None if scheme == "unix" else TOKEN
        listener = listen(address, lambda request, _: heard.append(request), token=token, tls=tls, turn=turn)
        try:
            with turn, closing(remote(0.5)) as hasty, pytest.raises(TooSlow):
                hasty.ask("dropped")
            with closing(remote(20)) as patient:
                assert patient.ask("answered") == {}
            assert heard == ["answered"]
        finally:
            close(listener)


def test_a_client_has_one_request_in_work_while_others_wait(tmp_path: Path) -> None:
    """Twenty requests of one client stand between another one and its answer once, not twenty times."""
    port, turn = free_port(), threading.Lock()
    order: list[str] = []

    def slow(request: str, data: dict[str, Any]) -> None:
        order.append(request)
        time.sleep(0.05)

    listener = listen(f"http://127.0.0.1:{port}", slow, token=TOKEN, turn=turn)
    request = f"Host: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 0\r\n\r\n".encode()
    try:
        with idle(20, port, "127.0.0.2") as many, idle(1, port) as (one,):
            with turn:
                for each in many:
                    each.sendall(b"POST /many HTTP/1.1\r\n" + request)
                until(lambda: sum(each.state == wire.WAITING for each in listener.connections) == 20)
                one.sendall(b"POST /one HTTP/1.1\r\n" + request)
                until(lambda: sum(each.state == wire.WAITING for each in listener.connections) == 21)
            assert one.recv(100).startswith(b"HTTP/1.1 200")
            assert order.index("one") <= 2
    finally:
        close(listener)


@pytest.mark.parametrize(
    "sizes",
    [
        {"forms": tuple((n, SECOND) for n in range(1, 65))},
        {"parallel_fraction": 0.9, "max_procs": 64},
    ],
)
def test_an_estimate_takes_no_longer_than_it_may(sizes: dict[str, Any]) -> None:
    """The best of the sizes that were tried is the answer; in a simulation all are."""
    shapes = Shapes(parse_spec("reallocation"), Cluster("a", 1, 100), 100, TUNINGS.index("exhaustive"))
    task = Task(("true",), 4, SECOND, **sizes)
    asked: list[int] = []

    def slow(procs: int) -> int:
        asked.append(procs)
        time.sleep(0.02)
        return 1000 - procs

    assert shapes.tuned(task, slow, 0.1) == (1000 - asked[-1], asked[-1])
    assert 1 <= len(asked) <= 6
    assert shapes.tuned(task, lambda procs: 1000 - procs) == (936, 64)


def test_an_event_takes_no_longer_than_it_may() -> None:
    """Servers that take long for each estimate do not keep the agent from its clients."""
    with folder() as path:
        grid = written(path, cluster("a", 1), more="timeout = 0.2")
        agent = LiveAgent(grid, True, print)
        row = agent.journal.add_task(Task(("true",), 1, SECOND), 0)
        agent._agent(0)
        (proxy,), begun = agent.proxies, time.monotonic()
        while not proxy.silent:
            proxy.ask = lambda request, **data: {"completion": 1, "procs": 1}  # type: ignore[method-assign]
            proxy.estimate(row)
        assert "taken too long" in proxy.silent and time.monotonic() - begun < 2
        assert proxy.estimate(row) == (NO_ANSWER, 0)
        agent.stop()
