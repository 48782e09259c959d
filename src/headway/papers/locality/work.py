"""Runs what the paper needs, and writes it up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from headway.figures.style import save
from headway.papers import Request
from headway.papers.locality import figures, tables
from headway.papers.locality.claims import claims
from headway.papers.locality.rackham import is_day
from headway.papers.locality.runs import BANDWIDTH, Runs, Wanted, mean
from headway.papers.locality.weeks import (
    BUSY,
    LIGHT,
    NARROW,
    QUICK,
    SATURATED,
    SEARCH,
    WEEK,
    Group,
    Week,
    day_group,
    generated,
    log_group,
)
from headway.papers.page import markdown_table, write_page
from headway.papers.verdicts import Reproduction, capital

TITLE = "Locality-aware batch scheduling of jobs sharing input files (slides of 2022 and later drafts)"
Halves = tuple[Sequence[Week], Sequence[Week]]


def reproduce(asked: Request) -> Reproduction:
    """Everything in order; each run is kept in the folder as soon as it is measured."""
    traces, quick, folder = asked.traces, asked.quick, asked.folder
    runs = Runs(folder, asked.say)
    days = [day_group(name, path) for name, path in sorted(traces.items()) if is_day(path)]
    traces = {name: path for name, path in traces.items() if not is_day(path)}
    groups, sized = open_weeks(traces, quick)
    halves = None if quick else searched_weeks(traces, groups)
    narrow = None if quick or traces else other_weeks()
    runs.fetch(wanted(groups, narrow, sized, halves, days), asked.progress)
    best = None
    result = Reproduction(TITLE)
    result.tables = {f"Ten rules: {group.title}": tables.ten_rules(runs, group) for group in groups}
    if narrow is not None:
        result.tables["Other widths"] = tables.other_widths(runs, narrow)
    for day in days:
        result.tables[f"Real day: {day.title}"] = tables.ten_rules(runs, day)
    result.tables["Slides"] = tables.slides(runs, groups)
    result.tables["Sizes"] = tables.sizes(runs, sized)
    result.tables["Beyond"] = tables.beyond(runs, ends(groups))
    if halves is not None:
        best, result.tables["Weights"] = tables.search(runs, halves)
    result.claims = claims(runs, groups, narrow, sized, best)
    result.notes = notes(runs, groups)
    result.files = [
        save(figures.rules(runs, groups), folder / "locality-rules.svg"),
        save(figures.by_score(runs, groups), folder / "locality-score.svg"),
        save(figures.sizes(runs, sized), folder / "locality-sizes.svg"),
        write_page("locality", result, folder, page_values(result, groups, days, quick)),
    ]
    return result


def open_weeks(traces: Mapping[str, str], quick: bool) -> tuple[list[Group], list[Group]]:
    """Weeks with files of one memory size, and the same with three; of the logs given, or generated."""
    span = QUICK if quick else WEEK
    sizes = LIGHT if quick else BUSY
    if traces:
        both = [
            [log_group(name, traces[name], span, sized) for name in sorted(traces)] for sized in (False, True)
        ]
    else:
        both = [[generated(kind, span) for kind in (LIGHT, SATURATED)], [generated(sizes, span, sizes=True)]]
    return both[0], both[1]


def ends(groups: Sequence[Group]) -> list[Group]:
    """The first and the last kind of weeks, two of each, for what lies beyond the paper."""
    chosen = [groups[0], groups[-1]] if len(groups) > 1 else list(groups)
    fewest = min(2, *(len(group.weeks) for group in chosen))
    return [Group(group.title, group.weeks[:fewest]) for group in chosen]


def searched_weeks(traces: Mapping[str, str], groups: Sequence[Group]) -> Halves:
    """The weeks to choose weights in, and those to judge the choice by: logs, else shorter generated ones."""
    kinds = groups if len(traces) >= 2 else [generated(kind, SEARCH) for kind in (LIGHT, SATURATED)]
    weeks = [week for group in kinds for week in group.weeks]
    return weeks[::2], weeks[1::2]


def other_weeks() -> Group:
    """Weeks that differ in what is ours alone: how wide jobs are."""
    return generated(NARROW, WEEK)


def wanted(
    groups: Sequence[Group],
    narrow: Group | None,
    sized: Sequence[Group],
    halves: Halves | None,
    days: Sequence[Group] = (),
) -> list[Wanted]:
    """Every run that the tables, figures and claims ask for, each once, seed by seed."""
    asked: list[tuple[Sequence[Week], Sequence[str], float]] = [
        *((group.weeks, (*tables.TEN, *tables.SLIDES, "easy"), BANDWIDTH) for group in groups),
        *((group.weeks, tables.SIZES, BANDWIDTH) for group in sized),
        *((day.weeks, tables.TEN, BANDWIDTH) for day in days),
    ]
    if narrow is not None:
        asked.append((narrow.weeks, tables.RULES, BANDWIDTH))
    for group in ends(groups):
        asked.append((group.weeks, [tables.kept(rule) for rule in tables.BEYOND], BANDWIDTH))
        asked.append((group.weeks, tables.BEYOND, tables.FAST))
    if halves is not None:
        weights = [tables.weight_policy(*pair) for pair in tables.WEIGHTS]
        asked.append(([*halves[0], *halves[1]], ["fcfs", *weights], BANDWIDTH))
    return list(
        dict.fromkeys(
            (weeks[place], policy, bandwidth)
            for place in range(max(len(weeks) for weeks, _, _ in asked))
            for weeks, policies, bandwidth in asked
            if place < len(weeks)
            for policy in policies
        )
    )


def page_values(
    result: Reproduction, groups: Sequence[Group], days: Sequence[Group], quick: bool
) -> dict[str, str | None]:
    """What the page says of the weeks; it has no section for what was not asked for."""
    ten, real = (
        [
            f"### {capital(name.partition(': ')[2])}\n\n{markdown_table(rows)}"
            for name, rows in result.tables.items()
            if name.startswith(begin)
        ]
        for begin in ("Ten rules", "Real day")
    )
    described = "; ".join(
        f"{day.title}: {len(day.weeks[0].workload):,} jobs, {int(day.weeks[0].rows.sum()):,} of them judged"
        for day in days
    )
    weeks = ", ".join(
        f"{group.title} ({len(group.weeks)} x about {np.mean([len(w.workload) for w in group.weeks]):,.0f} "
        f"jobs, offered load {np.mean([week.load for week in group.weeks]):.2f})"
        for group in groups
    )
    return {
        "platform": groups[0].weeks[0].platform,
        "weeks": weeks,
        "scale": "the small version, `--quick`" if quick else "the whole of it",
        "ten rules": "\n\n".join(ten),
        "days": described or None,
        "real days": "\n\n".join(real),
        **{name: None for name in ("Other widths", "Weights") if name not in result.tables},
    }


def notes(runs: Runs, groups: Sequence[Group]) -> list[str]:
    """What each kind of weeks was like, a sentence or two for each."""
    said = []
    for group in groups:
        plain, lea, easy = (runs.over(group, rule) for rule in ("fcfs", "lea", "easy"))
        jobs, sessions = (sum(one[number] for one in plain) for number in ("jobs", "sessions"))
        said.append(
            f"{capital(group.title)}: {jobs:,} jobs are judged, in {sessions:,} sessions; under FCFS "
            f"{mean(plain, 'mean_queue'):.0f} jobs wait on average, and a job waits "
            f"{sum(one['file_wait'] for one in plain) / jobs:.0f} s for its file (the authors' three weeks: "
            f"390, 235 and 190 s). LEA saves "
            f"{100 * (1 - mean(lea, 'file_wait') / max(mean(plain, 'file_wait'), 1e-9)):.0f} % of that. "
            f"Mean stretch of EASY on the same nodes, which looks at no file: {mean(easy, 'stretch'):.2f} "
            f"(FCFS {mean(plain, 'stretch'):.2f}, LEA {mean(lea, 'stretch'):.2f})."
        )
    return said
