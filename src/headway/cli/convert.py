"""``headway convert``: a log with its oddities settled, perhaps transformed, as a new log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headway.cli import options
from headway.cli.frame import command
from headway.errors import UsageError


@command("convert", example="headway convert log.swf.gz week.swf --apply 'window(from=0, to=604800)'")
def convert(
    source: Annotated[
        str,
        typer.Argument(metavar="IN", help="Job log to read, or - for standard input.", show_default=False),
    ],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="SWF file to write; .gz packs it.", show_default=False)
    ],
    apply: Annotated[
        list[str] | None,
        typer.Option("--apply", metavar="TRANSFORMATION", help="Change the jobs; may be repeated, in order."),
    ] = None,
    annotations: options.Annotations = None,
    rule: options.Rules = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT where it exists.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a log anew, perhaps transformed."""
    from headway.cli.display import Display
    from headway.cli.inputs import parse_rules, read_workload

    rules = parse_rules(rule)
    if target.exists() and not force:
        raise UsageError(f"{target} exists; give another name, or --force to replace it")

    from headway.workload import write_swf
    from headway.workload.transform import apply as transform

    display = Display(quiet)
    with display.working(f"reading {source}"):
        workload = read_workload(source, rules, annotations)
    workload = transform(workload, *(apply or ()))
    with display.working(f"writing {target}"):
        write_swf(workload, target)
    if not quiet:
        from headway.cli.display import output
        from headway.cli.tables import ledger_table

        console = output()
        ledger_table(console, workload.ledger)
        console.print(f"{len(workload):,} jobs written to {target}", markup=False)
