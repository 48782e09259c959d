"""What past forecasts got wrong, put right in the next: conformal prediction, quantile by quantile.

A simulation gives the waits s(p) that are not exceeded with probability p, the waits of like jobs give h(p).
On the scale z(w) = log(w + 1 minute) the two are blended, b(p) = c s(p) + (1 - c) h(p), with the c of BLENDS
whose pinball loss on the last jobs that have started was least: where the simulation is true c is 1.

To b(p) an order statistic of residuals z(wait) - b(p) is added: those of the NEAREST forecasts among the
last ones, by their medians b(0.5), the latest of equals, because what is wrong with a forecast of minutes
says little of one of days. Were the next residual one more of the same kind, the sum m(p) would not be
exceeded with probability p, whatever is wrong with simulation and history. As queues change, it is not quite
of the same kind: so the rank of the order statistic is not p but a number a(p) that starts there, and after
each job goes up by STEP x p if the job was later than m(p), and down by STEP x (1 - p) if not (adaptive
conformal inference, Gibbs and Candès, NeurIPS 2021). Residuals multiply waits, so m(p) is cut at what 99 of
100 like jobs did not exceed, h(0.99), or at s(p) where that is longer.

Level by level, m(p) or history alone, h(p), is told: whichever had the least pinball loss at this level on
the last jobs. A high quantile of few residuals is mostly noise; history has thousands of waits.

Forecasts that are sure of a start at once are corrected among themselves. Only jobs that have started by the
instant teach, in the order of their submissions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from headway.arrays import Floats, Ints, Mask
from headway.forecast.levels import LEVELS, pinball, pinballs, scale, unscale

WINDOW = 200
"""So many of the last forecasts decide on the blend, and whether history alone is told."""
LOOKED_AT = 400
"""Among so many of the last forecasts the nearest are looked for."""
NEAREST = 50
"""The residuals of so many forecasts are taken."""
MEDIAN = int(np.argmin(abs(LEVELS - 0.5)))
FEWEST = 20
"""With fewer of them nothing is corrected."""
BLENDS = (1.0, 0.75, 0.5, 0.25, 0.0)
STEP = 0.003


@dataclass(frozen=True, eq=False)
class Past:
    """A forecast, on the scale z: by simulation, by history, and mended by residuals."""

    simulated: Floats
    history: Floats
    mended: Floats
    sure: bool
    """Whether the simulation is sure of a start at once."""
    wait: float = np.nan
    """What happened; unknown until the job has started."""


class Correction:
    """Forecasts, and what those teach whose jobs have started."""

    def __init__(self) -> None:
        self._told: list[Past] = []
        self._known: list[Past] = []
        self._ranks = {True: LEVELS.copy(), False: LEVELS.copy()}

    @property
    def taught(self) -> int:
        """How many forecasts it has learned from."""
        return len(self._known)

    def learn(self, forecast: int, wait: int) -> None:
        """The job of a forecast, numbered as they were told from 0 on, has started after ``wait`` (µs)."""
        past = replace(self._told[forecast], wait=float(scale(wait)))
        self._known.append(past)
        moved = self._ranks[past.sure] + STEP * (LEVELS - (past.wait <= past.mended))
        self._ranks[past.sure] = np.clip(moved, 0.0, 1.0)

    def tell(self, simulated: Ints, history: Ints) -> Ints:
        """The corrected quantiles (µs), ascending, of one more forecast."""
        sure = bool(simulated[-1] <= 0)
        s, h = scale(simulated), scale(history)
        last = [past for past in reversed(self._known) if past.sure == sure][:LOOKED_AT]
        mended = self._mended(s, h, last, self._ranks[sure]) if len(last) >= FEWEST else s
        self._told.append(Past(s, h, mended, sure))
        if len(self._known) < FEWEST:
            return simulated
        return np.asarray(np.maximum.accumulate(unscale(np.where(self.alone(), h, mended))))

    def blend(self) -> float:
        """The weight of the simulation."""
        if len(self._known) < FEWEST:
            return 1.0
        simulated, history, waits = self._window("simulated", "history", "wait")
        losses = [pinball(waits[:, None] - (c * simulated + (1 - c) * history)) for c in BLENDS]
        return BLENDS[int(np.argmin(losses))]

    def alone(self) -> Mask:
        """[level] whether history alone has been the better forecast."""
        history, mended, waits = self._window("history", "mended", "wait")
        return np.asarray(pinballs(waits[:, None] - history) < pinballs(waits[:, None] - mended))

    def weight_of_history(self, simulated: Ints) -> float:
        """How much history counts in what is told, 0 to 1: the mean over LEVELS."""
        sure = bool(simulated[-1] <= 0)
        blended = sum(past.sure == sure for past in self._known) >= FEWEST
        if len(self._known) < FEWEST:
            return 0.0
        return float(np.mean(np.where(self.alone(), 1.0, 1 - self.blend() if blended else 0.0)))

    def _window(self, *names: str) -> list[Floats]:
        """Columns of the last forecasts whose jobs have started."""
        return [np.array([getattr(past, name) for past in self._known[-WINDOW:]]) for name in names]

    def _mended(self, s: Floats, h: Floats, last: list[Past], ranks: Floats) -> Floats:
        """The blend of simulation and history, with residuals of the nearest forecasts added."""
        c = self.blend()
        blended = c * s + (1 - c) * h
        told = np.array([c * past.simulated + (1 - c) * past.history for past in last])
        nearest = np.argsort(abs(told[:, MEDIAN] - blended[MEDIAN]), kind="stable")[:NEAREST]
        residuals = np.sort(np.array([past.wait for past in last])[nearest, None] - told[nearest], axis=0)
        # Of n residuals and a new one, the new one is the k-th of n + 1 with equal chances; between two of
        # them the offset goes evenly from one to the other.
        count, each = len(residuals), np.arange(len(LEVELS))
        place = np.clip((count + 1) * ranks - 1, 0, count - 1)
        below = np.minimum(place.astype(np.int64), max(count - 2, 0))
        above = np.minimum(below + 1, count - 1)
        offset = residuals[below, each] + (place - below) * (residuals[above, each] - residuals[below, each])
        found = np.minimum(blended + offset, np.maximum(s, h[-1]))
        return np.asarray(np.maximum.accumulate(np.maximum(found, scale(0))))
