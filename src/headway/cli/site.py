"""``headway site``: a Slurm site as tables, out of Slurm, and into a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import rmtree
from typing import Annotated

from headway.cli import options
from headway.cli.display import Display, output, print_json
from headway.cli.frame import command
from headway.errors import HeadwayError, UsageError
from headway.plain import counted


@command("site", example="headway site cluster")
def site(
    words: Annotated[
        list[str],
        options.argument(
            "DIR | export | import ARCHIVE... DIR | example DIR",
            "A site's folder to show; export prints the script for a login node; import makes a folder "
            "of the script's archive, or of the files there are; example writes a small site to try.",
        ),
    ],
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show a Slurm site, get it out of Slurm, or bring it in.

    A site's folder holds slurm.conf or what scontrol shows, what sacctmgr shows, and jobs.txt of sacct.
    Nodes, partitions, QOS, accounts and parameters are shown as they are understood, and what is not
    modelled, by name.

    headway site export > export.sh; then, on a login node: sh export.sh 2024-01-01 2025-01-01
    """
    what, *rest = words
    if what == "export":
        if rest:
            raise UsageError("export takes nothing more; the dates are given to the script it prints")
        from headway.site.export import script

        sys.stdout.write(script())
    elif what == "import":
        _import(rest, quiet)
    elif what == "example":
        _example(rest, quiet)
    elif rest:
        raise UsageError(f"one folder at a time; {rest[0]!r} is too much")
    else:
        _show(Path(what), json, quiet)
    if what != "export" and not (json or quiet):
        from headway.cli.first_use import compile_for_the_next
        from headway.policies.spec import parse_spec

        compile_for_the_next(parse_spec("slurm"), Display())


def _show(folder: Path, json: bool, quiet: bool) -> None:
    from headway.site import Site

    found = Site.load(folder)
    if json:
        from headway.site.described import described

        print_json(described(found))
    elif not quiet:
        from headway.cli.site_tables import site_tables

        site_tables(output(), found)


def _example(words: list[str], quiet: bool) -> None:
    if len(words) != 1:
        raise UsageError("example takes the folder to make, as in: headway site example fjord")
    from headway.site.example import write_example

    write_example(Path(words[0]))
    Display(quiet).say(f"a small site is written to {words[0]}; see it with: headway site {words[0]}")


def _import(words: list[str], quiet: bool) -> None:
    if len(words) < 2:
        raise UsageError("import takes an archive, a folder or files, and then the folder to make")
    *sources, target = (Path(word) for word in words)

    from headway.cli.tables import ledger_table, not_modelled_table
    from headway.site import Site
    from headway.site.bringing_in import bring_in
    from headway.workload.cancelled import ran_only

    display = Display(quiet)
    with display.working(f"reading {', '.join(str(source) for source in sources)}"):
        taken, passed = bring_in(sources, target)
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
        not_modelled_table(console, workload.source, "slurm")
    console.print(f"written to {target}; see it with: headway site {target}")
