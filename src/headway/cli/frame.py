"""The command and what surrounds every run of it: errors in one line, interrupts, a closed pipe."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Annotated, ParamSpec

import typer

from headway import __version__
from headway.cli import limits
from headway.errors import HeadwayError
from headway.plain import one_line

DONE, FAULT, BAD, INTERRUPTED = 0, 1, 2, 130

Arguments = ParamSpec("Arguments")

app = typer.Typer(
    name="headway",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: headway demo",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"headway {__version__}")
        raise typer.Exit


@app.callback()
def headway(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Batch scheduling for HPC: read a job log, simulate a policy exactly, judge the schedule."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def command(
    name: str, example: str
) -> Callable[[Callable[Arguments, int | None]], Callable[Arguments, int | None]]:
    """Register a command; its function returns the exit status, None for done."""

    def register(function: Callable[Arguments, int | None]) -> Callable[Arguments, int | None]:
        @wraps(function)
        def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> int | None:
            try:
                status = function(*args, **kwargs)
                sys.stdout.flush()
            except BrokenPipeError:
                # Whoever read our output has seen enough, as in `headway policies | head`.
                _forget_output()
                return DONE
            return status

        app.command(name, epilog=f"Example: {example}")(run)
        return run

    return register


class Interrupted(Exception):
    """A command was interrupted; says what was kept."""


def main() -> None:
    """Entry point of the ``headway`` command."""
    # Imported for their commands; here, because they need `command` from above.
    from headway.cli import commands  # noqa: F401
    from headway.cli.interrupts import interruptible

    kept = ""
    open_closed()
    if (ended := limits.watched()) is not None:
        sys.exit(_refuse(limits.sentence()) if ended >= limits.FATAL else ended)
    try:
        with interruptible():
            status = app(standalone_mode=False, prog_name="headway")
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
        _forget_output()
    except OSError as error:
        _forget_output()
        return _refuse(f"standard output cannot be written: {error.strerror or error}")
    return DONE


def _forget_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _with_remedy(error: typer.TyperException) -> str:
    """What is wrong with the words of a command, and where its right use is shown."""
    sentence = error.format_message().rstrip(". ")
    context = getattr(error, "ctx", None)
    shown = getattr(context, "command_path", "") or "headway"
    return f"{sentence}; see '{shown} --help'"


def _refuse(sentence: str) -> int:
    print(f"headway: {one_line(sentence)}", file=sys.stderr)  # noqa: T201
    return BAD
