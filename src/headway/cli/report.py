"""``headway report``: one HTML file of a run, a comparison or a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli import options
from headway.cli.display import Display, output
from headway.cli.frame import command, this_command
from headway.cli.saved import run_names, saved_schedules
from headway.errors import UsageError
from headway.writing import refuse_existing

if TYPE_CHECKING:
    from headway.result import Result


@command("report", example="headway report result -o report.html")
def report(
    folders: Annotated[
        list[Path],
        options.argument(
            "DIR...",
            "Folders that simulate wrote, the first being the baseline of the others; or one folder"
            " that compare or sweep wrote.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Report to write; by default DIR.html."),
    ] = None,
    name: Annotated[
        list[str] | None,
        options.value("--name", "NAME", "What a run is called: once for each, in their order."),
    ] = None,
    title: Annotated[str, options.value("--title", "TEXT", "Title of the page.")] = "",
    side_by_side: Annotated[
        bool,
        options.flag("--side-by-side", "Describe runs of different logs; nothing is paired or judged."),
    ] = False,
    force: options.ReplaceFile = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a report that opens in any browser, without a network.

    One file holds the verdict in words, tables that sort, charts that zoom, a Gantt chart from years to
    seconds with the reason of every start, the ledger, and how everything was made. Runs of one log are
    compared job by job. Runs of different logs need --side-by-side.
    """
    out = out or Path(f"{folders[0].resolve().name}.html")
    check_report(out, force)
    campaigns = [folder for folder in folders if (folder / "results.parquet").is_file()]
    if campaigns and len(folders) > 1:
        raise UsageError(f"{campaigns[0]} holds a campaign, which is reported alone; give no other folder")
    if campaigns and (name or side_by_side):
        raise UsageError("--name and --side-by-side are for runs; a campaign's policies have their labels")

    with Display(quiet).working(f"making {out}"):
        if campaigns:
            text = _campaign(campaigns[0], title)
        else:
            text = _schedules(folders, saved_schedules(folders, quiet), name, title, side_by_side)
        from headway.report.assembly import write

        write(text, out)
    if not quiet:
        size = out.stat().st_size / 1e6
        names = ", ".join(map(str, folders))
        output().print(f"report of {names} written to {out} ({size:.1f} MB)")


def check_report(file: Path, force: bool) -> None:
    """Complain now about a report that cannot be written later."""
    if file.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{file}: a report's name must end in .html")
    refuse_existing(file, force)


def _campaign(folder: Path, title: str) -> str:
    from headway.campaign import Results
    from headway.report.campaigns import campaign_page

    return campaign_page(Results.open(folder), this_command(), title)


def _schedules(
    folders: list[Path], schedules: list[Result], given: list[str] | None, title: str, side_by_side: bool
) -> str:
    from headway.metrics.comparison import refuse_different_logs
    from headway.report import schedules_page, side_by_side_page

    names = run_names(folders, schedules, given)
    if side_by_side:
        return side_by_side_page(schedules, names, this_command(), title)
    refuse_different_logs(schedules, "--side-by-side describes each of them without pairing jobs")
    return schedules_page(schedules, this_command(), names=names, title=title)
