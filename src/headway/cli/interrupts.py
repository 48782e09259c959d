"""Ctrl-C ends a command even where a policy's compiled code never comes back to Python.

Python hears of an interrupt between two of its own instructions. The engine returns to it often enough, but
an endless loop in a compiled policy does not; a thread beside it then ends the process.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

PATIENCE = 5.0
"""Seconds that the main thread has to react; what it was doing is then lost, and nothing else."""

INTERRUPTED = 130

ALL = 4096
"""More signals than come at once."""

SENTENCE = (
    "headway: interrupted; the policy's compiled code did not return, so what it was computing is lost "
    "(NUMBA_DISABLE_JIT=1 runs it in Python, where Ctrl-C shows the line)\n"
)


@contextmanager
def interruptible(patience: float = PATIENCE) -> Iterator[None]:
    """While this is open an interrupt either raises KeyboardInterrupt or, unheard, ends the process."""
    if threading.current_thread() is not threading.main_thread() or os.name != "posix":
        yield
        return
    heard = threading.Event()

    def hear(number: int, frame: FrameType | None) -> None:
        heard.set()
        signal.default_int_handler(number, frame)

    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.signal(signal.SIGINT, hear)
    bell = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(reading, heard, patience), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(bell)
        signal.signal(signal.SIGINT, before)
        os.close(writing)  # the watcher reads the end, and ends
        watcher.join()
        os.close(reading)


def _watch(reading: int, heard: threading.Event, patience: float) -> None:
    """End the process if an interrupt was not heard."""
    while rung := os.read(reading, ALL):
        if signal.SIGINT in rung and not heard.wait(patience):
            sys.stderr.write(SENTENCE)
            sys.stderr.flush()
            os._exit(INTERRUPTED)
        while select.select([reading], [], [], 0)[0] and os.read(reading, ALL):
            pass  # who presses twice is heard once
        heard.clear()
