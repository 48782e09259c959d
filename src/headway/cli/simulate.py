"""``simulate``, ``compare`` and ``demo``: policies on one log, which may be larger than memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from headway.cli import options
from headway.cli.application import INTERRUPTED, Interrupted, command, this_command
from headway.cli.display import Display, output, print_json
from headway.cli.options import Inputs, WantedOutages, check_choices, chosen_platform, parse_rules
from headway.cli.results import check_report, compared_folders, folder_names
from headway.errors import InputError, UsageError
from headway.plain import Notify, close, counted
from headway.policies.spec import Spec, by_site_rules, parse_spec
from headway.units import DAY, SECOND

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from headway.metrics import Comparison
    from headway.platform import Platform
    from headway.result import Result
    from headway.schedule import Schedule
    from headway.workload import Workload


@command("simulate", example="headway simulate log.swf.gz --policy 'easy(backfill=sjf)' --out result")
def simulate(
    trace: options.Trace,
    policy: options.Policy,
    procs: options.Procs = None,
    platform: options.PlatformFile = None,
    site: options.SiteFolder = None,
    annotations: options.Annotations = None,
    rule: options.Rules = None,
    events: options.Events = None,
    failures: options.Failures = None,
    on_failure: options.OnFailure = None,
    feedback: options.Feedback = None,
    seed: options.Seed = 0,
    out: options.Out = None,
    force: options.Force = False,
    spreadsheet: options.Spreadsheet = False,
    stream: options.Stream = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Simulate one policy on a log.

    Prints the ledger (what was odd in the log and what was done about it) and the summary with units.
    A log larger than memory: headway simulate huge.swf.gz --policy easy --stream --out result
    """
    from headway.schedule.files import refuse_occupied

    check_choices(procs, platform, json, quiet, site)
    spec, rules = parse_spec(policy), parse_rules(rule)
    outages = WantedOutages.parse(events, failures, on_failure)
    if out is not None:
        refuse_occupied(out, force)
    if stream:
        check_whole_machine(trace, site=site, annotations=annotations, outages=outages, feedback=feedback)
        simulate_as_it_goes(trace, spec, procs, platform, rules, seed, out, force, spreadsheet, json, quiet)
        return

    from headway.schedule.files import save

    inputs = Inputs.read(
        trace, procs, platform, annotations, rules, quiet=quiet, site=site, outages=outages, feedback=feedback
    )
    schedule = inputs.run(spec, seed)
    summary = schedule.summary()
    if out is not None:
        save(schedule, out, summary, force=force, spreadsheet=spreadsheet)
    if json:
        print_json(summary | {"policy": schedule.policy, "ledger": schedule.workload.ledger.rows()})
    elif not quiet:
        from headway.cli.tables import ledger_table, not_modelled_table, summary_table

        console = output()
        ledger_table(console, schedule.workload.ledger)
        not_modelled_table(console, schedule.workload.source, by_site_rules(schedule.policy))
        summary_table(console, schedule, summary)
        if out is not None:
            console.print(f"\nwritten to {out}")


def check_whole_machine(
    trace: str,
    *,
    site: Path | None,
    annotations: Path | None,
    outages: WantedOutages,
    feedback: str | None = None,
) -> None:
    """Complain about what a stream cannot take into account."""
    from headway.site import names_site

    if site is not None or names_site(trace):
        raise UsageError(
            f"{site or trace} is a site or a folder, which is not simulated as a stream; leave out --stream, "
            "or give an SWF log alone"
        )
    if annotations is not None:
        raise UsageError("--annotations may name jobs anywhere in the log; leave them out, or --stream")
    if outages.files or outages.failures is not None:
        raise UsageError("a stream knows no processors that come and go; leave out --stream or the events")
    if feedback is not None:
        raise UsageError("--feedback looks for a user's jobs in the whole log; leave it out, or --stream")


