"""``headway site``: a Slurm site's folder as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headway.cli import options
from headway.cli.frame import command


@command("site", example="headway site cluster")
def site(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Folder with slurm.conf or what scontrol shows, and what sacctmgr shows.",
            show_default=False,
        ),
    ],
    json: options.Json = False,
) -> None:
    """Show a Slurm site.

    Nodes, partitions, QOS, accounts and parameters as they are understood, and what is not modelled, by name.
    """
    from headway.site import Site

    found = Site.load(folder)
    if json:
        from headway.cli.display import print_json
        from headway.site.described import described

        print_json(described(found))
        return
    from headway.cli.display import output
    from headway.cli.site_tables import site_tables

    site_tables(output(), found)
