"""``headway queue``, ``status`` and ``cancel``: what became of tasks on a grid."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

from headway.cli import options
from headway.cli.display import Display, output, print_json, table_of
from headway.cli.frame import DONE, FAULT, command
from headway.cli.grids import Number, OfGrid, Timeout, agent_of, ask, chosen, clock, microseconds_of
from headway.cli.grids import task_number as numbered
from headway.plain import one_line

if TYPE_CHECKING:
    from headway.live.grid_file import Grid

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
    count: Annotated[int, options.number("--last", "N", "How many of the last tasks.", 1)] = 40,
    json: options.Json = False,
) -> None:
    """List the last tasks of a grid, with places and times."""
    answer = ask(chosen(grid), "queue", count=count)
    if json:
        print_json(answer)
        return
    where, when = ("~cluster", "~>processors"), ("~submitted", "~start", "~end")
    table = table_of("~>task", "~name", "~state", *where, *when, "~>moves")
    for task in answer["tasks"]:
        table.add_row(*_row(task))
    console = output()
    console.print(table)
    console.print(counted(answer["counts"]))


def _row(task: dict[str, Any]) -> list[str]:
    """A line of the queue; times that are only planned are marked."""
    start = clock(task.get("started")) or (f"~{clock(task.get('start'))}" if task.get("start") else "")
    end = clock(task.get("ended")) or (f"~{clock(task.get('completion'))}" if task.get("completion") else "")
    place = [str(task.get("cluster", "")), str(task.get("procs") or "")]
    moves = str(task["moves"] or "")
    front = [str(task["task"]), one_line(task["name"], 40), task["state"]]
    return [*front, *place, clock(task["submitted"]), start, end, moves]


@command("status", example="headway status 7 8 --wait --timeout 1h --grid grid.toml")
def status(
    tasks: Annotated[
        list[int] | None,
        options.argument("[TASK...]", "The tasks' numbers; by default all tasks.", parser=numbered),
    ] = None,
    wait: Annotated[
        bool, options.flag("--wait", "Wait until they have ended; exit status 1 if one was not done.")
    ] = False,
    timeout: Timeout = "30d",
    grid: OfGrid = None,
    json: options.Json = False,
) -> int:
    """Say what became of tasks, and what was decided and why.

    Without a task: how many there are in each state. With --wait it answers when the tasks have ended, and
    gives up with a sentence when --timeout has passed.
    """

    of, named = chosen(grid), list(tasks or ())
    if wait:
        _wait(of, named, microseconds_of(timeout, "--timeout") / 1e6)
    if not named:
        counts = ask(of, "queue", count=1)["counts"]
        if json:
            print_json({"counts": counts})
        else:
            output().print(counted(counts))
        return FAULT if wait and counts.keys() - {"done"} else DONE
    found = []
    for task in named:
        about = ask(of, "status", task=task)
        found.append(about | {"decisions": ask(of, "explain", task=task)["decisions"]})
    if json:
        print_json(found[0] if len(found) == 1 else found)
    else:
        for about in found:
            _print(about)
    return FAULT if wait and any(about["state"] != "done" for about in found) else DONE


def _wait(of: Grid, tasks: list[int], seconds: float) -> None:
    from headway.live.clients import until_over

    with closing(agent_of(of, seconds)) as agent, Display().working("tasks") as progress:
        until_over(agent, tasks, seconds, progress)


def _print(found: dict[str, Any]) -> None:
    """All that is known of a task."""

    console = output()
    name = one_line(found["name"])
    console.print(f"task {found['task']}, {name}: {found['state']}", style="bold")
    for name, word in TIMES.items():
        if found.get(name) is not None and clock(found[name]):
            console.print(f"  {word}: {clock(found[name])}")
    for name in ("cluster", "procs", "code", "batch_name"):
        if found.get(name) not in (None, ""):
            console.print(f"  {name}: {found[name]}")
    for decision in reversed(found["decisions"]):
        console.print(f"  {clock(decision['time'])} {reason(decision)}")


def counted(counts: dict[str, int]) -> str:
    """How many tasks there are in each state."""
    return ", ".join(f"{number} {state}" for state, number in sorted(counts.items())) or "no tasks"


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
    """Cancel a task. A running one is killed if the grid allows it."""

    found = ask(chosen(grid), "cancel", task=task)
    if json:
        print_json(found)
        return
    from headway.live.journal import CANCELLED, OVER

    remark = " (wanted; its cluster has not answered yet)"
    if found["state"] in OVER:
        remark = "" if found["state"] == CANCELLED else " already; there is nothing to take back"
    output().print(f"task {task}: {found['state']}{remark}")
