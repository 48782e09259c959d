"""Honest tasks through agent and servers on TCP, plain and over TLS, while others besiege every port.

python tests/live_siege.py --tasks 100 --idle 300 --hostile 4
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from headway.live.grid_file import Grid
from headway.live.journal import OVER
from headway.live.launch import end, running_servers, start, wait_for
from headway.live.wire import NoAnswer, Refused, Remote
from headway.units import SECOND
from live_grids import cluster, folder, short, written
from slurm_clusters import free_port

CERTIFICATE = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -days 1 -nodes -subj /CN=localhost "
    "-addext subjectAltName=DNS:localhost"
)
PATIENCE = 60.0
"""Seconds for a request of an honest client."""
MOST_REQUESTS = 500
"""Of a hostile client."""
SECONDS_IDLE = 2.0
"""After which an idle connection is made again, if it was cut."""


@dataclass
class Siege:
    """What honest clients saw of it."""

    answers: list[float] = field(default_factory=list)
    """Seconds to each answer of the agent to a task."""
    shut_out: int = 0
    """Requests of honest clients that were not answered at once, and asked again."""
    marks: int = 0
    opened: int = 0
    """Idle connections that were made in all."""
    refused: int = 0
    taken: int = 0
    unanswered: int = 0
    """Hostile requests, by what came of them."""
    seconds: float = 0


def hostile_tasks(number: int) -> Iterator[dict[str, Any]]:
    """Tasks of many forms, as many equal ones, of as many sizes as a cluster has, and of long waits."""
    task = {"command": ["true"], "walltime": 3600 * SECOND, "name": "hostile"}
    while True:
        number += 1
        yield task | {"forms": [[n % 4 + 1, SECOND * (n + number)] for n in range(16_000)]}
        yield task | {"forms": [[n, SECOND * (n + number)] for n in range(1, 1001)]}
        yield task | {"forms": [[n, SECOND * (n + number)] for n in range(1, 65)]}
        yield task | {"procs": 4, "parallel_fraction": 0.9, "max_procs": 1 << 39, "walltime": SECOND * number}


def besiege(grid: Grid, siege: Siege, number: int, over: threading.Event) -> None:
    """A hostile client that has the token: it asks agent and servers, and seldom waits for answers."""
    tasks = hostile_tasks(number)
    for turn in range(number, number + MOST_REQUESTS):
        if over.wait(0.05):
            return
        address = [grid.listen, *(site.listen for site in grid.sites)][turn % 3]
        remote = Remote(address, token=grid.secret(), ca=grid.tls_ca, timeout=[0.05, 0.5, 5][turn % 3])
        data = {"task": next(tasks)} | ({} if address == grid.listen else {"name": ""})
        try:
            remote.ask("submit" if turn % 5 == 0 and address == grid.listen else "estimate", **data)
            siege.taken += 1
        except Refused:
            siege.refused += 1
        except NoAnswer:
            siege.unanswered += 1
        finally:
            remote.close()


def idle(grid: Grid, siege: Siege, count: int, over: threading.Event) -> None:
    """Connections on which nothing is said, so many on each port; those that were cut are made again."""
    ports = [urlsplit(each).port for each in (grid.listen, *(site.listen for site in grid.sites))]
    with ExitStack() as stack:
        while not over.is_set():
            made = []
            for port in ports * count:
                with suppress(OSError):
                    made.append(stack.enter_context(socket.create_connection(("localhost", port or 0), 5)))
                    siege.opened += 1
            over.wait(SECONDS_IDLE)
            for each in made:
                each.close()


@contextmanager
def besieged(grid: Grid, siege: Siege, idlers: int, hostile: int) -> Iterator[None]:
    over = threading.Event()
    threads = [threading.Thread(target=idle, args=(grid, siege, idlers, over))]
    threads += [threading.Thread(target=besiege, args=(grid, siege, n, over)) for n in range(hostile)]
    for each in threads:
        each.start()
    try:
        yield
    finally:
        over.set()
        for each in threads:
            each.join()


def asked(grid: Grid, siege: Siege, request: str, **data: Any) -> dict[str, Any]:
    """An honest client, which asks again if it is not answered; each time over a connection of its own."""
    until = time.monotonic() + PATIENCE
    while True:
        remote = Remote(grid.listen, token=grid.secret(), ca=grid.tls_ca, timeout=PATIENCE)
        try:
            return remote.ask(request, **data)
        except NoAnswer:
            siege.shut_out += 1
            if time.monotonic() > until:
                raise
        finally:
            remote.close()


def run_siege(path: Path, scheme: str, tasks: int, idlers: int, hostile: int) -> Siege:
    """Submit, wait, count."""
    siege, mark = Siege(), path / "marks"
    (path / "t").write_text("a token of more than sixteen characters")
    (path / "t").chmod(0o600)
    addresses = [f"{scheme}://localhost:{free_port()}" for _ in range(3)]
    more = f'token = "t"\nlisten = "{addresses[0]}"\n'
    if scheme == "https":
        words = [*CERTIFICATE.split(), "-keyout", f"{path}/k", "-out", f"{path}/c"]
        subprocess.run(words, check=True, capture_output=True)
        more += 'tls_cert = "c"\ntls_key = "k"\ntls_ca = "c"\n'
    tables = cluster("a", 4, listen=addresses[1]) + cluster("b", 4, listen=addresses[2])
    grid = written(path, tables, more=more)
    with running_servers(grid) as processes:
        log = grid.folder / "agent.log"
        processes.append(start(["agent", str(grid.file), "--control"], log))
        wait_for(grid.listen, processes[-1], log, "queue", grid).close()
        begun = time.monotonic()
        with besieged(grid, siege, idlers, hostile):
            for number in range(tasks):
                task = short(0.01, 60, 1, mark, name=f"t{number}")
                asking = time.monotonic()
                asked(grid, siege, "submit", task=task.as_json())
                siege.answers.append(time.monotonic() - asking)
            while set(asked(grid, siege, "queue", count=1)["counts"]) - set(OVER):
                time.sleep(0.5)
        siege.seconds = time.monotonic() - begun
        end(processes[::-1])
    siege.marks = len(set(mark.read_text().split()))
    return siege


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scheme", action="append", choices=("http", "https"))
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--idle", type=int, default=300)
    parser.add_argument("--hostile", type=int, default=4)
    words = parser.parse_args()
    ok = True
    for scheme in words.scheme or ("http", "https"):
        with folder() as path:
            found = run_siege(path, scheme, words.tasks, words.idle, words.hostile)
        waits = sorted(found.answers)
        sys.stdout.write(
            f"{scheme}: {found.marks} of {words.tasks} honest tasks ran in {found.seconds:.0f} s, answered "
            f"after {waits[len(waits) // 2]:.2f} s in the median and {waits[-1]:.2f} s at most, asked again "
            f"{found.shut_out} times; {found.opened} idle connections; of hostile requests {found.refused} "
            f"refused, {found.taken} answered, {found.unanswered} given up\n"
        )
        ok &= found.marks == words.tasks
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
