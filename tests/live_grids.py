"""Grids for tests of the middleware: files, servers in this process behind real sockets, short tasks."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headway.live.agent import LiveAgent
from headway.live.grid_file import Grid, load_grid
from headway.live.server import ClusterServer
from headway.live.serving import server_of
from headway.live.task import Task
from headway.live.wire import close, listen
from headway.units import SECOND

POLICY = "reallocation(period=1, threshold=0.5)"


@contextmanager
def folder() -> Iterator[Path]:
    """A folder with a short path, because sockets want one."""
    path = Path(tempfile.mkdtemp(prefix="hw"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def written(path: Path, clusters: str, policy: str = POLICY, more: str = "", allow: str = "") -> Grid:
    """A grid file in a folder."""
    acts = allow or '"submit", "cancel", "kill", "suspend", "requeue"'
    text = f'[grid]\npolicy = "{policy}"\nfolder = "state"\npoll = 0.2\n{more}\n'
    text += f"[control]\nallow = [{acts}]\nacts_per_minute = 100000\n{clusters}"
    (path / "grid.toml").write_text(text, "utf-8")
    return load_grid(path / "grid.toml")


def cluster(name: str, procs: int, **values: object) -> str:
    """The table of a cluster."""
    lines = [f'[[cluster]]\nname = "{name}"\nprocs = {procs}']
    lines += [f"{key} = {repr(value).replace(chr(39), chr(34))}" for key, value in values.items()]
    return "\n".join(lines) + "\n"


def short(seconds: float, walltime: float = 5, procs: int = 1, mark: Path | None = None, **more: Any) -> Task:
    """A task that sleeps, and leaves a mark."""
    words = ("sh", "-c", f'sleep {seconds}; [ -z "$0" ] || echo "$HEADWAY_TASK" >> "$0"', str(mark or ""))
    return Task(words, procs, round(walltime * SECOND), **more)


def marked(words: tuple[str, ...], *lines: str) -> str:
    """What squeue prints of jobs when it is asked in these words: each begins as they say."""
    mark = words[-1].removeprefix("--format=").partition("|")[0]
    return "".join(f"{mark}|{line}\n" for line in lines)


class InProcess:
    """The servers of a grid in this process, behind their sockets, and an agent."""

    def __init__(self, grid: Grid, control: bool = True) -> None:
        self.grid = grid
        self.servers: list[ClusterServer] = [server_of(grid, site, control) for site in grid.sites]
        pairs = zip(grid.sites, self.servers, strict=True)
        self.listeners = [listen(site.listen, server.handle) for site, server in pairs]
        self.said: list[str] = []
        self.agent = LiveAgent(grid, control, self.said.append)

    def turn(self) -> None:
        """Everybody looks once."""
        for server in self.servers:
            server.tick()
        self.agent.tick()

    def until(self, done: Any, seconds: float = 30) -> None:
        """Go on until something is true."""
        end = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < end, self.agent.on_queue()
            self.turn()
            time.sleep(0.05)

    def all_over(self) -> bool:
        return not self.agent.journal.live_tasks()

    def stop(self) -> None:
        self.agent.stop()
        for listener in self.listeners:
            close(listener)
        for server in self.servers:
            server.stop()


@contextmanager
def running(grid: Grid, control: bool = True) -> Iterator[InProcess]:
    made = InProcess(grid, control)
    try:
        yield made
    finally:
        made.stop()
