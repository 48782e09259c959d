"""Jobs as processes of this machine. Each is a group of its own, which outlives whoever started it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Container
from pathlib import Path

from headway.live import outside

GRACE = 1.0
"""Seconds between asking a job to end and ending it."""
ROUNDS = 5
"""How often what a job has left behind is looked for, at most."""


class Processes:
    """The processes of a local cluster; those of an earlier server are known by their number alone."""

    def __init__(self) -> None:
        self._own: dict[int, subprocess.Popen[bytes]] = {}
        self._dying: dict[int, tuple[float, str]] = {}
        """When each has to be dead, and the name of its job."""

    def launch(self, script: Path, output: Path) -> int:
        """Start a job script; its process group."""
        output.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with output.open("ab") as out:
            process = subprocess.Popen(
                ["/bin/sh", str(script)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                close_fds=True,
            )
        self._own[process.pid] = process
        return process.pid

    def code(self, pid: int) -> int | None:
        """The exit status of a job that this very process started and that has ended."""
        process = self._own.get(pid)
        return None if process is None else process.poll()

    def is_own(self, pid: int) -> bool:
        """Whether this very process started a job."""
        return pid in self._own

    def is_alive(self, pid: int, name: str = "") -> bool:
        """Whether a job still runs; its name, its script's, tells it from another with its number."""
        if pid in self._own:
            return self._own[pid].poll() is None
        if pid <= 1:
            return False
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        if not Path("/proc/self").exists():
            return True
        try:
            # One that has ended and that nobody waited for has no command line any more.
            line = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        except OSError:
            return False
        return bool(line) and name in line

    def fate(self, pid: int, name: str) -> str:
        """What became of a job that ended without a word: it failed, unless somebody knows better."""
        return "failed"

    def send(self, pid: int, name: str, what: signal.Signals) -> None:
        """A signal to all processes of a job: its group, and those that have left that."""
        if pid > 1:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, what)
        for stray in strays(name):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(stray, what)

    def clear(self, pid: int, name: str) -> None:
        """End at once what a job has left behind in its group, or as a daemon."""
        for _ in range(ROUNDS):  # a process may have made another one while it was looked for
            self.send(pid if pid in self._own else 0, name, signal.SIGKILL)
            if not strays(name):
                break

    def suspend(self, pid: int, name: str) -> None:
        self.send(pid, name, signal.SIGSTOP)

    def resume(self, pid: int, name: str) -> None:
        self.send(pid, name, signal.SIGCONT)

    def bring_to(self, state: str, pid: int, name: str) -> None:
        """Let a job be running or suspended, whichever it is now."""
        if state == "suspended":
            self.suspend(pid, name)
        else:
            self.resume(pid, name)

    def end(self, pid: int, name: str) -> None:
        """Ask a job to end; it is killed a second later."""
        self.send(pid, name, signal.SIGTERM)
        self.send(pid, name, signal.SIGCONT)
        self._dying[pid] = outside.steady() + GRACE, name

    def kill(self, pid: int, name: str) -> None:
        """End a job at once."""
        self.send(pid, name, signal.SIGKILL)
        if pid in self._own:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._own[pid].wait(GRACE)

    def tend(self) -> float | None:
        """Kill those whose second is over, forget the dead; seconds until the next is due."""
        now = outside.steady()
        for pid, (when, name) in list(self._dying.items()):
            if not self.is_alive(pid):
                self.clear(pid, name)
                del self._dying[pid]
            elif when <= now:
                self.kill(pid, name)
        return min((when - now for when, _ in self._dying.values()), default=None)

    def leave(self) -> None:
        """Leave all jobs to themselves."""
        for process in self._own.values():
            process.poll()
            if process.returncode is None:
                process.returncode = 0  # nobody waits for it here any more: it runs on

    def forget_others(self, pids: Container[int | None]) -> None:
        """Nothing more will be asked about jobs that have ended, but for these."""
        for pid in [pid for pid in self._own if pid not in pids and pid not in self._dying]:
            if self._own[pid].poll() is not None:
                del self._own[pid]


def strays(name: str) -> list[int]:
    """The processes of the job of a name, by what the job script has put into their environment.

    Those that it started in the background, or as daemons in sessions of their own, have it too, unless they
    took it out; where the system does not show environments, none are found.
    """
    mark, found = f"\0HEADWAY_TASK={name.rpartition('.')[0]}".encode(), list[int]()
    for process in Path("/proc").glob("[0-9]*") if name else ():
        try:
            # After the key of a task stands nothing, or the number of its run.
            _, is_there, after = (b"\0" + (process / "environ").read_bytes()).partition(mark)
            state = (process / "stat").read_text().rpartition(") ")[2][:1]
        except OSError:
            continue
        if is_there and after[:1] in (b"\0", b"+", b"") and state != "Z":
            found.append(int(process.name))
    return found
