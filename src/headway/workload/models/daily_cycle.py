"""Arrivals that follow the clock: the daily cycle of Lublin and Feitelson's model.

Time is paid for in points. A day has 48 half-hour buckets, each with a weight proportional to the share
of a day's jobs that arrive in it (weights have mean 1). A job comes e^g / 1800 points after the one before
it, g drawn from a gamma distribution; walking through a bucket of weight w costs w points, so that busy
hours, which are heavy, hold many arrivals.

    points   0    0.2  0.5   1.3        3.0
             |----|----|-----|----------|--->       cumulative weight at the ends of the buckets
    time     0   0.5h  1h   1.5h        2h          half-hour steps

Cumulative points against time is one periodic, piecewise linear curve, so all arrivals are found at once by
inverting it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import cache
from math import exp, floor, lgamma, log
from typing import NamedTuple

import numpy as np

from headway.arrays import Floats

BUCKETS = 48
BUCKET_SECONDS = 1800
DAY_SECONDS = BUCKETS * BUCKET_SECONDS
FIRST_BUCKET = 11
"""The model's day starts with this half hour (5 a.m.), counted from 1."""


def gamma_cdf(x: float, shape: float, scale: float) -> float:
    """P(G <= x) of the gamma distribution, by the power series of the incomplete gamma function."""
    x /= scale
    if x <= 0:
        return 0.0
    term = total = 1.0 / shape
    n = shape
    while term > total * 1e-17:
        n += 1.0
        term *= x / n
        total += term
    return total * exp(-x + shape * log(x) - lgamma(shape))


@cache
def bucket_weights(shape: float, scale: float) -> Floats:
    """Weights of the 48 half hours from midnight, mean 1, from the model's gamma(anum, bnum)."""
    weights = np.empty(BUCKETS)
    for half_hour in range(FIRST_BUCKET, FIRST_BUCKET + BUCKETS):
        share = gamma_cdf(half_hour + 0.5, shape, scale) - gamma_cdf(half_hour - 0.5, shape, scale)
        weights[(half_hour - 1) % BUCKETS] = share
    normalised: Floats = weights / weights.mean()
    normalised.flags.writeable = False
    return normalised


class Curve(NamedTuple):
    """Points against time over one day: what each half hour costs, and the points before and after it."""

    weights: Floats
    begins: Floats
    ends: Floats

    @classmethod
    @cache
    def of_class(cls, shape: float, scale: float, start_hour: float) -> Curve:
        """The curve of a class of jobs, whose arrivals over a day follow gamma(shape, scale)."""
        return cls.of(bucket_weights(shape, scale), start_hour)

    @classmethod
    def of(cls, weights: Floats, start_hour: float = 0.0) -> Curve:
        """The curve from the hour of the day (0..23.5, whole half hours) at which the clock stands at 0."""
        rolled = np.roll(weights, -int(start_hour * 2))
        ends = np.cumsum(rolled)
        return cls(rolled, ends - rolled, ends)


def times_of_points(points: Floats, curve: Curve) -> Floats:
    """Seconds after the start at which each number of points has been spent; points do not decrease."""
    day = curve.ends[-1]
    days = np.floor(points / day)
    rest = points - days * day
    bucket = np.minimum(curve.ends.searchsorted(rest, side="left"), BUCKETS - 1)
    within = (rest - curve.begins[bucket]) / curve.weights[bucket]
    times: Floats = days * DAY_SECONDS + BUCKET_SECONDS * (bucket + within)
    return times


def clock_of(curve: Curve) -> Callable[[float], float]:
    """:func:`times_of_points` for one number at a time, with the same bits: numpy is slow with so few."""
    weights: list[float]
    begins: list[float]
    ends: list[float]
    weights, begins, ends = (column.tolist() for column in curve)
    day = ends[-1]

    def time_of_point(points: float) -> float:
        days = float(floor(points / day))
        rest = points - days * day
        bucket = min(bisect_left(ends, rest), BUCKETS - 1)
        within = (rest - begins[bucket]) / weights[bucket]
        return days * DAY_SECONDS + BUCKET_SECONDS * (bucket + within)

    return time_of_point
