"""Figures 6 to 13 as box plots, Figure 4's speedups, and two of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.figures import style
from headway.papers.reallocation.examples import figure_2
from headway.papers.reallocation.runs import COUPLES, Campaign
from headway.papers.reallocation.scenarios import named
from headway.units import MINUTE
from headway.workload.models.speedup import amdahl
from headway.workload.transform.moldable import TYPES_OF_JOBS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from headway.schedule import Schedule

METRICS = {
    "impacted": "impacted tasks (%)",
    "reallocations": "reallocations / tasks (%)",
    "early": "early among the impacted (%)",
    "relative_response": "relative mean response",
}
"""The paper's four numbers, in the order of its figures."""
BOX: dict[str, Any] = {"facecolor": style.PALE, "edgecolor": style.GREY}
"""How a rectangle of a drawing looks."""


def boxes(found: Campaign, metric: str) -> Figure:
    """A metric for every scenario and couple: minimum, quartiles, median, maximum and mean of the seeds."""
    with style.house_style():
        figure, [[axes]] = style.panels(1, 1, 2.7)
        factor = 1 if metric == "relative_response" else 100
        for number, couple in enumerate(COUPLES):
            samples = [
                [factor * value for value in found.values(metric, couple, name)]
                for name in named(found.scenarios)
            ]
            places = np.arange(len(samples)) + (number - 1.5) * 0.2
            _boxes(axes, samples, places, style.SERIES[number], couple)
        axes.set_xticks(range(len(found.scenarios)), named(found.scenarios))
        axes.set_ylabel(METRICS[metric])
        if metric in ("early", "relative_response"):
            axes.axhline(50 if metric == "early" else 1, color=style.GREY, linewidth=0.6, zorder=0)
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, borderaxespad=0.2)
    return figure


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
        medianprops={"color": style.BLACK, "linewidth": 0.9},
        whiskerprops={"linewidth": 0.6, "color": colour},
        capprops={"linewidth": 0.6, "color": colour},
        meanprops={"marker": "s", "markersize": 1.8, "mfc": style.VERMILLION, "markeredgewidth": 0},
    )
    drawn["boxes"][0].set_label(label)


def speedups() -> Figure:
    """Figure 4: Amdahl's law for the four types, each up to its limit."""
    with style.house_style():
        figure, [[axes]] = style.panels(1, 1, 2.4)
        for number, (fraction, limit, _) in enumerate(TYPES_OF_JOBS):
            n = np.arange(1, 651)
            values = amdahl(fraction, n)
            axes.plot(
                n, values, label=f"t{number + 1}: P = {fraction:g}, limit {limit}", **style.line(number)
            )
            axes.plot([limit], [values[limit - 1]], "o", color=style.SERIES[number], markersize=3)
        axes.set_yscale("log")
        axes.set_xlabel("processors")
        axes.set_ylabel("speedup")
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, borderaxespad=0.2)
    return figure


STEPS = (
    ((0.20, 0.83), (0.41, 0.83), "1 request"),
    ((0.41, 0.75), (0.20, 0.75), "5 best server"),
    ((0.47, 0.71), (0.47, 0.50), "2 which?"),
    ((0.55, 0.50), (0.55, 0.71), "4 estimate"),
    ((0.20, 0.71), (0.41, 0.48), "6 submit"),
    ((0.47, 0.35), (0.47, 0.16), "7 submit"),
    ((0.55, 0.16), (0.55, 0.35), "3 load"),
    ((0.59, 0.425), (0.80, 0.425), "8 reallocate"),
)
"""Arrows of Figure 1: from, to, and what is said."""


