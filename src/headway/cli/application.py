"""The application: all commands by subject, their help, and what surrounds each of them."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple, ParamSpec, get_args, get_origin

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from headway import __version__
from headway.cli.display import documents_alone
from headway.errors import UsageError
from headway.plain import close

PANELS = {
    "Understand a log": {
        "inspect": "logs", "datasets": "datasets", "convert": "logs", "generate": "logs", "weeks": "logs",
        "anonymise": "logs",
    },
    "Simulate and compare": {
        "demo": "simulate", "simulate": "simulate", "compare": "simulate", "sweep": "sweep",
        "explain": "results", "plot": "results", "report": "results", "audit": "results",
        "policies": "policies", "reproduce": "sweep",
    },
    "Your Slurm site": {
        "site": "site", "replay": "what_if", "what-if": "what_if", "when": "forecast",
        "forecast": "forecast",
    },
    "Live": {"live": "live"},
    "Other tools": {"batsim": "batsim", "cache": "cache"},
}  # fmt: skip
"""Commands with their modules, under the headings of the help."""

MODULES = {name: module for commands in PANELS.values() for name, module in commands.items()}

MOVED = {
    **dict.fromkeys(("agent", "server", "submit", "queue", "status", "cancel", "shadow"), "live"),
    "decide": "batsim",
}
"""Commands that have moved into a group; the old names still work, with a note."""


def panel_of(name: str) -> str:
    """The heading under which the help lists a command."""
    return next(title for title, commands in PANELS.items() if name in commands)


def load(*names: str) -> None:
    """Register commands, all of them where none is named."""
    for name in names or MODULES:
        import_module(f"headway.cli.{MODULES[name]}")


DONE, FAULT, BAD, INTERRUPTED = 0, 1, 2, 130

Arguments = ParamSpec("Arguments")

FURTHER = frozenset({
    "--platform", "--annotations", "--rule", "--events", "--failures", "--on-failure", "--feedback",
    "--stream", "--spreadsheet", "--seed", "--simulated", "--draws", "--unequal", "--retry-failed",
    "--fresh", "--dask",
    "--enable-dynamic-jobs", "--acknowledge-dynamic-jobs", "--forward-profiles-on-submission", "--record",
    "--replay", "--parallel-fraction", "--max-procs", "--form", "--stage", "--stage-time", "--deadline",
    "--urgent", "--teachers", "--alone", "--machine", "--variants", "--runs", "--colour", "--measure",
    "--side-by-side", "--install-completion", "--show-completion",
})  # fmt: skip
"""Options that nobody needs on the first day; the help lists them last."""


def _write_panels(formatter: Any, panels: dict[str, list[tuple[str, str]]]) -> None:
    for title, rows in panels.items():
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


def _write_parameters(parameters: list[Any], context: Any, formatter: Any) -> None:
    panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], "More options": []}
    for each in parameters:
        if (row := each.get_help_record(context)) is not None:
            option = "More options" if FURTHER.intersection(each.opts) else "Options"
            panels["Arguments" if isinstance(each, TyperArgument) else option].append(row)
    _write_panels(formatter, panels)


class Light(NamedTuple):
    """Makes an option's value of what is given: typer would load pydantic, a tenth of a short command."""

    option: Any
    by_typer: Callable[[], Any]

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of an option; several of one that may be repeated."""
        described = self.option.type_descriptor
        kind, parser = described.annotation, described.parameter_info.parser
        several = get_origin(kind) is list
        if value is None:
            return () if several else None
        convert = parser or (get_args(kind)[0] if several else kind)
        if not parser and convert not in (str, Path):
            return self.by_typer().coerce(value, param, ctx)
        return [convert(each) for each in value] if several else convert(value)


def _make_light(options: list[Any]) -> None:
    for each in options:
        if "get_runtime_param" not in vars(each):
            each.get_runtime_param = partial(Light, each, each.get_runtime_param)


class PlainCommand(TyperCommand):
    """A command whose help shows arguments as they are written here, without Python's types."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for argument in self.params:
            if isinstance(argument, TyperArgument):
                shown = _as_written(argument)
                setattr(argument, "display_type_rich", lambda ctx: None)  # noqa: B010
                setattr(argument, "_usage_display_name", lambda shown=shown: shown)  # noqa: B010

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """List arguments and options, those of :data:`FURTHER` last."""
        _write_parameters(self.get_params(ctx), ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an option that is given again where only its last value would count."""
        _make_light(self.get_params(ctx))
        order = self.make_parser(ctx).parse_args(list(args))[2]
        for option in self.params:
            if not isinstance(option, TyperOption) or option.multiple or option.is_flag:
                continue
            if (given := order.count(option)) > 1 and not ctx.resilient_parsing:
                raise UsageError(f"{option.opts[0]} is given {given} times; {ctx.command_path} takes it once")
        return super().parse_args(ctx, args)


class PlainGroup(TyperGroup):
    """Commands under one name, listed by panel; without a word it shows its help."""

    default = ""
    """The sub-command that is meant where the first word names none, as in ``headway site DIR``."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """List the commands of each panel, then options."""
        limit = formatter.width - 6 - max(map(len, self.commands))
        panels: dict[str, list[tuple[str, str]]] = {}
        for name, each in self.commands.items():
            title = getattr(each, "rich_help_panel", None) or "Commands"
            panels.setdefault(title, []).append((name, each.get_short_help_str(limit)))
        _write_panels(formatter, panels)
        _write_parameters(self.get_params(ctx), ctx, formatter)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of a word; one that begins so is meant before one that looks like it."""
        if args[0][:1] != "-" and self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            hint = close(args[0], self.commands)
            raise UsageError(f"No such command {args[0]!r}{hint}; see '{ctx.command_path} --help'")
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put in the word that may be left out."""
        _make_light(self.get_params(ctx))
        named = args[:1] and args[0] in (*self.commands, "-h", "--help")
        if not (named or ctx.resilient_parsing):
            meant = self.commands.get(self.default)
            taken = [each for each in getattr(meant, "params", ()) if isinstance(each, TyperArgument)]
            if meant and (taken if args and args[0][:1] != "-" else not any(each.required for each in taken)):
                args = [self.default, *args]
            elif not args:
                args = ["--help"]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="headway",
    cls=PlainGroup,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: headway demo. Words of a command: headway COMMAND --help.",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"headway {__version__}")
        raise typer.Exit


@app.callback()
def headway(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Batch scheduling for HPC: read a job log, simulate a policy exactly, judge the schedule."""


def group(name: str, help: str, default: str = "") -> typer.Typer:
    """Register a name with sub-commands; ``default`` is the one whose name may be left out."""
    made = typer.Typer(
        cls=type("Group", (PlainGroup,), {"default": default}),
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.add_typer(made, name=name, help=help, rich_help_panel=panel_of(name))
    return made


def _as_written(argument: TyperArgument) -> str:
    """An argument in the line of usage: in brackets where it may be left out."""
    name = argument.display_name_raw
    return name if argument.required or name.startswith("[") else f"[{name}]"


def command(
    name: str, example: str, settings: dict[str, Any] | None = None, of: typer.Typer | None = None
) -> Callable[[Callable[Arguments, int | None]], Callable[Arguments, int | None]]:
    """Register a command; its function returns the exit status, None for done.

    ``settings`` are those of its context, such as whether options may follow arguments; ``of`` is the group
    it belongs to.
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

        (of or app).command(
            name,
            cls=PlainCommand,
            epilog=f"Example: {example}",
            context_settings=settings,
            rich_help_panel=None if of else panel_of(name),
        )(run)
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
