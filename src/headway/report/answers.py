"""The pages of ``what-if --report`` and ``replay --report``: an answer first, then the runs themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from headway.policies.spec import parse_spec
from headway.replay import Fidelity, recorded
from headway.replay.sentences import score
from headway.report.page import (
    TROUBLE,
    Cell,
    Column,
    number,
    percent,
    section,
    span,
    table,
    tabs,
    verdict_section,
)
from headway.report.schedules import log_name, schedules_page
from headway.schedule import Schedule
from headway.what_if import Answer
from headway.what_if.answer import SURE
from headway.what_if.causes import Cause, told
from headway.what_if.sentences import cautions, findings

BELOW = """Means over all phases of the controller's clocks. The sections below show the runs of the first
phase in detail, so their numbers differ a little."""


FIGURE = """The mark is the difference of the mean wait, left of the line where jobs wait less; the bar is its
95 % interval over weeks and clock phases. Only differences that are more than chance have a colour."""


def what_if_page(answers: Sequence[Answer], command: str = "") -> str:
    """The whole page as text; `command` is the one that makes it."""
    schedules = [answers[0].base, *(found.variant for found in answers)]
    names = ["base", *(found.name for found in answers)]
    title = "What if: " + ", or ".join(_in_words(found) for found in answers)
    return schedules_page(schedules, command, names=names, title=title, opening=_opening(answers))


def _in_words(found: Answer) -> str:
    """The change as one says it: the nodes or processors where it gives others, else as it was given."""
    sites = [run.platform.site for run in (found.base, found.variant)]
    nodes = [0 if site is None else len(site.nodes) for site in sites]
    procs = [run.capacity for run in (found.base, found.variant)]
    if nodes[0] != nodes[1] and all(nodes):
        return f"{nodes[1]:,} nodes instead of {nodes[0]:,}"
    return f"{procs[1]:,} processors instead of {procs[0]:,}" if procs[0] != procs[1] else found.name


def _in_short(found: Answer) -> str:
    """What the change does to everybody's wait, and whether that may be chance."""
    waits, seeds = found.overall, found.whole.changes
    words = _in_words(found)
    if found.same:
        return f"With {words} every job starts when it did."
    before, after = span(waits.base), span(waits.value)
    if before == after:
        return f"With {words} a job still waits {after} on average."
    if not waits.enough:
        weeks = "one week is" if waits.blocks == 1 else f"{waits.blocks} weeks are"
        sure = f"{weeks} too few to tell whether that is chance"
    else:
        chance = not waits.significant or min(seeds) < 0 < max(seeds)
        sure = "this may be chance" if chance else "this is more than chance"
    return f"With {words} a job waits {after} on average instead of {before}; {sure}."


def _opening(answers: Sequence[Answer]) -> str:
    words = verdict_section(
        [f"<strong>{escape(_in_short(found))}</strong>" for found in answers], "", TROUBLE
    )
    figures = _one_or_tabs(
        [(f"change-{place}", found.name, _figure(found)) for place, found in enumerate(answers)]
    )
    who = _one_or_tabs([
        (f"who-{place}", found.name, _paragraphs(findings(found)) + _table(found))
        for place, found in enumerate(answers)
    ])  # fmt: skip
    below = BELOW if _seeds(answers) else ""
    return (
        words
        + section("difference", "How much longer or shorter jobs wait", FIGURE, figures)
        + section("who", "Who gains and who loses", below, who, long=True)
        + section("uncertain", "What is uncertain", "", _paragraphs(cautions(answers[0])))
    )


def _one_or_tabs(panels: Sequence[tuple[str, str, str]]) -> str:
    return tabs(panels) if len(panels) > 1 else panels[0][2]


def _paragraphs(sentences: Sequence[str]) -> str:
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)


def _figure(found: Answer) -> str:
    """A bar from bound to bound and a mark at the mean, for all jobs and then for each class."""
    waits = found.overall
    bounds = (waits.difference_low, waits.difference_high) if waits.enough else (None, None)
    chance = not waits.significant or min(found.whole.changes) < 0 < max(found.whole.changes)
    lines = [("all jobs", waits.pairs, waits.difference, *bounds, not chance)]
    kinds = {kind: place for place, kind in enumerate(("partition", "account", "qos", "size"))}
    for one in sorted(found.classes, key=lambda one: kinds.get(one.kind, len(kinds))):
        if one.jobs == waits.pairs:
            continue  # all jobs, under another name
        low, high = one.bounds or (None, None)
        lines.append((f"{one.kind} {one.name}", one.jobs, one.difference, low, high, bool(one.sure)))
    ends = [value for line in lines for value in line[2:5] if value is not None]
    left, right = min([0.0, *ends]), max([0.0, *ends])
    width = (right - left) or 1.0

    def at(value: float) -> str:
        return f"{100 * (value - left) / width:.2f}%"

    rows = []
    for name, jobs, difference, low, high, sure in lines:
        kind = "" if not sure else " better" if difference < 0 else " worse"
        bar = ""
        if low is not None and high is not None:
            bar = f'<i class="reach" style="left:{at(low)};width:{100 * (high - low) / width:.2f}%"></i>'
        rows.append(
            f'<div class="line{kind}"><span>{escape(name)} <small>{number(jobs)} jobs</small></span>'
            f'<div class="axis"><i class="zero" style="left:{at(0)}"></i>{bar}'
            f'<i class="mean" style="left:{at(difference)}"></i></div><b>{_signed(difference)}</b></div>'
        )
    return f'<div class="differences">{"".join(rows)}</div>'


