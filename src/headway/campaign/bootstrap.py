"""Means with their uncertainty: the bootstrap over blocks.

Jobs of one week depend on each other, and so do versions of one week under several seeds; weeks hardly do. So
whole weeks are drawn with replacement, never jobs. B. Efron and R. J. Tibshirani, An Introduction to the
Bootstrap, Chapman and Hall, 1993, percentile intervals; for ratios of sums over blocks the same draws serve
numerator and denominator.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 10_000
LEVEL = 0.95


@dataclass(frozen=True)
class Paired:
    """A quantity under a policy and under its baseline, over blocks, with intervals.

    `difference` is value - base, `change` difference / base; the intervals are None with fewer than two
    blocks. `noise` is the standard deviation of the difference within a block, over its seeds, if any.
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
    def told_apart(self) -> bool:
        """Whether the interval of the difference leaves out 0."""
        if self.difference_low is None or self.difference_high is None:
            return False
        return self.difference_low > 0 or self.difference_high < 0


def paired(
    block: NDArray[np.int64],
    value: Floats,
    base: Floats,
    weight: Floats | None = None,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Paired:
    """Compare paired values, one row per pair, `block` telling which rows belong together.

    Without weights every block counts the same, whatever its number of pairs; with weights, such as numbers
    of jobs, means are weighted over all rows.
    """
    _, place = np.unique(block, return_inverse=True)
    count = int(place.max()) + 1 if len(place) else 0
    rows = np.bincount(place, minlength=count).astype(np.float64)
    weights = 1.0 / rows[place] if weight is None else weight
    mass, above, below = (
        np.bincount(place, weights=weights * column, minlength=count)
        for column in (np.ones(len(place)), value, base)
    )
    total = float(mass.sum())
    mean_value, mean_base = float(above.sum()) / total, float(below.sum()) / total
    low = high = change_low = change_high = None
    if count > 1:
        rng = np.random.Generator(np.random.PCG64(seed))
        drawn = rng.multinomial(count, np.full(count, 1.0 / count), size=resamples).astype(np.float64)
        masses, values, bases = drawn @ mass, drawn @ above, drawn @ below
        tails = [50 * (1 - level), 50 * (1 + level)]
        low, high = (float(q) for q in np.percentile((values - bases) / masses, tails))
        if np.all(bases > 0):
            change_low, change_high = (float(q) for q in np.percentile(values / bases - 1, tails))
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


def _noise(place: NDArray[np.int64], difference: Floats, rows: Floats) -> float | None:
    """The pooled standard deviation within blocks; None where every block has a single pair."""
    free = float((rows - 1).sum())
    if free <= 0:
        return None
    mean = np.bincount(place, weights=difference) / rows
    return float(np.sqrt(np.sum((difference - mean[place]) ** 2) / free))
