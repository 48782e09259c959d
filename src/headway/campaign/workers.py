"""Who runs the chunks of a campaign on this machine: this process, or worker processes.

Worker processes share nothing with the campaign but two pipes, so that policies written in Python use all
cores as well, and one that dies takes only its cells along.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from headway.campaign.measure import Chunk, Outcome, run_chunk
from headway.campaign.worker import receive, send


class Worker(Protocol):
    """Runs one chunk at a time."""

    def run(self, chunk: Chunk) -> list[Outcome]:
        """The outcomes of a chunk, in its order."""
        ...

    def close(self) -> None:
        """Give up what it holds."""
        ...


class Here:
    """A worker in this process; kernels run without the interpreter's lock, so several share a process."""

    def run(self, chunk: Chunk) -> list[Outcome]:
        return run_chunk(chunk)

    def close(self) -> None:
        pass


class Process:
    """A worker process; one that dies is replaced, and the cell it died on fails."""

    def __init__(self) -> None:
        self._child = _start()
        self._closed = False

    def run(self, chunk: Chunk) -> list[Outcome]:
        try:
            return self._ask(chunk)
        except (EOFError, BrokenPipeError, ConnectionError):
            reason = self._ended()
        if len(chunk.tasks) == 1:
            return [Outcome(chunk.tasks[0].id, error=f"its worker process {reason}")]
        # Which cell it was is not known: each gets a worker to itself, and only the guilty one fails.
        alone = (Chunk(chunk.workload, (task,), chunk.settings, chunk.code) for task in chunk.tasks)
        return [outcome for single in alone for outcome in self.run(single)]

    def _ask(self, chunk: Chunk) -> list[Outcome]:
        child = self._child
        if child.stdin is None or child.stdout is None:
            raise EOFError
        send(child.stdin, chunk)
        answer = receive(child.stdout)
        if isinstance(answer, Exception):
            raise answer
        outcomes: list[Outcome] = answer
        return outcomes

    def _ended(self) -> str:
        """How the worker ended; a new one takes its place."""
        status = self._child.wait()
        if self._closed:
            raise RuntimeError("the worker was closed while it worked")
        self._child = _start()
        if status < 0:
            return f"was ended by {signal.Signals(-status).name} (out of memory, perhaps)"
        return f"ended with status {status}"

    def close(self) -> None:
        self._closed = True
        child = self._child
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                with suppress(OSError):  # what it still held is of no interest
                    stream.close()


def _start() -> subprocess.Popen[bytes]:
    # The modules this process finds must be found by the worker, a script's own folder included.
    path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
    return subprocess.Popen(
        [sys.executable, "-c", "from headway.campaign.worker import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )


def local_workers(count: int, threads: bool = False) -> list[Callable[[], Worker]]:
    """How to make `count` workers: one works in this process, more are processes, or threads."""
    return [Here] * count if threads or count == 1 else [Process] * count


def cores() -> int:
    """Cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
