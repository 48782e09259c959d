"""``headway explain``: why a job waited, and what would have let it start earlier."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from headway.cli import options
from headway.cli.display import Display, output, print_json
from headway.cli.frame import command
from headway.cli.saved import lost_site, run_folders
from headway.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from headway.result import Result


@command("explain", example="headway explain result 4711")
def explain(
    folder: Annotated[
        Path,
        options.argument(
            "DIR", "Folder that simulate or compare wrote; of a comparison the first run is explained."
        ),
    ],
    job: Annotated[
        int | None,
        options.argument("JOB", "The job's number in the log.", parser=options.whole_number("JOB", 0)),
    ] = None,
    longest: Annotated[
        bool, options.flag("--longest", "Instead of JOB: the job that waited longest.")
    ] = False,
    user: Annotated[
        str | None,
        options.value("--user", "NAME", "Instead of JOB: this user's job that waited longest."),
    ] = None,
    what_if: Annotated[
        bool,
        options.flag(
            "--what-if/--no-what-if",
            "Simulate again with the job made narrower or shorter, to see what would have helped.",
        ),
    ] = True,
    json: options.Json = False,
) -> None:
    """Explain why a job waited, and what would have helped.

    Without a number: headway explain result --longest, or headway explain result --user NAME
    """
    if (job is not None) + longest + (user is not None) != 1:
        raise UsageError("give one job: its number, --longest, or --user NAME for the user's longest wait")
    from headway.explain import explain as explained
    from headway.result import Result

    runs = run_folders([folder])
    schedule = Result.load(runs[0])
    if lost := lost_site(runs[0], schedule):
        Display(quiet=json).say(lost)
    number = job if job is not None else longest_wait(schedule, user)
    with Display(quiet=json).working(f"explaining job {number}") as progress:
        explanation = explained(schedule, number, simulate_again=what_if, progress=progress)
    if json:
        print_json(explanation.plain())
    else:
        console = output()
        console.print(explanation.text(console.width))
        if len(runs) > 1:
            _offer(console, runs[1:], number)


def longest_wait(schedule: Result, user: str | None = None) -> int:
    """The number of the job that waited longest, of all jobs or of one user's."""
    import numpy as np

    rows = np.arange(len(schedule))
    if user is not None:
        workload, codes = schedule.workload, schedule.workload.columns["user"]
        known = {workload.name_of("user", code): code for code in np.unique(codes[codes >= 0]).tolist()}
        if user not in known:
            some = ", ".join(sorted(known)[:5]) + (", ..." if len(known) > 5 else "")
            raise UsageError(f"the schedule has no user {user!r}; its users are {some or 'not named'}")
        rows = np.flatnonzero(codes == known[user])
    if not len(rows):
        raise UsageError("the schedule has no jobs; there is nothing to explain")
    return int(schedule.workload.job[rows[schedule.wait[rows].argmax()]])


def _offer(console: Console, others: list[Path], job: int) -> None:
    """What became of the job in the other runs of a comparison, and how to ask about them."""
    import numpy as np

    from headway.result import Result
    from headway.units import duration

    console.print("\nIn the other runs of this comparison", style="bold")
    for run in others:
        schedule = Result.load(run)
        found = np.flatnonzero(schedule.workload.job == job)
        told = f"it waited {duration(int(schedule.wait[found[0]]))}" if len(found) else "it was not scheduled"
        console.print(f"  {told}: headway explain {run} {job}", soft_wrap=True)
