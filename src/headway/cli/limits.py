"""Where memory is limited (``ulimit -v``), a command that runs into the limit ends with a sentence.

Libraries that run out of address space may abort the process, which Python cannot hear. Where such a limit
is set, the command runs in a child, and the parent says what became of it.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from types import FrameType

FATAL = 128


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
    )


def watched() -> int | None:
    """Go on in a child where memory is limited; the parent gets its exit status, a child None.

    A child that did not come to its own end has the status 128 and more.
    """
    if limit() is None or not hasattr(os, "fork"):
        return None
    sys.stdout.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        atexit.register(os.write, writing, b".")  # not reached where a library ends the process
        return None
    os.close(writing)

    def forward(number: int, frame: FrameType | None) -> None:
        os.kill(child, number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, forward)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    orderly = os.read(reading, 1) == b"."
    return code if orderly else FATAL + abs(code)
