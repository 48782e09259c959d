"""Stretch, time waiting for files and total flow of the policies against their reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from headway.figures.style import BLACK, GREY, colour_of, house_style, legend_above, line, panels
from headway.papers.locality.runs import PERCENT, Runs
from headway.papers.locality.tables import REFERENCE, SCORE, SIZES, TEN, ratios, short
from headway.papers.locality.weeks import Group

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def rules(runs: Runs, groups: Sequence[Group]) -> Figure:
    """Mean stretch and time waiting for files of the ten rules, over FCFS's."""
    quotients = (("stretch", "mean stretch / FCFS"), ("file_wait", "file wait / FCFS"))
    return _bars(runs, groups, TEN, "fcfs", quotients)


def sizes(runs: Runs, groups: Sequence[Group]) -> Figure:
    """Total flow and stretch of the policies for memory sizes, over those of match=exact."""
    quotients = (("total_flow", "total flow / match=exact"), ("stretch", "mean stretch / match=exact"))
    return _bars(runs, groups, SIZES[1:], REFERENCE, quotients)


def by_score(runs: Runs, groups: Sequence[Group]) -> Figure:
    """The slides' figures: stretch and queue time of jobs under the score against FCFS."""
    with house_style():
        figure, axes = panels(len(groups), 2, 2.0 * len(groups) + 0.4)
        for row, group in zip(axes, groups, strict=True):
            for panel, number, label, scale in (
                (row[0], "stretches", "stretch", 1.0),
                (row[1], "waits", "queue time (h)", 3600.0),
            ):
                for place, policy in enumerate(("fcfs", SCORE)):
                    found = np.mean([one[number] for one in runs.over(group, policy)], axis=0) / scale
                    panel.plot(found, PERCENT, label=short(policy), **line(place))
                panel.set_xlabel(label)
                panel.set_title(group.title)
                if number == "stretches":
                    panel.set_xscale("log")
                else:
                    panel.set_xscale("symlog", linthresh=0.1)
            row[0].set_ylabel("jobs (%)")
        legend_above(figure, axes[0, 0])
    return figure


def _bars(
    runs: Runs,
    groups: Sequence[Group],
    policies: Sequence[str],
    reference: str,
    numbers: Sequence[tuple[str, str]],
) -> Figure:
    """The mean over the weeks of a kind as a bar, the least and the largest as a line across its end."""
    with house_style():
        figure, [axes] = panels(1, len(numbers), 0.34 * len(policies) + 1.1, sharey=True)
        thick = 0.8 / len(groups)
        for panel, (number, label) in zip(axes, numbers, strict=True):
            for place, group in enumerate(groups):
                base = runs.over(group, reference)
                found = [ratios(runs.over(group, policy), base, number) for policy in policies]
                means = np.array([np.mean(one) for one in found])
                across = [means - [min(one) for one in found], [max(one) for one in found] - means]
                heights = [row + (place - (len(groups) - 1) / 2) * thick for row in range(len(policies))]
                panel.barh(
                    heights,
                    means,
                    height=thick,
                    xerr=across if len(group.weeks) > 1 else None,
                    error_kw={"elinewidth": 0.7, "ecolor": BLACK},
                    label=group.title,
                    color=colour_of(place),
                )
            panel.axvline(1, color=GREY, linewidth=0.8)
            panel.set_xlabel(label)
            panel.set_yticks(range(len(policies)), [short(policy) for policy in policies])
            panel.margins(y=0.01)
        axes[0].invert_yaxis()
        legend_above(figure, axes[0], len(groups))
    return figure
