"""Sets of processors as people write them, "0-3,7", and as half-open ranges: ``[(0, 4), (7, 8)]``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from headway.platform.outage import Range

_RANGE = r"[0-9]{1,10}(-[0-9]{1,10})?"
_SET = re.compile(f"{_RANGE}([, ]{_RANGE})*")
MOST = 10_000_000
"""Processors that a set may list; more are a mistake, and would take all memory."""


def ranges(text: str) -> list[Range]:
    """The ranges of a set in ascending order; ValueError where the text is something else.

    >>> ranges("7,0-3 4")
    [(0, 5), (7, 8)]
    """
    if not _SET.fullmatch(text):
        raise ValueError(text)
    parts = [part.partition("-") for part in re.split("[, ]", text)]
    found = [(int(low), int(high or low) + 1) for low, _, high in parts]
    if any(high <= low for low, high in found):
        raise ValueError(text)
    return joined(found)


def numbers(text: str) -> list[int]:
    """The processors of a set in ascending order; ValueError where the text is something else.

    >>> numbers("7,0-3")
    [0, 1, 2, 3, 7]
    """
    found = ranges(text)
    if sum(high - low for low, high in found) > MOST:
        raise ValueError(text)
    return [number for low, high in found for number in range(low, high)]


def joined(some: Iterable[Range]) -> list[Range]:
    """The same processors in ascending order, neighbours and overlaps as one range."""
    found: list[Range] = []
    for low, high in sorted(some):
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return found


def text(some: Iterable[Range], between: str = ",") -> str:
    """The set as it is written.

    >>> text([(0, 4), (7, 8)])
    '0-3,7'
    """
    return between.join(str(low) if high == low + 1 else f"{low}-{high - 1}" for low, high in some)
