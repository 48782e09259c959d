"""``headway report``: one HTML file of a run, a comparison or a campaign."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from headway.cli import options
from headway.cli.frame import command
from headway.errors import UsageError


@command("report", example="headway report result -o report.html")
def report(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="Folders that simulate wrote, the first being what others are held against; or one folder"
            " that compare or sweep wrote.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="Report to write: .html.", show_default=False),
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace FILE where it exists.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a report that opens in any browser, without a network.

    The verdict in words, tables that sort, charts that zoom, a Gantt chart from years to seconds with the
    reason of every start, the ledger, and how it was made; all in one file.
    """
    if out.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{out}: a report's name must end in .html")
    if out.exists() and not force:
        raise UsageError(f"{out} exists; give another name, or --force to replace it")
    made_by = shlex.join(["headway", *sys.argv[1:]])
    campaigns = [folder for folder in folders if (folder / "results.parquet").is_file()]
    if campaigns and len(folders) > 1:
        raise UsageError(f"{campaigns[0]} holds a campaign, which is reported alone; give no other folder")

    from headway.cli.display import Display, output

    with Display(quiet).working(f"making {out}"):
        text = _campaign(campaigns[0], made_by) if campaigns else _schedules(folders, made_by)
        from headway.report.assembly import write

        write(text, out)
    if not quiet:
        size = out.stat().st_size / 1e6
        names = ", ".join(map(str, folders))
        output().print(f"report of {names} written to {out} ({size:.1f} MB)", markup=False)


def _campaign(folder: Path, made_by: str) -> str:
    from headway.campaign import Results
    from headway.report.campaigns import campaign_page

    return campaign_page(Results.open(folder), made_by)


def _schedules(folders: list[Path], made_by: str) -> str:
    from headway.cli.plot import saved_schedules
    from headway.report.schedules import schedules_page

    return schedules_page(saved_schedules(folders), made_by)
