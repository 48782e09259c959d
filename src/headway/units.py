"""Time inside Headway is an int64 count of microseconds; seconds exist only at the edges."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal, InvalidOperation

SECOND = 1_000_000
"""Microseconds in one second."""

MINUTE, HOUR, DAY, WEEK = 60 * SECOND, 3600 * SECOND, 86_400 * SECOND, 7 * 86_400 * SECOND
YEAR = 31_557_600 * SECOND
"""The same of longer spans."""

NEVER = (1 << 62) - 1
"""A time later than every event (µs); still safe to add a walltime to."""

LONGEST = NEVER // 4
"""The largest time or duration accepted from outside (µs), about 36,000 years."""


DIGITS = 400
"""Digits before the point of a number of seconds that is worth computing with; every float has fewer."""

LATEST = NEVER // 2
"""The last instant that the jobs of a log may reach one after the other (µs)."""


def microseconds(seconds: int | float | str | Decimal) -> int:
    """Microseconds of a number of seconds, exact for decimals, nearest where digits run out.

    >>> microseconds("552.21")
    552210000
    """
    if isinstance(seconds, int):
        return seconds * SECOND
    try:
        value = Decimal(str(seconds))
        if value == 0:  # whatever its exponent
            return 0
        if value.adjusted() > DIGITS:
            raise ValueError
        return int((value * SECOND).to_integral_value(ROUND_HALF_EVEN))
    except (InvalidOperation, OverflowError, ValueError):
        raise ValueError(f"not a number of seconds: {seconds!r}") from None


def microseconds_up(seconds: Decimal | float) -> int:
    """Microseconds of a duration that came from a division, rounded up once."""
    return int((Decimal(str(seconds)) * SECOND).to_integral_value(ROUND_CEILING))


def seconds_text(us: int) -> str:
    """Seconds as people write them: whole ones without decimals, others with as many as needed.

    >>> seconds_text(12_000_000), seconds_text(12_500_000)
    ('12', '12.5')
    """
    whole, rest = divmod(abs(int(us)), SECOND)
    sign = "-" if us < 0 else ""
    return f"{sign}{whole}" if rest == 0 else f"{sign}{whole}.{rest:06d}".rstrip("0")


def date_text(us: int, unix_start: int) -> str:
    """An instant of a log's clock as a date (UTC); `unix_start` is its second 0, in seconds since 1970.

    >>> date_text(61_000_000, 893466664)
    '1998-04-25 01:12:05 UTC'
    """
    whole, rest = divmod(int(us), SECOND)
    date = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=unix_start + whole)
    part = f".{rest:06d}".rstrip("0") if rest else ""
    return f"{date:%Y-%m-%d %H:%M:%S}{part} UTC"


def duration(us: int) -> str:
    """A duration in its two largest units; under two minutes in seconds.

    >>> duration(61_500_000), duration(7_500_000_000), duration(-181_500_000)
    ('61.5 s', '2 h 5 min', '-3 min 1.5 s')
    """
    if us < 0:
        return f"-{duration(-us)}"
    if us < 2 * MINUTE:
        return f"{seconds_text(us)} s"
    if us >= 2 * YEAR:
        return f"{us / YEAR:.1f} years"
    parts = []
    for name, unit in (("d", DAY), ("h", HOUR), ("min", MINUTE)):
        count, us = divmod(us, unit)
        if count:
            parts.append(f"{count:,} {name}")
    if us:
        parts.append(f"{seconds_text(us)} s")
    return " ".join(parts[:2])


def span_text(seconds: float) -> str:
    """A mean or another statistic of durations in words: whole seconds, three digits under two minutes.

    >>> span_text(45.678), span_text(3600.4), span_text(4000), span_text(200_000), span_text(70_000_000)
    ('45.7 s', '1 h', '1 h 6 min', '2 d 7 h', '2.2 years')
    """
    rounded = f"{seconds:.3g}" if abs(seconds) < 120 else round(seconds)
    return duration(microseconds(rounded))
