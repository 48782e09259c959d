"""``headway plot``: a figure of one run or of several."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headway.cli import options
from headway.cli.display import Display, output
from headway.cli.frame import command
from headway.cli.saved import run_names, saved_schedules
from headway.errors import UsageError
from headway.writing import refuse_existing

if TYPE_CHECKING:
    from headway.result import Result

KINDS = ("gantt", "utilization", "queue", "distribution")
CAMPAIGN_KINDS = ("box", "violin", "ecdf")
"""Figures of a campaign: a value per cell against its baseline."""

FIRST, LAST = "--from", "--to"


@command("plot", example="headway plot result --kind gantt -o gantt.svg")
def plot(
    folders: Annotated[
        list[Path],
        options.argument(
            "DIR...",
            "Folders that simulate wrote, one that compare wrote for all of its runs, or a campaign's.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Figure to write: .svg, .pdf or .png.", show_default=False
        ),
    ],
    kind: Annotated[
        str,
        options.value(
            "--kind", "KIND", f"One of {', '.join(KINDS)}; of a campaign {', '.join(CAMPAIGN_KINDS)}."
        ),
    ] = "gantt",
    first: Annotated[
        float | None,
        options.value(FIRST, "S", "Start of the figure, in seconds after the first submission."),
    ] = None,
    last: Annotated[
        float | None,
        options.value(LAST, "S", "End of the figure, in seconds after the first submission."),
    ] = None,
    colour: Annotated[
        str | None,
        options.value(
            "--colour",
            "KEY",
            "gantt: colours by why (default), size, user, queue, job, partition, account or qos.",
        ),
    ] = None,
    measure: Annotated[
        str | None,
        options.value(
            "--measure",
            "NAME",
            "distribution: of wait (default), response, bsld or slowdown; campaign: of a metric.",
        ),
    ] = None,
    force: options.ReplaceFile = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw a figure of one run or of several.

    A run is drawn as processors over time (gantt), the share of the machine in use, the waiting jobs, or the
    distribution of waits; a campaign as a box, a violin or a curve for each policy. The figures are fit for
    print, and readable with any colour vision.
    """
    if kind not in (*KINDS, *CAMPAIGN_KINDS):
        raise UsageError(f"--kind cannot be {kind!r}; it is one of {', '.join((*KINDS, *CAMPAIGN_KINDS))}")
    given = {"colour": (colour, "gantt"), "measure": (measure, "distribution")}
    for option, (value, owner) in given.items():
        if value is not None and kind != owner and not (option == "measure" and kind in CAMPAIGN_KINDS):
            raise UsageError(f"--{option} is for --kind {owner}, not for {kind}")
    if kind not in ("gantt", "utilization", "queue") and (first is not None or last is not None):
        raise UsageError("--from and --to are for figures over time; a distribution is of all jobs")
    refuse_existing(out, force)

    from headway.figures.style import check_format

    check_format(out)
    chosen: dict[str, Any] = {name: value for name, (value, _) in given.items() if value is not None}
    if first is not None or last is not None:
        chosen["window"] = (first, last)
    with Display(quiet).working(f"drawing {out}"):
        if _is_campaign(folders, kind):
            _draw_campaign(folders[0], kind, measure or "mean_bsld", out)
        else:
            _draw_runs(folders, saved_schedules(folders, quiet), kind, chosen, out)
    if not quiet:
        output().print(f"{kind} of {', '.join(map(str, folders))} written to {out}")


def _is_campaign(folders: list[Path], kind: str) -> bool:
    """Whether a campaign is drawn; kinds and folders must go together."""
    campaigns = [folder for folder in folders if (folder / "results.parquet").is_file()]
    if campaigns and kind not in CAMPAIGN_KINDS:
        raise UsageError(
            f"{campaigns[0]} holds a campaign; give --kind {' or '.join(CAMPAIGN_KINDS)}, or a run's folder"
        )
    if kind in CAMPAIGN_KINDS and not campaigns:
        raise UsageError(f"--kind {kind} is for a folder that sweep wrote; {folders[0]} holds no campaign")
    if campaigns and len(folders) > 1:
        raise UsageError(f"{campaigns[0]} holds a campaign, which is drawn alone; give no other folder")
    return bool(campaigns)


def _draw_runs(
    folders: list[Path], schedules: list[Result], kind: str, chosen: dict[str, Any], out: Path
) -> None:
    from headway import figures

    names = run_names(folders, schedules, None)
    figures.save(getattr(figures, kind)(*schedules, names=names, **chosen), out)


def _draw_campaign(folder: Path, kind: str, metric: str, out: Path) -> None:
    """One value per cell: relative to the baseline where cells have one, else as measured."""
    from headway.campaign import Results, figures

    results = Results.open(folder)
    relative = bool(results.frame["baseline"].is_not_null().any())
    figures.save(getattr(figures, kind)(results, metric, relative=relative), out)
