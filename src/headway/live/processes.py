"""Jobs as processes of this machine. Each is a group of its own, which outlives whoever started it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

GRACE = 1.0
"""Seconds between asking a job to end and ending it."""


class Processes:
    """The processes of a local cluster; those of an earlier server are known by their number alone."""

    def __init__(self) -> None:
        self._own: dict[int, subprocess.Popen[bytes]] = {}
        self._dying: dict[int, float] = {}

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

    def is_alive(self, pid: int, script: str = "") -> bool:
        """Whether a job still runs; ``script`` tells it from a stranger that got its number later."""
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
        return bool(line) and script in line

    def fate(self, pid: int, script: str) -> str:
        """What became of a job that ended without a word: it failed, unless somebody knows better."""
        return "failed"

    def send(self, pid: int, what: signal.Signals) -> None:
        """A signal to all processes of a job."""
        if pid <= 1:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, what)

    def suspend(self, pid: int) -> None:
        self.send(pid, signal.SIGSTOP)

    def resume(self, pid: int) -> None:
        self.send(pid, signal.SIGCONT)

    def bring_to(self, state: str, pid: int, script: str) -> None:
        """Let a job be running or suspended, whichever it is now."""
        if state == "suspended":
            self.suspend(pid)
        else:
            self.resume(pid)

    def end(self, pid: int) -> None:
        """Ask a job to end; it is killed a second later."""
        self.send(pid, signal.SIGTERM)
        self.send(pid, signal.SIGCONT)
        self._dying[pid] = time.monotonic() + GRACE

    def kill(self, pid: int) -> None:
        """End a job at once."""
        self.send(pid, signal.SIGKILL)
        if pid in self._own:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._own[pid].wait(GRACE)

    def tend(self) -> float | None:
        """Kill those whose second is over, forget the dead; seconds until the next is due."""
        now = time.monotonic()
        for pid, when in list(self._dying.items()):
            if not self.is_alive(pid):
                self.send(pid, signal.SIGKILL)  # what is left of its group
                del self._dying[pid]
            elif when <= now:
                self.kill(pid)
        return min((when - now for when in self._dying.values()), default=None)

    def leave(self) -> None:
        """Leave all jobs to themselves."""
        for process in self._own.values():
            process.poll()
            if process.returncode is None:
                process.returncode = 0  # nobody waits for it here any more: it runs on

    def forget(self, pid: int) -> None:
        """Nothing more will be asked about a job that has ended."""
        process = self._own.get(pid)
        if process is not None and process.poll() is not None:
            del self._own[pid]
