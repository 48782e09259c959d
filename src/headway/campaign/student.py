"""Student's t distribution with a whole number of degrees of freedom."""

from __future__ import annotations

import math
from functools import cache

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
