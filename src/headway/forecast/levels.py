"""Probabilities at which a forecast is told, corrected and judged; the scale on which waits are compared."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from headway.arrays import Floats, Ints
from headway.units import DAY, MINUTE, SECOND

LEVELS = np.append(np.round(np.arange(0.05, 0.96, 0.05), 2), [0.975, 0.99])

LONGEST = 3650 * DAY
"""A wait of ten years stands for all that are longer."""


def scale(wait: npt.ArrayLike) -> Floats:
    """z(w) = log(w + 1 minute) of waits in µs: factors count for long waits, minutes for short ones."""
    return np.asarray(np.log(np.minimum(np.asarray(wait, np.float64), LONGEST) + MINUTE))


def unscale(z: Floats) -> Ints:
    """Waits in µs, to the second; never negative."""
    seconds = np.rint((np.exp(np.minimum(z, np.log(LONGEST))) - MINUTE) / SECOND)
    return np.asarray(np.maximum(seconds, 0) * SECOND).astype(np.int64)


def pinballs(over: Floats) -> Floats:
    """[level] the mean loss that a true quantile makes least; ``over`` is [job, level] what came minus it."""
    return np.asarray(np.maximum(LEVELS * over, (LEVELS - 1) * over).mean(axis=0))


def pinball(over: Floats) -> float:
    """The mean of it over the levels."""
    return float(np.mean(pinballs(over)))
