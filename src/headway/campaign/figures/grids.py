"""Parameter grids: one panel per value of one parameter, another on the axis; and heat maps of two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from headway.campaign.figures.distributions import draw_boxes, mean_marks
from headway.campaign.figures.values import groups, log_ticks, mark_one, metric_label, scale, table, tick
from headway.errors import UsageError
from headway.figures.style import WIDTH, house_style, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.campaign.results import Results


def parameter_grid(
    results: Results,
    metric: str,
    x: str,
    panel: str,
    row: str | None = "workload",
    relative: bool = True,
    height: float = 2.0,
) -> Figure:
    """Boxes over the cells for every value of `x`, a panel for every value of `panel`, a row for every `row`.

    Medians are lines and means diamonds; panels of a row share their axis.
    """
    cells = table(results, metric, relative)
    cells = cells.drop_nulls([x, panel]) if {x, panel} <= set(cells.columns) else cells
    rows = (
        {None: cells} if row is None else {key: cells.filter(cells[row] == key) for key in groups(cells, row)}
    )
    columns = list(groups(cells, panel))
    places = list(groups(cells, x))
    with house_style():
        inches = height * len(rows) + 0.5
        figure, grid = panels(len(rows), len(columns), inches, sharey="row", sharex=True)
        for line, (name, part) in enumerate(rows.items()):
            everything = []
            for column, key in enumerate(columns):
                axes = grid[line, column]
                chosen = part.filter(part[panel] == key)
                found = groups(chosen, x) if chosen.height else {}
                arrays = [found.get(place, np.full(1, np.nan)) for place in places]
                draw_boxes(axes, arrays)
                everything += list(found.values())
                mark_one(axes, relative)
                axes.grid(True, axis="y", linewidth=0.3, alpha=0.6)
                if line == 0:
                    axes.set_title(f"{panel} = {tick(key)}")
                if line == len(rows) - 1:
                    names = [tick(place) for place in places]
                    crowded = sum(map(len, names)) * len(columns) > 60
                    axes.set_xticks(range(1, len(names) + 1), names, rotation=90 if crowded else 0)
                    axes.set_xlabel(x)
            scale(grid[line, 0], everything)
            head = f"{name}\n" if name is not None and len(rows) > 1 else ""
            grid[line, 0].set_ylabel(head + metric_label(metric, relative, results.tau))
        figure.legend(handles=mean_marks(), loc="outside upper right", ncols=2)
    return figure


def heat_map(
    results: Results,
    metric: str,
    x: str,
    y: str,
    relative: bool = True,
    statistic: Literal["mean", "median"] = "mean",
    height: float = 3.0,
) -> Figure:
    """The mean or median over the cells for every pair of parameter values, written into its field.

    Relative to the baseline, blue fields are below 1 and orange ones above.
    """
    if statistic not in ("mean", "median"):
        raise UsageError(f"statistic must be mean or median, not {statistic!r}")
    cells = table(results, metric, relative)
    columns, lines = list(groups(cells, x)), list(groups(cells, y))
    reduce = np.mean if statistic == "mean" else np.median
    values = np.full((len(lines), len(columns)), np.nan)
    for i, low in enumerate(lines):
        for j, across in enumerate(columns):
            chosen = cells.filter((cells[y] == low) & (cells[x] == across))["shown"].to_numpy()
            values[i, j] = float(reduce(chosen)) if len(chosen) else np.nan
    with house_style():
        from matplotlib.figure import Figure

        width = min(WIDTH, 0.62 * len(columns) + 2.2)
        figure = Figure(figsize=(width, min(height, 0.4 * len(lines) + 1.4)), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(values, aspect="auto", **_colours(values, relative))
        for i, j in np.argwhere(np.isfinite(values)):
            red, green, blue, _ = image.cmap(image.norm(values[i, j]))
            dark = 0.3 * red + 0.6 * green + 0.1 * blue < 0.5
            colour = "white" if dark else "black"
            axes.text(j, i, f"{values[i, j]:.3g}", ha="center", va="center", fontsize=7, color=colour)
        axes.set_xticks(range(len(columns)), [tick(key) for key in columns])
        axes.set_yticks(range(len(lines)), [tick(key) for key in lines])
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        label = metric_label(metric, relative, results.tau)
        bar = figure.colorbar(image, ax=axes, label=f"{statistic} of {label}")
        if relative:
            log_ticks(bar.ax.yaxis)
    return figure


def _colours(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], relative: bool) -> dict[str, Any]:
    """Colours that everybody can distinguish; ratios in equal steps of their logarithm around 1."""
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    finite = values[np.isfinite(values)]
    if not relative or not len(finite) or finite.min() <= 0:
        return {"cmap": "cividis"}
    reach = float(max(finite.max(), 1 / finite.min(), 1.05))
    around = LinearSegmentedColormap.from_list("around one", ["#0072B2", "#F7F7F7", "#D55E00"])
    return {"cmap": around, "norm": LogNorm(1 / reach, reach)}
