"""The application that commands are registered with, and what surrounds each of them."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import Annotated, Any, ParamSpec

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

from headway import __version__
from headway.cli.display import documents_alone
from headway.errors import UsageError

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


class PlainCommand(TyperCommand):
    """A command whose help shows arguments as they are written here, without Python's types."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for argument in self.params:
            if isinstance(argument, TyperArgument):
                shown = _as_written(argument)
                setattr(argument, "display_type_rich", lambda ctx: None)  # noqa: B010
                setattr(argument, "_usage_display_name", lambda shown=shown: shown)  # noqa: B010

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an option that is given again where only its last value would count."""
        order = self.make_parser(ctx).parse_args(list(args))[2]
        for option in self.params:
            if not isinstance(option, TyperOption) or option.multiple or option.is_flag:
                continue
            if (given := order.count(option)) > 1 and not ctx.resilient_parsing:
                raise UsageError(f"{option.opts[0]} is given {given} times; {ctx.command_path} takes it once")
        return super().parse_args(ctx, args)


def _as_written(argument: TyperArgument) -> str:
    """An argument in the line of usage: in brackets where it may be left out."""
    name = argument.display_name_raw
    return name if argument.required or name.startswith("[") else f"[{name}]"


def command(
    name: str, example: str, settings: dict[str, Any] | None = None
) -> Callable[[Callable[Arguments, int | None]], Callable[Arguments, int | None]]:
    """Register a command; its function returns the exit status, None for done.

    ``settings`` are those of its context, such as whether options may stand behind arguments.
    """

    def register(function: Callable[Arguments, int | None]) -> Callable[Arguments, int | None]:
        @wraps(function)
        def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> int | None:
            try:
                with documents_alone() if kwargs.get("json") else nullcontext():
                    status = function(*args, **kwargs)
                sys.stdout.flush()
            except BrokenPipeError:
                # Whoever read our output has seen enough, as in `headway policies | head`.
                forget_output()
                return DONE
            except KeyboardInterrupt as stop:
                if notes := getattr(stop, "__notes__", ()):  # where a policy of the user's own was
                    raise Interrupted("; ".join(notes)) from stop
                raise
            return status

        app.command(name, cls=PlainCommand, epilog=f"Example: {example}", context_settings=settings)(run)
        return run

    return register


def this_command() -> str:
    """The command that is running, as a shell takes it."""
    return shlex.join(["headway", *sys.argv[1:]])


class Interrupted(Exception):
    """A command was interrupted; says what was kept, or where it was."""


def forget_output() -> None:
    """Let what is still to be written to standard output go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
