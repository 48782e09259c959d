"""Mornings on a log's clock: when people come to work and want their results."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from headway.errors import UsageError
from headway.units import SECOND
from headway.workload.table import Workload
from headway.workload.transform.rebuild import Ints

Days = Literal["morning", "workday", "monday"]
WEEKDAYS: dict[str, tuple[int, ...]] = {
    "morning": (0, 1, 2, 3, 4, 5, 6),
    "workday": (0, 1, 2, 3, 4),
    "monday": (0,),
}
"""On which days of the week there is such a morning, Monday being 0."""


def next_morning(
    workload: Workload, after: Ints, days: Days, hour: float, start: int | None, zone: str | None
) -> Ints:
    """The first morning at or after each time (µs on the log's clock), in the log's time zone."""
    begin = workload.header.unix_start if start is None else start
    if begin is None:
        raise UsageError(
            f"deadlines: {days} needs to know when the log begins, and its header has no UnixStartTime; give "
            "start=SECONDS since 1970"
        )
    if not len(after):
        return after
    place = _zone(zone or workload.header.get("TimeZoneString") or "UTC")
    day = datetime.fromtimestamp(begin + int(after.min()) // SECOND, place) - timedelta(days=1)
    last = begin + int(after.max()) // SECOND
    mornings: list[int] = []
    while not mornings or mornings[-1] <= last:
        if day.weekday() in WEEKDAYS[days]:
            minutes = int(hour * 60 + 1e-6)  # whole ones; the last of a day is 23:59
            at = datetime(day.year, day.month, day.day, minutes // 60, minutes % 60, tzinfo=place)
            mornings.append(int(at.timestamp()))
        day += timedelta(days=1)
    found = (np.array(mornings, np.int64) - begin) * SECOND
    return np.asarray(found[np.searchsorted(found, after)])


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise UsageError(
            f"deadlines: no time zone {name!r} is known here; give zone=Europe/Paris, or zone=UTC"
        ) from None
