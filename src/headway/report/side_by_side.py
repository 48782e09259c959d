"""The report of runs of several logs: each described by itself, nothing paired and no winner."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from io import StringIO
from typing import Any

from headway.figures import distribution
from headway.figures.style import colour_of
from headway.metrics import summarise
from headway.metrics.catalogue import BY_NAME, unit_of, unit_text
from headway.plain import counted
from headway.report.page import (
    Cell,
    Column,
    facts_table,
    ledger_section,
    number,
    page,
    percent,
    quantity,
    section,
    span,
    strong,
    table,
    tabs,
    verdict_section,
)
from headway.report.schedules import log_name, of_one
from headway.schedule import Schedule

CARE = """The runs are of different logs. Job 1 of one is not job 1 of another, so nothing here is paired. A
difference between two columns may come from the logs, the machines or the policies."""

ABOUT_CURVES = "The share of the jobs at or below a value."


def side_by_side_page(
    schedules: Sequence[Schedule], names: Sequence[str], command: str = "", title: str = ""
) -> str:
    """The whole page as text. `command` is the one that makes this report."""
    summaries = [summarise(schedule) for schedule in schedules]
    heading = title or " and ".join(names)
    parts = [
        f'<h1>{escape(heading)}</h1><p class="lead">Several logs, side by side</p>',
        verdict_section(_told(schedules, names, summaries), escape(CARE)),
        _metrics(schedules, names, summaries),
        section("distributions", "Distributions", ABOUT_CURVES, _curves(schedules, names)),
        section("sizes", "By size", "", tabs(_sizes(names, summaries)), long=True),
        *(
            _renamed(ledger_section(each.workload.ledger), name)
            for each, name in zip(schedules, names, strict=True)
        ),
        _provenance(schedules, names, summaries, command),
    ]
    links = [("verdict", "In words"), ("metrics", "Metrics"), ("distributions", "Distributions"),
             ("sizes", "By size"), ("provenance", "Provenance")]  # fmt: skip
    return page(heading, "\n".join(parts), links, {"kind": "side by side"})


def _told(
    schedules: Sequence[Schedule], names: Sequence[str], summaries: Sequence[dict[str, Any]]
) -> list[str]:
    paragraphs = []
    for schedule, name, summary in zip(schedules, names, summaries, strict=True):
        lead = f"{strong(name)} ({escape(log_name(schedule))}, {counted(schedule.capacity, 'processor')}): "
        paragraphs.append(f"{lead}{of_one(schedule, summary)[0]}")
    return paragraphs


def _metrics(schedules: Sequence[Schedule], names: Sequence[str], summaries: Sequence[dict[str, Any]]) -> str:
    columns = [Column("metric"), Column("unit")]
    columns += [Column(name, number=True, colour=colour_of(place)) for place, name in enumerate(names)]
    lines = [
        [Cell("log"), Cell(""), *(Cell(log_name(schedule)) for schedule in schedules)],
        [Cell("policy"), Cell(""), *(Cell(schedule.policy, wrap=True) for schedule in schedules)],
        [Cell("processors"), Cell("processors"), *(Cell(number(s.capacity), s.capacity) for s in schedules)],
    ]
    for metric in BY_NAME:
        values = [summary.get(metric) for summary in summaries]
        if any(isinstance(value, int | float) and value for value in values):
            unit = unit_of(metric)
            words = [span(value) if unit == "s" and value and value >= 120 else "" for value in values]
            cells = [
                Cell(number(value), value, f"({said})" if said else "")
                for value, said in zip(values, words, strict=True)
            ]
            lines.append([Cell(metric.replace("_", " ")), Cell(unit_text(unit)), *cells])
    return section("metrics", "Metrics", "", table(columns, lines, whole=True), long=True)


def _curves(schedules: Sequence[Schedule], names: Sequence[str]) -> str:
    pictures = []
    for measure, words in (("wait", "distribution of waits"), ("bsld", "distribution of bounded slowdowns")):
        text = StringIO()
        distribution(*schedules, measure=measure, names=names).savefig(text, format="svg")
        data = base64.b64encode(text.getvalue().encode()).decode()
        pictures.append(f'<img class="figure" alt="{words}" src="data:image/svg+xml;base64,{data}">')
    return f'<div class="pair">{"".join(pictures)}</div>'


def _sizes(names: Sequence[str], summaries: Sequence[dict[str, Any]]) -> list[tuple[str, str, str]]:
    columns = [Column("processors"), Column("jobs", number=True), Column("processor-hours", number=True)]
    columns += [Column("mean wait", number=True), Column("mean bounded slowdown", number=True)]
    panels = []
    for place, (name, summary) in enumerate(zip(names, summaries, strict=True)):
        lines = [
            [Cell(str(row["size"])), Cell(number(row["jobs"]), row["jobs"]),
             Cell(number(row["area"] / 3600), row["area"]),
             Cell(quantity(row["mean_wait"], "s"), row["mean_wait"]),
             Cell(number(row["mean_bsld"]), row["mean_bsld"])]
            for row in summary["by_size"]
        ]  # fmt: skip
        panels.append((f"sizes-{place}", name, table(columns, lines)))
    return panels


def _provenance(
    schedules: Sequence[Schedule], names: Sequence[str], summaries: Sequence[dict[str, Any]], command: str
) -> str:
    parts = [f"<h3>This report was made by</h3><pre>{escape(command)}</pre>"] if command else []
    for schedule, name, summary in zip(schedules, names, summaries, strict=True):
        source = schedule.workload.source
        facts = {
            "log": source.name if source else "–",
            "SHA-256 of the log": (source.sha256 if source else "") or "–",
            "policy": schedule.policy,
            "utilization": percent(summary["utilization"]),
            "made by": str(schedule.provenance.get("command", "–")),
        }
        parts.append(f"<h3>{escape(name)}</h3>{facts_table(facts)}")
    return section("provenance", "Provenance", "", "".join(parts), long=True)


def _renamed(part: str, name: str) -> str:
    return part.replace('id="ledger"', "", 1).replace("<h2>Ledger", f"<h2>Ledger of {escape(name)}", 1)
