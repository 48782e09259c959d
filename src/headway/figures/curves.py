"""Curves: use and queue over time with axes of dates, and distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import UsageError
from headway.figures.style import BLACK, house_style, legend_columns, line, literal, sheet, time_ticks
from headway.metrics import Steps, busy_processors, queue_length
from headway.metrics.comparison import brief
from headway.metrics.sample import Sample
from headway.schedule import Schedule
from headway.units import DAY, HOUR, MINUTE, SECOND, microseconds, seconds_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UNITS = (("days", DAY), ("hours", HOUR), ("minutes", MINUTE), ("seconds", SECOND))

FIRST_DATES = (("%b", "%Y-%b", "%Y"), ("%d", "%b-%d", "%Y-%b"), ("%H:%M", "%b-%d\n%H:%M", "%Y-%b-%d"))
"""A date as it is shown, as the first of an axis is shown, and the part that matplotlib leaves out."""

Window = tuple[float | None, float | None]
"""Seconds since the first submission: from, to; None for the beginning and the end."""


def short_name(schedule: Schedule) -> str:
    """The policy as briefly as it can be written."""

    return brief(schedule.policy)


@dataclass(frozen=True)
class Clock:
    """Where the axis begins and ends (µs on the trace's clock), and its unit."""

    zero: int
    begin: int
    end: int
    unit: str
    length: int
    dated: bool = False
    """Whether the axis has dates; ``zero`` is then the beginning of 1970 and ``length`` a day."""

    def scaled(self, times: NDArray[np.int64]) -> NDArray[np.float64]:
        """Times in µs as numbers of the axis."""
        return np.asarray((times - self.zero) / self.length)

    def label(self, axes: Any) -> None:
        """Name the axis and give it its range."""
        begin, end = self.scaled(np.array([self.begin, self.end]))
        axes.set_xlim(begin, end)
        if not self.dated:
            axes.set_xlabel(f"{self.unit} since the first submission")
            return
        from matplotlib.dates import AutoDateLocator

        # Matplotlib counts days since 1970, as the axis does.
        places = AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
        axes.xaxis.set_major_locator(places)
        axes.xaxis.set_major_formatter(dates(places))
        axes.set_xlabel("UTC")

    def edges(self, columns: int) -> NDArray[np.int64]:
        """Edges of so many columns (at least 1 µs each) over the axis."""
        count = max(1, min(columns, self.end - self.begin))
        return np.linspace(self.begin, self.end, count + 1).astype(np.int64)


def dates(places: Any) -> Any:
    """Short dates at these places of an axis, of which the first is whole: "May-08", "15", "22", "Jun", "08".

    Beside the axis stands what all of them have in common, or from which year to which they go.
    """
    from matplotlib.dates import ConciseDateFormatter, num2date

    class Dates(ConciseDateFormatter):
        common = ""

        def format_ticks(self, values: Any) -> list[str]:
            labels: list[str] = super().format_ticks(values)  # type: ignore[no-untyped-call]
            moments = [num2date(value) for value in values]  # type: ignore[no-untyped-call]
            for short, whole, part in FIRST_DATES:
                changes = len({moment.strftime(part) for moment in moments}) > 1
                if changes and labels[0] == moments[0].strftime(short):
                    labels[0] = moments[0].strftime(whole)
            self.common = _common(moments)
            return labels

        def get_offset(self) -> str:
            return self.common if super().get_offset() else ""  # type: ignore[no-untyped-call]

    return Dates(places)  # type: ignore[no-untyped-call]


def _common(moments: Sequence[datetime]) -> str:
    for part in ("%Y-%b-%d %H:%M", "%Y-%b-%d", "%Y-%b", "%Y"):
        if len(texts := {moment.strftime(part) for moment in moments}) == 1:
            return texts.pop()
    return f"{moments[0]:%Y} to {moments[-1]:%Y}"


def unix_start(schedules: Sequence[Schedule]) -> int | None:
    """When the clock of these schedules was 0 (s since 1970), if all say the same."""
    found = {schedule.unix_start for schedule in schedules}
    return found.pop() if len(found) == 1 else None


def clock(schedules: Sequence[Schedule], window: Window | None = None) -> Clock:
    """One axis for all schedules: from the first submission to the last end, or a part of it."""
    held = [schedule for schedule in schedules if len(schedule)]
    if not held:
        raise UsageError("there is nothing to draw: the schedule has no jobs")
    zero = min(int(schedule.submit.min()) for schedule in held)
    last = max(int(schedule.end.max()) for schedule in held)
    begin, end = zero, max(last, zero + 1)
    if window is not None:
        try:
            begin = zero if window[0] is None else zero + microseconds(window[0])
            end = end if window[1] is None else zero + microseconds(window[1])
        except ValueError as error:
            raise UsageError(f"a figure goes from one number of seconds to another: {error}") from None
        if not (begin < end and begin < max(last, zero + 1) and end > zero):
            raise UsageError(
                f"there is nothing to draw from {seconds_text(begin - zero)} to {seconds_text(end - zero)} "
                f"s; the schedule lasts from 0 to {seconds_text(last - zero)} s after the first submission"
            )
    span = end - begin
    origin = unix_start(schedules)
    if origin is not None:
        return Clock(-origin * SECOND, begin, end, "days", DAY, dated=True)
    unit, length = next(((name, size) for name, size in UNITS if span >= 3 * size), UNITS[-1])
    return Clock(zero, begin, end, unit, length)


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
