"""Ctrl-C: heard by Python, or where compiled code does not return, by the thread beside it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headway.cli.interrupts import SENTENCE, interruptible

HEARD = """
import os, signal
from headway.cli.interrupts import interruptible
try:
    with interruptible():
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(10**9): pass
except KeyboardInterrupt:
    print("heard")
"""

TWICE = """
import os, signal, time
from headway.cli.interrupts import interruptible
with interruptible(patience=0.3):
    for _ in range(20):
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60)
        except KeyboardInterrupt:
            pass
    time.sleep(1)
print("tidied up")
"""

INSIDE = """
import ctypes, os, signal, time
from headway.cli.interrupts import interruptible

@ctypes.CFUNCTYPE(None)
def called_from_c():
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000): pass

try:
    with interruptible():
        called_from_c()
        time.sleep(60)
except KeyboardInterrupt:
    print("heard")
"""

OTHERS = """
import os, signal, time
from headway.cli.interrupts import interruptible
signal.signal(signal.SIGUSR1, lambda number, frame: None)
with interruptible(patience=0.2):
    os.kill(os.getpid(), signal.SIGUSR1)
    time.sleep(1)
print("went on")
"""

ENDLESS = """
import os, signal, threading
import numba
from headway.cli.interrupts import interruptible

@numba.njit("int64(int64)", nogil=True)
def endless(k):
    while k != 0:
        k = k * 3 + (k & 1) + 1 if k > 0 else 1
    return k

with interruptible(patience=0.2):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    endless(1)
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, env=environment
    )


@pytest.mark.skipif(os.name != "posix", reason="signals are another thing elsewhere")
def test_an_interrupt_is_heard_by_python() -> None:
    done = run(HEARD)
    assert (done.returncode, done.stdout) == (0, "heard\n")


@pytest.mark.skipif(os.name != "posix", reason="signals are another thing elsewhere")
def test_an_interrupt_in_what_c_calls_is_heard_behind_it() -> None:
    """LLVM calls Python while it compiles; what is raised there ends in a traceback, and all went on."""
    done = run(INSIDE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "heard\n", "")


@pytest.mark.skipif(os.name != "posix", reason="signals are another thing elsewhere")
def test_who_presses_twice_does_not_end_what_tidies_up() -> None:
    done = run(TWICE)
    assert (done.returncode, done.stdout) == (0, "tidied up\n"), done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals are another thing elsewhere")
def test_other_signals_are_left_to_others() -> None:
    done = run(OTHERS)
    assert (done.returncode, done.stdout) == (0, "went on\n"), done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals are another thing elsewhere")
def test_an_endless_loop_in_compiled_code_is_ended() -> None:
    done = run(ENDLESS)
    assert done.returncode == 130
    assert done.stderr.endswith(SENTENCE)


def test_nothing_stays_behind() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interruptible():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("call", ["{}", "exec({!r})"], ids=["plainly", "in the text of an exec"])
@pytest.mark.parametrize("module", ["headway.cli.entry", "headway.cli.policies"])
def test_an_interrupt_while_the_command_line_is_loaded_is_one_line(
    module: str, call: str, tmp_path: Path
) -> None:
    """Ctrl-C right after Enter comes in the midst of imports; it showed where each of them stands.

    One in the text of an exec, as dataclasses use it, ended `python -m headway` by the signal.
    """
    kill = call.format("os.kill(os.getpid(), signal.SIGINT)")
    code = f"""
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored in the background
class Loading:
    def find_spec(self, name, path, target=None):
        if name == "{module}":
            {kill}
sys.meta_path.insert(0, Loading())
sys.argv = ["headway", "policies"]
from headway.cli import main
main()
"""
    (tmp_path / "begun.py").write_text(code)
    ran = subprocess.run(
        [sys.executable, "-m", "begun"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "headway: interrupted\n")
