"""The paper's two figures, and two of ours, in the house style."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

import polars as pl

from headway.figures import style
from headway.papers.redirection.grid import PAPER_ALPHA, PAPER_THETA, Grid, over_weeks
from headway.papers.redirection.logs import Log
from headway.papers.redirection.numbers import TAU

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def by_cluster(logs: Sequence[Log], grid: Grid) -> tuple[Figure, Any]:
    """One row of panels per cluster, one column per alpha, as in the paper."""
    figure, axes = style.panels(len(logs), len(grid.alphas), 1.9 * len(logs) + 0.6, sharex=True, sharey="row")
    for column, alpha in enumerate(grid.alphas):
        axes[0, column].set_title(f"alpha = {alpha:g}")
        axes[-1, column].set_xlabel("theta")
        axes[-1, column].set_xticks(range(len(grid.thetas)), [str(theta) for theta in grid.thetas])
        axes[-1, column].tick_params(axis="x", labelsize=7, rotation=90)
    return figure, axes


def values(runs: pl.DataFrame, log: Log, alpha: float, theta: int, column: str) -> list[float]:
    """One number per week."""
    chosen = runs.filter(
        (pl.col("workload") == log.name) & (pl.col("alpha") == alpha) & (pl.col("theta") == theta)
    )
    return [float(value) for value in chosen[column].drop_nulls()]


def figure_1(runs: pl.DataFrame, logs: Sequence[Log], grid: Grid) -> Figure:
    """The distribution over the weeks of the mean bounded slowdown, for each theta and alpha."""
    with style.house_style():
        figure, axes = by_cluster(logs, grid)
        for row, log in zip(axes, logs, strict=True):
            row[0].set_ylabel(f"{log.cluster.title}\nmean bounded slowdown\n(tau {TAU} s)")
            for panel, alpha in zip(row, grid.alphas, strict=True):
                panel.set_yscale("log")
                data = [values(runs, log, alpha, theta, "mean_bsld") for theta in grid.thetas]
                _violins(panel, data)
                panel.set_ylim(bottom=0.9)  # no bounded slowdown is below 1
    return figure


def _violins(panel: Axes, data: list[list[float]]) -> None:
    from math import log10

    # On a logarithmic axis the density belongs to the logarithms.
    places = [place for place, some in enumerate(data) if len(set(some)) > 1]
    if places:
        shown = panel.violinplot(
            [[log10(value) for value in data[place]] for place in places], places, widths=0.85,
            points=40, showextrema=False,
        )  # fmt: skip
        bodies: Any = shown["bodies"]
        for body in bodies:
            for path in body.get_paths():
                path.vertices[:, 1] = 10 ** path.vertices[:, 1]
            body.set(facecolor=style.PALE, edgecolor=style.GREY, alpha=1, linewidth=0.4)
    _boxes(panel, data, range(len(data)), 0.25, "white")


def _boxes(panel: Axes, data: list[list[float]], places: Any, width: float, colour: str) -> None:
    panel.boxplot(
        data, positions=list(places), widths=width, patch_artist=True, manage_ticks=False, showmeans=True,
        boxprops={"facecolor": colour, "linewidth": 0.5}, whiskerprops={"linewidth": 0.5},
        capprops={"linewidth": 0.5}, medianprops={"color": style.BLACK, "linewidth": 1},
        flierprops={"marker": ".", "markersize": 1.5, "markeredgecolor": style.GREY},
        meanprops={"marker": "s", "markersize": 2, "mfc": style.VERMILLION, "mec": style.VERMILLION},
    )  # fmt: skip


def figure_2(runs: pl.DataFrame, logs: Sequence[Log], grid: Grid) -> Figure:
    """Ratios with / without redirection of the mean and the maximal bounded slowdown, below 1 is better."""
    from matplotlib.patches import Patch

    with style.house_style():
        figure, axes = by_cluster(logs, grid)
        for row, log in zip(axes, logs, strict=True):
            row[0].set_ylabel(f"{log.cluster.title}\nratio with / without")
            for panel, alpha in zip(row, grid.alphas, strict=True):
                panel.set_yscale("log")
                panel.axhline(1, color=style.BLACK, linewidth=0.6)
                for column, shift, colour in (("mean", -0.2, style.SKY), ("max", 0.2, style.ORANGE)):
                    data = [values(runs, log, alpha, theta, f"{column}_bsld_ratio") for theta in grid.thetas]
                    _boxes(panel, data, [place + shift for place in range(len(data))], 0.35, colour)
        legend = [
            Patch(facecolor=style.SKY, label=f"mean bounded slowdown, tau {TAU} s"),
            Patch(facecolor=style.ORANGE, label="maximal"),
        ]
        figure.legend(handles=legend, loc="outside upper right", ncols=2)
    return figure


def figure_response(runs: pl.DataFrame, logs: Sequence[Log]) -> Figure:
    """The largest response (flow time) against alpha with and without redirection, medians over the weeks."""
    with style.house_style():
        figure, [axes] = style.panels(1, len(logs), 2.6)
        for panel, log in zip(axes, logs, strict=True):
            chosen = runs.filter((pl.col("workload") == log.name) & (pl.col("theta") == PAPER_THETA))
            found = over_weeks(chosen, ["alpha"]).sort("alpha")
            hours = 3600.0
            panel.plot(
                found["alpha"], found["max_response"] / hours, marker="o", markersize=3,
                label=f"redirection, theta = {PAPER_THETA}", **style.line(0),
            )  # fmt: skip
            panel.plot(
                found["alpha"], found["max_response_without"] / hours, marker="s", markersize=3,
                label="EASY on as many processors", **style.line(1),
            )  # fmt: skip
            panel.set_title(log.cluster.title)
            panel.set_xlabel("alpha")
            panel.set_xticks(found["alpha"].to_list())
            panel.set_ylim(bottom=0)
        axes[0].set_ylabel("median of the largest\nresponse of a week (h)")
        style.legend_above(figure, axes[0])
    return figure


def figure_mean_response(runs: pl.DataFrame, logs: Sequence[Log], grid: Grid) -> Figure:
    """Mean response and mean wait with / without redirection against theta, at the paper's alpha."""
    alpha = PAPER_ALPHA if PAPER_ALPHA in grid.alphas else grid.alphas[0]
    with style.house_style():
        figure, axes = style.panels_for(len(logs), 3, 2.0, 0.7)
        for panel, log in zip(axes, logs, strict=True):
            for number, (column, name) in enumerate(
                (("mean_response", "mean response"), ("mean_wait", "mean wait"))
            ):
                data = [values(runs, log, alpha, theta, f"{column}_ratio") for theta in grid.thetas]
                middle = [median(some) for some in data]
                panel.plot(
                    range(len(data)), middle, marker="o", markersize=2.5, label=name, **style.line(number)
                )
            panel.axhline(1, color=style.BLACK, linewidth=0.6)
            panel.set_yscale("log")
            panel.set_yticks([0.5, 1, 2, 5, 10], ["0.5", "1", "2", "5", "10"])
            panel.minorticks_off()
            panel.set_title(log.cluster.title)
            panel.set_xticks(range(len(grid.thetas)), [str(theta) for theta in grid.thetas])
            panel.tick_params(axis="x", labelsize=7)
            panel.set_xlabel("theta")
        for panel in axes[::3]:
            panel.set_ylabel("median ratio\nwith / without")
        style.legend_above(figure, axes[0])
    return figure


def figure_beyond(curves: dict[str, dict[str, pl.DataFrame]], thetas: Sequence[int]) -> Figure:
    """The median ratio of mean bounded slowdowns against theta at the paper's alpha: a panel per log."""
    with style.house_style():
        figure, [axes] = style.panels(1, len(curves), 2.6, sharey=True)
        for panel, (title, some) in zip(axes, curves.items(), strict=True):
            panel.axhline(1, color=style.BLACK, linewidth=0.6)
            for number, (name, found) in enumerate(some.items()):
                table = found.sort("theta")
                places = [list(thetas).index(theta) for theta in table["theta"]]
                panel.plot(
                    places,
                    table["mean_bsld_ratio"],
                    marker="o",
                    markersize=2.5,
                    label=name,
                    **style.line(number),
                )
            panel.set_title(title)
            panel.set_xlabel("theta")
            panel.set_xticks(range(len(thetas)), [str(theta) for theta in thetas])
        axes[0].set_ylabel(f"median ratio with / without\n(mean BSLD, tau {TAU} s)")
        style.legend_above(figure, axes[0], len(next(iter(curves.values()))))
    return figure
