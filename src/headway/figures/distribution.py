"""Distributions over the jobs: which share of them waited at most so long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import UsageError
from headway.figures.gantt import short_name
from headway.figures.style import house_style, legend_columns, line, literal, sheet, time_ticks
from headway.metrics.sample import Sample
from headway.schedule import Schedule
from headway.units import SECOND

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_POINTS = 2000
"""Steps of one curve; of more jobs, so many quantiles are drawn, both ends included."""

MEASURES: dict[str, tuple[str, Callable[[Sample], NDArray[Any]]]] = {
    "wait": ("wait", lambda sample: sample.wait / SECOND),
    "response": ("response time", lambda sample: sample.flow / SECOND),
    "bsld": ("bounded slowdown", lambda sample: sample.bounded_slowdown),
    "slowdown": ("slowdown (jobs with a run time above 0)", lambda sample: sample.slowdown),
}
"""What may be distributed: name, label of the axis, values per job."""


def distribution(
    *schedules: Schedule,
    measure: str = "wait",
    tau: float = 10,
    names: Sequence[str] | None = None,
    height: float = 2.8,
) -> Figure:
    """The empirical distribution of wait, response, bsld or slowdown: the share of jobs at or below a value.

    The axis is logarithmic; waits and responses below 1 s are drawn at 1 s, so that a curve begins with the
    share of jobs that did not wait. `tau` (s) bounds the slowdown.
    """
    if measure not in MEASURES:
        raise UsageError(f"measure cannot be {measure!r}; it is one of {', '.join(MEASURES)}")
    label, values_of = MEASURES[measure]
    titles = names if names is not None else [short_name(schedule) for schedule in schedules]
    titles = [literal(title) for title in titles]
    with house_style():
        figure, [axes] = sheet(1, height)
        for number, (schedule, title) in enumerate(zip(schedules, titles, strict=True)):
            values = np.maximum(values_of(Sample(schedule, tau)), 1.0)
            if not len(values):
                raise UsageError("there is nothing to draw: the schedule has no jobs with this measure")
            level, shares = steps(values)
            axes.step(
                np.append(1.0, level), np.append(0.0, shares), where="post", label=title, **line(number)
            )
        axes.set_xscale("log")
        axes.set_xlim(1, None)
        if measure in ("wait", "response"):
            time_ticks(axes)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel(f"{label} (tau = {tau:g} s)" if measure == "bsld" else label)
        axes.set_ylabel("share of the jobs")
        axes.grid(True, which="major", linewidth=0.3, alpha=0.6)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=legend_columns(titles))
    return figure


def steps(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Levels in order, and the share of values at or below each.

    >>> [column.tolist() for column in steps(np.array([3.0, 1.0, 1.0, 7.0]))]
    [[1.0, 3.0, 7.0], [0.5, 0.75, 1.0]]
    """
    levels, counts = np.unique(values, return_counts=True)
    shares = np.cumsum(counts) / len(values)
    if len(levels) > MOST_POINTS:
        chosen = np.unique(np.searchsorted(shares, np.linspace(shares[0], 1, MOST_POINTS)))
        chosen = np.minimum(chosen, len(levels) - 1)
        levels, shares = levels[chosen], shares[chosen]
    return levels, shares
