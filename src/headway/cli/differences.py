"""Winners and losers of a comparison, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from headway.cli.display import table_of
from headway.cli.tables import number
from headway.plain import counted
from headway.units import span_text

if TYPE_CHECKING:
    from rich.console import Console

    from headway.metrics import Comparison
    from headway.metrics.differences import ClassChange, Difference

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
