"""How good forecasts were: coverage, width, pinball loss, errors of the median."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from headway.forecast.check import Sample
from headway.forecast.levels import LEVELS, Column, pinball
from headway.units import NEVER, SECOND

Mask = npt.NDArray[np.bool_]


def at(quantiles: Column, level: float) -> Column:
    """One column of quantiles."""
    return np.asarray(quantiles[:, int(np.argmin(abs(LEVELS - level)))])


def intervals(quantiles: Column, level: float) -> tuple[Column, Column]:
    """Lower and upper ends of intervals, as :func:`headway.forecast.forecast.interval` defines them."""
    tail = (1 - level) / 2
    low = at(quantiles, tail)
    at_once = low <= 0
    return np.where(at_once, 0, low), np.where(at_once, at(quantiles, level), at(quantiles, 1 - tail))


def error(forecast: Column, wait: Column) -> dict[str, float]:
    """Median and mean of the absolute errors (seconds)."""
    off = abs(np.minimum(forecast, NEVER // 2) - wait) / SECOND
    return {"median_error": float(np.median(off)), "mean_error": float(off.mean())}


def of_quantiles(quantiles: Column, wait: Column) -> dict[str, float]:
    """Everything of forecasts that are distributions; times in seconds."""
    found: dict[str, float] = {}
    for level in (0.5, 0.9):
        low, high = intervals(quantiles, level)
        found[f"coverage_{100 * level:.0f}"] = float(np.mean((low <= wait) & (wait <= high)))
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
