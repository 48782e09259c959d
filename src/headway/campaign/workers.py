"""Who runs the chunks of a campaign on this machine: threads of this process, or worker processes.

Compiled policies run without the interpreter's lock; it is held for a millisecond or a few of each cell, to
prepare and measure it. Up to four threads share a process well where cells take longer than that; they start
at once and share the workloads. Where there are many short cells, all but one go on in processes, which share
nothing with the campaign but two pipes. More workers, and policies written in Python, get processes from the
beginning.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import IO, Any

from headway.campaign.measure import Chunk, Outcome, run_chunk


class Here:
    """A worker in this process, a thread of it."""

    here = True

    def __init__(self, stays: bool = False) -> None:
        self._stays = stays

    def run(self, chunks: Sequence[Chunk]) -> list[Outcome]:
        """The outcomes of the chunks, in their order."""
        return [outcome for chunk in chunks for outcome in run_chunk(chunk)]

    def apart(self) -> Worker:
        """A worker in a process of its own to go on with, where that may be."""
        if self._stays:
            return self
        try:
            return Process()
        except OSError:  # no more processes here
            self._stays = True
            return self

    def close(self) -> None:
        """Give up what it holds: nothing."""


class Process:
    """A worker process; one that dies is replaced, and the cell it died on fails."""

    here = False

    def __init__(self) -> None:
        self._child = _start()
        self._closed = False

    def run(self, chunks: Sequence[Chunk]) -> list[Outcome]:
        try:
            return self._ask(chunks)
        except (EOFError, BrokenPipeError, ConnectionError):
            reason = self._ended()
        alone = [replace(chunk, tasks=(task,)) for chunk in chunks for task in chunk.tasks]
        if len(alone) == 1:
            return [Outcome(alone[0].tasks[0].id, error=f"its worker process {reason}")]
        # Which cell it was is not known: each gets a worker to itself, and only the guilty one fails.
        return [outcome for single in alone for outcome in self.run([single])]

    def apart(self) -> Worker:
        return self

    def _ask(self, chunks: Sequence[Chunk]) -> list[Outcome]:
        child = self._child
        if child.stdin is None or child.stdout is None:
            raise EOFError
        send(child.stdin, chunks)
        answer = receive(child.stdout)
        if isinstance(answer, Exception):
            raise answer
        outcomes: list[Outcome] = answer
        return outcomes

    def _ended(self) -> str:
        """How the worker ended; a new one takes its place."""
        status = self._child.wait()
        _close_streams(self._child)
        if self._closed:
            raise RuntimeError("the worker was closed while it worked")
        self._child = _start()
        if status < 0:
            return f"was ended by {signal.Signals(-status).name} (out of memory, perhaps)"
        return f"ended with status {status}"

    def close(self) -> None:
        self._closed = True
        self._child.kill()
        self._child.wait()
        _close_streams(self._child)


Worker = Here | Process


def _close_streams(child: subprocess.Popen[bytes]) -> None:
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            with suppress(OSError):  # what it still held is of no interest
                stream.close()


# Ctrl-C reaches every process of the terminal; what it means is decided by the campaign alone.
_MAIN = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
from headway.campaign.workers import main
main()
"""


def _start() -> subprocess.Popen[bytes]:
    # The modules this process finds must be found by the worker, a script's own folder included.
    path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
    return subprocess.Popen(
        [sys.executable, "-c", _MAIN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )


MOST_THREADS = 4


def local_workers(
    count: int, processes: bool | None = None, interpreted: bool = False
) -> list[Callable[[], Worker]]:
    """How to make `count` workers; `processes` overrides the choice, `interpreted` holds the lock."""
    here = partial(Here, stays=processes is False)
    if processes is None:
        processes = count > MOST_THREADS or (interpreted and count > 1)
    return [Process] * count if processes else [here] * count


LENGTH = struct.Struct("<Q")


def send(stream: IO[bytes], message: object) -> None:
    """Write one message: its pickle after the length of that."""
    data = pickle.dumps(message, protocol=5)
    stream.write(LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next message; EOFError where the other side is gone."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


def main() -> None:
    """What a worker process does: it reads chunks of cells, some at a time, and answers with outcomes.

    The campaign starts it as ``python -c``, so that no script of the user's runs twice. It ends when its
    input does, also when the campaign is killed.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever a user's policy prints must not end up among the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        while True:
            chunks = receive(sys.stdin.buffer)
            try:
                answer: object = [outcome for chunk in chunks for outcome in run_chunk(chunk)]
            except Exception as error:
                answer = error
            send(answers, answer)
    except (EOFError, BrokenPipeError):
        pass
