"""``headway weeks``: the busy weeks of logs, with the utilization of each."""

from __future__ import annotations

from math import floor
from typing import Annotated, Any

from headway.cli import options
from headway.cli.display import Display, output, print_json
from headway.cli.frame import command
from headway.cli.writing import parts_table
from headway.errors import UsageError
from headway.plain import counted
from headway.units import date_text


@command("weeks", example="headway weeks curie.swf.gz ricc.swf.gz --procs 80640 --procs 8192")
def weeks(
    traces: Annotated[list[str], options.argument("TRACE...", "Job logs, or names of registered datasets.")],
    procs: Annotated[
        list[int] | None,
        options.number(
            "--procs",
            "N",
            "Processors of the machine: once for all logs, or once for each in order.",
            1,
            2**31 - 1,
        ),
    ] = None,
    least: Annotated[float, options.value("--at-least", "U", "Smallest utilization, from 0 to 1.")] = 0.7,
    utilization: Annotated[
        str,
        options.value(
            "--utilization",
            "recorded|submitted",
            "Measure the work that ran, or the work that was submitted.",
        ),
    ] = "recorded",
    placing: Annotated[
        str,
        options.value(
            "--placing", "aligned|sliding", "Cut weeks one after the other, or wherever a busy one begins."
        ),
    ] = "aligned",
    count: Annotated[
        int | None,
        options.number("--count", "N", "Number of weeks; all by default.", 0),
    ] = None,
    draw: Annotated[
        int | None,
        options.number("--draw", "SEED", "Draw them at random instead of taking the first.", 0),
    ] = None,
    rule: options.Rules = None,
    json: options.Json = False,
) -> None:
    """List the busy weeks of logs.

    To write them out: headway convert LOG FOLDER --apply 'weeks(at_least=0.7)'.
    """
    from headway.cli.inputs import parse_rules, read_workload

    rules = parse_rules(rule)
    sizes: list[int | None] = list(procs) if procs else [None]
    if len(sizes) == 1:
        sizes *= len(traces)
    if len(sizes) != len(traces):
        raise UsageError(
            f"--procs is given {counted(len(sizes), 'time')} for {counted(len(traces), 'log')}; "
            "give it once, or once for each"
        )
    for name, value, known in (
        ("--utilization", utilization, ("recorded", "submitted")),
        ("--placing", placing, ("aligned", "sliding")),
    ):
        if value not in known:
            raise UsageError(f"{name} must be {' or '.join(known)}, not {value}")

    from headway.workload.transform import weeks as busy_weeks
    from headway.workload.transform.weeks import busiest_week

    documents: list[dict[str, Any]] = []
    for trace, size in zip(traces, sizes, strict=True):
        with Display(quiet=json).working(f"reading {trace}"):
            workload = read_workload(trace, rules)
        found = busy_weeks(workload, least, size, placing, utilization, count, draw)  # type: ignore[arg-type]
        machine = size or workload.header.max_procs or 0
        listed = [
            {"week": week.number, "start": week.start / 1e6, "jobs": len(week.workload),
             "utilization": week.utilization} | dated(int(week.start), workload.header.unix_start)
            for week in found
        ]  # fmt: skip
        rows = workload.ledger.rows()
        documents.append(
            {"trace": trace, "processors": machine, "at_least": least, "weeks": listed, "ledger": rows}
        )
        if json:
            continue
        from headway.cli.tables import ledger_table

        console = output()
        ledger_table(console, workload.ledger)
        told = f"{counted(len(found), 'week')} of at least {least:.0%} on {counted(machine, 'processor')}"
        console.print(f"{trace}: {told}", style="bold")
        if found:
            console.print(parts_table([week.workload for week in found], workload.header.unix_start))
        elif count != 0:
            console.print(_busiest(busiest_week(workload, size, utilization)))  # type: ignore[arg-type]
    if json:
        print_json(documents)


def _busiest(most: float | None) -> str:
    """What to say where no week is busy enough; of weeks that follow each other from the first submission."""
    if most is None:
        return "The log has no jobs."
    lower = floor(most * 100) / 100
    return f"The busiest week has a utilization of {most:.1%}; --at-least {lower:g} lists it."


def dated(us: int, unix_start: int | None) -> dict[str, str]:
    """The date of an instant of the log's clock, where the log has dates."""
    return {} if unix_start is None else {"date": date_text(us, unix_start)}
