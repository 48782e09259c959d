"""The report of one schedule, or of several compared with the first, with its verdict in words."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import PurePath
from typing import Any

from headway.figures.colouring import OF_REASON, OWNERS, WIDTHS
from headway.figures.curves import unix_start
from headway.figures.style import GREY, run_colour
from headway.metrics import Comparison, compare
from headway.metrics.catalogue import meaning_of, says_something, unit_text
from headway.metrics.comparison import Difference, Row
from headway.plain import counted, listed
from headway.report.jobs import job_table, schedule_data
from headway.report.page import (
    TROUBLE,
    Cell,
    Column,
    asset,
    change,
    colour_dot,
    facts_table,
    ledger_section,
    number,
    page,
    percent,
    provenance_section,
    quantity,
    section,
    span,
    strong,
    table,
    tabs,
    verdict_section,
)
from headway.schedule import WHY, Schedule
from headway.workload.divisions import divisions

SMALL = 0.05
"""Relative differences below this may be an accident of one log."""

JUDGED = {
    "mean_wait": "mean wait",
    "p95_wait": "95th percentile of the waits",
    "mean_bsld": "mean bounded slowdown",
}
"""What policies are judged by, in this order."""


def log_name(schedule: Schedule) -> str:
    """The log as people call it: its file's name without endings; that of a site by its folder."""
    path = PurePath(schedule.workload.source.name if schedule.workload.source else "")
    name = path.name
    for ending in (".gz", ".swf", ".csv", ".txt", ".json"):
        name = name.removesuffix(ending)
    if name == "jobs" and path.parent.name:
        name = path.parent.name
    return name if name not in ("", "-", "log") else "the log"


def verdict_of(comparison: Comparison) -> tuple[list[str], str]:
    """Paragraphs of HTML, and what to be careful about."""
    if len(comparison.schedules) == 1 or not any(map(len, comparison.schedules)):
        return of_one(comparison.schedules[0], comparison.summaries[0]), ""
    rows = {row.metric: row for row in comparison.rows()}
    each = [
        _against_first(comparison, rows, place, difference)
        for place, difference in enumerate(comparison.differences, start=1)
    ]
    special = _special(comparison.names, comparison.summaries)
    return [_best(comparison, rows), *special, *each], _care(comparison, rows)


def of_one(schedule: Schedule, summary: dict[str, Any]) -> list[str]:
    """Paragraphs of HTML that describe one schedule."""
    if not len(schedule):
        return [f"{strong(schedule.policy)} had no job to schedule: {_dropped(schedule)}"]
    reasons = [(int((schedule.why == code).sum()), name) for code, name in enumerate(WHY)]
    shares = [
        f"{percent(count / len(schedule), 0)} {_REASONS.get(name, name.replace('_', ' '))}"
        for count, name in sorted(reasons, reverse=True)[:3]
        if count
    ]
    worst = int(schedule.wait.argmax())
    job = int(schedule.workload.columns["job"][worst])
    median = summary["median_wait"]
    waited = f"waited at most {strong(span(median))}" if median else "did not wait"
    first = (
        f"At least half of the {counted(len(schedule), 'job')} {waited}, the mean wait is "
        f"{strong(span(summary['mean_wait']))}, and one job in twenty waited longer than "
        f"{strong(span(summary['p95_wait']))}. {strong(percent(summary['utilization']))} of the machine was "
        f"in use over {span(summary['makespan'])}."
    )
    second = f"Of the jobs, {listed(shares)}. The longest wait, {span(summary['max_wait'])}, is job {job}'s"
    second += f" on {counted(int(schedule.procs[worst]), 'processor')}."
    third = f"The mean bounded slowdown is {number(summary['mean_bsld'])}, its median "
    third += f"{number(summary['median_bsld'])}; {_killed(int(summary['killed'] or 0))}"
    third += f" at the walltime. {_dropped(schedule)}"
    return [first, *_special([""], [summary]), escape(second), escape(third)]


def _special(names: Sequence[str], summaries: Sequence[dict[str, Any]]) -> list[str]:
    """What became of deadlines and of urgent jobs, where there are some."""
    found = []
    for count, title, told in (
        (
            "deadlines",
            "Deadlines met",
            lambda one: f"{number(one['deadlines_met'])} of {number(one['deadlines'])}",
        ),
        ("urgent_jobs", "Mean wait of urgent jobs", lambda one: span(one["urgent_mean_wait"])),
    ):
        if all(summary.get(count) for summary in summaries):
            each = zip(names, map(told, summaries), strict=True)
            found.append(
                f"{title}: {listed([f'{escape(name)} {strong(text)}'.strip() for name, text in each])}."
            )
    return found


_REASONS = {
    "immediate": "started at once",
    "head": "started from the head of the queue",
    "backfill": "were backfilled",
    "reservation": "started at their reservation",
    "redirected": "were redirected",
    "urgent": "started as urgent jobs",
}


def _dropped(schedule: Schedule) -> str:
    dropped = schedule.workload.ledger.dropped
    if not dropped:
        return ""
    were = "was" if dropped == 1 else "were"
    return f"{counted(dropped, 'job')} of the log {were} not scheduled; the ledger says why."


