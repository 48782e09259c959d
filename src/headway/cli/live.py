"""``headway live``: agent, servers and clients of a grid, a demonstration, a rehearsal, and Slurm watched."""

from __future__ import annotations

import os
import secrets
import shlex
import time
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from headway.cli import options
from headway.cli.application import DONE, FAULT, command, group
from headway.cli.display import Display, output, print_json, table_of
from headway.cli.options import read_workload
from headway.errors import InputError, UsageError
from headway.plain import counted, one_line
from headway.policies.spec import parse_spec
from headway.units import SECOND, duration

if TYPE_CHECKING:
    from headway.live.grid_file import Grid
    from headway.live.wire import Remote
    from headway.result import Result

live = group("live", "Schedule several real clusters with one agent, or watch Slurm.")

GridFile: TypeAlias = Annotated[Path, options.argument("GRID.toml", "The grid's file.")]
OfGrid: TypeAlias = Annotated[
    Path | None,
    options.value("--grid", "GRID.toml", "The grid's file; else $HEADWAY_GRID, else grid.toml here."),
]
Control: TypeAlias = Annotated[
    bool, options.flag("--control", "Act on the clusters; without it nothing is changed anywhere.")
]
Timeout: TypeAlias = Annotated[
    str, options.value("--timeout", "TIME", "Longest wait: seconds, or 10m, 2h, 1d.")
]
task_number = options.whole_number("TASK", 0)
Number: TypeAlias = Annotated[int, options.argument("TASK", "The task's number.", parser=task_number)]
LOOK_FIRST = "so look with headway live queue before you ask again"


def chosen(file: Path | None) -> Grid:
    """The grid of a client's command."""
    from headway.live.grid_file import load_grid

    named = file or Path(os.environ.get("HEADWAY_GRID", "grid.toml"))
    if file is None and not named.exists():
        raise UsageError("no grid is given; name its file with --grid GRID.toml or in $HEADWAY_GRID")
    return load_grid(named)


def agent_of(grid: Grid, seconds: float = float("inf")) -> Remote:
    """The agent of a grid, which may itself have to wait for each of its servers; for so long at most."""
    from headway.live.clients import TellingAgent

    patience = max(0.1, min(seconds, grid.timeout * (len(grid.sites) + 1)))
    return TellingAgent(grid.listen, token=grid.secret(), ca=grid.tls_ca, timeout=patience)


def ask(grid: Grid, request: str, **data: Any) -> dict[str, Any]:
    """The agent's answer to a client."""
    from headway.live.clients import until_heard
    from headway.live.wire import BrokenOff, NoAnswer, TooSlow, Untrusted

    agent, look = agent_of(grid), LOOK_FIRST
    if "submission" in data:
        look = f"so submit it again with --submission {data['submission']}: there will be one task"
    try:
        return until_heard(agent, request, data) if "submission" in data else agent.ask(request, **data)
    except TooSlow as error:
        remedy = f"it may still do what it was asked for, {look}"
        raise UsageError(f"the agent is busy or hangs: {error}; {remedy}") from None
    except BrokenOff as error:
        remedy = f"it may have done what it was asked for, {look}"
        raise UsageError(f"the agent does not answer: {error}; {remedy}") from None
    except Untrusted as error:
        raise UsageError(f"the agent was not asked: {error}") from None
    except NoAnswer as error:
        remedy = f"start it with headway live agent {grid.file}"
        raise UsageError(f"the agent does not answer: {error}; {remedy}") from None
    finally:
        agent.close()


def clock(us: int | None) -> str:
    """A time of day, or an instant of a simulation in seconds."""
    if us is None or us > 1 << 60:
        return ""
    if us < 1 << 50:
        return f"{us / 1e6:g} s"
    stamp = time.localtime(us / 1e6)
    day = "" if time.strftime("%F", stamp) == time.strftime("%F") else time.strftime("%F ", stamp)
    return day + time.strftime("%H:%M:%S", stamp)


