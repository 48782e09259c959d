"""Tables for people: the ledger, the summary of a run, several runs side by side, who gains and who loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from headway.cli.display import table_of
from headway.metrics.catalogue import says_something, unit_of, unit_text
from headway.plain import counted, number_text
from headway.units import span_text
from headway.workload.slurm.not_modelled import left_unmodelled

if TYPE_CHECKING:
    from rich.console import Console

    from headway.metrics.comparison import Comparison, Row
    from headway.metrics.differences import ClassChange, Difference
    from headway.schedule import Schedule
    from headway.streams import Streamed
    from headway.workload import Ledger, Source

Number = int | float | None


def ledger_table(console: Console, ledger: Ledger) -> None:
    """What was odd in the log and what was done about it; one line where nothing was."""
    if not len(ledger):
        console.print(f"{counted(ledger.total, 'job')} in the log, nothing unusual\n")
        return
    table = table_of("rule", "~what was done", ">jobs", "~first of them", title="Ledger")
    for entry in ledger:
        ids = ", ".join(map(str, entry.jobs[:5])) + (", ..." if entry.count > 5 else "")
        table.add_row(entry.rule, Text(entry.action), f"{entry.count:,}", ids)
    console.print(table)
    console.print(
        f"{counted(ledger.total, 'job')} in the log = {ledger.kept:,} scheduled + "
        f"{ledger.dropped:,} dropped\n"
    )


def not_modelled_table(console: Console, source: Source, policy: str = "") -> None:
    """What the site did that the simulation does not, so that nobody takes one for the other."""
    features = left_unmodelled(source.not_modelled, policy)
    if not features:
        return
    table = table_of("", ">", "", title="Not modelled", show_header=False)
    for feature, count in features.items():
        table.add_row(feature, f"{count:,}", "jobs")
    console.print(table)
    console.print()


def summary_table(console: Console, schedule: Schedule | Streamed, summary: Mapping[str, Any]) -> None:
    """Every number of a summary with its unit."""
    console.print(f"{schedule.policy} on {counted(schedule.capacity, 'processor')}", style="bold")
    table = table_of("", ">", "", "", show_header=False)
    table.columns[-1].style = "dim"
    for name, value in shown(summary).items():
        unit = unit_of(name)
        table.add_row(name, number(value), unit_text(unit), in_words(value) if unit == "s" else "")
    console.print(table)


def shown(summary: Mapping[str, Any]) -> dict[str, Number]:
    """The single numbers of a summary, without zeros that say nothing and the tables by class."""
    return {
        name: value
        for name, value in summary.items()
        if (value is None or isinstance(value, int | float)) and says_something(name, value)
    }


def number(value: Number) -> str:
    """A number for people: thousands apart, four significant digits behind small ones, - for none."""
    return number_text(value, "-")


def percent(change: float) -> str:
    """A relative change, with as many digits as it takes to see that it is one.

    >>> percent(-0.214), percent(0.00031), percent(12.5)
    ('-21.4%', '+0.03%', '+1250.0%')
    """
    digits = next((digits for digits in (1, 2, 3, 4) if round(abs(change) * 100, digits)), 5)
    return f"{change:+.{digits}%}"


def in_words(seconds: Number) -> str:
    """A time in its two largest units; nothing for less than two minutes."""
    return "" if seconds is None or abs(seconds) < 120 else span_text(seconds)


def comparison_table(console: Console, comparison: Comparison, only: Sequence[str] = ()) -> None:
    """Metrics in lines, policies in columns; all but the first say how much better or worse they are.

    `only` names the metrics to show; by default all that say something.
    """
    table = table_of("metric", "unit", *(f"~>{name}" for name in comparison.names), fold=True)
    capacities = [f"{schedule.capacity:,}" for schedule in comparison.schedules]
    table.add_row("processors", "processors", *capacities)
    for row in comparison.rows():
        if row.metric in only if only else any(row.metric in shown(each) for each in comparison.summaries):
            table.add_row(row.metric, unit_text(row.unit), *(_compared(row)))
    console.print(table)


def _compared(row: Row) -> list[Text]:
    cells = []
    for value, change, verdict in zip(row.values, row.change, row.verdict, strict=True):
        cell = Text(number(value))
        if verdict in ("better", "worse"):
            much = "" if change is None else f"{percent(change)} "
            cell.append(f" {much}{verdict}", style="green" if verdict == "better" else "red")
        cells.append(cell)
    return cells


COLOURS = {"better": "green", "worse": "red"}


def difference_tables(console: Console, comparison: Comparison, most: int) -> None:
    """Mean waits by size for all policies; then, for each, `most` winners and losers of every kind."""
    if len(comparison.names) < 2 or not most:
        return
    if not comparison.same_jobs:
        console.print(
            "\nThe runs did not schedule the same jobs; the tables below are of the jobs that they share."
        )
    _by_size(console, comparison)
    for name, difference in zip(comparison.names[1:], comparison.differences, strict=True):
        console.print(f"\n{name} instead of {comparison.names[0]}", style="bold")
        early, late, same = difference.earlier, difference.later, difference.same
        verb = "starts" if early == 1 else "start"
        console.print(f"{counted(early, 'job')} {verb} earlier, {late:,} later, {same:,} as before")
        if difference.sessions is not None:
            one = difference.sessions
            console.print(
                f"{counted(one.sessions, 'session')} of users: {one.better:,} with a lower stretch, "
                f"{one.worse:,} with a higher; before / after, median {one.median:.3f}, mean {one.mean:.3f}"
            )
        _owners(console, difference, most)
        _jobs(console, difference, most)


def _by_size(console: Console, comparison: Comparison) -> None:
    sizes = [difference.classes["size"] for difference in comparison.differences]
    by_name = [{change.name: change for change in table} for table in sizes]
    names = (f"~>{name}" for name in comparison.names)
    table = table_of("size", ">jobs", *names, title="\nMean wait by processors (s)", fold=True)
    for change in max(sizes, key=len):
        others = [_after(each[change.name]) if change.name in each else Text("-") for each in by_name]
        table.add_row(change.name, f"{change.jobs:,}", number(change.before), *others)
    console.print(table)


def _after(change: ClassChange) -> Text:
    """The mean wait afterwards, and how much better or worse that is."""
    text = Text(number(change.after))
    if change.verdict != "same":
        share = f"{(change.after - change.before) / change.before:+,.1%} " if change.before else ""
        text.append(f" {share}{change.verdict}", style=COLOURS[change.verdict])
    return text


def _owners(console: Console, difference: Difference, most: int) -> None:
    table = table_of("who gains, who loses", ">jobs", ">mean wait before (s)", ">after (s)")
    for key in (key for key in difference.classes if key != "size"):
        if len(difference.classes[key]) < 2:
            continue  # everybody's name is unknown, or there is one queue: the table above said it
        for change in (*difference.winners(key, most), *reversed(difference.losers(key, most))):
            table.add_row(
                Text(f"{key} {change.name}"), f"{change.jobs:,}", number(change.before), _after(change)
            )
    if table.rows:
        console.print(table)


def _jobs(console: Console, difference: Difference, most: int) -> None:
    spared = [change for change in difference.jobs if change.after < change.before][:most]
    delayed = [change for change in difference.jobs if change.after > change.before][-most:]
    if not spared and not delayed:
        return
    heads = ("jobs that changed most", ">procs", ">walltime (s)", ">wait before (s)", ">after (s)", "")
    table = table_of(*heads)
    for change in (*spared, *delayed):
        gained = change.after < change.before
        span = span_text(abs(change.after - change.before))
        verdict = Text(
            f"{span} {'earlier' if gained else 'later'}", style=COLOURS["better" if gained else "worse"]
        )
        table.add_row(
            f"job {change.job}", f"{change.procs:,}", number(change.walltime), number(change.before),
            number(change.after), verdict,
        )  # fmt: skip
    console.print(table)
