"""Agent and servers as child processes: for `headway live agent --servers` and for the demonstration."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from headway.errors import HeadwayError, UsageError
from headway.live import outside
from headway.live.grid_file import Grid
from headway.live.wire import Remote
from headway.plain import Notify

PATIENCE = 120.0
"""Seconds for a process to answer; compiling a policy for the first time takes some."""


def start(words: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """A command of headway in a process of its own, its messages in a file."""
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with log.open("ab") as out:
        return subprocess.Popen(
            [sys.executable, "-m", "headway", *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )


def start_servers(grid: Grid, control: bool) -> list[subprocess.Popen[bytes]]:
    """A server for each cluster."""
    words = ["--control"] if control else []
    return [
        start(["live", "server", str(grid.file), site.name, *words], grid.folder / f"{site.name}.log")
        for site in grid.sites
    ]


@contextmanager
def running_servers(grid: Grid) -> Iterator[list[subprocess.Popen[bytes]]]:
    """The servers of all clusters, with --control, as soon as they answer; the processes of the list end."""
    processes = start_servers(grid, control=True)
    try:
        for site, process in zip(grid.sites, processes, strict=True):
            wait_for(site.listen, process, grid.folder / f"{site.name}.log", "describe", grid).close()
        yield processes
    finally:
        end(processes)


def tell_of_ends(servers: Sequence[subprocess.Popen[bytes]], grid: Grid, say: Notify) -> None:
    """Say it when a server that was started has ended by itself, with the last line of its log."""

    def tell(server: subprocess.Popen[bytes], name: str) -> None:
        status = server.wait()
        if status != -signal.SIGTERM and status != 0:
            log = grid.folder / f"{name}.log"
            say(f"the server of {name} has ended: {_last_line(log) or f'status {status}'} (see {log})")

    for server, site in zip(servers, grid.sites, strict=False):
        threading.Thread(target=tell, args=(server, site.name), daemon=True).start()


def _last_line(log: Path) -> str:
    said = log.read_text("utf-8", "replace").strip().splitlines()
    return said[-1].removeprefix("headway: ") if said else ""


def wait_for(address: str, process: subprocess.Popen[bytes], log: Path, request: str, grid: Grid) -> Remote:
    """The other side of an address, as soon as it answers."""
    remote = Remote(address, token=grid.secret(), ca=grid.tls_ca, timeout=grid.timeout)
    until = outside.steady() + PATIENCE
    while True:
        try:
            remote.ask(request)
            return remote
        except HeadwayError as error:
            remote.close()
            if process.poll() is not None:
                raise UsageError(_last_line(log) or str(error)) from None
            if outside.steady() > until:
                raise
        outside.sleep(0.1)


def end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Ask processes to end, and wait for it."""
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
