"""Processors by number, as a piece of a schedule may name them: "0-3,7"."""

from __future__ import annotations

import re

_RANGE = r"[0-9]{1,10}(-[0-9]{1,10})?"
RANGES = re.compile(f"{_RANGE}([, ]{_RANGE})*")
MOST = 10_000_000
"""Processors that one piece may list; more are a mistake, and would take all memory."""


def numbers(text: str) -> list[int]:
    """The processors of "0-3,7"; ValueError where the text is something else."""
    if not RANGES.fullmatch(text):
        raise ValueError(text)
    found: list[int] = []
    for part in re.split("[, ]", text):
        low, _, high = part.partition("-")
        first, last = int(low), int(high or low)
        if last < first or len(found) + last - first >= MOST:
            raise ValueError(text)
        found.extend(range(first, last + 1))
    return found
