"""Ctrl-C, or SIGTERM, ends a command even where a policy's compiled code never comes back to Python.

Python hears of an interrupt between two of its own instructions. The engine returns to it often enough, but
an endless loop in a compiled policy does not; a thread next to it then ends the process. Where Python
hears of it and cannot hand it on, as in what LLVM calls while it compiles, the interrupt comes again.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from headway.cli.application import INTERRUPTED

PATIENCE = 4.0
"""Seconds that the main thread has to react; what it was doing is then lost, and nothing else."""

SOON = 0.05
"""Seconds after which an interrupt comes again that could not be handed on."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Ctrl-C, and what `kill` and batch systems send: both end a command in the same orderly way."""

ALL = 4096
"""More signals than come at once."""

SENTENCE = (
    "headway: interrupted; what was being done, such as compiling, did not end within seconds, and is lost "
    "(if that is a policy's compiled code: NUMBA_DISABLE_JIT=1 runs it in Python, where Ctrl-C shows the "
    "line)\n"
)


@contextmanager
def interruptible(patience: float = PATIENCE) -> Iterator[None]:
    """While this is open an interrupt either raises KeyboardInterrupt or, unheard, ends the process."""
    if threading.current_thread() is not threading.main_thread() or os.name != "posix":
        yield
        return
    heard, over = threading.Event(), threading.Event()
    reading, writing = socket.socketpair()  # Python writes into it as soon as a signal comes
    reading.setblocking(False)
    writing.setblocking(False)

    def hear(number: int, frame: FrameType | None) -> None:
        with suppress(BlockingIOError):
            reading.recv(ALL)
        heard.set()
        signal.default_int_handler(number, frame)

    def come_again(trouble: sys.UnraisableHookArgs) -> None:
        if not issubclass(trouble.exc_type, KeyboardInterrupt):
            hook(trouble)
        else:
            threading.Timer(SOON, ring_again).start()

    def ring_again() -> None:
        if not over.is_set():
            os.kill(os.getpid(), signal.SIGINT)

    def rung(seconds: float | None) -> bool:
        """Whether an interrupt has come that was not heard; other signals are not ours."""
        with suppress(BlockingIOError):
            if select.select([reading], [], [], seconds)[0]:
                came = reading.recv(ALL, socket.MSG_PEEK)
                if any(number in came for number in SIGNALS):
                    return True
                reading.recv(len(came))
        return False

    def watch() -> None:
        while not over.is_set():
            if rung(None):
                heard.clear()  # who hears it from now on says so; who has heard it left nothing to read
            if rung(0) and not heard.wait(patience) and not over.is_set():
                sys.stderr.write(SENTENCE)
                sys.stderr.flush()
                os._exit(INTERRUPTED)

    hook, sys.unraisablehook = sys.unraisablehook, come_again
    before = [signal.signal(number, hear) for number in SIGNALS]
    bell = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(bell)
        sys.unraisablehook = hook
        for number, handler in zip(SIGNALS, before, strict=True):
            signal.signal(number, handler)
        over.set()
        heard.set()
        writing.close()  # wakes the watcher
        watcher.join()
        reading.close()
