"""``headway inspect``: what is in a log, without simulating anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headway.cli import options
from headway.cli.display import Display, output, print_json, table_of
from headway.cli.frame import command

if TYPE_CHECKING:
    from rich.console import Console

    from headway.workload import Workload

HEADER_KEYS = (
    "Computer", "Installation", "MaxProcs", "MaxNodes", "MaxJobs", "StartTime", "EndTime", "TimeZoneString",
)  # fmt: skip
LABEL = 14
"""Characters of a class at the beginning of a line; one with a longer name widens the column."""

TEXT = 54 - LABEL
"""Characters of a line with two bars that are neither bar nor class."""


@command("inspect", example="headway inspect log.swf.gz")
def inspect(
    trace: options.Trace,
    procs: options.Procs = None,
    annotations: options.Annotations = None,
    rule: options.Rules = None,
    json: options.Json = False,
) -> None:
    """Show what is in a log.

    The tables have the header, jobs and users, the offered load over time, sizes, lengths, how good the
    estimates are, and the ledger: what was odd in the log and what was done about it.
    """
    from headway.cli.inputs import chosen_platform, parse_rules, read_workload
    from headway.site.folder import names_site
    from headway.workload.cancelled import ended_only
    from headway.workload.slurm.not_modelled import left_unmodelled

    rules = parse_rules(rule)
    machine = chosen_platform(procs, None)
    with Display(quiet=json).working(f"reading {trace}"):
        workload = ended_only(read_workload(trace, rules, annotations))

    from headway.workload.statistics import describe

    by_rules = names_site(trace)  # they model most of what jobs of a site had
    size = machine.total_procs if machine else workload.header.max_procs
    described = describe(workload, size)
    if json:
        header = {key: value for key in HEADER_KEYS if (value := workload.header.get(key))}
        left = left_unmodelled(workload.source.not_modelled, by_rules)
        odd = {"ledger": workload.ledger.rows(), "not_modelled": left}
        print_json({"header": header} | described | odd)
        return
    console = output()
    _header(console, workload)
    _facts(console, described)
    if len(workload):
        _load(console, described)
        _divided(console, "Jobs and work by processors", described["sizes"], described["work_by_size"])
        _divided(console, "Jobs and work by run time", described["lengths"], described["work_by_length"])
        _estimates(console, described)
        _busiest(console, "user", described["users"])
        for name, busiest in described["divisions"].items():
            _busiest(console, name, busiest)
    console.print()
    from headway.cli.tables import ledger_table, not_modelled_table

    ledger_table(console, workload.ledger)
    not_modelled_table(console, workload.source, by_rules)


def _header(console: Console, workload: Workload) -> None:
    console.print(workload.source.name, style="bold")
    for key in HEADER_KEYS:
        if value := workload.header.get(key):
            console.print(f"  {key}: {value}")
    if workload.source.format.startswith("sacct") and (note := workload.header.get("Note")):
        console.print(f"  {note}")
    console.print()


def _facts(console: Console, described: dict[str, Any]) -> None:
    from headway.cli.tables import in_words, number

    table = table_of("", ">", "~", show_header=False)
    table.columns[-1].style = "dim"
    for name, (value, unit) in described["facts"].items():
        table.add_row(name, number(value), f"s  {in_words(value)}" if unit == "s" else unit)
    console.print(table)


def _load(console: Console, described: dict[str, Any]) -> None:
    """Offered load as a curve, with the line at which the machine is full."""
    from headway.cli.chart import curve, labelled

    load = described["load_over_time"]
    if not load["values"]:
        return
    top = max(load["values"])
    hours = load["step"] / 3600
    width = (
        f"{hours / 24:.1f} days"
        if hours >= 48
        else f"{hours:.1f} hours"
        if hours >= 1
        else f"{hours * 60:.1f} min"
    )
    console.print(f"\nOffered load over time, each column {width}", style="bold")
    lines = curve(load["values"], top, height=5)
    levels = [f"{top * (len(lines) - row) / len(lines):.2f}" for row in range(len(lines))]
    wide = max(6, len(levels[0]))
    for level, line in zip(levels, lines, strict=True):
        console.print(labelled(f"{level:>{wide}}", line, width=wide))
    over = sum(value > 1 for value in load["values"]) / len(load["values"])
    console.print(f"more than the machine can do in {over:.0%} of the columns")


def _divided(
    console: Console, title: str, jobs: Sequence[tuple[str, int]], work: Sequence[tuple[str, float]]
) -> None:
    """Two bars a line: the share of the jobs, and of the processor-seconds."""
    from headway.cli.chart import bar, labelled

    console.print(f"\n{title}", style="bold")
    total = sum(count for _, count in jobs)
    top = max((count for _, count in jobs), default=0) / total
    most = max((share for _, share in work), default=0.0)
    label = max(LABEL, *(len(name) for name, _ in jobs))
    wide = min(24, max(console.width - TEXT - label, 2) // 2)
    for (name, count), (_, share) in zip(jobs, work, strict=True):
        text = labelled(
            name,
            f"{bar(count / total, top, wide):<{wide}}",
            f"{count:>9,} {count / total:>4.0%} of jobs",
            label,
        )
        text.append("   ")
        text.append(f"{bar(share, most, wide):<{wide}}", style="magenta")
        text.append(f" {share:>4.0%} of work", style="dim")
        console.print(text)


def _estimates(console: Console, described: dict[str, Any]) -> None:
    from headway.cli.chart import bar, labelled
    from headway.units import span_text

    classes = described["accuracy"]
    top = max((count for _, count in classes), default=0)
    if not top:
        return
    total = sum(count for _, count in classes)
    console.print("\nRun time as a share of the request", style="bold")
    for name, count in classes:
        console.print(
            labelled(name, f"{bar(count, top):<30}", f"{count:>9,} {count / total:>4.0%} of jobs", LABEL)
        )
    named = ", ".join(
        f"{span_text(seconds)} ({count / total:.0%})" for seconds, count in described["requests"]
    )
    console.print(f"most frequent requests: {named}")


def _busiest(console: Console, what: str, rows: Sequence[tuple[str, int, float]]) -> None:
    from rich.text import Text

    from headway.cli.chart import bar

    if len(rows) < 2:
        return
    title = "\nBusiest QOS" if what == "qos" else f"\nBusiest {what}s"
    table = table_of(what, ">jobs", "share of the work", title=title, title_style="bold")
    for name, jobs, share in rows:
        shown = Text(f"{bar(share, rows[0][2], 24):<24}", style="magenta")
        table.add_row(Text(name), f"{jobs:,}", shown.append(f" {share:.1%}", style="dim"))
    console.print(table)
