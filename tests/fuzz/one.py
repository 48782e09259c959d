"""One command on one damaged input, in this process: how it ended, and whether that is a fault of ours."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from unittest import mock

from headway.cli import main

PATIENCE = 20
"""CPU seconds after which a command hangs; the inputs are a few jobs long."""
STILL = 15 * PATIENCE
"""Seconds after which a command hangs that waits for something, however busy the machine is."""

STATUSES = {0: "accepted", 1: "judged", 2: "refused"}
CONTROL = {chr(code) for code in (*range(9), 11, 12, *range(14, 32), 127, 0x202E)}


class Hang(BaseException):
    """A command took too long; no `except Exception` holds it back."""


@dataclass(frozen=True)
class Ending:
    """How a command ended; `fault` says what is wrong about it, and is empty where nothing is."""

    outcome: str
    fault: str = ""
    told: str = ""


@contextlib.contextmanager
def limited(patience: int, still: int) -> Iterator[None]:
    """Raise Hang after so many CPU seconds, or so many seconds of the clock."""

    def ring(number: int, frame: FrameType | None) -> None:
        where = "".join(traceback.format_stack(frame)[-3:])
        raise Hang(where)

    timers = {
        signal.SIGPROF: (signal.ITIMER_PROF, patience),
        signal.SIGALRM: (signal.ITIMER_REAL, still),
    }
    before = {number: signal.signal(number, ring) for number in timers}
    for timer, seconds in timers.values():
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for timer, _ in timers.values():
            signal.setitimer(timer, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def run(
    words: Sequence[str],
    judges: bool,
    folder: Path,
    keeps: bool = False,
    program: Callable[[], None] = main,
) -> Ending:
    """Run a command, or another program; `judges` says whether the exit status 1 is one of its own.

    One that `keeps` what it finished may leave files although it refused something; none of them is a draft.
    """
    out, err = io.StringIO(), io.StringIO()
    before = entries(folder)
    status: object = 0
    try:
        with (
            limited(PATIENCE, STILL),
            mock.patch.object(sys, "argv", ["headway", *words]),
            mock.patch("headway.cli.interrupts.interruptible", contextlib.nullcontext),  # a thread each time
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            program()
    except SystemExit as end:
        status = end.code or 0
    except Hang as hang:
        return Ending("hang", f"no end after {PATIENCE} CPU s, or {STILL} s:\n{hang}")
    except BaseException:
        return Ending("traceback", traceback.format_exc(limit=-4))
    told = err.getvalue()
    outcome = STATUSES.get(status, "status") if isinstance(status, int) else "status"
    if outcome == "status" or (outcome == "judged" and not judges):
        return Ending("status", f"exit status {status}: {told[:300]}")
    if "Traceback" in told:
        return Ending("traceback", told[-600:])
    if outcome == "refused" and (
        not told.startswith("headway: ") or told.count("\n") != 1 or len(told) > 1500
    ):
        return Ending("words", f"not one sentence ({len(told)} characters): {told[:600]!r}")
    if odd := CONTROL & {*told, *out.getvalue()}:
        return Ending("words", f"control characters {odd} in {told[:300]!r} {out.getvalue()[:300]!r}")
    left = {path for path in entries(folder) - before if not keeps or path.endswith(".part")}
    if outcome == "refused" and left:
        return Ending("half", f"refused, and left {sorted(left)[:5]}")
    return Ending(outcome, told=told)


def entries(folder: Path) -> set[str]:
    """Every file and folder below a folder."""
    return {f"{place}/{name}" for place, folders, files in os.walk(folder) for name in (*folders, *files)}
