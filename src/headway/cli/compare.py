"""``headway compare``: several policies or machines on one log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from headway.cli import options
from headway.cli.display import output, print_json
from headway.cli.frame import INTERRUPTED, command, this_command
from headway.cli.report import check_report
from headway.errors import InputError, UsageError
from headway.plain import Notify, close, counted
from headway.policies.spec import Spec, parse_spec

if TYPE_CHECKING:
    from headway.cli.runs import Inputs
    from headway.metrics import Comparison
    from headway.platform import Platform
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
            f"Policy, given once for each to compare: {options.SPEC}",
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
    metric: Annotated[
        list[str] | None,
        options.value(
            "--metric", "NAME", "Show this metric instead of the usual five, or all; may be repeated."
        ),
    ] = None,
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

    The first run is the baseline. The tables show five metrics, who gains and who loses by size, user and
    queue, and the jobs that changed most; the last sentence says which run is best, and whether that may be
    chance. With --out, each run gets a folder next to comparison.csv and .json; with --report, one HTML file
    shows all of it.
    Another machine: headway compare log.swf.gz --policy easy --procs +10%
    """
    from headway.cli.inputs import check_choices, parse_rules
    from headway.cli.outages import WantedOutages

    outages = WantedOutages.parse(events, failures, on_failure)
    sizes = [parse_size(text) for text in procs or ()]
    check_choices(1 if sizes else None, platform, json, quiet, site)
    specs = _specs(policy, sizes, bool(apply))
    rules = parse_rules(rule)
    _check_metrics(metric or ())

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
        _show(comparison, metric or (), details, [str(place) for place in (out, report) if place is not None])
    return INTERRUPTED if len(finished) < len(variants) * len(runs) else None


def _check_metrics(names: Sequence[str]) -> None:
    from headway.metrics.catalogue import METRICS
    from headway.metrics.own_numbers import OWN

    known = ["all", *(metric.name for metric in METRICS), *OWN]
    for name in names:
        if name not in known:
            raise UsageError(
                f"there is no metric {name}{close(name, known)}; headway compare --metric all shows them"
            )


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


def _show(comparison: Comparison, metrics: Sequence[str], details: int, written: Sequence[str]) -> None:
    from headway.cli.tables import comparison_table, difference_tables, ledger_table, verdict

    console = output()
    ledger_table(console, comparison.schedules[0].workload.ledger)
    comparison_table(console, comparison, metrics)
    difference_tables(console, comparison, details)
    if sentence := verdict(comparison):
        console.print(f"\n{sentence}")
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


LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Size:
    """A machine asked for: so many processors, so many more or fewer, or so many percent more or fewer."""

    text: str
    procs: int = 0
    percent: float = 0
    relative: bool = False

    def of(self, base: int) -> int:
        """Processors, where `base` is what a relative size refers to; parts of a processor are left out."""
        if not self.relative:
            return self.procs
        return base + self.procs + int(base * self.percent / 100)


def parse_size(text: str) -> Size:
    """What --procs gives.

    >>> parse_size("640").of(100), parse_size("+64").of(100), parse_size("-10%").of(430)
    (640, 164, 387)
    """
    found = re.fullmatch(r"([+-]?)(\d{1,18})(\.\d+)?(%?)", text.strip())
    if not found or (found[3] and not found[4]) or (found[4] and not found[1]):
        raise UsageError(f"--procs must be a whole number, or a change such as +64 or +10%, not {text!r}")
    sign = -1 if found[1] == "-" else 1
    if found[4]:
        return Size(text, percent=sign * float(found[2] + (found[3] or "")), relative=True)
    return Size(text, procs=sign * int(found[2]), relative=bool(found[1]))


def machine_sizes(platform: Platform, sizes: Sequence[Size]) -> list[Platform]:
    """The machines in their order; where all sizes are relative, the platform itself comes first."""
    from headway.platform import Platform

    if not sizes:
        return [platform]
    base = platform.total_procs
    wanted = [size.of(base) for size in sizes]
    for size, procs in zip(sizes, wanted, strict=True):
        if not 1 <= procs <= LARGEST:
            limit = "at least 1" if procs < 1 else f"at most {LARGEST}"
            raise UsageError(f"--procs must be {limit}, not {procs if not size.relative else size.text}")
    if all(size.relative for size in sizes):
        wanted = [base, *wanted]
    for procs in wanted:
        if wanted.count(procs) > 1:
            raise UsageError(
                f"--procs gives the machine of {counted(procs, 'processor')} twice; each is compared once"
            )
    return [Platform.procs(procs) for procs in wanted]


def machines(specs: Sequence[Spec], platform: Platform, equal: bool, say: Notify) -> list[Platform]:
    """One platform per policy.

    Redirection takes the machine as its principal group and a second group besides. The other policies get
    as many more, unless `equal` is false; where several redirections differ, as many as the largest adds.
    """
    from headway.platform import Platform

    if len(platform.clusters) > 1:
        return [platform] * len(specs)  # redirection has the second cluster, and adds nothing
    added = [spec.policy.added_procs(platform.total_procs) for spec in specs]
    most = max(added)
    others = [spec.brief for spec, more in zip(specs, added, strict=True) if not more]
    if not most or not others:
        return [platform] * len(specs)
    total, named = platform.total_procs, ", ".join(others)
    begin = f"redirection adds {counted(most, 'processor')} to its {total};"
    if not equal:
        say(f"{begin} these stay at {total} (--unequal): {named}")
        return [platform] * len(specs)
    if platform.has_nodes:
        say(f"{begin} these stay at {total}, because the platform's nodes are given: {named}")
        return [platform] * len(specs)
    say(f"{begin} these get {total + most} too (--unequal leaves them at {total}): {named}")
    return [platform if more else Platform.procs(total + most) for more in added]


def widest(specs: Sequence[Spec], platform: Platform) -> int:
    """Processors of the widest job that every policy can run; all are compared on the same jobs."""
    return min(spec.policy.widest(platform) for spec in specs)
