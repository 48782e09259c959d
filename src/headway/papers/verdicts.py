"""What a paper says, what we get, and whether the two agree: one rule for all papers.

Every number of ours comes with its 95 % interval over the blocks that are independent, or nearly so: weeks of
a log, seeds, scenarios. Comparisons are paired by block.

- A *number* agrees where it is within a tenth of the paper's and our interval holds the paper's. It agrees in
  part where only the size of a change differs (the interval leaves out 0, on the paper's side), or where it
  is within a tenth and the interval leaves the paper's out; it is undecided where the interval holds the
  paper's number and ours is further than a tenth away, or the interval is wider than the number itself; else
  it differs.
- A *direction* agrees where the interval excludes the other direction, differs where it excludes the paper's,
  and is undecided where it excludes neither.
- An *order* agrees where each neighbouring pair is a direction that agrees.
- *Always* and *never* are counted: they agree where no case is against them.
- A *bracket* agrees where 95 % of the resampled sets of blocks have their best parameter inside.

A claim that no outcome on this page's data could have refused "could not fail"; sums of the paper's own
numbers are "arithmetic"; what a paper does not say is "not claimed". These three count neither way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from headway.campaign.intervals import LEVEL, quantile, ratio_interval

Verdict = Literal[
    "agrees", "in part", "differs", "undecided", "not tested", "could not fail", "arithmetic", "not claimed"
]
Tested = Literal["number", "direction", "order", "always", "bracket", "-"]
COUNTED: tuple[Verdict, ...] = ("agrees", "in part", "differs", "undecided")
"""Verdicts of claims that were put to a test."""
NORMAL = 1.959964
"""Standard deviations that hold 95 % of a normal distribution."""
TENTH = 0.1
"""Part of the paper's number within which ours agrees."""
Floats = NDArray[np.float64]
Range = tuple[float, float]


@dataclass(frozen=True)
class Estimate:
    """A number with its interval over blocks; without bounds where the blocks give none, as a single one."""

    value: float
    low: float | None = None
    high: float | None = None
    blocks: int = 1

    def side(self, of: float = 0) -> int:
        """1 where the whole interval is above, -1 where it is below, 0 where it is neither."""
        if self.low is None or self.high is None:
            return 0
        return 1 if self.low > of else -1 if self.high < of else 0

    def holds(self, number: float) -> bool:
        """Whether the interval holds a number."""
        return self.low is not None and self.high is not None and self.low <= number <= self.high

    def scaled(self, factor: float, shift: float = 0) -> Estimate:
        """In another unit: times a factor above 0, then shifted."""
        low, high = (None if end is None else factor * end + shift for end in (self.low, self.high))
        return Estimate(factor * self.value + shift, low, high, self.blocks)

    def negative(self) -> Estimate:
        """The other way round."""
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return Estimate(-self.value, low, high, self.blocks)

    def text(self, unit: str = "", digits: int = 1, sign: bool = False) -> str:
        """For a page.

        >>> Estimate(-19.9, -24.04, -15.2, 9).text(" %", sign=True), Estimate(3.19).text(" h", 2)
        ('-19.9 % (-24.0 to -15.2)', '3.19 h (no interval)')
        """
        plus = "+" if sign else ""
        value, low, high = (
            "" if x is None else f"{x:{plus},.{digits}f}" for x in (self.value, self.low, self.high)
        )
        return f"{value}{unit} ({f'{low} to {high}' if low else 'no interval'})"


def mean_of(values: Sequence[float] | Floats) -> Estimate:
    """The mean over blocks with Student's interval.

    >>> mean_of([1.0, 2.0, 3.0]).text(digits=2), mean_of([2.0]).text()
    ('2.00 (-0.48 to 4.48)', '2.0 (no interval)')
    """
    some = np.asarray(values, np.float64)
    if len(some) < 2:
        return Estimate(float(some.mean()) if len(some) else float("nan"), blocks=len(some))
    half = quantile(LEVEL, len(some) - 1) * float(some.std(ddof=1)) / len(some) ** 0.5
    mean = float(some.mean())
    return Estimate(mean, mean - half, mean + half, len(some))


def ratio_of(above: Sequence[float] | Floats, below: Sequence[float] | Floats) -> Estimate:
    """The sum over blocks of one number over that of another, with Fieller's interval."""
    x, y = np.asarray(above, np.float64), np.asarray(below, np.float64)
    low, high = ratio_interval(x, y) or (None, None)
    total = float(y.sum())
    return Estimate(float(x.sum()) / total if total else float("nan"), low, high, len(x))


