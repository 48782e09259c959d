"""Stretch of the rules against FCFS, and how the sessions of users fare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headway.figures.style import GREY, SERIES, WIDTH, house_style
from headway.papers.locality.runs import Runs
from headway.papers.locality.tables import REFERENCE, SIZES, TEN, short
from headway.papers.locality.weeks import Week

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def rules(runs: Runs, weeks: Sequence[Week]) -> Figure:
    """Mean stretch and time waiting for files of the ten rules, over FCFS's."""
    return _bars(
        runs, weeks, TEN, "fcfs", (("stretch", "mean stretch / FCFS"), ("file_wait", "file wait / FCFS"))
    )


def sizes(runs: Runs, weeks: Sequence[Week]) -> Figure:
    """Total flow and stretch of the policies for memory sizes, over those of match=exact."""
    quotients = (("total_flow", "total flow / match=exact"), ("stretch", "mean stretch / match=exact"))
    return _bars(runs, weeks, SIZES[1:], REFERENCE, quotients)


def _bars(
    runs: Runs,
    weeks: Sequence[Week],
    policies: Sequence[str],
    reference: str,
    numbers: Sequence[tuple[str, str]],
) -> Figure:
    from matplotlib.figure import Figure

    with house_style():
        figure = Figure(figsize=(WIDTH, 0.24 * len(policies) + 0.9), layout="constrained")
        panels = figure.subplots(1, len(numbers), sharey=True, squeeze=False)[0]
        thick = 0.8 / len(weeks)
        for panel, (number, label) in zip(panels, numbers, strict=True):
            for place, week in enumerate(weeks):
                base = runs.get(week, reference)[number]
                values = [runs.get(week, policy)[number] / base for policy in policies]
                heights = [row + (place - (len(weeks) - 1) / 2) * thick for row in range(len(policies))]
                panel.barh(heights, values, height=thick, label=week.title, color=SERIES[place % len(SERIES)])
            panel.axvline(1, color=GREY, linewidth=0.8)
            panel.set_xlabel(label)
            panel.set_yticks(range(len(policies)), [short(policy) for policy in policies])
        panels[0].invert_yaxis()
        panels[-1].legend(loc="lower right")
    return figure
