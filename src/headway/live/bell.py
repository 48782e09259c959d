"""Wakes the process that looks after a cluster or a grid."""

from __future__ import annotations

from contextlib import suppress
from queue import Empty, SimpleQueue


class Bell:
    """Wakes who waits for it. Unlike an event of threading it may be rung by the handler of a signal.

    A handler runs in the main thread, between any two steps of what that is doing; where this is the waiting
    itself, an event's handler would wait for a lock that its own thread holds, for ever.
    """

    def __init__(self) -> None:
        self._rung: SimpleQueue[None] = SimpleQueue()

    def ring(self) -> None:
        """Wake who waits, or who waits next."""
        if self._rung.empty():
            self._rung.put(None)

    def wait(self, seconds: float) -> None:
        """Wait until it rings, or has rung since the last wait; not longer than so many seconds."""
        with suppress(Empty):
            self._rung.get(timeout=max(seconds, 0))
