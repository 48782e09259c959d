"""What past forecasts got wrong, put right in the next: conformal prediction, quantile by quantile.

A forecast gives the waits q(p) that are not exceeded with probability p. When a job has started, its residual
at p is z(wait) - z(q(p)), with z(w) = log(w + 1 minute): factors count for long waits, and minutes for short
ones. To a new forecast the p-quantile of the last residuals at p is added, on the scale of z. Were the next
residual one more of the same kind, the corrected q(p) would not be exceeded with probability p, whatever is
wrong with the simulation. Forecasts that are sure of a start at once are corrected among themselves.

Only jobs that have started by the instant teach; one that still waits and has waited longer than the bound
that was given for it teaches that much.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from headway.forecast.record import Column
from headway.units import SECOND

LEVELS = np.round(np.arange(0.05, 0.96, 0.05), 2)
"""Probabilities at which a forecast is told, corrected and judged."""
WINDOW = 200
"""So many of the last residuals of a group are looked at."""
FEWEST = 20
"""With fewer of them nothing is corrected."""
MINUTE = 60 * SECOND
LONGEST = 3650 * 86_400 * SECOND

Floats = npt.NDArray[np.float64]


def scale(wait: npt.ArrayLike) -> Floats:
    """z of waits in µs."""
    return np.asarray(np.log(np.minimum(np.asarray(wait, np.float64), LONGEST) + MINUTE))


def unscale(z: Floats) -> Column:
    """Waits in µs, to the second where they are not at once; never negative."""
    seconds = np.rint((np.exp(z) - MINUTE) / SECOND)
    return np.asarray(np.maximum(seconds, 0) * SECOND).astype(np.int64)


class Correction:
    """Residuals of forecasts whose jobs have started."""

    def __init__(self, window: int = WINDOW) -> None:
        self.window = window
        self._residuals: dict[bool, list[Floats]] = {True: [], False: []}

    @staticmethod
    def group(quantiles: Column) -> bool:
        """Whether a forecast is sure of a start at once."""
        return bool(quantiles[-1] <= 0)

    def learn(self, quantiles: Column, wait: int) -> None:
        """A job has started after ``wait`` (µs) of which ``quantiles`` at LEVELS were forecast."""
        self._residuals[self.group(quantiles)].append(scale(wait) - scale(quantiles))

    def offsets(self, quantiles: Column, longer: list[tuple[Column, int]] | None = None) -> Floats:
        """What is added on the scale of z; ``longer`` are forecasts of jobs that still wait, and how long."""
        group = self.group(quantiles)
        seen = self._residuals[group][-self.window :]
        seen = seen + [
            scale(waited) - scale(before)
            for before, waited in longer or ()
            if self.group(before) == group and waited > before[-1]
        ]
        if len(seen) < FEWEST:
            return np.zeros(len(LEVELS))
        ordered = np.sort(np.array(seen), axis=0)
        count = len(ordered)
        # Of n residuals and a new one, the new one is the k-th of n + 1 with equal chances.
        place = (count + 1) * LEVELS
        place = np.where(LEVELS > 0.5, np.ceil(place), np.floor(place)).astype(np.int64)
        return np.asarray(ordered[np.clip(place, 1, count) - 1, np.arange(len(LEVELS))])

    def apply(self, quantiles: Column, longer: list[tuple[Column, int]] | None = None) -> Column:
        """The corrected quantiles (µs), ascending."""
        offsets = self.offsets(quantiles, longer)
        if not offsets.any():
            return quantiles
        return np.maximum.accumulate(unscale(scale(quantiles) + offsets))
