"""``headway site``: show a Slurm site, export it, import it."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import rmtree
from typing import Annotated, TypeAlias

from headway.cli import options
from headway.cli.display import Display, output, print_json
from headway.cli.frame import command, group
from headway.errors import HeadwayError, UsageError
from headway.plain import counted

site = group("site", "Export a site from Slurm, import it, show it: headway site DIR.", default="show")
Folder: TypeAlias = Annotated[Path, options.argument("DIR", "The site's folder.")]


@command("show", example="headway site show cluster", of=site)
def show(folder: Folder, json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Show a site as Headway understands it.

    Lists nodes, partitions, QOS, accounts and parameters, and names what is not modelled. The folder holds
    slurm.conf or what scontrol shows, what sacctmgr shows, and jobs.txt of sacct.
    `headway site DIR` is short for this.
    """
    from headway.site import Site

    found = Site.load(folder)
    if json:
        from headway.site.described import described

        print_json(described(found))
    elif not quiet:
        from headway.cli.site_tables import site_tables

        site_tables(output(), found)


@command("export", example="headway site export > export.sh", of=site)
def export() -> None:
    """Print a script that collects a site's files.

    The script packs configuration, accounts and job log into an archive. Run it on a login node:
    sh export.sh 2024-01-01 2025-01-01
    """
    from headway.site.export import script

    sys.stdout.write(script())


@command("example", example="headway site example fjord", of=site)
def example(
    folder: Annotated[Path, options.argument("DIR", "The folder to make.")], quiet: options.Quiet = False
) -> None:
    """Write a small, made-up site to try things on."""
    from headway.site.example import write_example

    write_example(folder)
    Display(quiet).say(f"a small site is written to {folder}; see it with: headway site {folder}")


@command("import", example="headway site import headway-site.tar.gz cluster", of=site)
def bring_in(
    sources: Annotated[list[Path], options.argument("ARCHIVE...", "The script's archive, or files.")],
    target: Annotated[Path, options.argument("DIR", "The folder to make.")],
    quiet: options.Quiet = False,
) -> None:
    """Make a folder from the script's archive, or from files."""
    from headway.cli.tables import ledger_table, not_modelled_table
    from headway.site import Site, bringing_in
    from headway.workload.cancelled import ran_only

    display = Display(quiet)
    with display.working(f"reading {', '.join(str(source) for source in sources)}"):
        taken, passed = bringing_in.bring_in(sources, target)
        try:
            found = Site.load(target)
            workload = None if found.jobs is None else ran_only(found.read_jobs())
        except HeadwayError as error:
            rmtree(target)  # what cannot be read is not there, so that the same command can be given again
            raise UsageError(f"{error}; {target} was not made") from None
    if quiet:
        return
    console = output()
    for name, kind in sorted(taken):
        console.print(f"{name} is {kind}" if name != kind else name)
    for name in passed:
        console.print(f"{name}: nothing of a site, left out")
    for name, kind in sorted(taken):
        if found.jobs is not None and kind.startswith("jobs.") and kind != found.jobs.name:
            console.print(f"{name}: a second log, not read; the log is {found.jobs.name}")
    console.print(
        f"\n{found.name}: {counted(len(found.nodes), 'node')}, {counted(found.cpus, 'CPU')}, "
        f"{counted(len(found.partitions), 'partition')}, {len(found.qos)} QOS, "
        f"{counted(len(found.associations), 'association')}\n",
        style="bold",
    )
    if workload is None:
        console.print("There is no log; add jobs.txt (sacct --parsable2).")
    else:
        ledger_table(console, workload.ledger)
        not_modelled_table(console, workload.source, by_site_rules=True)
    console.print(f"written to {target}; see it with: headway site {target}")
