"""The report of one schedule, or of several compared with the first."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from headway.figures.clock import unix_start
from headway.figures.colouring import OF_REASON, OWNERS, WIDTHS
from headway.figures.style import GREY, colour_of
from headway.metrics import Comparison, compare
from headway.metrics.catalogue import meaning_of, says_something, unit_text
from headway.plain import counted
from headway.report.assembly import TROUBLE, asset, page, section, tabs, verdict_section
from headway.report.jobs import job_table, schedule_data
from headway.report.provenance import facts_table, ledger_section, provenance_section
from headway.report.table import Cell, Column, colour_dot, table
from headway.report.verdict import log_name, verdict
from headway.report.words import change, number, percent, quantity, span
from headway.schedule import WHY, Schedule
from headway.workload.divisions import divisions

TILES = {"mean_wait": "Mean wait", "p95_wait": "95th percentile of waits",
         "mean_bsld": "Mean bounded slowdown", "utilization": "Utilization"}  # fmt: skip


def schedules_page(
    schedules: Sequence[Schedule],
    command: str = "",
    tau: float = 10,
    names: Sequence[str] | None = None,
    title: str = "",
    opening: str = "",
) -> str:
    """The whole page as text. `command` is the one that makes this report; `tau` (s) bounds the slowdown.

    `names` are what the runs are called, by default by their policies. `opening` is HTML in place of the
    verdict, for runs whose meaning is known better; changes of metrics are then not coloured.
    """
    comparison = compare(schedules, tau=tau, names=names)
    colours = [colour_of(place) for place in range(len(schedules))]
    jobs = job_table(schedules)
    keys = ("size", "user", *divisions(schedules[0].workload))
    sizes = comparison.by_size()
    classes = [
        summary | {"by_size": table} for summary, table in zip(comparison.summaries, sizes, strict=True)
    ]
    data = {
        "kind": "schedules",
        "tau": tau,
        "origin": unix_start(schedules),
        "why": WHY,
        "why_colours": [OF_REASON[name] for name in WHY],
        "owner_colours": [*OWNERS, GREY],
        "width_colours": WIDTHS,
        "divisions": keys[2:],
        "names": jobs.names,
        "jobs": jobs.describe(),
        "schedules": [
            {
                "name": comparison.names[place],
                "colour": colours[place],
                "capacity": schedule.capacity,
                "promise_kind": schedule.promise_kind,
                "classes": {key: _class_rows(classes[place], key) for key in keys},
            }
            | schedule_data(schedule, jobs, jobs.rows[place])
            for place, schedule in enumerate(schedules)
        ],
    }
    parts = [
        _title(comparison, title),
        opening or _verdict_section(comparison),
        *(['<div class="unjudged">'] if opening else []),
        _tiles(comparison, colours),
        _metrics(comparison, colours),
        *(["</div>"] if opening else []),
        asset("charts.html").replace("<h3>Bounded slowdown", f"<h3>Bounded slowdown (tau = {tau:g} s)"),
        _classes(comparison, classes, colours, keys),
        *([_changes(comparison)] if len(schedules) > 1 else []),
        section(
            "every-job",
            "Every job",
            ("Of the run that the Gantt chart shows. " if len(schedules) > 1 else "")
            + "Click a column's title to sort. Click a job to find it in the Gantt chart.",
            '<div id="jobs"></div>',
            screen=True,
        ),
        ledger_section(schedules[0].workload.ledger),
        provenance_section(comparison, command),
    ]
    links = [
        ("verdict", "Verdict"), ("metrics", "Metrics"), ("over-time", "Over time"),
        ("distributions", "Distributions"), ("by-class", "Who waits"),
        *([("changes", "Gains and losses")] if len(schedules) > 1 else []),
        ("every-job", "Jobs"), ("ledger", "Ledger"), ("provenance", "Provenance"),
    ]  # fmt: skip
    heading = title or f"{' against '.join(comparison.names)} · {log_name(schedules[0])}"
    return page(heading, "\n".join(parts), links, data)


def _title(comparison: Comparison, title: str) -> str:
    names = escape(title) or " <small>against</small> ".join(escape(name) for name in comparison.names)
    first, summary = comparison.schedules[0], comparison.summaries[0]
    lead = (
        f"{log_name(first)}: {counted(len(first), 'job')} on {counted(first.capacity, 'processor')}, "
        f"{span(summary['makespan'])}"
    )
    return f'<h1>{names}</h1><p class="lead">{escape(lead)}</p>'


def _verdict_section(comparison: Comparison) -> str:
    paragraphs, care = verdict(comparison)
    return verdict_section(paragraphs, care, TROUBLE)


def _tiles(comparison: Comparison, colours: Sequence[str]) -> str:
    rows = {row.metric: row for row in comparison.rows()}
    tiles = []
    for name, title in TILES.items():
        row = rows[name]
        lines = []
        each = zip(comparison.names, row.values, row.change, row.verdict, colours, strict=True)
        for run, value, share, judged, colour in each:
            text = percent(value) if name == "utilization" else quantity(value, row.unit)
            dot = colour_dot(colour) if len(colours) > 1 else ""
            remark = f'<span class="{judged}">{change(share)}</span>' if share else ""
            named = f"<em>{dot}{escape(run)}</em>" if len(colours) > 1 else ""
            lines.append(f"<div>{named}<b>{text}</b>{remark}</div>")
        if name == "mean_bsld":
            title += f", tau {comparison.summaries[0]['tau']:g} s"
        tiles.append(f'<div class="tile"><h3>{title}</h3>{"".join(lines)}</div>')
    return f'<div class="tiles">{"".join(tiles)}</div>'


def _metrics(comparison: Comparison, colours: Sequence[str]) -> str:
    columns = [Column("metric"), Column("unit")]
    several = len(comparison.names) > 1
    columns += [
        Column(name, number=True, colour=colour if several else "")
        for name, colour in zip(comparison.names, colours, strict=True)
    ]
    lines = [
        [
            Cell("processors"),
            Cell("processors"),
            *(Cell(number(s.capacity), s.capacity) for s in comparison.schedules),
        ]
    ]
    for row in comparison.rows():
        if not says_something(row.metric, *row.values):
            continue
        cells = [
            Cell(number(value), value, _remark(row.unit, value, share), judged)
            for value, share, judged in zip(row.values, row.change, row.verdict, strict=True)
        ]
        lines.append([Cell(row.metric.replace("_", " ")), Cell(unit_text(row.unit)), *cells])
    formulas = {
        row.metric.replace("_", " "): meaning
        for row in comparison.rows()
        if says_something(row.metric, *row.values) and (meaning := meaning_of(row.metric))
    }
    note = f"<summary>What each metric means</summary>{facts_table(formulas)}"
    about = f"Changes are relative to {comparison.names[0]}." if several else ""
    return section(
        "metrics",
        "Metrics",
        about,
        table(columns, lines, whole=True) + f'<details class="screen">{note}</details>',
        long=True,
    )


def _remark(unit: str, value: Any, share: float | None) -> str:
    words = span(value) if unit == "s" and value is not None and abs(value) >= 120 else ""
    return " ".join(part for part in (f"({words})" if words else "", change(share) if share else "") if part)


def _class_rows(summary: dict[str, Any], key: str) -> list[dict[str, Any]]:
    kept = ("jobs", "mean_wait", "mean_response", "mean_bsld", "max_bsld", "area")
    return [
        {"name": "–" if row[key] is None else str(row[key])} | {name: row[name] for name in kept}
        for row in summary[f"by_{key}"]
    ]


def _classes(
    comparison: Comparison, classes: Sequence[dict[str, Any]], colours: Sequence[str], keys: Sequence[str]
) -> str:
    shown = [
        key for key in keys if key == "size" or any(len(summary[f"by_{key}"]) > 1 for summary in classes)
    ]
    panels = "".join(
        f'<div id="table-{key}" class="panel"{" hidden" if place else ""}>'
        f'<h3 class="paper">by {key}</h3>{_class_table(comparison, classes, colours, key)}</div>'
        for place, key in enumerate(shown)
    )
    options = "".join(f"<option>{key}</option>" for key in shown)
    control = asset("classes.html").replace("<!-- keys -->", options)
    moldable = any(
        table["by_size"] != own["by_size"] for table, own in zip(classes, comparison.summaries, strict=True)
    )
    about = "Means over the jobs of each class. Sizes are numbers of processors"
    about += f", as under {comparison.names[0]}" if moldable else ""
    about += ". The chart draws at most 20 classes, those with the most work."
    return section("by-class", "Who waits", about, control + panels, long=True)


def _class_table(
    comparison: Comparison, classes: Sequence[dict[str, Any]], colours: Sequence[str], key: str
) -> str:
    columns = [Column(key), Column("jobs", number=True), Column("processor-hours", number=True)]
    several = len(comparison.names) > 1
    about = f"mean bounded slowdown, tau = {comparison.summaries[0]['tau']:g} s"
    for place, (name, colour) in enumerate(zip(comparison.names, colours, strict=True)):
        tag = f"{name}: " if several else ""
        columns.append(Column(f"{tag}mean wait", number=True, colour=colour if several else ""))
        if place:
            columns.append(
                Column("change", number=True, about=f"change of the wait from {comparison.names[0]}")
            )
        columns.append(Column(f"{tag}slowdown", number=True, about=about))
    tables = [{row["name"]: row for row in _class_rows(summary, key)} for summary in classes]
    names = list(dict.fromkeys(name for each in tables for name in each))
    lines = []
    for name in names:
        first = next(each[name] for each in tables if name in each)
        cells = [Cell(name), Cell(number(first["jobs"]), first["jobs"])]
        cells.append(Cell(number(first["area"] / 3600), first["area"]))
        before = tables[0].get(name, {}).get("mean_wait")
        for place, each in enumerate(tables):
            row = each.get(name)
            wait, slowdown = (row["mean_wait"], row["mean_bsld"]) if row else (None, None)
            cells.append(Cell(span(wait), wait))
            if place:
                cells.append(_wait_change(before, wait))
            cells.append(Cell(number(slowdown), slowdown))
        lines.append(cells)
    return table(columns, lines, brief=True)


def _wait_change(before: float | None, after: float | None) -> Cell:
    if before is None or after is None or before == after:
        return Cell("", None if before is None or after is None else 0.0)
    judged = "better" if after < before else "worse"
    share = (after - before) / before if before else None
    return Cell("", float("inf") if share is None else share, change(share) or "new", judged)


def _changes(comparison: Comparison) -> str:
    """The jobs that gained and lost most under each of the other policies."""
    named = any(job.user != "-" for each in comparison.differences for job in each.jobs)
    columns = [Column("job", number=True), *[Column("user")] * named, Column("procs", number=True)]
    columns += [Column("walltime", number=True), Column(f"wait under {comparison.names[0]}", number=True)]
    panels = []
    for place, (name, each) in enumerate(zip(comparison.names[1:], comparison.differences, strict=True)):
        lines = []
        for job in each.jobs:
            saved = job.before - job.after
            lines.append([
                Cell(str(job.job), job.job), *[Cell(job.user)] * named, Cell(number(job.procs), job.procs),
                Cell(span(job.walltime), job.walltime), Cell(span(job.before), job.before),
                Cell(span(job.after), job.after), Cell(job.why.replace("_", " ")),
                Cell("", -saved, f"{span(abs(saved))} {'earlier' if saved > 0 else 'later'}",
                     "better" if saved > 0 else "worse"),
            ])  # fmt: skip
        heads = [Column(f"under {name}", number=True), Column("why then"), Column("change", number=True)]
        panels.append((f"changes-{place}", name, table([*columns, *heads], lines)))
    about = f"The jobs whose wait changed most from {comparison.names[0]}, in both directions."
    return section("changes", "Gains and losses", about, tabs(panels), long=True)
