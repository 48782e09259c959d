"""``headway replay``: a simulated schedule compared with the waits recorded in the log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headway.cli import options
from headway.cli.frame import command

if TYPE_CHECKING:
    from rich.console import Console

    from headway.replay import Fidelity

SHOWN = 12
"""Lines of a table that are printed; the JSON document has them all."""


@command("replay", example="headway replay log.swf.gz --policy easy")
def replay(
    trace: options.Trace,
    policy: options.Policy,
    procs: options.Procs = None,
    platform: options.PlatformFile = None,
    site: options.SiteFolder = None,
    annotations: options.Annotations = None,
    rule: options.Rules = None,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write everything into this JSON file.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE where it exists.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare simulated waits with those that the log recorded.

    The first line is the mean absolute error. The tables show the errors by size, queue and user, and why the
    waits may differ. The last sentence says whether to trust the simulation, and for what.
    """
    from headway.cli.inputs import checked
    from headway.errors import UsageError

    spec, rules = checked(policy, procs, platform, rule, json, quiet, site)
    if out is not None and out.exists() and not force:
        raise UsageError(f"{out} exists; give another name, or --force to replace it")

    from headway.cli.runs import Inputs
    from headway.replay import fidelity, recorded_waits

    inputs = Inputs.read(trace, procs, platform, annotations, rules, quiet=quiet, site=site)
    recorded_waits(inputs.workload)  # complain before a long run, not after it
    schedule = inputs.run(spec, seed)
    found = fidelity(schedule)
    document = found.describe() | {"ledger": schedule.workload.ledger.rows()}
    if out is not None:
        from headway.schedule.files import write_json

        write_json(out, document)
    if json:
        from headway.cli.display import print_json

        print_json(document)
    elif not quiet:
        from headway.cli.display import output
        from headway.cli.tables import ledger_table, not_modelled_table

        console = output()
        ledger_table(console, schedule.workload.ledger)
        not_modelled_table(console, schedule.workload.source, schedule.policy)
        _show(console, found)
        if out is not None:
            console.print(f"\nwritten to {out}", markup=False)


def _show(console: Console, found: Fidelity) -> None:
    from headway.cli.tables import in_words, number

    words = f" ({in_words(found.error)})" if in_words(found.error) else ""
    share = "" if found.relative is None else f", {found.relative:.0%} of the mean recorded wait"
    console.print(f"mean absolute error {number(found.error)} s{words}{share}", style="bold", markup=False)
    jobs = f"{found.overall['jobs']:,} jobs compared"
    console.print(f"{found.policy}, {jobs}", markup=False)
    console.print(
        "Mean waits; bias and error of the means; how far median, p90 and p99 of the waits are off\n",
        style="dim",
        markup=False,
    )
    _table(console, "all", [found.overall | {"all": "all jobs"}])
    for key, rows in {"size": found.by_size, **found.by_division, "user": found.by_user}.items():
        console.print()
        _table(console, key, rows)
    console.print("\nWhy they may differ", style="bold")
    for reason in found.reasons:
        console.print(f"- {reason}", markup=False)
    console.print(f"\n{found.verdict}", style="bold", markup=False)


def _table(console: Console, key: str, rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    from headway.cli.tables import number

    table = Table(box=None, pad_edge=False)
    titles = (
        "jobs", "recorded (s)", "simulated (s)", "bias (s)", "abs. error (s)", "median (s)", "p90 (s)",
        "p99 (s)",
    )  # fmt: skip
    names = (
        "jobs", "mean_recorded", "mean_simulated", "bias", "mean_absolute_error", "p50_error", "p90_error",
        "p99_error",
    )  # fmt: skip
    table.add_column("" if key == "all" else key, no_wrap=True)
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows[:SHOWN]:
        name = "-" if row[key] is None else str(row[key])
        table.add_row(name, *(number(row[column]) for column in names))
    console.print(table)
    if len(rows) > SHOWN:
        console.print(f"and {len(rows) - SHOWN:,} more (--json lists all)", style="dim")
