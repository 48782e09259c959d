"""``headway compare``: several policies or machines on one log."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from headway.cli import options
from headway.cli.display import output, print_json
from headway.cli.frame import INTERRUPTED, command, this_command
from headway.cli.report import check_report
from headway.errors import InputError, UsageError
from headway.policies.spec import parse_spec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headway.cli.machines import Size
    from headway.cli.runs import Inputs
    from headway.metrics import Comparison
    from headway.platform import Platform
    from headway.policies.spec import Spec
    from headway.result import Result
    from headway.schedule import Schedule


@command("compare", example="headway compare log.swf.gz --policy easy --policy conservative --out results")
def compare(
    trace: options.Trace,
    policy: Annotated[
        list[str],
        options.value(
            "--policy",
            "SPEC",
            "Policy; given again, policies are compared.",
            show_default=False,
            autocompletion=options.policy_names,
        ),
    ],
    procs: Annotated[
        list[str] | None,
        options.value(
            "--procs",
            "N|+P%",
            "Processors of the machine; given again, or as +64 or +10%, machines are compared too.",
        ),
    ] = None,
    platform: options.PlatformFile = None,
    site: options.SiteFolder = None,
    apply: Annotated[
        list[str] | None,
        options.value(
            "--apply",
            "SPEC",
            "Compare the log with what a transformation makes of it, as in limit(walltime=24h).",
        ),
    ] = None,
    annotations: options.Annotations = None,
    rule: options.Rules = None,
    events: options.Events = None,
    failures: options.Failures = None,
    on_failure: options.OnFailure = None,
    feedback: options.Feedback = None,
    seed: options.Seed = 0,
    unequal: Annotated[
        bool,
        options.flag(
            "--unequal", "Leave other policies at N processors where redirection has a second group."
        ),
    ] = False,
    details: Annotated[
        int,
        options.number(
            "--details", "N", "Show N winners and N losers among users, queues and jobs; 0 for none.", 0
        ),
    ] = 3,
    out: options.Out = None,
    report: Annotated[
        Path | None,
        options.value("--report", "FILE", "Write the comparison as a report: .html."),
    ] = None,
    force: options.Force = False,
    spreadsheet: options.Spreadsheet = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int | None:
    """Compare policies, machines, or both, on one log.

    The first run is the baseline. The tables show every metric, who gains and who loses by size, user and
    queue, and the jobs that changed most. With --out, each run gets a folder beside comparison.csv and .json;
    with --report, one HTML file shows all of it.
    Another machine: headway compare log.swf.gz --policy easy --procs +10%
    """
    from headway.cli.inputs import check_choices, parse_rules
    from headway.cli.machines import parse_size
    from headway.cli.outages import WantedOutages

    outages = WantedOutages.parse(events, failures, on_failure)
    sizes = [parse_size(text) for text in procs or ()]
    check_choices(1 if sizes else None, platform, json, quiet, site)
    specs = _specs(policy, sizes, bool(apply))
    rules = parse_rules(rule)

    from headway.cli.machines import machine_sizes, machines, widest
    from headway.cli.runs import Inputs
    from headway.metrics import compare as hold_side_by_side
    from headway.schedule.folder import refuse_occupied

    if out is not None:
        refuse_occupied(out, force)
    if report is not None:
        check_report(report, force)
    fixed = next((size.procs for size in sizes if not size.relative), None)
    inputs = Inputs.read(
        trace, fixed, platform, annotations, rules, quiet=quiet, site=site, outages=outages, feedback=feedback
    )
    bases = machine_sizes(inputs.platform, sizes)
    runs = [
        (spec, machine)
        for base in bases
        for spec, machine in zip(
            specs, machines(specs, base, equal=not unequal, say=inputs.display.say), strict=True
        )
    ]
    inputs = inputs.fitted(min(widest(specs, base) for base in bases))
    variants = [(inputs, ""), *((inputs.changed(spec), spec) for spec in apply or ())]
    finished = _finished(variants, runs, seed)
    schedules = [schedule for schedule, _ in finished]
    comparison = hold_side_by_side(schedules, names=_names(schedules, [change for _, change in finished]))
    if out is not None:
        _save(comparison, out, force, spreadsheet)
    if report is not None:
        _write_report(comparison, report)
    if json:
        print_json(comparison.describe() | {"ledger": schedules[0].workload.ledger.rows()})
    elif not quiet:
        _show(comparison, details, [str(place) for place in (out, report) if place is not None])
    return INTERRUPTED if len(finished) < len(variants) * len(runs) else None


def _finished(
    variants: Sequence[tuple[Inputs, str]], runs: Sequence[tuple[Spec, Platform]], seed: int
) -> list[tuple[Result, str]]:
    """Every run on every log, with how the log was changed; after Ctrl-C those that are finished."""
    found = []
    try:
        for variant, change in variants:
            for spec, machine in runs:
                found.append((variant.run(spec, seed, machine), change))
    except KeyboardInterrupt:
        if not found:
            raise
    return found


def _show(comparison: Comparison, details: int, written: Sequence[str]) -> None:
    from headway.cli.tables import comparison_table, difference_tables, ledger_table

    console = output()
    ledger_table(console, comparison.schedules[0].workload.ledger)
    comparison_table(console, comparison)
    difference_tables(console, comparison, details)
    if written:
        console.print(f"\nwritten to {' and '.join(written)}")


def _save(comparison: Comparison, folder: Path, force: bool, spreadsheet: bool) -> None:
    """Write a folder for each run and the tables, whole or not at all; an earlier comparison is gone."""
    from headway.cli.saved import compared_folders, folder_names
    from headway.schedule.files import write_files
    from headway.schedule.folder import whole_folder

    earlier: list[str] = []
    with suppress(InputError):  # no comparison is there, or no sound one
        earlier = [run.name for run in compared_folders(folder)]
    with whole_folder(folder, force, stale=earlier) as draft:
        names = folder_names(comparison.names)
        for name, schedule, summary in zip(names, comparison.schedules, comparison.summaries, strict=True):
            (draft / name).mkdir()
            write_files(schedule, draft / name, summary, spreadsheet=spreadsheet)
        comparison.write(draft)


def _write_report(comparison: Comparison, file: Path) -> None:
    """The page that ``headway report`` makes of the same runs."""
    from headway.report import schedules_page
    from headway.report.assembly import write

    write(schedules_page(comparison.schedules, this_command(), names=comparison.names), file)


def _names(schedules: Sequence[Schedule], changes: Sequence[str]) -> list[str] | None:
    """What each run is called where logs were changed: its policy, machine and change."""
    from headway.metrics.comparison import default_names

    if not any(changes):
        return None
    alike = [place for place, change in enumerate(changes) if not change]
    plain = default_names([schedules[place] for place in alike])
    return [
        f"{plain[place % len(plain)]}, {change}" if change else plain[place]
        for place, change in enumerate(changes)
    ]


def _specs(policies: list[str], sizes: Sequence[Size], changed: bool) -> list[Spec]:
    specs = [parse_spec(policy) for policy in policies]
    if len(specs) < 2 and len(sizes) < 2 and not changed and not any(size.relative for size in sizes):
        raise UsageError("compare needs two policies or two machines; give --policy or --procs again")
    for spec in specs:
        if specs.count(spec) > 1:
            raise UsageError(f"--policy {spec.brief} is given twice; each policy is compared once")
    return specs
