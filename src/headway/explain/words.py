"""Instants and jobs in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from headway.plain import listed
from headway.units import date_text, duration, seconds_text

SHOWN = 5
NOT_AGAIN = "the run cannot be repeated with this version and what is known of the jobs"


class Submitted(Protocol):
    """What an instant is told relative to."""

    @property
    def submit(self) -> int:
        """When the job was submitted, µs on the log's clock."""

    @property
    def unix_start(self) -> int | None:
        """When the log's clock was 0, in seconds since 1970; None where the log does not say."""


def at(us: int, job: Submitted) -> str:
    """An instant, as a date where the log has dates, and how long from the submission it is."""
    when = f"at {instant(us, job.unix_start)}"
    side = "after" if us > job.submit else "before"
    return when if us == job.submit else f"{when} ({duration(abs(us - job.submit))} {side} it was submitted)"


def instant(us: int, unix_start: int | None) -> str:
    """An instant of the log's clock in words.

    >>> instant(61_000_000, None), instant(61_000_000, 893466664)
    ('61 s', '1998-04-25 01:12:05 UTC')
    """
    return f"{seconds_text(us)} s" if unix_start is None else date_text(us, unix_start)


def processors(count: int) -> str:
    return f"{count} processor{'s' * (count != 1)}"


def jobs(ids: Sequence[int], shown: int = SHOWN) -> str:
    """Jobs by number, the first few of them.

    >>> jobs([7]), jobs([1, 2, 3]), jobs(range(9))
    ('job 7', 'jobs 1, 2 and 3', 'jobs 0, 1, 2, 3, 4 and 4 more')
    """
    if len(ids) == 1:
        return f"job {ids[0]}"
    more = [f"{len(ids) - shown} more"] if len(ids) > shown else []
    return f"jobs {listed([*map(str, ids[:shown]), *more])}"


def count_jobs(count: int) -> str:
    return f"{count} job{'s' * (count != 1)}"


def times(count: int) -> str:
    """How often something happened.

    >>> times(1), times(3)
    ('once', '3 times')
    """
    return "once" if count == 1 else f"{count} times"
