"""What a paper says, what we get, and whether the two agree: one rule for all papers.

A claim is tested in one of three ways. A *number* agrees within five percentage points of the paper's (five
percent, where it is no percentage), or inside the bracket that the paper gives; an *order*, of policies or
parameters, where it is the paper's; a *direction* (more or less, better or worse, always or never) where it
holds in every case that was tried. "In part": a number of the same direction and another size, an order, a
direction or a bracket that holds in at least half of the cases. "Differs": all else. A mean of the paper's
stands against a mean, a median against a median. What the paper does not claim and we show beside it is "not
claimed".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Verdict = Literal["agrees", "in part", "differs", "not tested", "not claimed"]
Tested = Literal["number", "order", "direction", "-"]
POINTS = 5.0
"""Percentage points, or percent, within which two numbers agree."""


@dataclass(frozen=True)
class Claim:
    """One statement of a paper against our numbers.

    ``tested`` says how it was judged, ``source`` where the paper says it, ``remark`` why the verdict is what
    it is.
    """

    claim: str
    paper: str
    ours: str
    verdict: Verdict
    remark: str = ""
    tested: Tested = "-"
    source: str = ""


def untested(claim: str, paper: str, why: str, source: str) -> Claim:
    """A statement for which there is nothing to test it on."""
    return Claim(claim, paper, "-", "not tested", why, source=source)


def not_claimed(claim: str, paper: str, ours: str, remark: str, source: str) -> Claim:
    """What the paper does not claim, and we show beside it."""
    return Claim(claim, paper, ours, "not claimed", remark, source=source)


def number(said: float, ours: float | None) -> Verdict:
    """A percentage against the paper's.

    >>> number(-20.7, -19.9), number(10, 33), number(10, -38), number(10, None)
    ('agrees', 'in part', 'differs', 'not tested')
    """
    if ours is None:
        return "not tested"
    if abs(said - ours) <= POINTS:
        return "agrees"
    return "in part" if said * ours > 0 else "differs"


def level(said: float, ours: float | None) -> Verdict:
    """A share in percent, which has no direction, against the paper's.

    >>> level(64, 62), level(50, 9)
    ('agrees', 'differs')
    """
    if ours is None:
        return "not tested"
    return "agrees" if abs(said - ours) <= POINTS else "differs"


def magnitude(said: float, ours: float | None) -> Verdict:
    """A number that is no percentage, against the paper's.

    >>> magnitude(3.28, 3.19), magnitude(32.1, 39.2)
    ('agrees', 'differs')
    """
    if ours is None:
        return "not tested"
    return "agrees" if abs(ours / said - 1) <= POINTS / 100 else "differs"


def direction(held: Sequence[bool]) -> Verdict:
    """Whether something holds in all cases, in half of them or more, or in fewer.

    >>> direction([True, True]), direction([True, False]), direction([True, False, False]), direction([])
    ('agrees', 'in part', 'differs', 'not tested')
    """
    if not held:
        return "not tested"
    count = sum(held)
    return "agrees" if count == len(held) else "in part" if 2 * count >= len(held) else "differs"


def unharmed(ratio: float) -> bool:
    """Whether a ratio with / without leaves something unharmed: no worse than numbers that agree may be.

    >>> unharmed(0.8), unharmed(1.05), unharmed(1.06)
    (True, True, False)
    """
    return ratio <= 1 + POINTS / 100


@dataclass
class Reproduction:
    """What came of reproducing a paper: claims with verdicts, tables by title, files written."""

    title: str
    claims: list[Claim] = field(default_factory=list)
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    """Title -> rows of texts, the first row the names of the columns."""
    notes: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)


def capital(title: str) -> str:
    """A title at the beginning of a sentence; names of logs keep their letters.

    >>> capital("light"), capital("KTH")
    ('Light', 'KTH')
    """
    return title[:1].upper() + title[1:]


def share_text(value: float | None) -> str:
    """0.123 as "12 %"; a dash for nothing.

    >>> share_text(0.123), share_text(None)
    ('12 %', '-')
    """
    return "-" if value is None else f"{100 * value:.0f} %"


def change_text(ratio: float | None) -> str:
    """A ratio with / without as what it is worth: 0.9 is "10 % better"; below one percent with decimals.

    >>> change_text(0.9), change_text(1.25), change_text(1.0), change_text(0.997), change_text(1.00002)
    ('10 % better', '25 % worse', 'equal', '0.3 % better', 'less than 0.1 % worse')
    """
    if ratio is None or ratio == 1:
        return "-" if ratio is None else "equal"
    percent = 100 * abs(1 - ratio)
    shown = f"{percent:.0f}" if percent >= 0.95 else f"{percent:.1f}" if percent >= 0.05 else "less than 0.1"
    return f"{shown} % {'better' if ratio < 1 else 'worse'}"