def share_of(count: int, total: int) -> Estimate:
    """A share in percent of independent cases, with Wilson's interval.

    >>> share_of(144, 200).text(" %"), share_of(5, 5).text(" %")
    ('72.0 % (65.4 to 77.8)', '100.0 % (56.6 to 100.0)')
    """
    if not total:
        return Estimate(float("nan"), blocks=0)
    z, share = NORMAL, count / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z * (share * (1 - share) / total + (z / (2 * total)) ** 2) ** 0.5 / (1 + z * z / total)
    return Estimate(100 * share, 100 * (middle - half), 100 * (middle + half), total)


def extreme_of(blocks: Sequence[Sequence[float] | Floats], largest: bool = True) -> Estimate:
    """The largest (or least) of all values; its interval is what it would be without any one of the blocks.

    >>> extreme_of([[1, 5], [2], [4]]).text()
    '5.0 (4.0 to 5.0)'
    """
    pick = max if largest else min
    ends = [pick(float(value) for value in block) for block in blocks if len(block)]
    if len(ends) < 2:
        return Estimate(ends[0] if ends else float("nan"), blocks=len(ends))
    without = [pick(ends[:place] + ends[place + 1 :]) for place in range(len(ends))]
    return Estimate(pick(ends), min(without), max(without), len(ends))


def within(difference: Estimate, margin: float) -> list[Estimate]:
    """Two steps of an order that both hold where a difference is surely less than a margin either way."""
    return [difference.scaled(1, margin), difference.negative().scaled(1, margin)]


