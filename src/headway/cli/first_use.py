"""The first simulation on a machine: interpreted, while its kernels are compiled beside it.

Compiling takes ten seconds and more, and is done once for a machine. Interpreted, a few thousand jobs take a
second or two. So both are done, and whichever is ready first gives the answer; they give the same one. Where
there are only two processors, which may be one core, compiling begins later: it would slow down the other.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from headway.cores import cores

if TYPE_CHECKING:
    from headway.cli.display import Display
    from headway.policies.spec import Spec

MOST_JOBS = 30_000
"""Longer logs wait for the kernels."""
ROOMS = ("backfilling", "queueing")
"""Policies that do not take long when they are interpreted."""
HEAD_START = 3.0
"""Seconds that a run has to itself where compiling would slow it down."""
CLEAR_LINE = "\r\x1b[2K\x1b[?25h"
OFF = "HEADWAY_FIRST_USE"
"""Set to `compile`, it makes the first use wait for the kernels like every other."""


@contextmanager
def interpreted_meanwhile(spec: Spec, trace: str, jobs: int, display: Display) -> Iterator[None]:
    """Let what is simulated inside run interpreted where nothing has been compiled on this machine yet.

    If the kernels are ready first, the command begins anew with them.
    """
    if not is_first_use(spec, trace, jobs):
        yield
        return
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    display.say("first use: this run is interpreted, and the kernels are compiled for the next one ...")
    done, begun = Event(), Event()
    watcher = Thread(target=watch, args=(spec, done, begun), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
    if not begun.is_set():
        compile_beside(spec)


def watch(spec: Spec, done: Event, begun: Event) -> None:
    """Begin to compile unless what is interpreted is done soon, and then go on with whichever is first."""
    alone = cores() > 2
    if not done.wait(0 if alone else HEAD_START):
        begun.set()
        begin_anew_when_compiled(compile_beside(spec), done)


def is_first_use(spec: Spec, trace: str, jobs: int) -> bool:
    """Whether nothing has been compiled, here or in this process, and interpreting will do."""
    from headway.jit import cache as jit_cache

    if not may_compile_beside() or "headway.jit.kernels" in sys.modules:
        return False
    if jobs > MOST_JOBS or not Path(trace).is_file():
        return False  # what comes through a pipe cannot be read a second time
    if type(spec.policy).__module__.split(".")[2] not in ROOMS:
        return False
    return jit_cache.keeping().folder is not None and not jit_cache.holds("")


def may_compile_beside() -> bool:
    """Whether kernels are wanted, and another process can compile them."""
    is_decided = os.environ.get("NUMBA_DISABLE_JIT") or os.environ.get(OFF) == "compile"
    return not is_decided and hasattr(os, "fork") and os.access(sys.executable, os.X_OK)


def tell_compiling(policy: str, display: Display) -> None:
    """Say that a policy that was never used here is compiled first, which looks like no progress."""
    from headway.jit import cache as jit_cache

    kept = jit_cache.keeping().folder is not None and jit_cache.holds(policy)
    if not kept and not os.environ.get("NUMBA_DISABLE_JIT"):
        display.say(f"compiling {policy}, once for this machine (ten seconds to two minutes) ...")


def compile_for_the_next(spec: Spec, display: Display) -> None:
    """Compile a policy that was never used here while people read: their next command may well want it."""
    from headway.jit import cache as jit_cache

    if may_compile_beside() and jit_cache.keeping().folder is not None and not jit_cache.holds(spec.name):
        compile_beside(spec)
        display.say(
            f"first use: {spec.name} is being compiled in the background, which takes a minute or two ..."
        )


def compile_beside(spec: Spec) -> subprocess.Popen[bytes]:
    """A process of its own that compiles the policy; it goes on when this one has ended."""
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_DISABLE_JIT"}
    return subprocess.Popen(
        [sys.executable, "-m", "headway", "cache", "warm", str(spec), "--workers", "1"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def begin_anew_when_compiled(compiling: subprocess.Popen[bytes], done: Event) -> None:
    """Replace this process by one with kernels, unless what it does is done before they are there."""
    while not done.wait(0.1):
        if compiling.poll() is not None:
            if compiling.returncode == 0:
                del os.environ["NUMBA_DISABLE_JIT"]
                if sys.stderr.isatty():
                    sys.stderr.write(CLEAR_LINE)  # the bar that is being drawn
                    sys.stderr.flush()
                os.execv(sys.executable, sys.orig_argv)
            return
