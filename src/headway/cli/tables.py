"""Tables for people: the ledger, the summary of a run, several runs side by side, who gains and who loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from headway.cli.display import table_of
from headway.metrics.catalogue import says_something, unit_of, unit_text
from headway.plain import counted, number_text, signed_percent
from headway.units import span_text

if TYPE_CHECKING:
    from rich.console import Console

    from headway.metrics.comparison import ClassChange, Comparison, Difference, Row
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


def not_modelled_table(console: Console, source: Source, by_site_rules: bool = False) -> None:
    """What the site did that the simulation does not, so that one is not taken for the other."""
    if not source.not_modelled:
        return
    from headway.workload.slurm.not_modelled import left_unmodelled

    features = left_unmodelled(source.not_modelled, by_site_rules)
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
    """The size of a relative change, with as many digits as it takes to see that it is one.

    >>> percent(-0.214), percent(0.031), percent(0.00031), percent(12.5)
    ('21 %', '3.1 %', '0.03 %', '1,250 %')
    """
    size = abs(change) * 100
    digits = 0 if size >= 10 else next((digits for digits in (1, 2, 3, 4) if round(size, digits)), 5)
    return f"{size:,.{digits}f} %"


def in_words(seconds: Number) -> str:
    """A time in its two largest units; nothing for less than two minutes."""
    return "" if seconds is None or abs(seconds) < 120 else span_text(seconds)


HEADLINES = ("mean_wait", "median_wait", "p95_wait", "mean_bsld", "utilization")
"""Metrics of a comparison that are shown unless others are asked for."""
ALERTS = ("dropped", "killed")
"""Counts that are shown with them where there are any."""


def comparison_table(console: Console, comparison: Comparison, only: Sequence[str] = ()) -> None:
    """Metrics in lines, policies in columns; all but the first say how far they are from the first.

    `only` names the metrics to show, ``all`` those that say something.
    """
    table = table_of("metric", *(f"~>{name}" for name in comparison.names), fold=True)
    capacities = [f"{schedule.capacity:,}" for schedule in comparison.schedules]
    if len(set(capacities)) > 1:
        table.add_row("processors", *capacities)
    for row in comparison.rows():
        asked = row.metric in only if only else row.metric in HEADLINES
        every = "all" in only and any(row.metric in shown(each) for each in comparison.summaries)
        if asked or every or (row.metric in ALERTS and any(row.values) and not only):
            table.add_row(row.metric, *(_compared(row)))
    console.print(table)


def amount(value: Number, unit: str) -> str:
    """A number with its unit, times in words.

    >>> amount(10_577, "s"), amount(0.684, "1"), amount(300, "jobs")
    ('2 h 56 min', '0.684', '300 jobs')
    """
    if value is None or unit == "1":
        return number(value)
    return span_text(value) if unit == "s" else f"{number(value)} {unit_text(unit)}"


def changed(before: Number, after: Number, unit: str) -> str:
    """How far one number is from another.

    >>> changed(100, 10, "s"), changed(0, 5, "s"), changed(2, 3, "1"), changed(2, 2, "1")
    ('90 % shorter', 'longer', '50 % higher', '')
    """
    if before is None or after is None or before == after:
        return ""
    less, more = ("shorter", "longer") if unit == "s" else ("lower", "higher")
    much = f"{percent((after - before) / before)} " if before > 0 and after >= 0 else ""
    return much + (less if after < before else more)


COLOURS = {"better": "green", "worse": "red"}


def _compared(row: Row) -> list[Text]:
    cells = []
    for value, verdict in zip(row.values, row.verdict, strict=True):
        cell = Text(amount(value, row.unit))
        if verdict in COLOURS and (words := changed(row.values[0], value, row.unit)):
            cell.append(f", {words}", style=COLOURS[verdict])
        cells.append(cell)
    return cells


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
    table = table_of("size", ">jobs", *names, title="\nMean wait by processors", fold=True)
    for change in max(sizes, key=len):
        others = [_after(each[change.name]) if change.name in each else Text("-") for each in by_name]
        table.add_row(change.name, f"{change.jobs:,}", span_text(change.before), *others)
    console.print(table)


def _after(change: ClassChange) -> Text:
    """The mean wait afterwards, and how much shorter or longer that is."""
    text = Text(span_text(change.after))
    if words := changed(change.before, change.after, "s"):
        text.append(f", {words}", style=COLOURS[change.verdict])
    return text


def _owners(console: Console, difference: Difference, most: int) -> None:
    table = table_of("who gains, who loses", ">jobs", ">mean wait before", ">after")
    for key in (key for key in difference.classes if key != "size"):
        if len(difference.classes[key]) < 2:
            continue  # everybody's name is unknown, or there is one queue: the table above said it
        for change in (*difference.winners(key, most), *reversed(difference.losers(key, most))):
            table.add_row(
                Text(f"{key} {change.name}"), f"{change.jobs:,}", span_text(change.before), _after(change)
            )
    if table.rows:
        console.print(table)


def _jobs(console: Console, difference: Difference, most: int) -> None:
    spared = [change for change in difference.jobs if change.after < change.before][:most]
    delayed = [change for change in difference.jobs if change.after > change.before][-most:]
    if not spared and not delayed:
        return
    heads = ("jobs that changed most", ">processors", ">walltime", ">wait before", ">after", "")
    table = table_of(*heads)
    for change in (*spared, *delayed):
        gained = change.after < change.before
        span = span_text(abs(change.after - change.before))
        verdict = Text(
            f"{span} {'earlier' if gained else 'later'}", style=COLOURS["better" if gained else "worse"]
        )
        table.add_row(
            f"job {change.job}", f"{change.procs:,}", span_text(change.walltime), span_text(change.before),
            span_text(change.after), verdict,
        )  # fmt: skip
    console.print(table)


def verdict(comparison: Comparison) -> str:
    """Which run has the shortest mean wait, by how much, and whether that may be chance."""
    if len(comparison.names) < 2 or not all(map(len, comparison.schedules)):
        return ""
    if not comparison.same_jobs:
        return "The runs did not schedule the same jobs, so none is called the better one."
    waits = [summary["mean_wait"] for summary in comparison.summaries]
    best = waits.index(min(waits))
    others = [place for place in range(len(waits)) if place != best]
    rival = 0 if best else min(others, key=lambda place: waits[place])
    name, other, wait = comparison.names[best], comparison.names[rival], span_text(waits[best])
    if waits[best] == waits[rival]:
        return (
            f"All have the same mean wait, {wait}."
            if len(set(waits)) == 1
            else (f"{name} and {other} have the shortest mean wait, {wait}.")
        )
    words = changed(waits[rival], waits[best], "s")
    sure = _sure(comparison, best, rival)
    return f"{name} has the shortest mean wait: {wait}, {words} than under {other}; {sure}."


def _sure(comparison: Comparison, best: int, rival: int) -> str:
    """Whether the weeks of the log tell two runs apart."""
    import numpy as np

    from headway.campaign.intervals import paired
    from headway.units import SECOND, WEEK

    one, two = comparison.schedules[best], comparison.schedules[rival]
    jobs = np.sort(one.workload.columns["job"])
    mine, theirs = (each.workload.rows_of(jobs)[1] for each in (one, two))
    new, old = one.wait[mine] / SECOND, two.wait[theirs] / SECOND
    week = (one.submit[mine] - one.submit.min()) // WEEK
    found = paired(week, new, old, np.ones(len(jobs)))
    if not found.enough:
        weeks = "1 week is" if found.blocks == 1 else f"{found.blocks} weeks are"
        return f"{weeks} too few to tell whether that is chance"
    low, high = found.change_low, found.change_high
    apart = "more than chance" if found.significant else "which may be chance"
    if low is None or high is None:
        return f"{apart} over {found.blocks} weeks"
    return (
        f"{apart} (95 % interval over {found.blocks} weeks: {signed_percent(low)} to {signed_percent(high)})"
    )
