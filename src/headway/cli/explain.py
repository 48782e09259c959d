"""``headway explain``: why a job waited, and what would have let it start earlier."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headway.cli import options
from headway.cli.frame import command


@command("explain", example="headway explain result 4711")
def explain(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Folder that simulate --out wrote.", show_default=False),
    ],
    job: Annotated[
        int, typer.Argument(metavar="JOB", help="The job's number in the log.", show_default=False)
    ],
    what_if: Annotated[
        bool,
        typer.Option(
            "--what-if/--no-what-if",
            help="Simulate again with the job made smaller or shorter, to see what would have helped.",
        ),
    ] = True,
    json: options.Json = False,
) -> None:
    """Tell why a job waited, and what would have let it start earlier."""
    from headway.cli.display import Display, output, print_json
    from headway.explain import explain as explained
    from headway.schedule import Schedule

    schedule = Schedule.load(folder)
    with Display(quiet=json).working(f"explaining job {job}") as progress:
        explanation = explained(schedule, job, simulate_again=what_if, progress=progress)
    if json:
        print_json(explanation.plain())
    else:
        console = output()
        console.print(explanation.text(console.width), markup=False)
