"""``headway queue``, ``status`` and ``cancel``: what became of tasks on a grid."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from headway.cli import options
from headway.cli.frame import command
from headway.cli.grids import Number, OfGrid, ask, chosen, clock

TIMES = {
    "submitted": "submitted",
    "started": "started",
    "ended": "ended",
    "start": "expected start",
    "completion": "expected end",
    "latest_end": "latest end",
}
"""What the agent says of a task's times, and how people say it."""


@command("queue", example="headway queue --grid grid.toml")
def queue(
    grid: OfGrid = None,
    count: Annotated[
        int,
        typer.Option(
            "--last",
            metavar="N",
            help="How many of the last tasks.",
            parser=options.whole_number("--last", 1),
        ),
    ] = 40,
    json: options.Json = False,
) -> None:
    """List the last tasks of a grid: where each is, and when it starts and ends."""
    from rich.table import Table

    from headway.cli.display import output, print_json

    answer = ask(chosen(grid), "queue", count=count)
    if json:
        print_json(answer)
        return
    table = Table(box=None, pad_edge=False)
    for name in ("task", "name", "state", "cluster", "processors", "submitted", "start", "end", "moves"):
        table.add_column(name, justify="right" if name in ("task", "processors", "moves") else "left")
    for task in answer["tasks"]:
        table.add_row(*_row(task))
    console = output()
    console.print(table)
    counts = ", ".join(f"{number} {state}" for state, number in sorted(answer["counts"].items()))
    console.print(counts or "no tasks", markup=False)


def _row(task: dict[str, Any]) -> list[str]:
    """A line of the queue; times that are only planned are marked."""
    start = clock(task["started"]) or (f"~{clock(task.get('start'))}" if task.get("start") else "")
    end = clock(task["ended"]) or (f"~{clock(task.get('completion'))}" if task.get("completion") else "")
    place = [str(task.get("cluster", "")), str(task.get("procs") or "")]
    moves = str(task["moves"] or "")
    front = [str(task["task"]), task["name"], task["state"]]
    return [*front, *place, clock(task["submitted"]), start, end, moves]


@command("status", example="headway status 7 --grid grid.toml")
def status(task: Number, grid: OfGrid = None, json: options.Json = False) -> None:
    """Say what became of a task, and what was decided about it and why."""
    from headway.cli.display import output, print_json

    of = chosen(grid)
    found = ask(of, "status", task=task)
    found["decisions"] = ask(of, "explain", task=task)["decisions"]
    if json:
        print_json(found)
        return
    console = output()
    console.print(f"task {task}, {found['name']}: {found['state']}", style="bold", markup=False)
    for name, word in TIMES.items():
        if found.get(name) is not None and clock(found[name]):
            console.print(f"  {word}: {clock(found[name])}", markup=False)
    for name in ("cluster", "procs", "code", "batch_name"):
        if found.get(name) not in (None, ""):
            console.print(f"  {name}: {found[name]}", markup=False)
    for decision in reversed(found["decisions"]):
        console.print(f"  {clock(decision['time'])} {reason(decision)}", markup=False)


def reason(decision: dict[str, Any]) -> str:
    """A decision in words."""
    kind = decision["kind"]
    if kind == "moved":
        gain = (decision["before"] - decision["after"]) / 1e6
        return f"moved from {decision['source']} to {decision['target']}, completed {gain:.1f} s earlier"
    answers = "; ".join(f"{name} {_answer(said)}" for name, said in decision.get("answers", {}).items())
    if kind == "mapped":
        return f"given to {decision['cluster']}, which completes it first: {answers}"
    if kind == "refused":
        return f"refused, no cluster can run it: {answers}"
    return f"{kind} on {decision.get('cluster', '?')}"


def _answer(said: dict[str, Any]) -> str:
    if said.get("silent"):
        return "did not answer"
    completion = said.get("completion")
    if completion is None or completion > 1 << 60:
        return "cannot run it"
    return f"{clock(completion)} on {said.get('procs')}"


@command("cancel", example="headway cancel 7 --grid grid.toml")
def cancel(task: Number, grid: OfGrid = None, json: options.Json = False) -> None:
    """Take a task back; one that runs is killed, where the grid allows it."""
    from headway.cli.display import output, print_json

    found = ask(chosen(grid), "cancel", task=task)
    if json:
        print_json(found)
        return
    pending = " (wanted; its cluster has not answered yet)" if found["state"] != "cancelled" else ""
    output().print(f"task {task}: {found['state']}{pending}", markup=False)