def architecture() -> Figure:
    """Figure 1: client, agent, servers and batch systems, with the steps of a submission and of a move."""
    from matplotlib.patches import Rectangle

    with style.house_style():
        figure, [[axes]] = style.panels(1, 1, 2.6)
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.axis("off")
        for x, y, name in (
            (0.02, 0.71, "client"), (0.41, 0.71, "agent"), (0.41, 0.35, "server 1"), (0.80, 0.35, "server 2"),
            (0.41, 0.01, "cluster 1"), (0.80, 0.01, "cluster 2"),
        ):  # fmt: skip
            axes.add_patch(Rectangle((x, y), 0.18, 0.15, **BOX, linewidth=0.8))
            axes.text(x + 0.09, y + 0.075, name, ha="center", va="center", weight="bold")
        arrow = {"arrowstyle": "-|>", "color": style.BLUE, "linewidth": 1}
        for begin, end, text in STEPS:
            axes.annotate("", xy=end, xytext=begin, arrowprops=arrow)
            axes.text((begin[0] + end[0]) / 2 + 0.008, (begin[1] + end[1]) / 2 + 0.015, text, fontsize=7)
    return figure


def binary_search() -> Figure:
    """Figure 2: where the task would run on each number of processors, in the order in which it is asked."""
    from matplotlib.patches import Rectangle

    with style.house_style():
        figure, [axes] = style.panels(1, 5, 2.0)
        for panel, n in zip(axes, (1, 5, 3, 2, 4), strict=True):
            schedule = figure_2((1, n, 7 / n, 7 / n)).run(
                "reallocation(mode=none, local=conservative(compress=none))"
            )
            for begin, end, level in _free_of(schedule):
                panel.add_patch(Rectangle((begin, 0), end - begin, 5 - level, **BOX, linewidth=0.4))
            begin, end = (int(x) / MINUTE - 1 for x in (schedule.start[4], schedule.end[4]))
            look: dict[str, Any] = {"facecolor": style.BLUE, "alpha": 0.8, "linewidth": 0}
            panel.add_patch(Rectangle((begin, 5 - n), end - begin, n, **look))
            panel.set(xlim=(0, 8), ylim=(0, 5), xticks=(0, 2, 4, 6, 8), yticks=(0, 5), xlabel="minutes")
            asked = "not asked" if n == 4 else "asked"
            panel.set_title(f"{n}: {end:.4g} min\n({asked})")
        axes[0].set_ylabel("processors")
    return figure


def _free_of(schedule: Schedule) -> list[tuple[float, float, int]]:
    """Steps of time (minutes after the task came) with the processors that the others leave free."""
    walls = [
        (int(s) / MINUTE - 1, (int(s) + int(w)) / MINUTE - 1, int(q))
        for s, w, q in zip(schedule.start[:4], schedule.walltime[:4], schedule.procs[:4], strict=True)
    ]
    # The second job has ended long before it had to, when the task comes.
    walls[1] = (walls[1][0], int(schedule.end[1]) / MINUTE - 1, walls[1][2])
    times = sorted({0.0, 8.0, *(t for s, e, _ in walls for t in (s, e) if 0 < t < 8)})
    return [(begin, end, 5 - sum(q for s, e, q in walls if s <= begin < e)) for begin, end in pairwise(times)]


def curves(
    questions: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], log: Sequence[str]
) -> Figure:
    """Relative response of all tasks: a panel for each question, a curve for each couple."""
    with style.house_style():
        figure, [axes] = style.panels(1, len(questions), 2.4)
        for panel, (title, found) in zip(axes, questions.items(), strict=True):
            for number, (couple, points) in enumerate(found.items()):
                panel.plot(
                    *zip(*points, strict=True), marker="o", markersize=2, label=couple, **style.line(number)
                )
            panel.axhline(1, color=style.GREY, linewidth=0.6, zorder=0)
            panel.set_xlabel(title)
            if title in log:
                values = [value for value, _ in next(iter(found.values()))]
                style.log_ticks(panel, values)
                panel.tick_params(axis="x", labelsize=6)
        axes[0].set_ylabel("relative mean response")
        style.legend_above(figure, axes[0])
    return figure
