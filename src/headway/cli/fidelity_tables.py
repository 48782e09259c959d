"""How near a simulation comes to its log, as tables and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headway.cli.display import table_of
from headway.cli.tables import in_words, number
from headway.plain import counted

if TYPE_CHECKING:
    from rich.console import Console

    from headway.replay import Fidelity
    from headway.what_if.causes import Cause

SHOWN = 12
"""Lines of a table that are printed; the JSON document has them all."""


def show(console: Console, found: Fidelity, ranked: Sequence[Cause]) -> None:
    """The score, the tables, why waits may differ, and the causes of what is left."""
    from headway.replay.sentences import score

    words = f" ({in_words(found.error)})" if in_words(found.error) else ""
    share = "" if found.relative is None else f", {found.relative:.0%} of the mean recorded wait"
    console.print(f"mean absolute error {number(found.error)} s{words}{share}", style="bold")
    seeds = f" under {len(found.seeds)} phases of the clocks" if len(found.seeds) > 1 else ""
    console.print(f"{found.policy}, {counted(found.overall['jobs'], 'job')} compared{seeds}")
    for line in score(found):
        console.print(line)
    console.print(
        "\nMean waits and their error, how far median and p90 of the waits are off, and the starts within a "
        "minute and ten of the recorded ones\n",
        style="dim",
    )
    band = len(found.seeds) > 1
    _table(console, "all", [found.overall | {"all": "all jobs"}], band)
    tables = {"size": found.by_size, **found.by_division, "user": found.by_user, "week": found.by_week}
    for key, rows in tables.items():
        console.print()
        _table(console, key, rows, band)
    console.print("\nWhy they may differ", style="bold")
    for reason in found.reasons:
        console.print(f"- {reason}")
    if ranked:
        _causes(console, found, ranked)


def _table(console: Console, key: str, rows: list[dict[str, Any]], band: bool) -> None:
    means = (">jobs", ">recorded (s)", ">simulated (s)", *([">least - most"] if band else []))
    errors = (">abs. error (s)", ">median (s)", ">p90 (s)", "><= 1 min", "><= 10 min")
    table = table_of("" if key == "all" else key, *means, *errors)
    for row in rows[:SHOWN]:
        spread = [f"{number(row['least_simulated'])} - {number(row['most_simulated'])}"] if band else []
        table.add_row(
            "-" if row[key] is None else str(row[key]),
            *(number(row[column]) for column in ("jobs", "mean_recorded", "mean_simulated")),
            *spread,
            *(number(row[column]) for column in ("mean_absolute_error", "p50_error", "p90_error")),
            *("-" if row[share] is None else f"{row[share]:.0%}" for share in ("within_60", "within_600")),
        )
    console.print(table)
    if len(rows) > SHOWN:
        console.print(f"and {len(rows) - SHOWN:,} more (--json lists all)", style="dim")


def _causes(console: Console, found: Fidelity, ranked: Sequence[Cause]) -> None:
    from headway.what_if.causes import told

    console.print("\nThe causes of what is left: each rule switched off by itself", style="bold")
    table = table_of("without", ">mean wait (s)", ">abs. error (s)", ">change (s)", "><= 10 min", "")
    for one in ranked:
        sure = "" if one.spread is None else f" +- {one.spread:,.0f}"
        change = f"{one.change:+,.0f}{sure}"
        cells = (f"{one.mean_wait:,.0f}", f"{one.error:,.0f}", change, f"{one.minutes:.0%}")
        table.add_row(one.rule, *cells, one.verdict)
    console.print(table)
    for sentence in told(found, ranked):
        console.print(f"- {sentence}")
