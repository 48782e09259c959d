"""``explain``, ``audit``, ``plot`` and ``report``: commands on runs that were saved."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headway.cli import options
from headway.cli.application import DONE, FAULT, command, this_command
from headway.cli.display import Display, output, print_json, table_of
from headway.cli.options import check_choices, chosen_platform, log_platform, parse_rules, read_workload
from headway.documents import read_json
from headway.errors import InputError, UsageError
from headway.plain import counted
from headway.policies.spec import parse_spec
from headway.units import date_text
from headway.writing import refuse_existing

if TYPE_CHECKING:
    from rich.console import Console

    from headway.audit import Audit
    from headway.result import Result
    from headway.workload import Workload


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
        str | None, options.value("--user", "NAME", "Instead of JOB: this user's job that waited longest.")
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
        float | None, options.value(FIRST, "S", "Start of the figure, in seconds after the first submission.")
    ] = None,
    last: Annotated[
        float | None, options.value(LAST, "S", "End of the figure, in seconds after the first submission.")
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
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Report to write; by default DIR.html.")
    ] = None,
    name: Annotated[
        list[str] | None,
        options.value("--name", "NAME", "What a run is called: once for each, in their order."),
    ] = None,
    title: Annotated[str, options.value("--title", "TEXT", "Title of the page.")] = "",
    side_by_side: Annotated[
        bool, options.flag("--side-by-side", "Describe runs of different logs; nothing is paired or judged.")
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
        from headway.report.page import write

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


IN_PARTS = {"run length", "walltime", "killing"}
"""Invariants that a job breaks if it ran in parts and its parts are not known."""


@command("audit", example="headway audit schedule.csv --trace log.swf.gz --procs 128")
def audit(
    target: Annotated[
        Path,
        options.argument(
            "DIR|SCHEDULE.csv",
            "Folder that simulate or compare wrote, or a CSV file with job, start, end, perhaps procs.",
        ),
    ],
    trace: Annotated[
        str | None,
        options.value("--trace", "TRACE", "The log that the schedule is of; needed for a CSV file."),
    ] = None,
    procs: options.Procs = None,
    platform: options.PlatformFile = None,
    annotations: options.Annotations = None,
    policy: Annotated[
        str | None, options.value("--policy", "SPEC", f"Also check what this policy promises: {options.SPEC}")
    ] = None,
    runs: Annotated[
        Path | None,
        options.value("--runs", "FILE", "CSV with the parts of jobs that were suspended or started again."),
    ] = None,
    rule: options.Rules = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Check a schedule.

    The audit checks the capacity at every instant, that no job starts before its submission, run lengths, one
    run per job, and promises. It knows no engine and no policy, so it checks schedules of other tools too.
    """
    check_choices(procs, platform, json, quiet)
    rules = parse_rules(rule)
    if policy is not None:
        policy = str(parse_spec(policy))
    display = Display(quiet or json)
    if target.is_dir():
        for option, given in (("--procs", procs), ("--platform", platform), ("--runs", runs)):
            if given is not None:
                raise UsageError(f"{option} is for a CSV file; the folder {target} says it itself")
        with display.working(f"checking {target}"):
            verdicts = _folders(target, trace, annotations, rules, policy, quiet)
    else:
        with display.working(f"checking {target}"):
            verdicts = {"": _csv(target, trace, procs, platform, annotations, rules, policy, runs)}
    if json:
        _print_json(verdicts)
    elif not quiet:
        for name, verdict in verdicts.items():
            _print(name, verdict)
            if runs is None and not target.is_dir() and IN_PARTS & {fault.law for fault in verdict.faults}:
                output().print(
                    "A job that loaded a file, was suspended or started again counts as one run here; "
                    "give the parts of such jobs with --runs FILE",
                    style="dim",
                )
    return DONE if all(verdict.ok for verdict in verdicts.values()) else FAULT