def simulate_as_it_goes(
    trace: str,
    spec: Spec,
    procs: int | None,
    platform: str | None,
    rules: dict[str, str],
    seed: int,
    out: Path | None,
    force: bool,
    spreadsheet: bool,
    json: bool,
    quiet: bool,
) -> None:
    """Run, then print what is known at the end."""
    from headway.schedule.files import ON_COMMAND_LINE
    from headway.streams import simulate_stream

    display = Display(quiet)
    with display.working(f"{spec.brief}, {trace} as it is read") as progress:
        result = simulate_stream(
            trace,
            chosen_platform(procs, platform),
            spec,
            rules=rules,
            out=out,
            force=force,
            spreadsheet=spreadsheet,
            progress=progress,
            provenance={"seed": seed, "command": this_command()},
            remedy=ON_COMMAND_LINE,
        )
    if json:
        print_json(result.summary | {"policy": result.policy, "ledger": result.ledger.rows()})
    elif not quiet:
        from headway.cli.tables import ledger_table, summary_table

        console = output()
        ledger_table(console, result.ledger)
        summary_table(console, result, result.summary)
        estimates = ", ".join(result.summary["sketched"])
        console.print(f"\nestimates, from a histogram with an error below 0.01 %: {estimates}")
        if out is not None:
            console.print(f"\nwritten to {out}")
    if result.interrupted:
        kept = "summed up" if out is None else f"in {out}"
        raise Interrupted(f"what had ended is {kept}: {counted(result.jobs, 'job')}")


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
        Path | None, options.value("--report", "FILE", "Write the comparison as a report: .html.")
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

    outages = WantedOutages.parse(events, failures, on_failure)
    sizes = [parse_size(text) for text in procs or ()]
    check_choices(1 if sizes else None, platform, json, quiet, site)
    specs = _specs(policy, sizes, bool(apply))
    rules = parse_rules(rule)
    _check_metrics(metric or ())

    from headway.metrics import compare as hold_side_by_side
    from headway.schedule.files import refuse_occupied

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
    from headway.schedule.files import whole_folder, write_files

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
    from headway.report.page import write

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


DEMO_POLICIES = ("fcfs", "sjf", "easy", "easy(backfill=sjf)")
"""Two orders without and with backfilling; together they compile no more than two policies."""

DRAWN = ("fcfs", "easy")
"""Policies of the picture: without and with backfilling."""

PROCS = 128
DEMO_MODEL = "lublin(jobs={jobs}, procs=128, load=0.7, estimates=tsafrir, seed=1)"
DEMO_METRICS = (
    "mean_wait", "median_wait", "max_wait", "mean_bsld", "tau", "utilization", "makespan", "max_queue",
)  # fmt: skip
COLUMNS = 64

NEXT = """\
  headway inspect LOG.swf.gz                                what is in a log of your own, or of the archive's
  headway compare LOG.swf.gz --policy easy --policy 'easy(backfill=sjf)' --out results
  headway plot results --kind gantt -o gantt.svg            pictures for print
  headway explain results/easy JOB                          why a job waited, and what would have helped
  headway audit results                                     check the schedules
  headway policies                                          every policy, its parameters and papers
Real logs: https://www.cs.huji.ac.il/labs/parallel/workload/"""


@command("demo", example="headway demo")
def demo(
    jobs: Annotated[int, options.number("--jobs", "N", "Jobs of the generated workload.", 10)] = 3000,
    picture: Annotated[
        Path,
        options.value(
            "--picture", "FILE", "File of the picture, .png, .svg or .pdf; it is replaced if it exists."
        ),
    ] = Path("headway-demo.png"),
) -> None:
    """See what Headway does, in a minute.

    Draws a month of jobs at random, simulates four policies on them, compares them, writes a picture, and
    says why one job had to wait.
    """
    from headway.cli.tables import comparison_table
    from headway.figures.style import check_format
    from headway.metrics import compare
    from headway.platform import Platform
    from headway.workload.models import generate

    check_format(picture)
    console = output()
    model = DEMO_MODEL.format(jobs=jobs)
    workload = generate(model)
    _workload(console, workload, model)
    inputs = Inputs(workload, Platform.procs(PROCS), Display())
    comparison = compare([inputs.run(parse_spec(policy), seed=0) for policy in DEMO_POLICIES])
    _title(console, 2, "Four policies on the same jobs, compared with the first")
    comparison_table(console, comparison, DEMO_METRICS)
    _title(console, 3, "How many jobs wait, day by day")
    _waiting(console, comparison)
    _title(console, 4, "A picture")
    _draw_demo(console, comparison, picture)
    _explain_longest(console, comparison.schedules[DEMO_POLICIES.index("easy")])
    console.print("\nWhat to type next", style="bold")
    console.print(NEXT)


def _title(console: Console, number: int, text: str) -> None:
    console.print(f"\n{number}. {text}", style="bold")


