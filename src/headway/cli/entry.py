"""The entry point: errors in one line, interrupts, a closed pipe, a limit of memory."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import typer
from typer.main import get_command

from headway.cli import limits
from headway.cli.frame import BAD, DONE, INTERRUPTED, Interrupted, app, forget_output
from headway.errors import HeadwayError
from headway.plain import one_line


def main() -> None:
    """Entry point of the ``headway`` command."""
    from headway.cli.interrupts import interruptible

    kept = ""
    open_closed()
    if (ended := limits.watched()) is not None:
        sys.exit(_refuse(limits.sentence()) if ended >= limits.FATAL else ended)
    try:
        with interruptible():
            status = _every_command()(standalone_mode=False, prog_name="headway")
    except HeadwayError as error:
        status = _refuse(str(error))
    except typer.TyperException as error:
        status = _refuse(_with_remedy(error))
    except Interrupted as stop:
        status, kept = INTERRUPTED, f"; {stop}"
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except MemoryError:
        status = _refuse(limits.sentence())
    except OSError as error:
        of_memory = error.errno == errno.ENOMEM or (error.errno is None and limits.is_of_the_limit(error))
        place = error.filename or "input or output"
        status = _refuse(limits.sentence() if of_memory else f"{place}: {error.strerror or error}")
    except BaseException as error:
        if not limits.is_of_the_limit(error):
            raise
        status = _refuse(limits.sentence())
    for trouble in getattr(sys.modules.get("headway.jit_cache"), "troubles", ()):
        print(f"headway: {one_line(trouble)}", file=sys.stderr)  # noqa: T201
    if status == INTERRUPTED:
        print(f"headway: interrupted{one_line(kept)}", file=sys.stderr)  # noqa: T201
    sys.exit(status or _flushed())


@cache
def _every_command() -> Callable[..., Any]:
    """All commands, ready to read a command line: made once, for whoever calls several in one process."""
    from headway.cli import commands  # noqa: F401  (imported for what they register, at the last moment)

    return get_command(app)


def open_closed() -> None:
    """Let what is written to a closed standard output or error go nowhere, quietly."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _flushed() -> int:
    """Write out what is left, so that a full disk behind standard output is told and not lost."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        forget_output()
    except OSError as error:
        forget_output()
        return _refuse(f"standard output cannot be written: {error.strerror or error}")
    return DONE


def _with_remedy(error: typer.TyperException) -> str:
    """What is wrong with the words of a command, and where its right use is shown."""
    sentence = error.format_message().rstrip(". ")
    context = getattr(error, "ctx", None)
    shown = getattr(context, "command_path", "") or "headway"
    option = getattr(error, "option_name", "").lstrip("-")
    if option and shown.endswith(" generate"):
        sentence += f" (parameters of a model have no dashes: {option}=VALUE)"
    return f"{sentence}; see '{shown} --help'"


def _refuse(sentence: str) -> int:
    print(f"headway: {one_line(sentence)}", file=sys.stderr)  # noqa: T201
    return BAD
