"""``headway inspect``: what is in a log, without simulating anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headway.cli import options
from headway.cli.frame import command

if TYPE_CHECKING:
    from rich.console import Console

    from headway.workload import Workload

HEADER_KEYS = ("Computer", "Installation", "MaxProcs", "MaxNodes", "MaxJobs", "StartTime", "EndTime")


@command("inspect", example="headway inspect log.swf.gz")
def inspect(
    trace: options.Trace,
    procs: options.Procs = None,
    annotations: options.Annotations = None,
    rule: options.Rules = None,
    json: options.Json = False,
) -> None:
    """Show what is in a log.

    Header, jobs, offered load, sizes, quality of the estimates, and the ledger.
    """
    from headway.cli.display import Display, output, print_json
    from headway.cli.inputs import chosen_platform, parse_rules, read_workload

    rules = parse_rules(rule)
    machine = chosen_platform(procs, None)
    with Display(quiet=json).working(f"reading {trace}"):
        workload = read_workload(trace, rules, annotations)

    from headway.workload.statistics import describe

    size = machine.total_procs if machine else workload.header.max_procs
    described = describe(workload, size)
    if json:
        print_json(described | {"ledger": workload.ledger.rows()})
        return
    console = output()
    _header(console, workload)
    _facts(console, described)
    _load(console, described)
    _sizes(console, described)
    from headway.cli.tables import ledger_table

    ledger_table(console, workload.ledger)


def _header(console: Console, workload: Workload) -> None:
    console.print(workload.source.name, style="bold", markup=False)
    for key in HEADER_KEYS:
        if value := workload.header.get(key):
            console.print(f"  {key}: {value}", markup=False)
    console.print()


def _facts(console: Console, described: dict[str, Any]) -> None:
    from rich.table import Table

    from headway.cli.tables import in_words, number

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    for name, (value, unit) in described["facts"].items():
        table.add_row(name, number(value), f"s  {in_words(value)}" if unit == "s" else unit)
    console.print(table)


def _load(console: Console, described: dict[str, Any]) -> None:
    from headway.cli.chart import curve, labelled

    load = described["load_over_time"]
    if not load["values"]:
        return
    top = max(load["values"])
    console.print(f"\nOffered load, each column {load['step'] / 3600:.1f} hours", style="bold")
    for line in curve(load["values"], top, height=4):
        console.print(labelled("", line, width=2))
    console.print(f"   highest {top:.2f}")


def _sizes(console: Console, described: dict[str, Any]) -> None:
    from headway.cli.chart import bar, labelled

    if not described["sizes"]:
        return
    console.print("\nJobs by processors", style="bold")
    top = max(count for _, count in described["sizes"])
    for name, count in described["sizes"]:
        console.print(labelled(name, f"{bar(count, top):<30}", f"{count:,}", width=14))
    console.print("\nRun time as a share of the request", style="bold")
    top = max(count for _, count in described["accuracy"])
    for name, count in described["accuracy"]:
        console.print(labelled(name, f"{bar(count, top):<30}", f"{count:,}", width=14))
    console.print()
