"""How good forecasts were: coverage, width, pinball loss, errors of the median."""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.arrays import Ints
from headway.forecast.check import Sample
from headway.forecast.levels import LEVELS, pinball
from headway.units import NEVER, SECOND


def at(quantiles: Ints, level: float) -> Ints:
    """One column of quantiles."""
    return np.asarray(quantiles[:, int(np.argmin(abs(LEVELS - level)))])


def intervals(quantiles: Ints, level: float) -> tuple[Ints, Ints]:
    """Lower and upper ends of intervals, as :func:`headway.forecast.forecast.interval` defines them."""
    tail = (1 - level) / 2
    low = at(quantiles, tail)
    at_once = low <= 0
    return np.where(at_once, 0, low), np.where(at_once, at(quantiles, level), at(quantiles, 1 - tail))


def shared_coverage(quantiles: Ints, wait: Ints, level: float) -> float:
    """How often the middle ``level`` of the probability holds the wait, lumps of probability being shared.

    A forecast that gives a wait (mostly 0: at once) a probability of its own covers, by any interval, either
    all of it or nothing. So of each job the part counts that lies in the middle: the wait stands between the
    probabilities F(w-) and F(w), of which the overlap with [(1 - level) / 2, (1 + level) / 2] is taken. True
    forecasts give ``level`` in the mean, lumps or none, and a certain one that holds gives exactly ``level``
    (the non-randomized probability integral transform: Czado, Gneiting and Held, Biometrics 65, 2009).
    """
    edges = np.concatenate([[0.0], LEVELS, [1.0]])
    below = np.sum(quantiles < wait[:, None], axis=1)
    above = np.sum(quantiles <= wait[:, None], axis=1)
    low, high = edges[below], edges[above + 1]  # between two quantiles: anywhere between their levels
    lump = above > below  # it begins and ends somewhere between two levels: halfway, but never before 0
    low = np.where(lump & (wait > 0), (low + edges[below + 1]) / 2, low)
    high = np.where(lump & (above < len(LEVELS)), (edges[above] + high) / 2, high)
    tail = (1 - level) / 2
    overlap = np.minimum(high, 1 - tail) - np.maximum(low, tail)
    return float(np.mean(np.clip(overlap / (high - low), 0.0, 1.0)))


def error(forecast: Ints, wait: Ints) -> dict[str, float]:
    """Median and mean of the absolute errors (seconds)."""
    off = abs(np.minimum(forecast, NEVER // 2) - wait) / SECOND
    return {"median_error": float(np.median(off)), "mean_error": float(off.mean())}


def of_quantiles(quantiles: Ints, wait: Ints) -> dict[str, float]:
    """Everything of forecasts that are distributions; times in seconds."""
    found: dict[str, float] = {}
    for level in (0.5, 0.9):
        low, high = intervals(quantiles, level)
        found[f"coverage_{100 * level:.0f}"] = float(np.mean((low <= wait) & (wait <= high)))
        found[f"shared_coverage_{100 * level:.0f}"] = shared_coverage(quantiles, wait, level)
        found[f"median_width_{100 * level:.0f}"] = float(np.median(high - low) / SECOND)
        found[f"mean_width_{100 * level:.0f}"] = float(np.mean(high - low) / SECOND)
    found["pinball"] = pinball((wait[:, None] - quantiles) / SECOND)
    return found | error(at(quantiles, 0.5), wait)


def scores(sample: Sample) -> dict[str, Any]:
    """The scores of simulated and corrected forecasts and of the baselines."""
    wait = sample.wait
    if not len(wait):
        return {"jobs": 0}
    return {
        "jobs": len(wait),
        "corrected": of_quantiles(sample.corrected, wait),
        "simulated": of_quantiles(sample.simulated, wait),
        "plan": error(sample.plan, wait),
        "recent": error(sample.recent, wait),
        "qbets": of_bound(sample),
    }


def of_bound(sample: Sample) -> dict[str, float] | None:
    """QBETS' bound, and the lowest of our corrected quantiles that held at least as often (seconds)."""
    has = sample.bound < NEVER
    wait, bound = sample.wait[has], sample.bound[has]
    if not len(wait):
        return None
    held = float(np.mean(wait <= bound))
    ours = sample.corrected[has]
    kept = np.mean(wait[:, None] <= ours, axis=0)
    enough = np.flatnonzero(kept >= held)
    level = int(enough[0]) if len(enough) else len(LEVELS) - 1
    return {
        "jobs": len(wait),
        "coverage": held,
        "mean_bound": float(bound.mean() / SECOND),
        "median_bound": float(np.median(bound) / SECOND),
        "our_coverage": float(kept[level]),
        "our_mean_bound": float(ours[:, level].mean() / SECOND),
        "our_median_bound": float(np.median(ours[:, level]) / SECOND),
    }


def unsure(sample: Sample) -> Sample:
    """The jobs whose start at once was not certain: where there is something to forecast."""
    return sample.of(sample.simulated[:, -1] > 0)