def _folders(
    folder: Path,
    trace: str | None,
    annotations: Path | None,
    rules: dict[str, str],
    policy: str | None,
    quiet: bool,
) -> dict[str, Audit]:
    """The verdict on a run, or on each run of a comparison."""
    from headway.audit import audit as judge
    from headway.result import Result

    if annotations is not None and trace is None:
        raise UsageError("--annotations needs --trace, the log whose jobs they describe")
    compared = (folder / "comparison.json").is_file()
    runs = sorted(compared_folders(folder)) if compared else [folder]
    verdicts: dict[str, Audit] = {}
    for run in runs:
        schedule = Result.load(run)
        if not verdicts and (lost := lost_site(run, schedule)):  # the runs of a comparison have one site
            Display(quiet).say(f"{lost}, and the laws on these are not checked")
        workload = None
        if trace is not None:
            chosen = dict(schedule.workload.rules) | rules
            workload = read_workload(trace, chosen, annotations, unread=chosen)
            workload = _without_dropped(workload.fit_to(schedule.capacity), schedule.workload)
        verdicts[run.name if compared else ""] = judge(schedule, workload, policy)
    return verdicts


def _without_dropped(log: Workload, claimed: Workload) -> Workload:
    """The log without the jobs that the run's ledger has as dropped, where it adds up with the log's own."""
    import numpy as np

    scheduled = np.isin(log.job, claimed.job)
    dropped = claimed.ledger.dropped - log.ledger.dropped
    named = {job for entry in claimed.ledger.entries if entry.dropped for job in entry.jobs}
    adds_up = claimed.ledger.total == log.ledger.total and dropped == np.count_nonzero(~scheduled)
    return log.select(scheduled) if adds_up and named.isdisjoint(claimed.job.tolist()) else log


def _csv(
    file: Path,
    trace: str | None,
    procs: int | None,
    platform: str | None,
    annotations: Path | None,
    rules: dict[str, str],
    policy: str | None,
    runs: Path | None,
) -> Audit:
    if not file.exists():
        raise InputError("there is no such file or folder", file=file)
    if trace is None:
        raise UsageError(
            f"{file} is a file; give a folder that simulate or compare wrote, or with a schedule in CSV "
            "its log: --trace LOG"
        )
    from headway.audit import audit as judge
    from headway.audit import read_foreign

    machine = chosen_platform(procs, platform)
    workload = read_workload(trace, rules, annotations)
    machine = machine or log_platform(workload)
    if policy is None:
        return judge(read_foreign(file, workload.fit_to(machine.total_procs), machine, runs))
    rule = parse_spec(policy).policy
    on_nodes = any(cluster.nodes for cluster in machine.clusters)
    kept = rule.to_run(machine, workload).fitting(workload, machine) if on_nodes else workload
    record = read_foreign(file, kept.fit_to(machine.total_procs), machine, runs)
    record.capacity += rule.added_procs(machine.total_procs) if len(machine.clusters) == 1 else 0
    return judge(record, policy=policy)


def _print_json(verdicts: dict[str, Audit]) -> None:
    documents = [
        {
            "name": name,
            "ok": verdict.ok,
            "jobs": verdict.jobs,
            "laws": verdict.table(),
            "not_judged": [law.name for law in verdict.not_judged],
            "faults": [
                asdict(fault) | {"time": None if fault.time is None else fault.time / 1e6}
                for fault in verdict.faults
            ],
        }
        for name, verdict in verdicts.items()
    ]
    print_json(
        documents[0]
        if list(verdicts) == [""]
        else {"ok": all(v.ok for v in verdicts.values()), "runs": documents}
    )


def _print(name: str, verdict: Audit) -> None:
    from rich.text import Text

    console = output()
    if name:
        console.print(name, style="bold")
    table = table_of("invariant", "~demands", "~>faults")
    for row in verdict.table():
        count = Text(f"{row['faults']:,}", style="red" if row["faults"] else "green")
        table.add_row(row["law"], Text(row["demands"]), count)
    console.print(table)
    for fault in verdict.faults:
        dated = fault.time is not None and verdict.unix_start is not None
        when = f" ({date_text(fault.time, verdict.unix_start)})" if dated else ""  # type: ignore[arg-type]
        console.print(f"{fault}{when}", style="red")
    for law in verdict.not_judged:
        console.print(f"not judged: {law.name}, {law.demands}", style="dim")
    console.print(str(verdict), style="bold")


