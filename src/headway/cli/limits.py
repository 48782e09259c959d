"""Where memory is limited (``ulimit -v``), a command that runs into the limit ends with a sentence.

Libraries that run out of address space may abort the process, or ask for memory for ever, which Python cannot
hear. Where such a limit is set, the command runs in a child, and the parent says what became of it.
"""

from __future__ import annotations

import atexit
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from headway.cli.application import INTERRUPTED

FATAL = 128
PATIENCE = 2.0
"""CPU seconds that a thread may spend in the system without anything to show for it."""
FRUGAL = {
    "OPENBLAS_NUM_THREADS": "1",
    "_RJEM_MALLOC_CONF": "background_thread:false",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "RUST_BACKTRACE": "0",
}
"""Settings of libraries where memory is limited: each thread of OpenBLAS takes some 50 MB of addresses, and
the jemallocs of Polars and Arrow say thousands of times that they get no thread of their own."""
CHILD = "HEADWAY_WATCHED"
"""Set by us: the number of the child that is watched, and the descriptor on which it tells an orderly end."""


def limit() -> int | None:
    """Bytes of address space that this process may have; None where there is no limit."""
    try:
        import resource
    except ImportError:  # no such limits on this system
        return None
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if soft == resource.RLIM_INFINITY else soft


def sentence() -> str:
    """What to say where memory did not suffice."""
    most = limit()
    limited = "" if most is None else f"; 'ulimit -v' allows {most // 1024} kB, most logs need 2000000"
    return f"there is not enough memory for this run{limited}"


def is_of_the_limit(error: BaseException) -> bool:
    """Whether an error is one that libraries raise where memory is limited and they get none."""
    return limit() is not None and (
        isinstance(error, ImportError | NameError | SystemError | RuntimeError | OSError)
        or type(error).__name__ == "PanicException"
        or came_of_memory(error)
    )


def came_of_memory(error: BaseException | None) -> bool:
    """Whether an error was raised while one for want of memory was handled."""
    while error is not None and not isinstance(error, MemoryError):
        error = error.__cause__ or error.__context__
    return error is not None


def tidying_up(trouble: sys.UnraisableHookArgs) -> None:
    """What a library cannot tidy up for want of memory is not worth a word; the sentence comes anyway."""
    if not issubclass(trouble.exc_type, MemoryError):
        sys.__unraisablehook__(trouble)


def watched() -> int | None:
    """Go on in a child where memory is limited; the parent gets its exit status, a child None.

    A child that did not come to its own end has the status 128 and more.
    """
    if limit() is None or not hasattr(os, "fork"):
        return None
    for name, value in FRUGAL.items():
        os.environ.setdefault(name, value)
    sys.unraisablehook = tidying_up
    number, _, descriptor = os.environ.get(CHILD, "").partition(" ")
    if number == str(os.getpid()):  # a child that began anew by exec
        atexit.register(os.write, int(descriptor), b".")
        return None
    sys.stdout.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.set_inheritable(writing, True)
        os.environ[CHILD] = f"{os.getpid()} {writing}"
        atexit.register(os.write, writing, b".")  # not reached where a library ends the process
        return None
    os.close(writing)

    def forward(number: int, frame: FrameType | None) -> None:
        os.kill(child, number)

    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, forward)
    with end_of_the_spinning(child):
        _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    os.set_blocking(reading, False)  # a process that it left behind may hold the other end
    try:
        orderly = os.read(reading, 1) == b"." or code == INTERRUPTED
    except BlockingIOError:
        orderly = code == INTERRUPTED
    return code if orderly else FATAL + abs(code)


@contextmanager
def end_of_the_spinning(child: int) -> Iterator[None]:
    """Kill a process, the child or one below it, that asks for memory again and again and gets none.

    OpenBLAS, which comes with NumPy and SciPy, does so without end while it is loaded.
    """
    seen: dict[str, Effort] = {}

    def look(number: int, frame: FrameType | None) -> None:
        for process in family(child):
            for thread in sorted(Path(f"/proc/{process}/task").glob("*")):
                now = Effort.of(thread)
                if now is None:
                    continue
                before = seen.setdefault(str(thread), now)
                if not now.spins_since(before):
                    seen[str(thread)] = now
                elif now.system - before.system > PATIENCE:
                    os.kill(process, signal.SIGKILL)
                    return

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 1.0, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


class Effort(NamedTuple):
    """What a thread has done since it began; times in CPU seconds."""

    user: float
    system: float
    rest: tuple[str, ...]
    """Pages that it touched first, calls that read or wrote."""

    @classmethod
    def of(cls, thread: Path) -> Effort | None:
        """None where the thread has ended, or where the system does not tell."""
        try:
            fields = (thread / "stat").read_text().rpartition(")")[2].split()
            calls = re.findall(r"sysc[rw]: (\d+)", (thread / "io").read_text())
        except OSError:
            return None
        ticks = os.sysconf("SC_CLK_TCK")
        return cls(int(fields[11]) / ticks, int(fields[12]) / ticks, (fields[7], fields[9], *calls))

    def spins_since(self, before: Effort) -> bool:
        """Whether it was the system that worked, and nothing came of it: no page, no byte read or written."""
        return self.rest == before.rest and self.system - before.system > self.user - before.user


def family(process: int) -> Iterator[int]:
    """A process and those below it."""
    yield process
    for listed in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = listed.read_text().split()
        except OSError:  # it has ended
            continue
        for child in children:
            yield from family(int(child))
