"""One HTML file out of its parts: words, tables, template, scripts and data, and how it was made."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from headway import __version__
from headway.metrics import Comparison
from headway.plain import counted, number_text
from headway.schedule.files import plain, run_record
from headway.units import span_text
from headway.workload import Ledger
from headway.writing import write_text

Number = int | float | None


def number(value: Number) -> str:
    """Thousands apart, four significant digits of small ones, a dash for none.

    >>> number(12345.6), number(0.123456), number(-7), number(None)
    ('12,346', '0.1235', '−7', '–')
    """
    return _minus(number_text(value, "–"))


def span(seconds: Number) -> str:
    """A time in its two largest units, a dash for none.

    >>> span(4000), span(-90), span(None)
    ('1 h 6 min', '−90 s', '–')
    """
    return "–" if seconds is None else _minus(span_text(seconds))


def _minus(text: str) -> str:
    """A number with the sign that printers set."""
    return f"−{text[1:]}" if text.startswith("-") else text


def percent(share: Number, places: int = 1) -> str:
    """A share of 1 in percent."""
    return "–" if share is None else f"{100 * share:.{places}f} %"


def change(share: Number) -> str:
    """A relative change with its sign, to a tenth of a percent.

    >>> change(-0.1234), change(0.004), change(3.2), change(-0.0001), change(-0.99999)
    ('−12.3 %', '+0.4 %', '+320 %', '≈ 0 %', '−100 %')
    """
    if share is None:
        return ""
    if abs(share) < 0.0005:
        return "≈ 0 %"
    text = f"{100 * abs(share):.0f}" if abs(share) >= 0.9995 else f"{100 * abs(share):.1f}"
    return f"{'−' if share < 0 else '+'}{text} %"


def quantity(value: Number, unit: str) -> str:
    """A number in the way that suits its unit."""
    return span(value) if unit == "s" else number(value)


def strong(text: str) -> str:
    """HTML: the text in bold."""
    return f"<b>{escape(text)}</b>"


@dataclass(frozen=True)
class Column:
    """The head of a column; `about` is shown when the pointer rests on it."""

    title: str
    number: bool = False
    about: str = ""
    colour: str = ""


@dataclass(frozen=True)
class Cell:
    """What is read, what is sorted by, and a remark beside it that may be better or worse."""

    text: str
    value: Number | str = None
    remark: str = ""
    verdict: str = ""
    wrap: bool = False


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[Cell]], *, brief: bool = False, whole: bool = False
) -> str:
    """`brief` tables print their first rows only; `whole` ones show every row without scrolling."""
    heads = "".join(
        f"<th{_class_of('number' if column.number else '')}{_title(column.about)}>"
        f"{colour_dot(column.colour)}{breakable(column.title)}</th>"
        for column in columns
    )
    body = "".join(
        "<tr>" + "".join(_cell(cell, column) for cell, column in zip(row, columns, strict=True)) + "</tr>\n"
        for row in rows
    )
    kind = "grid sort brief" if brief else "grid sort"
    frame = "scroll whole" if whole else "scroll"
    return (
        f'<div class="{frame}"><table class="{kind}"><thead><tr>{heads}</tr></thead>'
        f"<tbody>\n{body}</tbody></table></div>"
    )


def breakable(text: str) -> str:
    """Text whose long words, such as a policy in a file, may go on in the next line after a part of them."""
    return re.sub(r"\S{20,}", lambda word: re.sub(r"([/:(,=])(?=.)", r"\1<wbr>", word[0]), escape(text))


def colour_dot(colour: str) -> str:
    """The mark by which a schedule is known in all charts; nothing for no colour."""
    return f'<i style="background:{colour}"></i>' if colour else ""


def _cell(cell: Cell, column: Column) -> str:
    classes = " ".join(name for name, on in (("number", column.number), ("wrap", cell.wrap)) if on)
    raw = "" if cell.value is None else f"{cell.value}"
    value = "" if cell.value is None and not column.number else f' data-value="{escape(raw)}"'
    remark = f" <small{_class_of(cell.verdict)}>{escape(cell.remark)}</small>" if cell.remark else ""
    # On a narrow screen a row is a card, and each cell says what it is.
    label = f' data-label="{escape(column.title)}"'
    return f"<td{_class_of(classes)}{label}{value}><span>{escape(cell.text)}{remark}</span></td>"


def _class_of(names: str) -> str:
    return f' class="{names}"' if names else ""


def _title(text: str) -> str:
    return f' title="{escape(text)}"' if text else ""


SCRIPTS = (
    "columns.js", "format.js", "model.js", "canvas.js", "timeline.js", "job.js",
    "painting.js", "gantt.js",
    "distribution.js", "tables.js", "campaign.js", "page.js",
)  # fmt: skip
"""In the order in which they build on each other."""


def asset(name: str) -> str:
    """A file of the package's assets folder."""
    return (files("headway.report") / "assets" / name).read_text(encoding="utf-8")


