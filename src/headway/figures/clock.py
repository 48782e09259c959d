"""The time axis: dates where the log says when it began, else seconds to days since the first submission."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import UsageError
from headway.schedule import Schedule
from headway.units import DAY, HOUR, MINUTE, SECOND, microseconds, seconds_text

UNITS = (("days", DAY), ("hours", HOUR), ("minutes", MINUTE), ("seconds", SECOND))

FIRST_DATES = (
    ("%b", "%Y-%b", "%Y"),
    ("%d", "%b-%d", "%Y-%b"),
    ("%H:%M", "%b-%d\n%H:%M", "%Y-%b-%d"),
)
"""A date as it is shown, as the first of an axis is shown, and the part that matplotlib leaves out."""

Window = tuple[float | None, float | None]
"""Seconds since the first submission: from, to; None for the beginning and the end."""


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