def _seeds(answers: Sequence[Answer]) -> bool:
    return any(len(found.whole.changes) > 1 for found in answers)


def _table(found: Answer) -> str:
    columns = [Column("whose jobs"), Column("jobs", number=True)]
    columns += [Column("wait now", number=True), Column("wait with the change", number=True)]
    columns += [Column("difference", number=True), Column("bounds", number=True), Column("clear")]
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


ERRORS = """Waits in the log and in the simulation, how far a job's wait is off on average, and how many
starts are at most a minute or ten minutes away from the recorded ones."""
OVER_SEEDS = " The numbers are over all phases of the controller's clocks; the sections below show the first."
UNJUDGED = "<style>.better, .worse { color: inherit !important }</style>"
"""A simulated wait that is shorter than the recorded one is not better."""
CAUSES = "Each rule switched off in turn, and the error without it."


def replay_page(found: Fidelity, ranked: Sequence[Cause], schedule: Schedule, command: str = "") -> str:
    """The whole page as text; `schedule` is the simulation, of the first seed, and `ranked` its causes."""
    policy = parse_spec(found.policy).brief
    title = f"How near {policy} comes to {log_name(schedule)}"
    names, opening = ["recorded", policy], UNJUDGED + _score(found, ranked)
    return schedules_page([recorded(schedule), schedule], command, names=names, title=title, opening=opening)


def _score(found: Fidelity, ranked: Sequence[Cause]) -> str:
    said = [f"<strong>{escape(found.verdict)}</strong>"]
    said += [escape(f"{each[0].upper()}{each[1:]}.") for each in score(found)]
    words = verdict_section(said, more=TROUBLE)
    tables = {"all": [found.overall | {"all": "all jobs"}], "size": found.by_size, **found.by_division}
    tables |= {"user": found.by_user, "week": found.by_week}
    band = len(found.seeds) > 1
    panels = [(f"errors-{key}", key, _errors(key, rows, band)) for key, rows in tables.items()]
    about = ERRORS + (OVER_SEEDS if band else "")
    parts = [words, section("errors", "Where it is off", about, tabs(panels), long=True)]
    reasons = "".join(f"<li>{escape(each)}</li>" for each in found.reasons)
    parts.append(section("reasons", "Why waits may differ", "", f"<ul>{reasons}</ul>"))
    if ranked:
        parts.append(section("causes", "Where the rest comes from", CAUSES, _causes(found, ranked)))
    return "\n".join(parts)


def _errors(key: str, rows: Sequence[Mapping[str, Any]], band: bool) -> str:
    columns = [Column("" if key == "all" else key), Column("jobs", number=True)]
    heads = ["recorded wait", "simulated wait", *(["least", "most"] if band else [])]
    heads += ["off by, each", "median off by", "p90 off by", "within 1 min", "within 10 min"]
    columns += [Column(head, number=True) for head in heads]
    times = ["mean_recorded", "mean_simulated", *(["least_simulated", "most_simulated"] if band else [])]
    times += ["mean_absolute_error", "p50_error", "p90_error"]
    lines = [
        [
            Cell("–" if row[key] is None else str(row[key]), row[key]),
            Cell(number(row["jobs"]), row["jobs"]),
            *(Cell(span(row[name]), row[name]) for name in times),
            *(Cell(percent(row[name], 0), row[name]) for name in ("within_60", "within_600")),
        ]
        for row in rows
    ]
    return table(columns, lines, brief=True)


def _causes(found: Fidelity, ranked: Sequence[Cause]) -> str:
    columns = [Column("without")]
    heads = ("mean wait", "off by, each", "change", "standard error", "within 10 min")
    columns += [Column(head, number=True) for head in heads] + [Column("verdict")]
    lines = [
        [
            Cell(one.rule),
            Cell(span(one.mean_wait), one.mean_wait),
            Cell(span(one.error), one.error),
            Cell(span(round(one.change)), one.change),
            Cell("–" if one.spread is None else span(round(one.spread)), one.spread),
            Cell(percent(one.minutes, 0), one.minutes),
            Cell(one.verdict),
        ]
        for one in ranked
    ]
    sentences = "".join(f"<li>{escape(each)}</li>" for each in told(found, ranked))
    return table(columns, lines, whole=True) + f"<ul>{sentences}</ul>"
