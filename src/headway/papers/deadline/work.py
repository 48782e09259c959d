"""Runs what the paper needs, and writes it up."""

from __future__ import annotations

from collections.abc import Sequence

from headway.figures.style import save
from headway.papers import Request
from headway.papers.deadline import figures, tables
from headway.papers.deadline.claims import claims
from headway.papers.deadline.logs import Log, of_paper, open_logs
from headway.papers.deadline.runs import Run, Runs
from headway.papers.page import write_page
from headway.papers.verdicts import Reproduction

TITLE = "Prise en compte de tâches non-prioritaires dans l'ordonnancement batch (Compas 2016)"
SHARES = tuple(tenth / 10 for tenth in range(1, 11))
HOURS = (3.0, 6.0, 12.0, 24.0, 48.0, 72.0, 168.0, 336.0)


def reproduce(asked: Request) -> Reproduction:
    """Everything in order; each run is kept in the folder as soon as it is measured."""
    folder = asked.folder
    logs, runs = open_logs(asked.traces, asked.quick), Runs(folder, asked.say)
    result = Reproduction(TITLE, claims(runs, logs))
    result.tables = {
        "Table 1": tables.result(runs, logs, "priority"),
        "Table 2": tables.result(runs, logs, "all"),
        "Flexible tasks": tables.flexible(runs, logs),
        "Baselines": tables.baselines(runs, logs),
        "Readings": tables.readings(runs, of_paper(logs)),
        "Who pays": tables.who_pays(runs, logs, HOURS),
        "Calendar": tables.calendar(runs, logs),
    }
    result.notes = notes(runs, logs)
    dated: dict[str, str | None] = {} if len(result.tables["Calendar"]) > 1 else {"Calendar": None}
    result.files = [
        save(figures.figure_1(), folder / "deadline-figure-1.svg"),
        save(figures.by_share(runs, logs, SHARES), folder / "deadline-share.svg"),
        save(figures.by_length(runs, logs, HOURS), folder / "deadline-length.svg"),
        write_page("deadline", result, folder, {"logs": ", ".join(log.described for log in logs), **dated}),
    ]
    return result


def notes(runs: Runs, logs: Sequence[Log]) -> list[str]:
    """What the numbers say beyond the paper: what requested times cost, then a sentence for each log."""
    said = []
    for log in of_paper(logs):
        if not log.has_requests:
            said.append(
                f"{log.title}: the log has no requested times, so that there is no reading but exact ones."
            )
            continue
        plain, *both = tables.cases(runs, log, tables.REQUESTED_TIMES)
        exact, *known = tables.cases(runs, log)
        column = "priority_mean_wait"
        changes = [tables.signed(tables.change(one[column], plain[column])) for one in both]
        ideal = [tables.signed(tables.change(one[column], exact[column])) for one in known]
        said.append(
            f"{log.title}: with the times that users ask for, which is what a scheduler has, the mean "
            f"wait of priority tasks changes by {changes[0]} (a) and {changes[1]} (b), not by {ideal[0]} and "
            f"{ideal[1]}."
        )
    for log in logs:
        plain, dbf = runs.get(log, Run("conservative")), runs.get(log, Run())
        gain = plain["priority_mean_wait"] - dbf["priority_mean_wait"]
        loss = dbf["flexible_mean_wait"] - plain["flexible_mean_wait"]
        enough = tables.saturation(runs, log, HOURS)
        best = max(tables.share_rows(runs, log, SHARES[:-1]), key=lambda row: row[1]["wait"] - row[2]["wait"])
        largest = (
            "Priority tasks gain with no deadline that was tried" if enough is None
            else f"Nine tenths of the largest gain come with deadlines of {enough:g} h"
        )  # fmt: skip
        said.append(
            f"{log.title}: with 24 h each priority task waits {_less(gain)} and each flexible one "
            f"{_less(-loss)} ({dbf['deadlines_met']:,} of {dbf['deadlines']:,} deadlines met, "
            f"{dbf['late_on_arrival']:,} were too late on arrival). {largest}; the mean wait of all tasks is "
            f"lowest with {100 * best[0]:.0f} % of them flexible ({best[2]['wait']:.2f} h, CBF "
            f"{best[1]['wait']:.2f} h)."
        )
    return said


def _less(hours: float) -> str:
    """By how much a wait is shorter, or longer.

    >>> _less(0.64), _less(-0.58)
    ('0.64 h less', '0.58 h more')
    """
    return f"{abs(hours):.2f} h {'less' if hours >= 0 else 'more'}"