def section(
    name: str, title: str, about: str, content: str, *, long: bool = False, screen: bool = False
) -> str:
    """A part of the page that can be linked to; `about` is plain text.

    A `long` one may break over printed pages, a `screen` one is not printed.
    """
    told = f'<p class="about">{escape(about)}</p>' if about else ""
    kind = ' class="long"' if long else ' class="screen"' if screen else ""
    return f'<section id="{name}"{kind}><h2>{escape(title)}</h2>{told}{content}</section>'


TROUBLE = '<p class="trouble" id="trouble" hidden></p>'
"""Where a page says what it cannot show."""


def verdict_section(paragraphs: Sequence[str], care: str = "", more: str = "") -> str:
    """What the runs tell, in paragraphs of HTML; ``care`` says how to take it."""
    body = "".join(f"<p>{text}</p>" for text in paragraphs) + (f'<p class="care">{care}</p>' if care else "")
    body = re.sub(r"(?<=\d) (?=(?:%|s|min|h|d|years)(?!\w))", "\u00a0", body)  # a unit stays with its number
    body = re.sub(r"(?<=[\s(])-(?=\d)", "−", body)
    return f'<section id="verdict" class="verdict">{body}{more}</section>'


def tabs(panels: Sequence[tuple[str, str, str]]) -> str:
    """Panels (name, title, content) of which one is shown at a time; on paper, one below the other."""
    buttons = "".join(
        f'<button type="button" data-panel="{name}" aria-pressed="{"false" if place else "true"}">'
        f"{escape(title)}</button>"
        for place, (name, title, _) in enumerate(panels)
    )
    shown = "".join(
        f'<div id="{name}" class="panel"{" hidden" if place else ""}>'
        f'<h3 class="paper">{escape(title)}</h3>{content}</div>'
        for place, (name, title, content) in enumerate(panels)
    )
    return f'<div class="bar"><span class="group tabs">{buttons}</span></div>{shown}'


def page(title: str, body: str, links: Sequence[tuple[str, str]], data: dict[str, Any]) -> str:
    """The whole file. What a log or a policy is called cannot end a script or start a tag."""
    text = json.dumps(plain(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Template(asset("page.html")).substitute(
        version=__version__,
        title=escape(title),
        style=asset("style.css"),
        links="".join(f'<a href="#{name}">{escape(words)}</a>' for name, words in links),
        body=body,
        data=text.replace("<", "\\u003c"),
        script="\n".join(asset(name) for name in SCRIPTS),
    )


def write(text: str, path: Path) -> Path:
    """The file appears whole or not at all."""
    write_text(path, text)
    return path


def ledger_section(ledger: Ledger) -> str:
    """What was odd in the log and what was done about it."""
    sums = (
        f"{counted(ledger.total, 'job')} in the log = {number(ledger.kept)} scheduled"
        f" + {number(ledger.dropped)} dropped."
    )
    if not len(ledger):
        return section("ledger", "Ledger", f"The reader found nothing unusual in the log. {sums}", "")
    columns = [Column("rule"), Column("what was done"), Column("jobs", number=True), Column("first of them")]
    lines = [
        [
            Cell(entry.rule),
            Cell(entry.action, wrap=True),
            Cell(number(entry.count), entry.count),
            Cell(", ".join(map(str, entry.jobs)) + ", …" * (entry.count > len(entry.jobs)), wrap=True),
        ]
        for entry in ledger
    ]
    about = f"What was odd in the log, and what was done about it. {sums}"
    return section("ledger", "Ledger", about, table(columns, lines), long=True)


def provenance_section(comparison: Comparison, command: str) -> str:
    """Commands, inputs by their hashes, versions and parameters of every run."""
    commands = dict.fromkeys(
        str(schedule.provenance["command"])
        for schedule in comparison.schedules
        if "command" in schedule.provenance
    )
    parts = ["<h3>The runs were made by</h3>" + "".join(map(_listing, commands))] if commands else []
    if command:
        parts.append("<h3>This report was made by</h3>" + _listing(command))
    source = comparison.schedules[0].workload.source
    facts: dict[str, str] = {}
    if source:
        facts |= {"log": source.name, "SHA-256 of the log": source.sha256 or "–"}
    transformations = comparison.schedules[0].workload.transformations
    if transformations:
        facts["transformations"] = "; ".join(transformations)
    for name, schedule in zip(comparison.names, comparison.schedules, strict=True):
        facts[f"policy {name}" if len(comparison.names) > 1 else "policy"] = schedule.policy
    facts["version"] = str(run_record(comparison.schedules[0])["version"])
    parts.append(facts_table(facts))
    for name, schedule in zip(comparison.names, comparison.schedules, strict=True):
        record = {key: value for key, value in run_record(schedule).items() if key != "ledger"}
        parts.append(record_details(f"run.json of {name}", record))
    return section("provenance", "Provenance", "", "".join(parts), long=True)


def facts_table(facts: Mapping[str, str]) -> str:
    """Names and texts, one per line."""
    lines = [f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in facts.items()]
    return f'<table class="facts">{"".join(lines)}</table>'


def record_details(title: str, record: Mapping[str, Any]) -> str:
    """Plain data, folded away until asked for."""
    text = json.dumps(plain(dict(record)), indent=2, ensure_ascii=False)
    return f'<details class="screen"><summary>{escape(title)}</summary>{_listing(text)}</details>'


def _listing(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"
