"""How much faster a job runs on n processors: Amdahl's law and Downey's model.

Amdahl: the share P of the work that is parallel limits the speedup to 1 / (1 - P).
Downey: A. B. Downey, "A model for speedup of parallel programs", UC Berkeley technical report CSD-97-933,
1997; average parallelism A, and variance sigma of the parallelism over the run (0: perfectly steady).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from headway.arrays import Floats
from headway.errors import UsageError


def amdahl(parallel_fraction: ArrayLike, n: ArrayLike) -> Floats:
    """Speedup on n processors of a job of which the share parallel_fraction (0..1) is parallel."""
    fraction, count = np.asarray(parallel_fraction, float), np.asarray(n, float)
    if np.any((fraction < 0) | (fraction > 1)) or np.any(count < 1):
        raise UsageError("amdahl: parallel_fraction must be in 0..1 and n at least 1")
    return np.asarray(1.0 / ((1.0 - fraction) + fraction / count))


def downey(average: float, sigma: float, n: ArrayLike) -> Floats:
    """Speedup on n processors for average parallelism (at least 1) and variance sigma (at least 0).

    S                              sigma <= 1: a small loss up to A, a bend up to 2A - 1
    A |            ___________     sigma >= 1: one hyperbola up to A + A sigma - sigma
      |        _--'
      |     _-'
      |   ,'
    1 |__/____________________ n
      1        A      2A-1
    """
    count = np.asarray(n, float)
    if average < 1 or sigma < 0 or np.any(count < 1):
        raise UsageError("downey: average and n must be at least 1 and sigma at least 0")
    a, s = average, sigma
    if s <= 1:
        steady = a * count / (a + s * (count - 1) / 2)
        bend = a * count / (s * (a - 0.5) + count * (1 - s / 2))
        speedup = np.where(count <= a, steady, np.where(count <= 2 * a - 1, bend, a))
    else:
        hyperbola = count * a * (s + 1) / (s * (count + a - 1) + a)
        speedup = np.where(count <= a + a * s - s, hyperbola, a)
    return np.asarray(speedup, float)