@command("demo", "headway live demo", of=live)
def demo(
    tasks: Annotated[int, options.number("--tasks", "N", "How many tasks.", 1)] = 40,
    out: Annotated[Path, options.value("--out", "DIR", "Folder for page, schedule and audit.")] = Path(
        "headway-live"
    ),
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> int:
    """Try it on this machine: an agent, three clusters, forty tasks.

    Starts an agent and three local servers, submits short tasks and moves some of them. Leaves a page, a
    schedule and its audit in a folder.
    """
    from headway.live.demo import remove_demonstration, show

    if out.exists() and any(out.iterdir()):
        if not force:
            raise UsageError(f"{out} is not empty; give another with --out, or --force to replace it")
        remove_demonstration(out)
    display = Display(quiet)
    with display.working("tasks") as progress:
        shown = show(out, tasks, display.say, progress)
    if not quiet:
        output().print(
            f"{counted(shown.tasks, 'task')} on three clusters in {shown.seconds:.0f} s, "
            f"{counted(shown.moves, 'move')}\n"
            f"page: {shown.page}\nschedule: {out / 'schedule'}\n{shown.verdict}"
        )
    return DONE if shown.verdict.ok else FAULT


@command("agent", example="headway live agent grid.toml --servers --control", of=live)
def agent(
    grid: GridFile,
    control: Control = False,
    servers: Annotated[
        bool, options.flag("--servers", "Start the servers of all clusters too, as child processes.")
    ] = False,
    dry_run: Annotated[
        bool, options.flag("--dry-run", "Say what would be done with each task, and do nothing.")
    ] = False,
) -> None:
    """Give tasks to the best clusters, and move waiting ones.

    Everything is journalled before it is done: an agent that was killed continues where it was. Clients are
    `headway live submit`, `status`, `queue` and `cancel`; the page is at the address `page` of GRID.toml.
    """
    from headway.live.agent import LiveAgent
    from headway.live.grid_file import load_grid
    from headway.live.launch import end, start_servers, tell_of_ends
    from headway.live.page import pages_of
    from headway.live.server import log
    from headway.live.serving import alone, serve

    of = load_grid(grid)
    with alone(of.folder, "agent"):
        live = LiveAgent(of, control and not dry_run, log, dry_run)
        started = start_servers(of, control) if servers else []
        addresses = [of.listen, *([of.page] if of.page else [])]
        page = f", page at {of.page}" if of.page else ""
        log(f"agent of {counted(len(of.sites), 'cluster')} at {of.listen}{page}")
        if not live.guard.control:
            log("read-only: nothing is submitted, cancelled or moved; --control lets it act")
        try:
            tell_of_ends(started, of, log)
            serve(of, live, addresses, log, pages_of(live.on_state))
        finally:
            end(started)


@command("server", example="headway live server grid.toml bordeaux --control", of=live)
def server(
    grid: GridFile,
    cluster: Annotated[str, options.argument("CLUSTER", "Which cluster of the grid.")],
    control: Control = False,
) -> None:
    """Serve one cluster of a grid: estimate, submit, cancel.

    Slurm runs the cluster, or it is this machine with so many slots, or a simulation, as GRID.toml says. The
    server listens on a Unix socket that only you can open, unless the file says otherwise.
    """
    from headway.live.grid_file import load_grid
    from headway.live.server import log
    from headway.live.serving import alone, serve, server_of

    of = load_grid(grid)
    site = of.site(cluster)
    with alone(of.folder, site.name):
        tended = server_of(of, site, control)
        size = counted(site.cluster.procs, "processor")
        log(f"{site.name}: {site.kind}, {size}, {site.policy.brief}, at {site.listen}")
        serve(of, tended, [site.listen], log)


@command(
    "submit",
    example="headway live submit --walltime 10m --procs 4 ./solve '{procs}'",
    settings={"allow_interspersed_args": False},
    of=live,
)
def submit(
    words: Annotated[
        list[str],
        options.argument(
            "COMMAND...", "The command; {procs} stands for the processors it got, {cluster} for the cluster."
        ),
    ],
    walltime: Annotated[
        str, options.value("--walltime", "TIME", "Longest run: seconds, or 10m, 2h, 1d.", show_default=False)
    ],
    procs: Annotated[
        int, options.number("--procs", "N", "Processors that the walltime is for.", 1, 2**31 - 1)
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
    submission: Annotated[
        str,
        options.value(
            "--submission", "NAME", "Your own name for this submission: given twice, it is still one task."
        ),
    ] = "",
    dry_run: Annotated[bool, options.flag("--dry-run", "Only say where it would go.")] = False,
    grid: OfGrid = None,
    json: options.Json = False,
) -> None:
    """Hand a task to the grid.

    Says which cluster takes it, on how many processors, and when it should start and end. The command begins
    with the first word that is not an option. Its words reach the program as they are; no shell sees them.
    """
    from headway.live.task import Task

    forms = tuple(_form(text) for text in form or ())
    latest = None
    if deadline is not None:
        latest = time.time_ns() // 1000 + options.microseconds_of(deadline, "--deadline")
    task = Task(
        command=() if script else tuple(words),
        script=_script(words) if script else "",
        procs=procs,
        walltime=options.microseconds_of(walltime, "--walltime"),
        name=name,
        parallel_fraction=fraction,
        max_procs=most,
        forms=forms,
        folder=str(Path.cwd()),
        stage=_stage(stage),
        stage_time=options.microseconds_of(stage_time, "--stage-time"),
        deadline=latest,
        urgent=urgent,
        cluster=cluster,
    )
    if dry_run:
        answer = ask(chosen(grid), "estimate", task=task.as_json())
    else:
        answer = ask(
            chosen(grid), "submit", task=task.as_json(), submission=submission or secrets.token_hex(8)
        )
    if json:
        print_json(answer)
        return
    output().print(said(answer))


def said(answer: dict[str, Any]) -> str:
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
    for name in answer.get("ignored") or ():
        text += f"\n--{name} makes no difference there: the policy of {answer['cluster']} does not look at it"
    if late := answer.get("late"):
        text += f"\nits deadline cannot be kept if it uses its whole walltime: it ends {duration(late)} later"
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
    return int(size), options.microseconds_of(time, "--form")


def _script(words: list[str]) -> str:
    from headway.documents import read_text

    if len(words) != 1:
        raise UsageError("--script takes one file")
    return read_text(words[0], "a script")


TIMES = {
    "submitted": "submitted",
    "started": "started",
    "ended": "ended",
    "start": "expected start",
    "completion": "expected end",
    "latest_end": "latest end",
}
"""What the agent says of a task's times, and how people say it."""


@command("queue", example="headway live queue --grid grid.toml", of=live)
def queue(
    grid: OfGrid = None,
    count: Annotated[int, options.number("--last", "N", "How many of the last tasks.", 1)] = 40,
    json: options.Json = False,
) -> None:
    """List the last tasks of a grid, with clusters and times."""
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
    console.print(by_state(answer["counts"]))


def _row(task: dict[str, Any]) -> list[str]:
    """A line of the queue; times that are only planned are marked."""
    start = clock(task.get("started")) or (f"~{clock(task.get('start'))}" if task.get("start") else "")
    end = clock(task.get("ended")) or (f"~{clock(task.get('completion'))}" if task.get("completion") else "")
    place = [str(task.get("cluster", "")), str(task.get("procs") or "")]
    moves = str(task["moves"] or "")
    front = [str(task["task"]), one_line(task["name"], 40), task["state"]]
    return [*front, *place, clock(task["submitted"]), start, end, moves]


@command("status", example="headway live status 7 8 --wait --timeout 1h --grid grid.toml", of=live)
def status(
    tasks: Annotated[
        list[int] | None,
        options.argument("[TASK...]", "The tasks' numbers; by default all tasks.", parser=task_number),
    ] = None,
    wait: Annotated[
        bool, options.flag("--wait", "Wait until they have ended; exit status 1 if one was not done.")
    ] = False,
    timeout: Timeout = "30d",
    grid: OfGrid = None,
    json: options.Json = False,
) -> int:
    """Show what became of tasks, and what was decided and why.

    Without a task: how many there are in each state. With --wait it answers when the tasks have ended, and
    gives up with a sentence when --timeout has passed.
    """

    of, named = chosen(grid), list(tasks or ())
    if wait:
        _wait(of, named, options.microseconds_of(timeout, "--timeout") / 1e6)
    if not named:
        counts = ask(of, "queue", count=1)["counts"]
        if json:
            print_json({"counts": counts})
        else:
            output().print(by_state(counts))
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
    from headway.live.spans import SUSPENDED

    console = output()
    name = one_line(found["name"])
    console.print(f"task {found['task']}, {name}: {found['state']}", style="bold")
    for name, word in TIMES.items():
        if found.get(name) is not None and clock(found[name]):
            console.print(f"  {word}: {clock(found[name])}")
    for name in ("cluster", "procs", "code", "batch_name"):
        if found.get(name) not in (None, ""):
            console.print(f"  {name}: {found[name]}")
    for run, what, begin, end in found.get("spans") or ():
        until = f"to {clock(end)}" if end is not None else "and not resumed yet"
        if what == SUSPENDED:
            console.print(f"  suspended: {clock(begin)} {until}")
        else:
            console.print(
                f"  run {run + 1}: {clock(begin)} {until}; stopped, its work was lost, to start again"
            )
    for decision in reversed(found["decisions"]):
        console.print(f"  {clock(decision['time'])} {reason(decision)}")


def by_state(counts: dict[str, int]) -> str:
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


@command("cancel", example="headway live cancel 7 --grid grid.toml", of=live)
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


@command("ready", "headway live ready grid.toml --timeout 2m", of=live)
def ready(grid: GridFile, timeout: Timeout = "10m") -> None:
    """Wait until the agent and all servers of a grid answer."""
    from headway.live.clients import until_ready
    from headway.live.grid_file import load_grid

    seconds = options.microseconds_of(timeout, "--timeout") / 1e6
    with closing(agent_of(load_grid(grid), seconds)) as remote:
        names = until_ready(remote, seconds)
    output().print(f"ready: the agent and the servers of {', '.join(names)} answer")


@command("record", "headway live record grid.toml --out recorded", of=live)
def record(
    grid: GridFile, out: options.Out = None, force: options.Force = False, quiet: options.Quiet = False
) -> int:
    """Turn what happened on a grid into a schedule, and audit it."""
    from headway.live.grid_file import load_grid
    from headway.live.journal import Journal
    from headway.live.record import recorded

    of = load_grid(grid)
    path = of.folder / "journal.db"
    if not path.exists():
        raise UsageError(f"{of.folder} has no journal; no agent of this grid has run yet")
    with closing(Journal(path)) as journal:
        return _judged(recorded(of, journal), out, force, quiet)


@command("rehearse", "headway live rehearse grid.toml log.swf.gz --out rehearsal", of=live)
def rehearse(
    grid: GridFile,
    trace: options.Trace,
    annotations: options.Annotations = None,
    out: options.Out = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> int:
    """Run the jobs of a log through the agent, on simulated clusters."""
    from headway.live.grid_file import load_grid
    from headway.live.rehearsal import rehearse as rehearsed

    of, display = load_grid(grid), Display(quiet)
    with display.working("tasks") as progress:
        schedule = rehearsed(of, read_workload(trace, {}, annotations), display.say, progress)
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


@command("stop", "headway live stop grid.toml", of=live)
def stop(grid: GridFile) -> None:
    """Stop acting on the clusters; running tasks continue."""
    file = _switch(grid)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    output().print("stopped: nothing is submitted, started, cancelled or moved; running tasks continue")


@command("start", "headway live start grid.toml", of=live)
def start(grid: GridFile) -> None:
    """Let the agent and the servers act again after a stop."""
    _switch(grid).unlink(missing_ok=True)
    output().print("started: agent and servers act again")


def _switch(grid: Path) -> Path:
    from headway.live.grid_file import load_grid
    from headway.live.safety import switch

    return switch(load_grid(grid))


LONGEST_PAUSE = 86_400
"""Seconds between two looks: a day."""


@command("shadow", example="headway live shadow grid.toml bordeaux --policy easy --log week.jsonl", of=live)
def shadow(
    grid: Annotated[Path, options.argument("GRID.toml|LOG.jsonl", "The grid's file; or a log, to compare.")],
    cluster: Annotated[str, options.argument("CLUSTER", "Which Slurm cluster of the grid.")] = "",
    policy: Annotated[
        list[str] | None, options.value("--policy", "SPEC", f"Policy: {options.SPEC}", show_default=False)
    ] = None,
    log: Annotated[
        Path, options.value("--log", "FILE", "Where each look is added as a line of JSON.")
    ] = Path("shadow.jsonl"),
    every: Annotated[float, options.value("--every", "SECONDS", "Time between two looks.")] = 30,
    looks: Annotated[
        int, options.number("--looks", "N", "Stop after N looks at the queue; 0 runs until interrupted.", 0)
    ] = 0,
    json: options.Json = False,
) -> None:
    """Watch a Slurm cluster, and ask policies what they would do.

    It changes nothing on the cluster. Each look is added to a log: what waits, what Slurm started since the
    last look, and what each policy would start now if these jobs were still waiting. `headway live
    shadow LOG.jsonl` compares the two afterwards.
    """
    if grid.suffix == ".jsonl":
        return _compare(grid, json)
    if not cluster or not policy:
        raise UsageError(
            "shadow needs a cluster and a policy: headway live shadow GRID.toml CLUSTER --policy SPEC"
        )
    if not 0.1 <= every <= LONGEST_PAUSE:
        raise UsageError(f"--every must be from 0.1 to {LONGEST_PAUSE:,} seconds, not {every}")
    import json as text

    from headway.live.grid_file import load_grid
    from headway.live.shadow import Shadow
    from headway.live.wire import NoAnswer

    of, display = load_grid(grid), Display()
    site = of.site(cluster)
    if site.kind != "slurm":
        raise UsageError(f"{cluster} is a {site.kind} cluster; shadow watches Slurm")
    with display.working(f"getting {counted(len(policy), 'policy')} ready"):
        watching = Shadow(of, site, [parse_spec(each) for each in policy])
    tried = made = 0
    with log.open("a", encoding="utf-8") as file:
        try:
            while not looks or tried < looks:
                try:
                    seen = watching.look()
                    file.write(text.dumps(seen) + "\n")
                    file.flush()
                    made += 1
                    display.say(_told(seen))
                except NoAnswer as error:  # unknown is not empty: nothing is written
                    display.say(str(error))
                tried += 1
                if not looks or tried < looks:
                    time.sleep(every)
        finally:
            if made:
                looks_made = counted(made, "look")
                display.say(f"{looks_made} added to {log}; headway live shadow {log} compares them")
    if not made:
        raise NoAnswer(f"{cluster} did not answer at {counted(tried, 'look')}; nothing was added to {log}")


def _told(seen: dict[str, Any]) -> str:
    """A look in a sentence."""
    would = [f"{policy} would start {len(asked['start'])}" for policy, asked in seen["policies"].items()]
    at = time.strftime("%H:%M:%S", time.localtime(seen["time"] / SECOND))
    return (
        f"{at} {counted(len(seen['waiting']), 'job')} waiting, {seen['running']:,} running; "
        f"Slurm started {len(seen['slurm']):,}; {', '.join(would)}"
    )


LONGEST_LINE = 64 << 20
"""Characters of a line; one that is longer is cut, and is no record then."""


def _compare(file: Path, json: bool) -> None:
    from headway.live.shadow import compare

    try:
        with file.open(encoding="utf-8") as lines:
            found = compare(iter(partial(lines.readline, LONGEST_LINE), ""), file)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=file) from None
    except UnicodeDecodeError:
        raise InputError("is not text in UTF-8; headway live shadow writes JSON lines", file=file) from None
    if json:
        print_json([asdict(each) for each in found])
        return
    counts = ("~>jobs that Slurm started", "~>it earlier", "~>at the same look", "~>it later")
    table = table_of("~policy", *counts, "~>mean lead (s)")
    for each in found:
        numbers = (each.jobs, each.earlier, each.same, each.later)
        table.add_row(each.policy, *map(str, numbers), f"{each.mean_lead:.1f}")
    output().print(table)
