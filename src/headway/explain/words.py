"""Instants and jobs in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headway.plain import listed
from headway.units import date_text, duration, seconds_text

if TYPE_CHECKING:
    from headway.explain.place import Case

SHOWN = 5
NOT_AGAIN = "the run cannot be repeated with this version and what is known of the jobs"


def at(us: int, case: Case) -> str:
    """An instant, as a date where the log has dates, and how long from the submission it is."""
    when = f"at {instant(us, case.schedule.unix_start)}"
    if us == case.submit:
        return when
    side = "after" if us > case.submit else "before"
    return f"{when} ({duration(abs(us - case.submit))} {side} it was submitted)"


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
