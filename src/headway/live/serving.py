"""The process of a server or of the agent: it answers requests, and looks after things until it is ended."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

from headway.errors import HeadwayError, UsageError
from headway.live.grid_file import Grid, Site
from headway.live.server import RETRY, ClusterServer
from headway.live.tended import Tended
from headway.live.wire import Pages, check_safe, close, listen
from headway.plain import Notify


def private_folder(folder: Path) -> None:
    """Make a folder, or refuse one to which others can add files: tasks believe what stands there."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    check_safe(folder)
    mode = folder.stat().st_mode
    if mode & stat.S_ISVTX and mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UsageError(f"others can write to {folder}; chmod 700 {folder}, or give the grid another folder")


def server_of(grid: Grid, site: Site, control: bool) -> ClusterServer:
    """The server of a cluster, by its kind."""
    if control and site.kind != "simulated":
        private_folder(grid.fence)
    if site.kind == "local":
        from headway.live.local_server import LocalServer

        return LocalServer(grid, site, control)
    if site.kind == "simulated":
        from headway.live.simulated_server import SimulatedServer

        return SimulatedServer(grid, site, control)
    if site.steer:
        from headway.live.slurm.steered import SteeredServer

        return SteeredServer(grid, site, control)
    from headway.live.slurm.server import SlurmServer

    return SlurmServer(grid, site, control)


@contextlib.contextmanager
def alone(folder: Path, name: str) -> Iterator[None]:
    """Let no second process of that name work in a folder; the lock ends with the process."""
    import fcntl

    private_folder(folder)
    with (folder / f"{name}.lock").open("a") as lock:
        os.fchmod(lock.fileno(), 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"{name} of {folder} runs already; end it first") from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield


def serve(
    grid: Grid,
    tended: Tended,
    addresses: list[str],
    say: Notify,
    pages: Pages | None = None,
) -> None:
    """Serve until SIGTERM, SIGINT, or the end of the terminal, unless nohup has us outlive that.

    Pages, which need no token, are at the grid's address for them and at no other.
    """
    ending = False

    def end(*_: object) -> None:
        nonlocal ending
        ending = True
        tended.bell.ring()

    ends = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        ends.append(signal.SIGHUP)
    before = {number: signal.signal(number, end) for number in ends}
    child = signal.signal(signal.SIGCHLD, lambda *_: tended.bell.ring())
    listeners = []
    try:
        for address in addresses:
            made = listen(
                address,
                tended.handle,
                pages=pages if address == grid.page else None,
                token=None if address.startswith("unix:") else grid.secret(),
                tls=grid.tls,
                turn=tended.lock,
                failed=lambda error: say(f"a request failed: {type(error).__name__}: {error}"),
            )
            listeners.append(made)
        said = ""
        while not ending:
            try:
                wait = tended.tick()
                said = ""
            except HeadwayError as error:
                wait = RETRY
                if str(error) != said:
                    said = str(error)
                    say(said)
            tended.bell.wait(wait)
    finally:
        for listener in listeners:
            close(listener)
        tended.stop()
        for number, action in before.items():
            signal.signal(number, action)
        signal.signal(signal.SIGCHLD, child)
