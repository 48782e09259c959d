"""The page on how near a simulation comes to its log: whether to trust it, where it is off, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from headway.policies.spec import parse_spec
from headway.replay import Fidelity, recorded
from headway.replay.sentences import score
from headway.report.assembly import TROUBLE, section, tabs, verdict_section
from headway.report.schedules import schedules_page
from headway.report.table import Cell, Column, table
from headway.report.verdict import log_name
from headway.report.words import number, percent, span
from headway.schedule import Schedule
from headway.what_if.causes import Cause, told

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
    names, opening = ["recorded", policy], UNJUDGED + _opening(found, ranked)
    return schedules_page([recorded(schedule), schedule], command, names=names, title=title, opening=opening)


def _opening(found: Fidelity, ranked: Sequence[Cause]) -> str:
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
