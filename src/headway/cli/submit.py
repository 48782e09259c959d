"""``headway submit``: hand a task to the grid."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from headway.cli import options
from headway.cli.display import output, print_json
from headway.cli.frame import command
from headway.cli.grids import OfGrid, ask, chosen, clock, microseconds_of
from headway.errors import UsageError
from headway.plain import counted


@command(
    "submit",
    example="headway submit --walltime 10m --procs 4 ./solve '{procs}'",
    settings={"allow_interspersed_args": False},
)
def submit(
    words: Annotated[
        list[str],
        options.argument(
            "COMMAND...", "The command; {procs} stands for the processors it got, {cluster} for the cluster."
        ),
    ],
    walltime: Annotated[
        str,
        options.value("--walltime", "TIME", "Longest run: seconds, or 10m, 2h, 1d.", show_default=False),
    ],
    procs: Annotated[
        int,
        options.number("--procs", "N", "Processors that the walltime is for.", 1, 2**31 - 1),
    ] = 1,
    fraction: Annotated[
        float | None,
        options.value("--parallel-fraction", "P", "Part that is parallel: the size may then be chosen."),
    ] = None,
    most: Annotated[
        int | None,
        options.number(
            "--max-procs", "N", "Most processors of a task whose size may be chosen.", 1, 2**31 - 1
        ),
    ] = None,
    form: Annotated[
        list[str] | None,
        options.value(
            "--form", "N:TIME", "A size and its walltime; may be repeated, in place of --parallel-fraction."
        ),
    ] = None,
    script: Annotated[
        bool, options.flag("--script", "COMMAND is a script file, which may hold {procs}.")
    ] = False,
    stage: Annotated[
        str | None,
        options.value(
            "--stage", "COMMAND", "Command that brings the inputs before the task, as one quoted word."
        ),
    ] = None,
    stage_time: Annotated[str, options.value("--stage-time", "TIME", "How long staging takes.")] = "0",
    deadline: Annotated[
        str | None,
        options.value("--deadline", "TIME", "Latest end, counted from now, for clusters under dbf."),
    ] = None,
    urgent: Annotated[
        bool, options.flag("--urgent", "Run it before all others, on clusters under ujfb.")
    ] = False,
    name: Annotated[str, options.value("--name", "TEXT", "What the task is called.")] = "",
    cluster: Annotated[str, options.value("--cluster", "NAME", "The only cluster it may run on.")] = "",
    dry_run: Annotated[bool, options.flag("--dry-run", "Only say where it would go.")] = False,
    grid: OfGrid = None,
    json: options.Json = False,
) -> None:
    """Hand a task to the grid.

    Says which cluster takes it, on how many processors, and when it should start and end. The command begins
    with the first word that is no option. Its words reach the program as they are; no shell sees them.
    """
    import time

    from headway.live.task import Task

    forms = tuple(_form(text) for text in form or ())
    latest = None
    if deadline is not None:
        latest = time.time_ns() // 1000 + microseconds_of(deadline, "--deadline")
    task = Task(
        command=() if script else tuple(words),
        script=_script(words) if script else "",
        procs=procs,
        walltime=microseconds_of(walltime, "--walltime"),
        name=name,
        parallel_fraction=fraction,
        max_procs=most,
        forms=forms,
        folder=str(Path.cwd()),
        stage=_stage(stage),
        stage_time=microseconds_of(stage_time, "--stage-time"),
        deadline=latest,
        urgent=urgent,
        cluster=cluster,
    )
    answer = ask(chosen(grid), "estimate" if dry_run else "submit", task=task.as_json())
    if json:
        print_json(answer)
        return
    output().print(said(answer))


def said(answer: dict[str, object]) -> str:
    """What the client is told."""
    number = f"task {answer['task']}: " if "task" in answer else "it would go "
    if "waits_for" in answer:
        return f"{number}accepted, not yet on a cluster: {answer['waits_for']}"
    start, end, latest = (answer.get(name) for name in ("start", "completion", "latest_end"))
    text = f"{number}to {answer['cluster']} on {counted(int(str(answer['procs'])), 'processor')}"
    if isinstance(start, int) and isinstance(end, int):
        text += f", start {clock(start)}, end {clock(end)}"
    if isinstance(latest, int):
        text += f", at the latest {clock(latest)}"
    return text


def _stage(text: str | None) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text or ""))
    except ValueError:
        raise UsageError(f"--stage has a quotation mark that is not closed: {text!r}") from None


def _form(text: str) -> tuple[int, int]:
    size, colon, time = text.partition(":")
    if not colon or not (size.isascii() and size.isdigit()) or len(size) > 18:
        raise UsageError(f"--form must be N:TIME such as 8:10m, not {text!r}")
    return int(size), microseconds_of(time, "--form")


def _script(words: list[str]) -> str:
    from headway.documents import read_text

    if len(words) != 1:
        raise UsageError("--script takes one file")
    return read_text(words[0], "a script")
