"""Busy processors and waiting jobs over time, for one schedule or several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from headway.figures.clock import UNITS, Window, clock
from headway.figures.gantt import short_name
from headway.figures.style import BLACK, house_style, legend_columns, line, literal, sheet
from headway.metrics import Steps, busy_processors, queue_length
from headway.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS, OF_SEVERAL = 350, 90
"""Intervals whose means are drawn, fewer for several curves of utilization, which would be a tangle; where no
schedule has more changes, all are drawn exactly."""


def utilization(
    *schedules: Schedule,
    window: Window | None = None,
    names: Sequence[str] | None = None,
    height: float = 2.2,
) -> Figure:
    """The share of busy processors over time; of one schedule as an area, of several as curves."""

    def share(schedule: Schedule) -> tuple[Steps, float]:
        return busy_processors(schedule), 1.0 / schedule.capacity

    most = COLUMNS if len(schedules) == 1 else OF_SEVERAL
    figure, axes = _curves(schedules, share, window, names, height, most)
    axes.set_ylabel("busy share of the processors")
    axes.set_ylim(0, 1.02)
    axes.axhline(1, color=BLACK, linewidth=0.6)
    return figure


def queue(
    *schedules: Schedule,
    window: Window | None = None,
    names: Sequence[str] | None = None,
    height: float = 2.2,
) -> Figure:
    """Waiting jobs over time; of one schedule as an area, of several as curves."""

    def length(schedule: Schedule) -> tuple[Steps, float]:
        return queue_length(schedule), 1.0

    figure, axes = _curves(schedules, length, window, names, height, COLUMNS)
    axes.set_ylabel("waiting jobs")
    axes.set_ylim(0, None)
    return figure


def _curves(
    schedules: Sequence[Schedule],
    measure: Callable[[Schedule], tuple[Steps, float]],
    window: Window | None,
    names: Sequence[str] | None,
    height: float,
    most: int,
) -> tuple[Figure, Axes]:
    axis = clock(schedules, window)
    titles = names if names is not None else [short_name(schedule) for schedule in schedules]
    titles = [literal(title) for title in titles]
    measured = [measure(schedule) for schedule in schedules]
    inner = [steps.times[(steps.times > axis.begin) & (steps.times < axis.end)] for steps, _ in measured]
    exact = all(len(times) <= most for times in inner)  # for all alike: a mean beside a peak misleads
    columns = axis.edges(most)
    with house_style():
        figure, [axes] = sheet(1, height)
        for number, ((steps, scale), title, times) in enumerate(zip(measured, titles, inner, strict=True)):
            edges = np.concatenate([[axis.begin], times, [axis.end]]) if exact else columns
            values, look = steps.means(edges) * scale, line(number)
            if len(schedules) == 1:
                axes.stairs(values, axis.scaled(edges), fill=True, color=look["color"], alpha=0.35)
            axes.stairs(values, axis.scaled(edges), baseline=None, label=title, linewidth=1.0, **look)
        if len(schedules) == 1:
            axes.set_title(titles[0])
        else:
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=legend_columns(titles))
        axis.label(axes)
        if not exact:
            width = int(columns[1] - columns[0])
            unit, size = next(((name, size) for name, size in UNITS if width >= size), UNITS[-1])
            axes.set_xlabel(f"{axes.get_xlabel()}; means over {width / size:.2g} {unit}")
    return figure, axes
