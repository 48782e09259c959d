"""``headway anonymise``: a copy of a log that can be given away."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headway.cli import options
from headway.cli.frame import command
from headway.errors import UsageError


@command("anonymise", example="headway anonymise jobs.txt anonymous.txt")
def anonymise(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN", help="SWF log or sacct text, or - for standard input.", show_default=False
        ),
    ],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="File to write; .gz packs it.", show_default=False)
    ],
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="TEXT", help="Secret that gives the same names in several files."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT where it exists.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Replace users, accounts, names and paths in a log.

    Names are numbered as they appear, or hashed with a key. Comments and columns that are not known to be
    harmless are left out.
    """
    if target.exists() and not force:
        raise UsageError(f"{target} exists; give another name, or --force to replace it")
    if key is not None and len(key) < 8:
        raise UsageError("--key must have at least 8 characters, or names could be guessed by trying keys")

    from headway.cli.display import Display, output
    from headway.workload.anonymise import anonymise as replace_names

    with Display(quiet).working(f"reading {source}"):
        done = replace_names(source, target, key)
    if quiet:
        return
    console = output()
    replaced = ", ".join(f"{count:,} {kind.lstrip('/')}" for kind, count in done.replaced.items() if count)
    console.print(f"{done.lines:,} lines written to {target}", markup=False)
    console.print(f"replaced: {replaced or 'nothing'}", markup=False)
    if done.left_out:
        listed = ", ".join(dict.fromkeys(done.left_out))
        console.print(f"left out: {listed}", markup=False)
