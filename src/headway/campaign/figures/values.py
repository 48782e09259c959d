"""What the figures of a campaign draw: one value per cell, as measured or relative to its baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from headway.campaign.judging import refuse_texts
from headway.errors import UsageError
from headway.figures.style import GREY, literal
from headway.grammar import value_text
from headway.metrics.catalogue import unit_of

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from headway.campaign.results import Results

Floats = NDArray[np.float64]


def table(results: Results, metric: str, relative: bool) -> pl.DataFrame:
    """The cells with a column `shown`: the metric, or the metric over that of the cell's baseline."""
    import polars as pl

    if relative:
        shown = results.pairs(metric).with_columns(pl.col("ratio").alias("shown"))
    else:
        refuse_texts(results.frame, metric)
        shown = results.frame.with_columns(pl.col(metric).cast(pl.Float64).alias("shown"))
    cells = shown.drop_nulls("shown")
    if not cells.height:
        divided = " that can be divided by its baseline's" if relative else ""
        raise UsageError(f"no cell has a {metric}{divided}; there is nothing to draw")
    return cells


def groups(cells: pl.DataFrame, by: str) -> dict[Any, Floats]:
    """The values of each group, numbers in their order and names as they come."""
    if by not in cells.columns:
        raise UsageError(f"the results have no column {by!r}; they have {', '.join(cells.columns)}")
    chosen = cells.drop_nulls(by)
    if not chosen.height:
        raise UsageError(f"no cell has a value of {by!r}; there is nothing to draw")
    keys = chosen[by].unique(maintain_order=True)
    ordered = keys.sort() if keys.dtype.is_numeric() else keys
    return {key: chosen.filter(chosen[by] == key)["shown"].to_numpy() for key in ordered}


def metric_label(metric: str, relative: bool, tau: float | None = None) -> str:
    """The label of an axis: name and unit, or that it is a ratio; with the tau (s) of a bounded slowdown."""

    words = {"bsld": "bounded slowdown", "pp_bsld": "per-processor bounded slowdown"}
    head, _, tail = metric.partition("_")
    name = f"{head} {words.get(tail, tail.replace('_', ' '))}".strip()
    if "bsld" in metric and tau is not None:
        name += f" (tau = {tau:g} s)"
    if relative:
        return f"{name}\n(policy / baseline)"
    unit = unit_of(metric)
    return name if unit in ("1", "") else f"{name} ({unit})"


def mark_one(axes: Axes, relative: bool, which: Literal["x", "y"] = "y") -> None:
    """A line where policy and baseline are equal."""
    if relative:
        draw = axes.axhline if which == "y" else axes.axvline
        draw(1.0, color=GREY, linewidth=0.8, linestyle="--", zorder=0)


def scale(axes: Axes, arrays: Sequence[Floats], which: Literal["x", "y"] = "y") -> None:
    """A logarithmic axis where positive values span more than a factor of ten."""
    values = np.concatenate([np.asarray(array) for array in arrays]) if arrays else np.zeros(0)
    finite = values[np.isfinite(values)]
    if len(finite) and finite.min() > 0 and finite.max() > 10 * finite.min():
        axes.set(**{f"{which}scale": "log"})
        log_ticks(axes.yaxis if which == "y" else axes.xaxis, wide=finite.max() > 1e3 * finite.min())


def log_ticks(axis: Axis, wide: bool = False) -> None:
    """Plain numbers at 1, 2 and 5 times powers of ten; powers alone where the axis is long."""
    from matplotlib.ticker import FormatStrFormatter, LogFormatterSciNotation, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(LogFormatterSciNotation() if wide else FormatStrFormatter("%g"))
    axis.set_minor_locator(NullLocator())


def tick(value: Any) -> str:
    """A group's name on an axis."""
    return literal(value) if isinstance(value, str) else value_text(value)