def run_folders(folders: list[Path]) -> list[Path]:
    """The folders of single runs; a comparison's folder stands for all of its runs, in their order."""
    runs: list[Path] = []
    for folder in folders:
        if (folder / "comparison.json").is_file():
            runs.extend(compared_folders(folder))
        elif folder.is_dir():
            runs.append(folder)
        else:
            if folder.exists():
                raise InputError("is a file; give a folder that simulate or compare wrote", file=folder)
            raise InputError(
                "there is no such folder; simulate and compare write one with --out", file=folder
            )
    return runs


def compared_folders(folder: Path) -> list[Path]:
    """The folders of a comparison's runs, in the order in which they were compared."""
    return [folder / name for name in folder_names(_compared_names(folder))]


def folder_names(policies: Sequence[str]) -> list[str]:
    """A folder name for each policy that every file system takes and a shell needs no quotes for.

    >>> folder_names(["easy", "easy(backfill=sjf)", "./mine.py:Mine(k=3)"])
    ['easy', 'easy-backfill=sjf', 'mine.py-Mine-k=3']
    """
    names: list[str] = []
    for policy in policies:
        name = re.sub(r"[^\w.=+]+", "-", policy).strip("-.") or "policy"
        number, unique = 2, name[:100]
        while unique in names or unique in ("comparison.csv", "comparison.json"):
            unique, number = f"{name[:100]}-{number}", number + 1
        names.append(unique)
    return names


def saved_schedules(folders: list[Path], quiet: bool) -> list[Result]:
    """The schedules of all runs in the folders; it is said where their site is not what it was."""
    from headway.result import Result

    runs = run_folders(folders)
    schedules = [Result.load(run) for run in runs]
    for lost in dict.fromkeys(map(lost_site, runs, schedules)):
        if lost:
            Display(quiet).say(lost)
    return schedules


def lost_site(run: Path, schedule: Result) -> str:
    """That the site of a saved run is not what it was, in a sentence; empty where it is, or there is none."""
    from headway.schedule.files import AGAIN, RUN
    from headway.site.folder import is_site

    described = read_json(run / RUN, AGAIN)["platform"].get("site") or {}
    folder = described.get("folder")
    if schedule.platform.site is not None or not folder:
        return ""
    how = "has changed since the run was made" if is_site(folder) else "is gone"
    return f"{folder}: the site {how}, so its nodes, partitions and limits are not known here"


def run_names(folders: list[Path], schedules: list[Result], given: list[str] | None) -> list[str]:
    """What each run is called: as `given`, as its comparison calls it, or by the user's folder.

    A folder that says nothing of its policy has the policy behind it, where policies differ.
    """
    if given:
        if len(given) != len(schedules):
            raise UsageError(
                f"--name is given {counted(len(given), 'time')} for {counted(len(schedules), 'run')}; "
                "give one for each"
            )
        if len(set(given)) < len(given):
            raise UsageError("--name is given twice with the same name; give each run its own")
        return given
    from headway.metrics.comparison import brief

    policies = [brief(schedule.policy) for schedule in schedules]
    names: list[str] = []
    for folder in folders:
        if (folder / "comparison.json").is_file():
            names.extend(_compared_names(folder))
            continue
        policy, name = policies[len(names)], folder.resolve().name
        told = len(set(policies)) == 1 or policy in name
        names.append(name if told else f"{name} ({policy})")
    doubled = len(set(names)) < len(names)
    return [f"{name}, run {place}" for place, name in enumerate(names, start=1)] if doubled else names


def _compared_names(folder: Path) -> list[str]:
    document = read_json(folder / "comparison.json", "compare the policies again")
    try:
        return [str(entry["name"]) for entry in document["schedules"]]
    except (KeyError, TypeError):
        raise InputError(
            "this is not a comparison that headway wrote", file=folder / "comparison.json"
        ) from None