def slope_of(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> Estimate:
    """The slope of the least-squares line through points, with Student's interval.

    >>> slope_of([0, 1, 2, 3], [1, 3, 5, 7]).text()
    '2.0 (2.0 to 2.0)'
    """
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    a, b = a - a.mean(), b - b.mean()
    slope = float(a @ b / (a @ a))
    error = float(np.sum((b - slope * a) ** 2)) / (len(a) - 2) / float(a @ a)
    half = quantile(LEVEL, len(a) - 2) * error**0.5
    return Estimate(slope, slope - half, slope + half, len(a))


def change_of(with_: Sequence[float] | Floats, without: Sequence[float] | Floats) -> Estimate:
    """By how many percent the sum of one number is larger than that of another, paired by block."""
    return ratio_of(with_, without).scaled(100, -100)


@dataclass(frozen=True)
class Claim:
    """One statement of a paper against our numbers: a row of its page.

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


def number(
    claim: str,
    source: str,
    said: float,
    ours: Estimate | None,
    remark: str = "",
    *,
    unit: str = " %",
    digits: int = 1,
    sign: bool = False,
    paper: str = "",
    possible: Range | None = None,
) -> Claim:
    """A number of the paper's against ours; ``possible``: the least and the largest that this data allows."""
    paper = paper or f"{said:{'+' if sign else ''},.{digits}f}{unit}"
    if ours is None:
        return untested(claim, paper, remark, source)
    verdict = number_verdict(said, ours, change=sign)
    if possible is not None and all(abs(end - said) <= TENTH * abs(said) for end in possible):
        verdict = unless_certain(verdict)
    return Claim(claim, paper, ours.text(unit, digits, sign), verdict, remark, "number", source)


def unless_certain(verdict: Verdict) -> Verdict:
    """The verdict on a claim that this data could not refuse: agreement is worth nothing, anything else is.

    >>> unless_certain("agrees"), unless_certain("differs")
    ('could not fail', 'differs')
    """
    return "could not fail" if verdict == "agrees" else verdict


def number_verdict(said: float, ours: Estimate, change: bool = True) -> Verdict:
    """The rule for numbers; only a ``change`` has a direction that can be right with another size.

    >>> number_verdict(10, Estimate(10.5, 9, 12)), number_verdict(10, Estimate(33, 20, 46))
    ('agrees', 'in part')
    >>> number_verdict(10, Estimate(12, 9, 15)), number_verdict(10, Estimate(-3, -9, 3))
    ('undecided', 'differs')
    >>> number_verdict(10, Estimate(33, 20, 46), change=False)
    'differs'
    """
    close = abs(ours.value - said) <= TENTH * abs(said)
    if ours.low is not None and ours.high is not None and ours.holds(said):
        return "agrees" if close and ours.high - ours.low <= abs(said) else "undecided"
    if ours.low is None:
        return "undecided" if close else "differs"
    return "in part" if close or (change and ours.side() * said > 0) else "differs"


def direction(
    claim: str,
    source: str,
    paper: str,
    ours: Estimate,
    side: int,
    remark: str = "",
    *,
    than: float = 0,
    shown: str = "",
    unit: str = " %",
    digits: int = 1,
    possible: Range | None = None,
) -> Claim:
    """More (``side`` 1) or less (-1) than a threshold."""
    verdict = direction_verdict(ours, side, than)
    if possible is not None and all(side * (end - than) > 0 for end in possible):
        verdict = unless_certain(verdict)
    text = shown or ours.text(unit, digits, sign=than == 0)
    return Claim(claim, paper, text, verdict, remark, "direction", source)


def direction_verdict(ours: Estimate, side: int, than: float = 0) -> Verdict:
    """The rule for directions.

    >>> direction_verdict(Estimate(2, 1, 3), 1), direction_verdict(Estimate(2, -1, 5), 1)
    ('agrees', 'undecided')
    >>> direction_verdict(Estimate(2, 1, 3), -1), direction_verdict(Estimate(2), 1)
    ('differs', 'undecided')
    """
    lies = ours.side(than)
    return "undecided" if lies == 0 else "agrees" if lies == side else "differs"


def order(
    claim: str,
    source: str,
    paper: str,
    ours: str,
    steps: Sequence[Estimate],
    remark: str = "",
    *,
    possible: bool = True,
) -> Claim:
    """An order, or several directions at once: each step is a difference that the paper has above 0.

    Not ``possible`` says that no other order could have come out.
    """
    verdict = order_verdict(steps) if possible else unless_certain(order_verdict(steps))
    told = f"{sum(step.side() > 0 for step in steps)} of {len(steps)} steps hold"
    reversed_ = sum(step.side() < 0 for step in steps)
    told += f", {reversed_} the other way round" if reversed_ else ""
    return Claim(claim, paper, ours, verdict, f"{told}; {remark}" if remark else told, "order", source)


def order_verdict(steps: Sequence[Estimate]) -> Verdict:
    """The rule for orders.

    >>> up, flat, down = Estimate(2, 1, 3), Estimate(0, -1, 1), Estimate(-2, -3, -1)
    >>> order_verdict([up, up]), order_verdict([up, flat]), order_verdict([flat, flat]), order_verdict([down])
    ('agrees', 'in part', 'undecided', 'differs')
    """
    sides = [step.side() for step in steps]
    held, against = sum(side > 0 for side in sides), sum(side < 0 for side in sides)
    if not sides:
        return "not tested"
    if held == len(sides):
        return "agrees"
    if 2 * held >= len(sides):
        return "in part"
    return "differs" if against else "undecided"


def always(
    claim: str,
    source: str,
    paper: str,
    ours: str,
    held: Sequence[bool],
    remark: str = "",
    *,
    possible: bool = True,
) -> Claim:
    """What holds in every case or in none, counted; not ``possible`` says that it could not have failed."""
    verdict = always_verdict(held) if possible else unless_certain(always_verdict(held))
    return Claim(claim, paper, ours, verdict, remark, "always", source)


def always_verdict(held: Sequence[bool]) -> Verdict:
    """The rule for always and never.

    >>> always_verdict([True, True]), always_verdict([True, False]), always_verdict([True, False, False])
    ('agrees', 'in part', 'differs')
    """
    if not held:
        return "not tested"
    count = sum(held)
    return "agrees" if count == len(held) else "in part" if 2 * count >= len(held) else "differs"


def bracket(
    claim: str, source: str, said: Range, ours: str, drawn: Sequence[float], remark: str = ""
) -> Claim:
    """A range in which the paper has its best parameter, against the best of resampled sets of blocks."""
    inside = [said[0] <= value <= said[1] for value in drawn]
    share = sum(inside) / len(inside)
    verdict: Verdict = "agrees" if share >= LEVEL else "differs" if share <= 1 - LEVEL else "undecided"
    paper = f"{said[0]:g} to {said[1]:g}"
    told = f"inside in {100 * share:.0f} % of {len(inside):,} resampled sets of weeks"
    return Claim(claim, paper, ours, verdict, f"{told}; {remark}" if remark else told, "bracket", source)


def arithmetic(claim: str, source: str, paper: str, ours: str, same: bool, remark: str = "") -> Claim:
    """A sum or a worked example of the paper's, done again: no finding, and a difference is one."""
    verdict: Verdict = "arithmetic" if same else "differs"
    return Claim(claim, paper, ours, verdict, remark, "-" if same else "number", source)


def untested(claim: str, paper: str, why: str, source: str) -> Claim:
    """A statement for which there is nothing to test it on."""
    return Claim(claim, paper, "-", "not tested", why, source=source)


def not_claimed(claim: str, paper: str, ours: str, remark: str, source: str) -> Claim:
    """What the paper does not claim, and we show next to it."""
    return Claim(claim, paper, ours, "not claimed", remark, source=source)


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
