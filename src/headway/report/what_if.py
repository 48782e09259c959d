"""The page for whoever decides: what a change does in sentences and a table, then the runs themselves."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from headway.report.assembly import TROUBLE, section, tabs, verdict_section
from headway.report.schedules import schedules_page
from headway.report.table import Cell, Column, table
from headway.report.words import number, span
from headway.what_if import Answer
from headway.what_if.answer import SURE
from headway.what_if.sentences import cautions, findings

BELOW = """Means over all phases of the controller's clocks. The sections below show the runs of the first
phase in detail, so their numbers differ a little."""


def what_if_page(answers: Sequence[Answer], command: str = "") -> str:
    """The whole page as text; `command` is the one that makes it."""
    schedules = [answers[0].base, *(found.variant for found in answers)]
    names = ["base", *(found.name for found in answers)]
    title = "What if: " + ", or ".join(found.name for found in answers)
    return schedules_page(schedules, command, names=names, title=title, opening=_opening(answers))


def _opening(answers: Sequence[Answer]) -> str:
    told = []
    for found in answers:
        first, *others = findings(found)
        told += [f"<strong>{escape(first)}</strong>", *map(escape, others)]
    *truth, care = map(escape, cautions(answers[0]))
    words = verdict_section([*told, *truth], care, TROUBLE)
    panels = [(f"who-{place}", found.name, _table(found)) for place, found in enumerate(answers)]
    content = tabs(panels) if len(panels) > 1 else panels[0][2]
    return words + section(
        "who", "Who gains and who loses", BELOW if _seeds(answers) else "", content, long=True
    )


def _seeds(answers: Sequence[Answer]) -> bool:
    return any(len(found.changes) > 1 for found in answers)


def _table(found: Answer) -> str:
    columns = [Column("whose jobs"), Column("jobs", number=True)]
    columns += [Column("wait now", number=True), Column("wait with the change", number=True)]
    columns += [Column("difference", number=True), Column("bounds", number=True), Column("sure")]
    lines = []
    for one in (*found.classes, *found.users):
        bounds = "–" if one.bounds is None else " to ".join(map(_signed, one.bounds))
        judged = "" if not one.sure else "better" if one.difference < 0 else "worse"
        lines.append([
            Cell(f"{one.kind} {one.name}"), Cell(number(one.jobs), one.jobs),
            Cell(span(one.base), one.base), Cell(span(one.value), one.value),
            Cell("", one.difference, _signed(one.difference), judged),
            Cell(bounds, one.low),
            Cell(SURE[one.sure]),
        ])  # fmt: skip
    return table(columns, lines)


def _signed(seconds: float) -> str:
    return f"+{span(seconds)}" if seconds > 0 else span(seconds)
