"""The entry point: errors in one line, interrupts, a closed pipe, a limit of memory."""

from __future__ import annotations

import codecs
import errno
import os
import re
import sys
import threading
from copy import copy
from functools import cache
from inspect import getdoc
from typing import Any

import typer
from typer.main import get_command
from typer.models import CommandInfo

from headway.cli import limits
from headway.cli.application import (
    BAD,
    DONE,
    INTERRUPTED,
    MODULES,
    MOVED,
    Interrupted,
    app,
    forget_output,
    load,
)
from headway.errors import HeadwayError
from headway.plain import one_line


def main() -> None:
    """Entry point of the ``headway`` command."""
    from headway.cli.interrupts import interruptible

    kept = ""
    open_closed()
    show_every_character()
    if (ended := limits.watched()) is not None:
        sys.exit(_refuse(limits.sentence()) if ended >= limits.FATAL else ended)
    try:
        with interruptible():
            sys.argv[1:] = _now_called(sys.argv[1:])
            status = _command("".join(sys.argv[1:2]))(standalone_mode=False, prog_name="headway")
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
        # Polars tells of a full disk in words alone.
        of_disk = re.search(r"IO error: (.*) \(os error \d+\)", str(error))
        if not of_disk and not limits.is_of_the_limit(error):
            raise
        status = _refuse(f"input or output: {of_disk[1]}" if of_disk else limits.sentence())
    for trouble in getattr(sys.modules.get("headway.jit.cache"), "troubles", ()):
        print(f"headway: {one_line(trouble)}", file=sys.stderr)  # noqa: T201
    if status == INTERRUPTED:
        print(f"headway: interrupted{one_line(kept)}", file=sys.stderr)  # noqa: T201
        if any(not each.daemon for each in threading.enumerate()[1:]):  # such as one that compiles
            sys.stderr.flush()
            os._exit(INTERRUPTED)
    sys.exit(status or _flushed())


def _now_called(words: list[str]) -> list[str]:
    """A command line with the names of today; says so where an old one was used."""
    first, second, *_ = *words, "", ""
    if first in MOVED:
        now = [MOVED[first], first]
    elif first == "batsim" and second not in ("", "run", "decide", "-h", "--help"):
        now = ["batsim", "run"]
    else:
        return words
    print(f"headway: 'headway {first}' is now 'headway {' '.join(now)}'", file=sys.stderr)  # noqa: T201
    return [*now, *words[1:]]


@cache
def _command(name: str) -> Any:
    """What reads a command line that begins with a name: only that command is imported and made.

    Where there is none of that name, the list of all commands answers, which needs none of their parameters.
    """
    completing = "_HEADWAY_COMPLETE" in os.environ
    load(*([name] if name in MODULES and not completing else ()))
    asked = copy(app)
    commands, groups = app.registered_commands, app.registered_groups
    if name in MODULES:
        asked.registered_commands = [one for one in commands if one.name == name]
        asked.registered_groups = [one for one in groups if one.name == name]
    elif not completing:
        asked.registered_commands = [_as_listed(one) for one in commands]
    made: Any = get_command(asked)
    made.commands = {name: made.commands[name] for name in MODULES if name in made.commands}
    return made


def _as_listed(command: CommandInfo) -> CommandInfo:
    """A command of which only the name and the first sentence are asked for."""

    def listed() -> None:
        """Takes nothing."""

    shown = copy(command)
    shown.help, shown.callback = getdoc(command.callback), listed
    return shown


def open_closed() -> None:
    """Let what is written to a closed standard output or error go nowhere, quietly."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


_PLAIN = str.maketrans({
    **dict.fromkeys("▄▅▆▇█▌▋▊▉", "#"), **dict.fromkeys("▁▂▃▏▎▍", "."), "…": "...", "–": "-", "·": "-",
})  # fmt: skip
"""What stands for characters of charts and tables where they cannot be shown."""


def show_every_character() -> None:
    """Write what the encoding of a terminal or of a pipe does not have as an escape, such as \\u4e2d."""
    codecs.register_error("headway.shown", _plainly)
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", "") in ("strict", "backslashreplace") and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="headway.shown")


def _plainly(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    return text.encode("ascii", "backslashreplace").decode(), error.end


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
