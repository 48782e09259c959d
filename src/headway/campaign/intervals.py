"""Means over blocks, and intervals that hold the truth however few the blocks are.

Jobs of one week depend on each other, and so do versions of one week under several seeds; weeks hardly do.
So the block, such as a week, is the unit of observation. Every quantity here is a ratio of two sums over
blocks, and its interval is Fieller's: all values r for which Student's t finds no difference between the sums
of x and of r y. Where every block has the same weight this is Student's interval of the mean paired
difference. The intervals of the difference and of the relative change agree on whether 0 is inside.

E. C. Fieller, Some problems in interval estimation, Journal of the Royal Statistical Society B 16(2), 1954.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from headway.errors import UsageError

Floats = NDArray[np.float64]
Interval = tuple[float, float] | None

LEVEL = 0.95
MINIMUM = 6
"""Blocks without which no verdict is given: five blocks that all agree happen by chance in 1 of 16 cases."""


@dataclass(frozen=True)
class Paired:
    """A quantity under a policy and under its baseline, over blocks, with intervals.

    `difference` is value - base, `change` difference / base; an interval is None where the blocks do not
    bound it, as with a single one. `noise` is the standard deviation of the difference within a block, over
    its seeds, if any.
    """

    blocks: int
    pairs: int
    base: float
    value: float
    difference: float
    difference_low: float | None
    difference_high: float | None
    change: float | None
    change_low: float | None
    change_high: float | None
    blocks_lower: float
    """Share of the blocks in which the value is below the base."""
    noise: float | None

    @property
    def enough(self) -> bool:
        """Whether there are blocks enough for a verdict."""
        return self.blocks >= MINIMUM

    @property
    def significant(self) -> bool:
        """Whether there are blocks enough, and the interval of the difference leaves out 0."""
        if not self.enough or self.difference_low is None or self.difference_high is None:
            return False
        return self.difference_low > 0 or self.difference_high < 0


def paired(
    block: NDArray[np.int64],
    value: Floats,
    base: Floats,
    weight: Floats | None = None,
    *,
    level: float = LEVEL,
) -> Paired:
    """Compare paired values, one row per pair, `block` telling which rows belong together.

    Without weights every block counts the same, whatever its number of pairs; with weights, such as numbers
    of jobs, means are weighted over all rows.
    """
    if not isinstance(level, float) or not 0 < level < 1:
        raise UsageError(f"level must be above 0 and below 1, as 0.95 for 95 %, not {level!r}")
    _, place = np.unique(block, return_inverse=True)
    count = int(place.max()) + 1 if len(place) else 0
    rows = np.bincount(place, minlength=count).astype(np.float64)
    weights = 1.0 / rows[place] if weight is None else weight
    mass, above, below = (
        np.bincount(place, weights=weights * column, minlength=count).astype(np.float64)
        for column in (np.ones(len(place)), value, base)
    )
    total = float(mass.sum())
    mean_value, mean_base = float(above.sum()) / total, float(below.sum()) / total
    low, high = ratio_interval(above - below, mass, level) or (None, None)
    change_low, change_high = ratio_interval(above - below, below, level) or (None, None)
    return Paired(
        blocks=count,
        pairs=len(place),
        base=mean_base,
        value=mean_value,
        difference=mean_value - mean_base,
        difference_low=low,
        difference_high=high,
        change=(mean_value - mean_base) / mean_base if mean_base else None,
        change_low=change_low,
        change_high=change_high,
        blocks_lower=float(np.mean(above < below)),
        noise=_noise(place, value - base, rows),
    )


def ratio_interval(x: Floats, y: Floats, level: float = LEVEL) -> Interval:
    """Fieller's interval of sum(x) / sum(y) over blocks; None where the blocks do not bound it.

    r is inside where (X - r Y)^2 <= t^2 var(X - r Y), a parabola in r: a r^2 - 2 b r + c <= 0.
    """
    count = len(x)
    if count < 2:
        return None
    sum_x, sum_y = float(x.sum()), float(y.sum())
    spread = count * np.cov(x, y)
    square = quantile(level, count - 1) ** 2
    a = sum_y**2 - square * float(spread[1, 1])
    b = sum_x * sum_y - square * float(spread[0, 1])
    c = sum_x**2 - square * float(spread[0, 0])
    if sum_y <= 0 or a <= 0:
        return None
    half = max(b * b - a * c, 0.0) ** 0.5
    return (b - half) / a, (b + half) / a


def _noise(place: NDArray[np.int64], difference: Floats, rows: Floats) -> float | None:
    """The pooled standard deviation within blocks; None where every block has a single pair."""
    free = float((rows - 1).sum())
    if free <= 0:
        return None
    mean = np.bincount(place, weights=difference) / rows
    return float(np.sqrt(np.sum((difference - mean[place]) ** 2) / free))


STEPS = 200
"""Bisection steps: enough to exhaust a double's digits."""


@cache
def quantile(level: float, freedom: int) -> float:
    """The t with P(-t <= T <= t) = level, for `freedom` >= 1 degrees of freedom.

    >>> round(quantile(0.95, 1), 3), round(quantile(0.95, 9), 3)
    (12.706, 2.262)
    """
    low, high = 0.0, 1.0
    while within(high, freedom) < level:
        high *= 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if within(middle, freedom) < level else (low, middle)
    return high


def within(t: float, freedom: int) -> float:
    """P(-t <= T <= t), a finite sum of cosines.

    M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 1964, 26.7.3 and 26.7.4.
    """
    angle = math.atan2(t, math.sqrt(freedom))
    square = freedom / (freedom + t * t)
    if freedom % 2:
        total = sum_of_powers(math.sqrt(square), square, range(3, freedom, 2)) if freedom > 1 else 0.0
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * sum_of_powers(1.0, square, range(2, freedom, 2))


def sum_of_powers(first: float, square: float, divisors: range) -> float:
    """first x (1 + (d1 - 1) / d1 square + (d1 - 1)(d2 - 1) / (d1 d2) square^2 + ...)."""
    total = term = first
    for divisor in divisors:
        term *= (divisor - 1) / divisor * square
        total += term
    return total
