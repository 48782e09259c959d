"""``headway live``: a demonstration, a rehearsal, what happened as a schedule, and the switch to stop."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from headway.cli import options
from headway.cli.display import Display, output
from headway.cli.frame import DONE, FAULT, command
from headway.cli.grids import Timeout, agent_of, microseconds_of
from headway.errors import UsageError
from headway.plain import counted

if TYPE_CHECKING:
    from headway.result import Result

WHAT = ("demo", "ready", "record", "rehearse", "stop", "start")


@command("live", example="headway live demo")
def live(
    what: Annotated[
        str,
        options.argument(
            "demo|ready|record|rehearse|stop|start",
            "demo: three clusters on this machine; ready: wait until "
            "agent and clusters answer; record: what happened as a schedule, audited; "
            "rehearse: the jobs of a log on simulated clusters; stop, start: the switch.",
        ),
    ],
    grid: Annotated[Path | None, options.argument("GRID.toml", "The grid's file; not for demo.")] = None,
    trace: Annotated[str | None, options.argument("TRACE", "The log of a rehearsal.")] = None,
    tasks: Annotated[int, options.number("--tasks", "N", "Tasks of the demonstration.", 1)] = 40,
    timeout: Timeout = "10m",
    annotations: options.Annotations = None,
    out: options.Out = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> int:
    """Try the middleware out, look at what it did, or stop it.

    The demonstration starts an agent and three local servers, submits forty short tasks, moves some, and
    leaves a page, a schedule and its audit in the folder --out (headway-live).
    """
    if what not in WHAT:
        raise UsageError(f"headway live {what}: there are {', '.join(WHAT)}")
    if what == "demo":
        return _demo(out or Path("headway-live"), tasks, force, quiet)
    if grid is None:
        raise UsageError(f"headway live {what} needs the grid's file: headway live {what} GRID.toml")
    if what == "rehearse":
        return _rehearse(grid, trace, annotations, out, force, quiet)
    if what == "ready":
        return _ready(grid, microseconds_of(timeout, "--timeout") / 1e6)
    if what == "record":
        return _record(grid, out, force, quiet)
    from headway.live.grid_file import load_grid
    from headway.live.safety import switch

    file = switch(load_grid(grid))
    file.parent.mkdir(parents=True, exist_ok=True)
    if what == "stop":
        file.touch()
        output().print("stopped: nothing is submitted, started, cancelled or moved; what runs goes on")
    else:
        file.unlink(missing_ok=True)
        output().print("started: agent and servers act again")
    return DONE


def _demo(folder: Path, tasks: int, force: bool, quiet: bool) -> int:
    from headway.live.demo import remove_demonstration, show

    if folder.exists() and any(folder.iterdir()):
        if not force:
            raise UsageError(f"{folder} is not empty; give another with --out, or --force to replace it")
        remove_demonstration(folder)
    display = Display(quiet)
    with display.working("tasks") as progress:
        shown = show(folder, tasks, display.say, progress)
    if not quiet:
        console = output()
        console.print(
            f"{counted(shown.tasks, 'task')} on three clusters in {shown.seconds:.0f} s, "
            f"{counted(shown.moves, 'move')}\n"
            f"page: {shown.page}\nschedule: {folder / 'schedule'}\n{shown.verdict}"
        )
    return DONE if shown.verdict.ok else FAULT


def _ready(grid: Path, seconds: float) -> int:
    from headway.live.clients import until_ready
    from headway.live.grid_file import load_grid

    with closing(agent_of(load_grid(grid), seconds)) as agent:
        names = until_ready(agent, seconds)
    output().print(f"ready: the agent and the servers of {', '.join(names)} answer")
    return DONE


def _record(grid: Path, out: Path | None, force: bool, quiet: bool) -> int:
    from headway.live.grid_file import load_grid
    from headway.live.journal import Journal
    from headway.live.record import recorded

    of = load_grid(grid)
    path = of.folder / "journal.db"
    if not path.exists():
        raise UsageError(f"{of.folder} has no journal; no agent of this grid has run yet")
    with closing(Journal(path)) as journal:
        return _judged(recorded(of, journal), out, force, quiet)


def _rehearse(
    grid: Path, trace: str | None, annotations: Path | None, out: Path | None, force: bool, quiet: bool
) -> int:
    from headway.cli.inputs import read_workload
    from headway.live.grid_file import load_grid
    from headway.live.rehearsal import rehearse

    if trace is None:
        raise UsageError("headway live rehearse needs a log: headway live rehearse GRID.toml TRACE")
    of, display = load_grid(grid), Display(quiet)
    with display.working("tasks") as progress:
        schedule = rehearse(of, read_workload(trace, {}, annotations), display.say, progress)
    return _judged(schedule, out, force, quiet)


def _judged(schedule: Result, out: Path | None, force: bool, quiet: bool) -> int:
    from headway.audit import audit
    from headway.schedule.files import save

    if out is not None:
        save(schedule, out, schedule.summary(), force=force)
    verdict = audit(schedule)
    if not quiet:
        moves = 0 if schedule.moves is None else len(schedule.moves)
        left = "".join(f"; {entry.count} {entry.action}" for entry in schedule.workload.ledger)
        output().print(f"{counted(len(schedule), 'task')}, {counted(moves, 'move')}{left}\n{verdict}")
    return DONE if verdict.ok else FAULT
