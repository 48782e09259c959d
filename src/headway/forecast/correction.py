"""What past forecasts got wrong, put right in the next: conformal prediction, quantile by quantile.

A simulation gives the waits s(p) that are not exceeded with probability p, the waits of like jobs give h(p).
On the scale z(w) = log(w + 1 minute) the two are blended, b(p) = c s(p) + (1 - c) h(p), with the c of BLENDS
whose pinball loss on the last jobs that have started was least: where the simulation is true c is 1.

To b(p) an order statistic of residuals z(wait) - b(p) is added: those of the NEAREST forecasts among the
last ones, by their medians b(0.5), the latest of equals, because what is wrong with a forecast of minutes
says little of one of days. Were the next residual one more of the same kind, the sum would not be exceeded
with probability p, whatever is wrong with simulation and history. As queues change, it is not quite of the
same kind: so the rank of the order statistic is not p but a number a(p) that starts there, and after each job
goes up by STEP x p if the job was later than was told, and down by STEP x (1 - p) if not (adaptive conformal
inference, Gibbs and Candès, NeurIPS 2021). No corrected wait is longer than the longest so far, unless the
simulation says so.

Forecasts that are sure of a start at once are corrected among themselves. Only jobs that have started by the
instant teach, in the order of their submissions.
"""

from __future__ import annotations

import numpy as np

from headway.forecast.levels import LEVELS, Column, Floats, pinball, scale, unscale

WINDOW = 200
"""So many of the last forecasts decide on the blend."""
LOOKED_AT = 400
"""Among so many of the last forecasts the nearest are looked for."""
NEAREST = 50
"""The residuals of so many forecasts are taken."""
MEDIAN = int(np.argmin(abs(LEVELS - 0.5)))
FEWEST = 20
"""With fewer of them nothing is corrected."""
BLENDS = (1.0, 0.75, 0.5, 0.25, 0.0)
STEP = 0.003


class Correction:
    """Forecasts whose jobs have started, and what they teach."""

    def __init__(self) -> None:
        self._pairs: list[tuple[Floats, Floats, float, bool]] = []
        self._ranks = {True: LEVELS.copy(), False: LEVELS.copy()}

    @staticmethod
    def sure(simulated: Column) -> bool:
        """Whether a simulation is sure of a start at once."""
        return bool(simulated[-1] <= 0)

    def learn(self, simulated: Column, history: Column, told: Column, wait: int) -> None:
        """A job has started after ``wait`` (µs); ``told`` are the corrected quantiles at LEVELS."""
        sure, z = self.sure(simulated), float(scale(wait))
        self._pairs.append((scale(simulated), scale(history), z, sure))
        moved = self._ranks[sure] + STEP * (LEVELS - (wait <= told))
        self._ranks[sure] = np.clip(moved, 0.0, 1.0)

    def blend(self) -> float:
        """The weight of the simulation."""
        if len(self._pairs) < FEWEST:
            return 1.0
        last = self._pairs[-WINDOW:]
        simulated, history, waits = (np.array([pair[n] for pair in last]) for n in range(3))
        losses = [pinball(waits[:, None] - (c * simulated + (1 - c) * history)) for c in BLENDS]
        return BLENDS[int(np.argmin(losses))]

    def apply(self, simulated: Column, history: Column, longest: int) -> Column:
        """The corrected quantiles (µs), ascending; ``longest`` is the longest wait so far."""
        sure, c = self.sure(simulated), self.blend()
        last = [pair for pair in reversed(self._pairs) if pair[3] == sure][:LOOKED_AT]
        if len(last) < FEWEST:
            return simulated
        blended = c * scale(simulated) + (1 - c) * scale(history)
        told = np.array([c * s + (1 - c) * h for s, h, _, _ in last])
        nearest = np.argsort(abs(told[:, MEDIAN] - blended[MEDIAN]), kind="stable")[:NEAREST]
        residuals = np.sort(np.array([pair[2] for pair in last])[nearest, None] - told[nearest], axis=0)
        # Of n residuals and a new one, the new one is the k-th of n + 1 with equal chances; between two of
        # them the offset goes evenly from one to the other.
        count, each = len(residuals), np.arange(len(LEVELS))
        place = np.clip((count + 1) * self._ranks[sure] - 1, 0, count - 1)
        below = np.minimum(place.astype(np.int64), max(count - 2, 0))
        above = np.minimum(below + 1, count - 1)
        offset = residuals[below, each] + (place - below) * (residuals[above, each] - residuals[below, each])
        found = np.minimum(unscale(blended + offset), np.maximum(longest, simulated))
        return np.asarray(np.maximum.accumulate(found))
