"""Runs what the slides need, and writes it up."""

from __future__ import annotations

from collections.abc import Sequence

from headway.figures.style import save
from headway.papers import Request
from headway.papers.log import Log
from headway.papers.page import write_page
from headway.papers.urgent import figures, seeds, tables
from headway.papers.urgent.claims import claims
from headway.papers.urgent.logs import open_logs
from headway.papers.urgent.runs import LOG, Run, Runs, dedicated
from headway.papers.verdicts import Estimate, Reproduction
from headway.plain import counted

TITLE = "Preemptive parallel job scheduling for heterogeneous systems supporting urgent computing (slides)"
SEEDS, QUICK_SEEDS = 5, 2
PART, QUICK_PART = 20_000, 1_000
"""Jobs of a log among which the rates of urgent jobs are tried."""

DRAWN = "drawn from Table 3 for each job"
OF_THE_LOG = "those of the log, drawn from Table 3 where it says none"
"""Memory sizes, for the page."""


def reproduce(asked: Request) -> Reproduction:
    """Everything in order; each run is kept in the folder as soon as it is measured."""
    folder, sizes = asked.folder, asked.sizes
    logs, runs = open_logs(asked.traces, asked.quick), Runs(folder, asked.say, sizes)
    part = QUICK_PART if asked.quick else PART
    draws = asked.seeds or (QUICK_SEEDS if asked.quick else SEEDS)
    result = Reproduction(TITLE, claims(runs, logs, draws))
    result.tables = {
        "Table 2": tables.lateness(runs, logs),
        "Table 1": tables.margins(runs, logs),
        "Regular jobs": tables.regular(runs, logs),
        "Swap model": tables.model(),
        "Suspicious points": tables.suspicious(),
        "Longer swaps": tables.swaps(runs, logs),
        "Sizes": tables.sizes(runs, logs),
        "Readings": tables.readings(runs, logs),
        "Modes": tables.modes(runs, logs),
        "Seeds": seeds.table(runs, logs, draws),
        "Rates": tables.rates(runs, logs, part),
    }
    result.notes = notes(runs, logs, part, draws)
    made = {
        "flow": figures.flow(),
        "cases": figures.cases(),
        "table-3": figures.table_3(),
        "untreated": figures.without_treatment(runs, logs),
        "regular": figures.regular_jobs(runs, logs),
        "swaps": figures.longer_swaps(runs, logs),
        "rates": figures.urgent_rates(runs, logs, part),
    }
    result.files = [save(figure, folder / f"urgent-{name}.svg") for name, figure in made.items()]
    values = {
        "logs": ", ".join(log.described for log in logs),
        "drawn": DRAWN if sizes != LOG else OF_THE_LOG,
        "draws": counted(draws, "time"),
    }
    result.files.append(write_page("urgent", result, folder, values))
    return result


def notes(runs: Runs, logs: Sequence[Log], part: int, draws: int) -> list[str]:
    """What the numbers say beyond the slides, a sentence for each log."""
    said = []
    for log in logs:
        costs = {
            title: seeds.compared(runs, log, policy, other, draws) for title, policy, other in seeds.COMPARED
        }
        apart = runs.get(log, tables.APART)
        easy = runs.get(log, Run("easy", count=0))["regular_mean_response"]
        nodes = tables.change(apart["regular_mean_response"] / easy)
        lost = runs.get(log, Run("ujfb(preempt=kill)"))["wasted_area"] / 3600
        rate = tables.borne(runs, log, part)
        bears = (
            f"Up to {rate:g} urgent jobs an hour keep"
            if rate
            else f"Not even {tables.RATES[0]:g} an hour keep"
        )
        less = costs["kill against suspend"]
        verdict = (
            "no difference that could be distinguished from chance",
            "killing costs more",
            "killing costs less",
        )
        said.append(
            f"{log.title}: 100 urgent jobs change the mean response of regular jobs by "
            f"{percent(costs['suspend against no urgent jobs'])} when others are suspended for them and by "
            f"{percent(costs['kill against no urgent jobs'])} when they are killed ({lost:,.0f} "
            "processor-hours lost with the first seed); killing against suspending "
            f"{percent(less)}: {verdict[less.side()]}. With {dedicated(log)} dedicated processors it would "
            f"be {nodes} ({apart['dropped']} jobs could not run at all). {bears} U_L within {tables.LIMIT:g}."
        )
    return said


def percent(change: Estimate) -> str:
    """A change with its interval."""
    return change.text(" %", 2, True)
