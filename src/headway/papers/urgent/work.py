"""Runs what the slides need, and writes it up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from headway.figures.style import save
from headway.papers.urgent import figures, page, tables
from headway.papers.urgent.claims import claims
from headway.papers.urgent.logs import Log, open_logs
from headway.papers.urgent.runs import Run, Runs, dedicated
from headway.papers.verdicts import Reproduction

TITLE = "Preemptive parallel job scheduling for heterogeneous systems supporting urgent computing (slides)"
PART, QUICK_PART = 20_000, 1_000
"""Jobs of a log among which the rates of urgent jobs are tried."""


def work(traces: Mapping[str, str], quick: bool, folder: Path, say: Callable[[str], None]) -> Reproduction:
    """Everything in order; each run is kept in `folder` as soon as it is measured."""
    logs, runs = open_logs(traces, quick), Runs(folder, say)
    part = QUICK_PART if quick else PART
    result = Reproduction(TITLE, claims(runs, logs))
    result.tables = {
        "Table 2": tables.lateness(runs, logs),
        "Table 1": tables.margins(runs, logs),
        "Regular jobs": tables.regular(runs, logs),
        "Swap model": tables.model(),
        "Suspicious points": tables.suspicious(),
        "Longer swaps": tables.swaps(runs, logs),
        "Modes": tables.modes(runs, logs),
        "Rates": tables.rates(runs, logs, part),
    }
    result.notes = notes(runs, logs, part)
    made = {
        "untreated": figures.without_treatment(runs, logs),
        "regular": figures.regular_jobs(runs, logs),
        "swaps": figures.longer_swaps(runs, logs),
        "rates": figures.rates(runs, logs, part),
    }
    result.files = [save(figure, folder / f"urgent-{name}.svg") for name, figure in made.items()]
    result.files.append(page.write(result, folder, logs))
    return result


def notes(runs: Runs, logs: Sequence[Log], part: int) -> list[str]:
    """What the numbers say beyond the slides, a sentence for each log."""
    said = []
    for log in logs:
        base = runs.get(log, Run("conservative(compress=scratch)", count=0))["regular_mean_response"]
        costs = {
            title: 100 * (runs.get(log, Run(policy))["regular_mean_response"] / base - 1)
            for title, policy in tables.MODES
        }
        apart = runs.get(log, tables.APART)
        easy = runs.get(log, Run("easy", count=0))["regular_mean_response"]
        nodes = 100 * (apart["regular_mean_response"] / easy - 1)
        lost = runs.get(log, Run("ujfb(preempt=kill)"))["wasted_area"] / 3600
        said.append(
            f"{log.title}: 100 urgent jobs change the mean response of regular jobs by "
            f"{costs['suspend']:+.2f} % when others are suspended for them, by {costs['kill']:+.2f} % when "
            f"they are killed ({lost:,.0f} processor-hours lost), and {dedicated(log)} dedicated processors "
            f"would by {nodes:+.0f} % ({apart['dropped']} jobs could not run at all). Up to "
            f"{tables.borne(runs, log, part):g} urgent jobs an hour keep U_L within {tables.LIMIT:g}."
        )
    return said
