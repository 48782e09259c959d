"""The demonstration: an agent, three local clusters, forty short tasks, moves, a page, an audit."""

from __future__ import annotations

import random
import shutil
import socket
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.audit import audit
from headway.audit.verdict import Audit
from headway.errors import HeadwayError, UsageError
from headway.live import outside
from headway.live.batch import Batch
from headway.live.grid_file import Grid, load_grid
from headway.live.journal import OVER, Journal
from headway.live.launch import running_servers, start, wait_for
from headway.live.page import page
from headway.live.record import recorded
from headway.live.task import Task
from headway.live.wire import Remote
from headway.plain import Notify, Progress
from headway.units import SECOND
from headway.writing import replacing, write_text

GRID = """\
# Three clusters of this machine's own under one agent.
[grid]
policy = "reallocation(heuristic=mct, mode=regular, period=2, threshold=0.5)"
folder = "state"
page = "http://127.0.0.1:{port}"
poll = 0.5

[control]
allow = ["submit", "cancel", "kill"]
acts_per_minute = 6000

[[cluster]]
name = "bordeaux"
procs = 6
speed = 1

[[cluster]]
name = "lyon"
procs = 3
speed = 1.2

[[cluster]]
name = "toulouse"
procs = 4
speed = 1.4
"""
PATIENCE = 90.0
"""Seconds for all tasks to end."""


@dataclass(frozen=True)
class Shown:
    """What a demonstration leaves."""

    verdict: Audit
    page: Path
    tasks: int
    moves: int
    seconds: float


def written(folder: Path) -> Grid:
    """The demonstration's grid file, with a free port for the page."""
    folder.mkdir(parents=True, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    file = folder / "grid.toml"
    write_text(file, GRID.format(port=port))
    return load_grid(file)


def remove_demonstration(folder: Path) -> None:
    """Remove what an earlier demonstration left in a folder; one that holds anything else is left alone."""
    ours = {"grid.toml", "live.html", "marks.txt", "schedule", "state"}
    others = sorted(entry.name for entry in folder.iterdir() if entry.name not in ours)
    file = folder / "grid.toml"
    if others or (file.exists() and not file.read_bytes().startswith(GRID.partition("\n")[0].encode())):
        what = others[0] if others else file.name
        raise UsageError(f"{folder} holds {what}, which is of no demonstration; give another with --out")
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def short_tasks(count: int, marks: Path) -> list[Task]:
    """Tasks of a second or so, most of them much shorter than their walltime, so that plans do not hold."""
    draw = random.Random(1)
    tasks = []
    for number in range(1, count + 1):
        procs = draw.choice([1, 2, 2, 4])
        walltime = draw.uniform(4.0, 10.0)
        run = walltime * draw.choice([0.05, 0.1, 0.15, 0.4]) / 1.4
        script = f'sleep {run:.2f}; echo "$0 $HEADWAY_CLUSTER $HEADWAY_PROCS" >> "$1"'
        task = Task(
            command=("sh", "-c", script, str(number), str(marks)),
            procs=procs,
            walltime=round(walltime * SECOND),
            name=f"short-{number}",
            parallel_fraction=draw.choice([0.8, 0.9, 0.99]),
            max_procs=4,
        )
        tasks.append(task)
    return tasks


def show(folder: Path, count: int, say: Notify, progress: Progress) -> Shown:
    """Run it in a folder."""
    grid = written(folder)
    marks = folder / "marks.txt"
    say("compiling conservative backfilling, once for this machine ..., then starting four processes")
    Batch.warm(grid.sites[0].cluster, grid.sites[0].policy)
    begun = outside.steady()
    with running_servers(grid) as processes:
        log = grid.folder / "agent.log"
        processes.append(start(["agent", str(grid.file), "--control"], log))
        agent = wait_for(grid.listen, processes[-1], log, "queue", grid)
        say(f"the agent's page is at {grid.page}")
        for task in short_tasks(count, marks):
            agent.ask("submit", task=task.as_json())
            outside.sleep(0.02)
        state = _finished(agent, count, progress)
        agent.close()
    shown = folder / "live.html"
    with replacing(shown) as draft:
        draft.write_bytes(page(state))
    with closing(Journal(grid.folder / "journal.db")) as journal:
        schedule = recorded(grid, journal)
    schedule.save(folder / "schedule", force=True)
    moves = 0 if schedule.moves is None else len(schedule.moves)
    return Shown(audit(schedule), shown, count, moves, outside.steady() - begun)


def _finished(agent: Remote, count: int, progress: Progress) -> dict[str, Any]:
    """Wait until all tasks are over; the last state of the page."""
    until = outside.steady() + PATIENCE
    while True:
        counts = agent.ask("queue", count=1)["counts"]
        over = sum(number for state, number in counts.items() if state in OVER)
        progress(over, count)
        if over >= count:
            return agent.ask("state")
        if outside.steady() > until:
            raise HeadwayError(f"{count - over} of {count} tasks have not ended after {PATIENCE:.0f} seconds")
        outside.sleep(0.5)
