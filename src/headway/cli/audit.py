"""``headway audit``: check a schedule, ours or another tool's, with an audit."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from headway.cli import options
from headway.cli.display import Display, output, print_json, table_of
from headway.cli.frame import DONE, FAULT, command
from headway.cli.inputs import check_choices, chosen_platform, log_platform, parse_rules, read_workload
from headway.errors import InputError, UsageError
from headway.policies.spec import parse_spec
from headway.units import date_text

if TYPE_CHECKING:
    from headway.audit import Audit
    from headway.workload import Workload

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
    from headway.cli.saved import compared_folders, lost_site
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
