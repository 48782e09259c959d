"""Flexible jobs: those that only need to be done by a deadline, such as the next morning."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

import numpy as np

from headway.arrays import Ints
from headway.errors import UsageError
from headway.units import SECOND, microseconds
from headway.workload.table import Workload
from headway.workload.transform.rebuild import by_submission, generator, multiplied
from headway.workload.transform.registry import transformation

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
    except (KeyError, ValueError, OSError):
        raise UsageError(
            f"deadlines: no time zone {name!r} is known here; give zone=Europe/Paris, or zone=UTC"
        ) from None


@transformation
def deadlines(
    workload: Workload,
    every: int = 3,
    share: float | None = None,
    horizon: float = 86400.0,
    factor: float = 2.0,
    seed: int = 0,
    until: Literal["horizon", "morning", "workday", "monday"] = "horizon",
    hour: float = 8.0,
    start: int | None = None,
    zone: str | None = None,
) -> Workload:
    """Give some jobs a deadline, submit + max(horizon, factor x walltime); the others have none.

    every: each job whose place in submission order is a multiple of this one (3: the third, the sixth, ...).
    share: instead, each job with this probability.
    horizon: seconds from the submission to the deadline, at least.
    factor: walltimes from the submission to the deadline, at least.
    seed: of the random numbers, for a share.
    until: instead of a horizon, a time of the calendar: the next morning, the next one from Monday to
        Friday (workday), or the next Monday's; the first that is factor walltimes after the submission.
    hour: of the morning, 0 to 24.
    start: seconds since 1970 at time 0 of the log; by default its header's UnixStartTime.
    zone: time zone of the users; by default the header's TimeZoneString, else UTC.
    """
    if not 0 <= hour < 24:
        raise UsageError(f"deadlines: hour must be at least 0 and below 24, not {hour:g}")
    if every < 1 or horizon < 0 or factor < 0 or (share is not None and not 0 <= share <= 1):
        raise UsageError("deadlines: every must be at least 1, share in 0..1, horizon and factor at least 0")
    chosen = np.zeros(len(workload), np.bool_)
    chosen[every - 1 :: every] = True
    if share is not None:
        chosen = generator(seed).random(len(workload)) < share
    chosen = by_submission(workload, chosen)
    slack = multiplied(workload.walltime, factor, "deadlines: factor")
    if until == "horizon":
        latest = workload.submit + np.maximum(slack, microseconds(horizon))
    else:
        latest = next_morning(workload, workload.submit + slack, until, hour, start, zone)
    return workload.with_columns(deadline=np.where(chosen, latest, -1))
