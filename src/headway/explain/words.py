"""Durations, instants and jobs in words."""

from __future__ import annotations

from collections.abc import Sequence

from headway.units import SECOND, seconds_text

UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
SHOWN = 5


def duration(us: int) -> str:
    """A duration in its two largest units: ``2 h 5 min``.

    >>> duration(7_500_000_000), duration(61_500_000), duration(0)
    ('2 h 5 min', '1 min 1.5 s', '0 s')
    """
    if us < 60 * SECOND:
        return f"{seconds_text(us)} s"
    parts: list[str] = []
    rest = us
    for name, seconds in UNITS:
        if name == "s" and rest and not parts[1:]:
            parts.append(f"{seconds_text(rest)} s")
        elif rest >= seconds * SECOND and name != "s":
            count, rest = divmod(rest, seconds * SECOND)
            parts.append(f"{count} {name}")
    return " ".join(parts[:2])


def at(us: int, submit: int) -> str:
    """An instant on the log's clock, and how long after the submission it is."""
    if us == submit:
        return f"at {seconds_text(us)} s"
    return f"at {seconds_text(us)} s ({duration(us - submit)} after it was submitted)"


def processors(count: int) -> str:
    return f"{count} processor{'s' * (count != 1)}"


def jobs(ids: Sequence[int], shown: int = SHOWN) -> str:
    """Jobs by number, the first few of them.

    >>> jobs([7]), jobs([1, 2, 3]), jobs(range(9))
    ('job 7', 'jobs 1, 2 and 3', 'jobs 0, 1, 2, 3, 4 and 4 more')
    """
    if len(ids) == 1:
        return f"job {ids[0]}"
    if len(ids) <= shown:
        return f"jobs {', '.join(map(str, ids[:-1]))} and {ids[-1]}"
    return f"jobs {', '.join(map(str, ids[:shown]))} and {len(ids) - shown} more"


def count_jobs(count: int) -> str:
    return f"{count} job{'s' * (count != 1)}"
