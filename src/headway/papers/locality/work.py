"""Runs what the paper needs, and writes it up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from headway.figures.style import save
from headway.papers.locality import figures, page, tables
from headway.papers.locality.claims import claims
from headway.papers.locality.runs import Runs
from headway.papers.locality.weeks import (
    BUSY,
    LIGHT,
    QUICK,
    SATURATED,
    SEARCH,
    WEEK,
    Week,
    generated_week,
    log_week,
)
from headway.papers.verdicts import Reproduction

TITLE = "Locality-aware batch scheduling of jobs sharing input files (slides of 2022 and later drafts)"
SEARCHED = 4
"""Saturated weeks over which weights are searched, half of them to choose."""


def work(traces: Mapping[str, str], quick: bool, folder: Path, say: Callable[[str], None]) -> Reproduction:
    """Everything in order; each run is kept in `folder` as soon as it is measured."""
    runs = Runs(folder, say)
    weeks, sized = open_weeks(traces, quick)
    best = None
    result = Reproduction(TITLE)
    result.tables = {f"Ten rules: {week.title}": tables.ten_rules(runs, week) for week in weeks}
    result.tables["Slides"] = tables.slides(runs, weeks)
    result.tables["Sizes"] = tables.sizes(runs, sized)
    result.tables["Beyond"] = tables.beyond(runs, weeks[:1])
    if not quick:
        best, result.tables["Weights"] = tables.search(runs, searched_weeks(traces, weeks))
    result.claims = claims(runs, weeks, sized, best)
    result.notes = notes(runs, weeks)
    result.files = [
        save(figures.rules(runs, weeks), folder / "locality-rules.svg"),
        save(figures.sizes(runs, sized), folder / "locality-sizes.svg"),
        page.write(result, folder, weeks),
    ]
    return result


def open_weeks(traces: Mapping[str, str], quick: bool) -> tuple[list[Week], list[Week]]:
    """Weeks with files of one memory size, and the same with three; of the logs given, or generated."""
    span = QUICK if quick else WEEK
    if traces:
        both = [
            [log_week(name, traces[name], span, sized) for name in sorted(traces)] for sized in (False, True)
        ]
        return both[0], both[1]
    weeks = [generated_week(kind, span) for kind in (LIGHT, BUSY, SATURATED)]
    return weeks, [generated_week(kind, span, sizes=True) for kind in (LIGHT, BUSY)]


def searched_weeks(traces: Mapping[str, str], weeks: Sequence[Week]) -> list[Week]:
    """The weeks of the search: those at hand where they are logs, else shorter saturated ones."""
    if len(traces) >= 2:
        return list(weeks)
    return [generated_week(SATURATED, SEARCH, seed) for seed in range(2, 2 + SEARCHED)]


def notes(runs: Runs, weeks: Sequence[Week]) -> list[str]:
    """What each week was like, a sentence for each."""
    said = []
    for week in weeks:
        plain, lea = runs.get(week, "fcfs"), runs.get(week, "lea")
        easy = runs.get(week, "easy")
        said.append(
            f"{week.title.capitalize()}: {plain['jobs']:,} jobs are judged, in {plain['sessions']:,} "
            f"sessions; under FCFS {plain['mean_queue']:.0f} jobs wait on average. LEA saves "
            f"{100 * (1 - lea['file_wait'] / plain['file_wait']):.0f} % of the time spent waiting for files. "
            f"EASY on the same nodes, which looks at no file, has a mean stretch of {easy['stretch']:.2f} "
            f"(FCFS {plain['stretch']:.2f}, LEA {lea['stretch']:.2f})."
        )
    return said