def _workload(console: Console, workload: Workload, model: str) -> None:
    """What was drawn, and when its work came in."""
    from headway.cli.display import curve, labelled
    from headway.workload.statistics import describe

    described = describe(workload, PROCS)
    days = described["facts"]["span of the submissions"][0] / 86_400
    load = described["facts"]["offered load"][0]
    _title(console, 1, f"A workload: {len(workload):,} jobs in {days:.1f} days on {PROCS} processors")
    console.print(f"drawn by {model}, offered load {load:.2f}")
    values = described["load_over_time"]["values"]
    if values:
        top = max(values)
        for line, level in zip(curve(values, top, height=3), (top, top * 2 / 3, top / 3), strict=True):
            console.print(labelled(f"load {level:4.1f}", line, width=9))


def _waiting(console: Console, comparison: Comparison) -> None:
    """Waiting jobs over time under each policy, all to one scale."""
    import numpy as np

    from headway.cli.display import curve, labelled
    from headway.metrics import queue_length

    queues = [queue_length(schedule) for schedule in comparison.schedules]
    begin = min(int(schedule.submit.min()) for schedule in comparison.schedules)
    end = max(int(schedule.end.max()) for schedule in comparison.schedules)
    edges = np.linspace(begin, max(end, begin + COLUMNS), COLUMNS + 1).astype(np.int64)
    means = [queue.means(edges) for queue in queues]
    top = max(float(mean.max()) for mean in means)
    for name, queue, mean in zip(comparison.names, queues, means, strict=True):
        *above, last = curve(mean.tolist(), top, height=3)
        for line in above:
            if line.strip():
                console.print(labelled("", line))
        console.print(labelled(name, last, f"at most {queue.largest:,}"))


def _draw_demo(console: Console, comparison: Comparison, picture: Path) -> None:
    """A Gantt chart of two days in which jobs are backfilled and no wide job is delayed by that."""
    from headway.figures import gantt, save

    fcfs, easy = (comparison.schedules[DEMO_POLICIES.index(policy)] for policy in DRAWN)
    begin = telling_window(fcfs, easy)
    save(gantt(fcfs, easy, window=(begin, begin + 2 * DAY / SECOND)), picture)
    console.print(
        f"{picture}: processors over two days, without and with backfilling; each rectangle is a job.\n"
        "Orange jobs were backfilled: they fill what FCFS leaves idle, and no wide job starts later for it."
    )
    late = most_delayed(fcfs, easy)
    if late is not None:
        hours = float(easy.wait[late] - fcfs.wait[late]) / 3.6e9
        console.print(
            f"That is not so everywhere. Users ask for more time than they use, and EASY plans with what "
            f"they ask for: job {int(easy.workload.job[late])}, {int(easy.procs[late])} processors, starts "
            f"{hours:.1f} h later under EASY, because jobs ended before their time and others had been "
            "backfilled already."
        )


def _explain_longest(console: Console, schedule: Schedule) -> None:
    """What an explanation looks like: the job that waited longest under EASY."""
    from headway.explain import explain

    row = int(schedule.wait.argmax())
    job = int(schedule.workload.columns["job"][row])
    _title(console, 5, f"Why job {job} had to wait")
    console.print(explain(schedule, job).text(min(console.width, 110)))


WIDE = 4
"""A wide job takes one part in so many of the machine, or more."""


def telling_window(fcfs: Schedule, easy: Schedule) -> float:
    """Where two telling days begin, in seconds after the first submission.

    Of the days in which no wide job starts later under EASY, those with the most backfilled jobs seen
    under both policies; if there are no such days, those with the fewest delayed wide jobs.
    """
    from headway.schedule import WHY

    first, last = int(easy.submit.min()), int(easy.start.max())
    backfilled = easy.why == WHY.index("backfill")
    late = _wide_and_late(fcfs, easy)
    best, found = first, (-len(easy), 0)
    for begin in range(first, max(last - DAY, first + 1), DAY // 4):
        end = begin + 2 * DAY
        starts = (easy.start >= begin) & (easy.start < end) & (fcfs.start >= begin) & (fcfs.start < end)
        seen = late & (easy.submit < end) & (easy.start >= begin)
        score = (-int(seen.sum()), int((starts & backfilled).sum()))
        if score > found:
            best, found = begin, score
    return (best - first) / SECOND


def most_delayed(fcfs: Schedule, easy: Schedule) -> int | None:
    """The row of the wide job that EASY delays most; None where it delays none."""
    late = _wide_and_late(fcfs, easy).nonzero()[0]
    return int(late[(easy.start - fcfs.start)[late].argmax()]) if len(late) else None


def _wide_and_late(fcfs: Schedule, easy: Schedule) -> NDArray[np.bool_]:
    late: NDArray[np.bool_] = (easy.procs * WIDE >= easy.capacity) & (easy.start > fcfs.start)
    return late
