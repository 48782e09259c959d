"""Distributions of a metric over the cells of each group: violins, boxes, and the distribution itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from headway.campaign.figures.values import Floats, groups, mark_one, metric_label, scale, table, tick
from headway.figures.style import (
    BLACK,
    BLUE,
    SKY,
    VERMILLION,
    house_style,
    legend_columns,
    line,
    panels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from headway.campaign.results import Results

MEAN: dict[str, Any] = {
    "marker": "D", "markersize": 3.5, "markerfacecolor": VERMILLION, "markeredgecolor": "white",
    "markeredgewidth": 0.5,
}  # fmt: skip
"""The mark of a mean; medians are lines."""

LONGEST = 44
"""Letters of a name in one line."""


def box(
    results: Results, metric: str, by: str = "label", relative: bool = True, height: float | None = None
) -> Figure:
    """A box per group: quartiles, median (line), mean (diamond), whiskers to 1.5 times the box, outliers."""
    return _by_group(results, metric, by, relative, height, partial(draw_boxes, orientation="horizontal"))


def violin(
    results: Results, metric: str, by: str = "label", relative: bool = True, height: float | None = None
) -> Figure:
    """A violin per group, with the cells as dots, the median (line) and the mean (diamond).

    Where the axis is logarithmic the density is that of the logarithms.
    """
    return _by_group(results, metric, by, relative, height, draw_violins)


def _by_group(
    results: Results,
    metric: str,
    by: str,
    relative: bool,
    height: float | None,
    draw: Callable[[Axes, list[Floats]], object],
) -> Figure:
    """One panel with a line for each group, its name at the left; as high (inches) as the groups need."""
    found = groups(table(results, metric, relative), by)
    names, arrays = [fill(tick(key), LONGEST) for key in found], list(found.values())
    with house_style():
        figure, [[axes]] = panels(1, 1, height or 0.32 * len(names) + 0.9)
        draw(axes, arrays)
        axes.set_yticks(range(1, len(names) + 1), names)
        axes.set_ylim(len(names) + 0.6, 0.4)
        if by != "label":  # names of policies speak for themselves
            axes.set_ylabel(by)
        _finish(axes, arrays, metric_label(metric, relative, results.tau), relative)
        axes.legend(
            handles=mean_marks(), loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderaxespad=0.1
        )
    return figure


def ecdf(
    results: Results, metric: str, by: str = "label", relative: bool = True, height: float = 2.8
) -> Figure:
    """For each group, the share of its cells at or below a value."""
    found = groups(table(results, metric, relative), by)
    with house_style():
        figure, [[axes]] = panels(1, 1, height)
        for number, (key, values) in enumerate(found.items()):
            ordered = np.sort(values)
            level = np.arange(1, len(ordered) + 1) / len(ordered)
            axes.step(
                np.append(ordered[:1], ordered),
                np.append(0.0, level),
                where="post",
                label=tick(key),
                **line(number),
            )
        _finish(axes, list(found.values()), metric_label(metric, relative, results.tau), relative)
        axes.set_ylim(0, 1.02)
        axes.set_ylabel("share of the cells")
        axes.grid(True, axis="y", linewidth=0.3, alpha=0.6)
        columns = legend_columns([tick(key) for key in found])
        title = None if by == "label" else by
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, title=title)
    return figure


def draw_violins(axes: Axes, arrays: list[Floats]) -> None:
    """Lying violins at 1, 2, ..., with dots, median line and mean mark."""
    scale(axes, arrays, "x")
    on_log = axes.get_xscale() == "log"
    jitter = np.random.Generator(np.random.PCG64(0))
    for place, values in enumerate(arrays, start=1):
        finite = values[np.isfinite(values)]
        _body(axes, place, finite, on_log)
        beside = place + jitter.uniform(-0.06, 0.06, len(finite))
        axes.plot(finite, beside, ".", color=BLACK, markersize=2, alpha=0.4)
        median = float(np.median(finite))
        axes.plot([median, median], [place - 0.18, place + 0.18], color=BLACK, linewidth=1.2)
        axes.plot(float(np.mean(finite)), place, linestyle="none", **MEAN)


def draw_boxes(
    axes: Axes, arrays: list[Floats], orientation: Literal["vertical", "horizontal"] = "vertical"
) -> None:
    """Boxes at 1, 2, ..., with median line and mean mark."""
    axes.boxplot(
        [values[np.isfinite(values)] for values in arrays],
        orientation=orientation,
        widths=0.6,
        showmeans=True,
        meanprops=MEAN,
        patch_artist=True,
        boxprops={"facecolor": SKY, "edgecolor": BLUE, "alpha": 0.55, "linewidth": 0.8},
        medianprops={"color": BLACK, "linewidth": 1.2},
        whiskerprops={"color": BLUE, "linewidth": 0.8},
        capprops={"color": BLUE, "linewidth": 0.8},
        flierprops={"marker": ".", "markersize": 2.5, "markeredgecolor": BLUE, "alpha": 0.6},
    )


def mean_marks() -> list[Line2D]:
    """What line and diamond stand for, for a legend."""
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=BLACK, linewidth=1.2, label="median"),
        Line2D([], [], linestyle="none", label="mean", **MEAN),
    ]


def _body(axes: Axes, place: int, values: Floats, on_log: bool) -> None:
    """The symmetric density; a group of equal values has none."""
    shown = np.log(values) if on_log else values
    spread = float(np.std(shown))
    if len(values) < 3 or spread == 0:
        return
    # Silverman's rule; kernels of Gauss.
    width = 1.06 * spread * len(values) ** -0.2
    grid = np.linspace(shown.min() - width, shown.max() + width, 200)
    density = np.exp(-0.5 * ((grid[:, None] - shown[None, :]) / width) ** 2).sum(axis=1)
    half = 0.38 * density / density.max()
    reach = np.exp(grid) if on_log else grid
    axes.fill_between(
        reach, place - half, place + half, facecolor=SKY, edgecolor=BLUE, alpha=0.55, linewidth=0.8
    )


def _finish(axes: Axes, arrays: list[Floats], label: str, relative: bool) -> None:
    """The axis of the values, which lies below."""
    scale(axes, arrays, "x")
    mark_one(axes, relative, "x")
    axes.set_xlabel(label.replace("\n", " "))
    axes.grid(True, axis="x", linewidth=0.3, alpha=0.6)
