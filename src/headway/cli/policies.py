"""``headway policies``: the catalogue."""

from __future__ import annotations

from typing import Annotated

import typer

from headway.cli.frame import command
from headway.policies.catalogue import POLICIES, PolicyInfo


@command("policies", example="headway policies easy")
def policies(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Show this policy in full.")] = None,
) -> None:
    """List the policies, or show one in full."""
    if name is None:
        _list()
    else:
        from headway.policies.spec import parse_spec

        _show(POLICIES[parse_spec(name).name])


def _list() -> None:
    from rich.table import Table

    from headway.cli.display import output

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for info in POLICIES.values():
        table.add_row(", ".join((info.name, *info.aliases)), info.summary)
    console = output()
    console.print(table)
    console.print("\nParameters, references and an example: headway policies NAME")
    console.print("Your own policy: --policy './file.py:Name(parameter=value)'", markup=False)


def _show(info: PolicyInfo) -> None:
    from rich.table import Table

    from headway.cli.display import output

    console = output()
    console.print(f"{info.name}: {info.summary}.", style="bold", markup=False)
    if info.aliases:
        console.print(f"Also called {', '.join(info.aliases)}.", markup=False)
    if info.details:
        console.print(info.details, markup=False)
    if info.needs:
        console.print(f"Needs {', '.join(info.needs)}.", markup=False)
    if info.parameters:
        table = Table(box=None, pad_edge=False)
        for title in ("parameter", "default", "takes", "meaning"):
            table.add_column(title)
        for parameter in info.parameters:
            table.add_row(parameter.name, parameter.default_words, parameter.accepts, parameter.doc)
        console.print()
        console.print(table)
    console.print("\nReferences" if len(info.citation) > 1 else "\nReference")
    for reference in info.citation:
        console.print(f"  {reference}", markup=False)
    console.print(f"\nExample\n  headway simulate log.swf.gz --policy '{info.example}'", markup=False)