def _killed(jobs: int) -> str:
    return f"{counted(jobs, 'job') if jobs else 'no job'} {'were' if jobs > 1 else 'was'} killed"


def _care(comparison: Comparison, rows: dict[str, Row]) -> str:
    changes = [share for name in JUDGED if name in rows for share in rows[name].change if share]
    small = any(abs(share) < SMALL for share in changes)
    few = "Differences of a few percent, as some here are," if small else "Small differences"
    notes = [
        "One log is one sample, and a small change of the input can change a schedule much.",
        f"{few} may be accidents. A campaign over many weeks tells more.",
    ]
    capacities = {schedule.capacity for schedule in comparison.schedules}
    if len(capacities) > 1 and comparison.kind != "machines":
        notes.append("The runs did not have the same number of processors.")
    if comparison.unlike:
        told = [f"{words} of {counted(jobs, 'job')}" for words, jobs in comparison.unlike.items()]
        notes.append(f"The runs differ in the {listed(told)}, and other differences may come from that.")
    if not comparison.same_jobs:
        notes.append(
            "Metrics are of the jobs of each run; gains and losses are those of the jobs they share."
        )
    return escape(" ".join(notes))


def _best(comparison: Comparison, rows: dict[str, Row]) -> str:
    """Who has the lowest numbers; nobody where each run has jobs of its own, such as those of other weeks."""
    if not comparison.same_jobs:
        runs = zip(comparison.names, comparison.schedules, strict=True)
        counts = [f"{strong(name)} has {counted(len(schedule), 'job')}" for name, schedule in runs]
        return f"The runs did not schedule the same jobs: {listed(counts)}. None is called the better one."
    leaders: dict[str, list[str]] = {}
    for name, words in JUDGED.items():
        values = rows[name].values if name in rows else ()
        known = [value for value in values if value is not None]
        if known:
            best = [comparison.names[place] for place, value in enumerate(values) if value == min(known)]
            leaders.setdefault(" and ".join(best), []).append(words)
    jobs = number(max(len(schedule) for schedule in comparison.schedules))
    log = escape(log_name(comparison.schedules[0]))
    which = f"{jobs} generated jobs" if log == "generated" else f"the {jobs} jobs of {log}"
    few = len(comparison.names) == 2
    opening = "On " if few else f"Among {_count(len(comparison.names))} {comparison.kind} on "
    opening += which
    one = "has the lower" if few else "has the lowest"
    found = [
        f"{strong(name)} {'have the lowest' if ' and ' in name else one} {escape(listed(words))}"
        for name, words in leaders.items()
    ]
    return f"{opening}, {', while '.join(found)}." if found else f"{opening}, none has a job to judge by."


def _against_first(comparison: Comparison, rows: dict[str, Row], place: int, each: Difference) -> str:
    parts = []
    for name, words in JUDGED.items():
        row = rows.get(name)
        if row is not None and name != "p95_wait" and row.values[place] is not None:
            parts.append(_moved(row, words, place))
    use = rows["utilization"].values
    if use[0] is not None and use[place] is not None:
        before, after = percent(use[0]), percent(use[place])
        moved = f"stays at {after}" if before == after else f"goes from {before} to {after}"
        parts.append(f"utilization {moved}")
    total = max(each.earlier + each.later + each.same, 1)
    early, late = percent(each.earlier / total, 0), percent(each.later / total, 0)
    starts = f"{early} of the jobs start earlier, {late} later."
    if not each.earlier and not each.later:
        starts = "Every job starts when it did."
    name, first = strong(comparison.names[place]), escape(comparison.names[0])
    text = f"{name} instead of {first}: {listed(parts)}. {starts}"
    sizes = [(verb, found[0].name) for verb, found in (
        ("gain", each.winners("size", 1)), ("lose", each.losers("size", 1))) if found]  # fmt: skip
    if sizes:
        told = [f"jobs of {name} processor{'s' * (name != '1')} {verb} most" for verb, name in sizes]
        text += f" In all, {escape(listed(told))}."
    return text


def _moved(row: Row, words: str, place: int) -> str:
    show = span if row.unit == "s" else number
    before, after, share = row.values[0], row.values[place], row.change[place]
    if before == after:
        return f"the {words} stays at {show(after)}"
    verb = "falls" if (after or 0) < (before or 0) else "rises"
    much = f' <span class="{row.verdict[place]}">({change(share)})</span>' if share is not None else ""
    return f"the {words} {verb} from {show(before)} to {strong(show(after))}{much}"


def _count(items: int) -> str:
    return {3: "three", 4: "four", 5: "five", 6: "six"}.get(items, str(items))


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
    verdict, for runs whose meaning is known better; only what it tells apart has a colour.
    """
    comparison = compare(schedules, tau=tau, names=names)
    colours = [run_colour(place) for place in range(len(schedules))]
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
        asset("charts.html").replace("<h3>Bounded slowdown", f"<h3>Bounded slowdown (tau = {tau:g} s)"),
        _classes(comparison, classes, colours, keys),
        *([_changes(comparison)] if len(schedules) > 1 else []),
        *(["</div>"] if opening else []),
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
    paragraphs, care = verdict_of(comparison)
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
