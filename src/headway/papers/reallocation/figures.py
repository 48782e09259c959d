"""Figures 6 to 13 as box plots, Figure 4's speedups, and two of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.figures.style import BLACK, GREY, SERIES, VERMILLION, WIDTH, house_style, line
from headway.papers.reallocation.runs import COUPLES, Campaign
from headway.papers.reallocation.scenarios import named
from headway.workload.models.speedup import amdahl
from headway.workload.transform.moldable import TYPES_OF_JOBS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METRICS = {
    "impacted": "impacted tasks (%)",
    "reallocations": "reallocations / tasks (%)",
    "early": "early among the impacted (%)",
    "relative_response": "relative mean response",
}
"""The paper's four numbers, in the order of its figures."""


def boxes(found: Campaign, metric: str) -> Figure:
    """A metric for every scenario and couple: minimum, quartiles, median, maximum and mean of the seeds."""
    with house_style():
        figure, axes = _empty(2.3)
        factor = 1 if metric == "relative_response" else 100
        for number, couple in enumerate(COUPLES):
            samples = [
                [factor * value for value in found.values(metric, couple, name)]
                for name in named(found.scenarios)
            ]
            places = np.arange(len(samples)) + (number - 1.5) * 0.2
            _boxes(axes, samples, places, SERIES[number], couple)
        axes.set_xticks(range(len(found.scenarios)), named(found.scenarios))
        axes.set_ylabel(METRICS[metric])
        if metric in ("early", "relative_response"):
            axes.axhline(50 if metric == "early" else 1, color=GREY, linewidth=0.6, zorder=0)
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, borderaxespad=0.2)
    return figure


def _empty(height: float, panels: int = 1) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height + 0.4), layout="constrained")
    return figure, figure.subplots(1, panels)


def _boxes(
    axes: Axes, samples: Sequence[Sequence[float]], places: Sequence[float] | Any, colour: str, label: str
) -> None:
    full = [(place, sample) for place, sample in zip(places, samples, strict=True) if len(sample)]
    if not full:
        return
    drawn = axes.boxplot(
        [list(sample) for _, sample in full],
        positions=[float(place) for place, _ in full],
        widths=0.16,
        whis=(0, 100),
        showmeans=True,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": colour, "linewidth": 0.4, "alpha": 0.7},
        medianprops={"color": BLACK, "linewidth": 0.9},
        whiskerprops={"linewidth": 0.6, "color": colour},
        capprops={"linewidth": 0.6, "color": colour},
        meanprops={"marker": "s", "markersize": 1.8, "markerfacecolor": VERMILLION, "markeredgewidth": 0},
    )
    drawn["boxes"][0].set_label(label)


def speedups() -> Figure:
    """Figure 4: Amdahl's law for the four types, each up to its limit."""
    with house_style():
        figure, axes = _empty(2.0)
        for number, (fraction, limit, _) in enumerate(TYPES_OF_JOBS):
            n = np.arange(1, 651)
            values = amdahl(fraction, n)
            axes.plot(n, values, label=f"t{number + 1}: P = {fraction:g}, limit {limit}", **line(number))
            axes.plot([limit], [values[limit - 1]], "o", color=SERIES[number], markersize=3)
        axes.set_yscale("log")
        axes.set_xlabel("processors")
        axes.set_ylabel("speedup")
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, borderaxespad=0.2)
    return figure


def curves(panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], log: Sequence[str]) -> Figure:
    """Relative response of all tasks: a panel for each question, a curve for each couple."""
    with house_style():
        figure, axes = _empty(2.0, len(panels))
        for panel, (title, found) in zip(np.atleast_1d(axes), panels.items(), strict=True):
            for number, (couple, points) in enumerate(found.items()):
                panel.plot(*zip(*points, strict=True), marker="o", markersize=2, label=couple, **line(number))
            panel.axhline(1, color=GREY, linewidth=0.6, zorder=0)
            panel.set_xlabel(title)
            if title in log:
                panel.set_xscale("log")
        first = np.atleast_1d(axes)[0]
        first.set_ylabel("relative mean response")
        first.legend(fontsize=6)
    return figure
