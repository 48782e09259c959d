"""Busy processors and waiting jobs over time, for one schedule or several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from headway.figures.clock import Window, clock
from headway.figures.gantt import short_name
from headway.figures.style import BLACK, house_style, legend_columns, line, literal, sheet
from headway.metrics import Steps, busy_processors, queue_length
from headway.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 350
"""Intervals whose means are drawn; a schedule with fewer changes is drawn exactly."""


def utilization(
    *schedules: Schedule,
    window: Window | None = None,
    names: Sequence[str] | None = None,
    height: float = 2.2,
) -> Figure:
    """The share of busy processors over time; of one schedule as an area, of several as curves."""

    def share(schedule: Schedule) -> tuple[Steps, float]:
        return busy_processors(schedule), 1.0 / schedule.capacity

    figure, axes = _curves(schedules, share, window, names, height)
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
    figure, axes = _curves(schedules, lambda schedule: (queue_length(schedule), 1.0), window, names, height)
    axes.set_ylabel("waiting jobs")
    axes.set_ylim(0, None)
    return figure


def _curves(
    schedules: Sequence[Schedule],
    measure: Callable[[Schedule], tuple[Steps, float]],
    window: Window | None,
    names: Sequence[str] | None,
    height: float,
) -> tuple[Figure, Axes]:
    axis = clock(schedules, window)
    titles = names if names is not None else [short_name(schedule) for schedule in schedules]
    titles = [literal(title) for title in titles]
    with house_style():
        figure, [axes] = sheet(1, height)
        for number, (schedule, title) in enumerate(zip(schedules, titles, strict=True)):
            steps, scale = measure(schedule)
            inner = steps.times[(steps.times > axis.begin) & (steps.times < axis.end)]
            few = len(inner) <= COLUMNS
            edges = np.concatenate([[axis.begin], inner, [axis.end]]) if few else axis.edges(COLUMNS)
            values, look = steps.means(edges) * scale, line(number)
            if len(schedules) == 1:
                axes.stairs(values, axis.scaled(edges), fill=True, color=look["color"], alpha=0.35)
            axes.stairs(values, axis.scaled(edges), baseline=None, label=title, linewidth=1.0, **look)
        if len(schedules) == 1:
            axes.set_title(titles[0])
        else:
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=legend_columns(titles))
        axis.label(axes)
    return figure, axes
