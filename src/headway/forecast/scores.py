"""How good forecasts were: coverage, width, pinball loss, errors of the median."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from headway.forecast.check import Sample
from headway.forecast.correction import LEVELS
from headway.forecast.record import Column
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


def pinball(quantiles: Column, wait: Column) -> float:
    """The mean over jobs and levels of the loss that the true quantiles make least (seconds)."""
    over = (wait[:, None] - quantiles) / SECOND
    return float(np.mean(np.maximum(LEVELS * over, (LEVELS - 1) * over)))


def error(forecast: Column, wait: Column) -> dict[str, float]:
    """Median and mean of the absolute errors (seconds)."""
    off = abs(forecast - wait) / SECOND
    return {"median_error": float(np.median(off)), "mean_error": float(off.mean())}


def of_quantiles(quantiles: Column, wait: Column) -> dict[str, float]:
    """Everything of forecasts that are distributions."""
    found: dict[str, float] = {}
    for level in (0.5, 0.9):
        low, high = intervals(quantiles, level)
        found[f"coverage_{level:.0%}"] = float(np.mean((low <= wait) & (wait <= high)))
        found[f"mean_width_{level:.0%}"] = float(np.mean(high - low) / SECOND)
        found[f"median_width_{level:.0%}"] = float(np.median(high - low) / SECOND)
    upper = at(quantiles, 0.95)
    found["coverage_of_bound"] = float(np.mean(wait <= upper))
    found["mean_bound"] = float(upper.mean() / SECOND)
    return found | {"pinball": pinball(quantiles, wait)} | error(at(quantiles, 0.5), wait)


def scores(sample: Sample, rows: Mask | None = None) -> dict[str, Any]:
    """The scores of forecast, corrected forecast and baselines on some jobs of the sample."""
    chosen = np.ones(len(sample.job), np.bool_) if rows is None else rows
    wait = sample.wait[chosen]
    if not len(wait):
        return {"jobs": 0}
    return {
        "jobs": len(wait),
        "simulated": of_quantiles(sample.simulated[chosen], wait),
        "corrected": of_quantiles(sample.corrected[chosen], wait),
        "plan": error(sample.plan[chosen], wait),
        "recent": error(sample.recent[chosen], wait),
        "qbets": of_bound(sample, chosen),
    }


def of_bound(sample: Sample, rows: Mask) -> dict[str, float] | None:
    """QBETS' bound, and ours where it is made to hold as often: a factor on the scale of its own width."""
    rows = rows & (sample.bound < NEVER)
    wait, bound, ours = sample.wait[rows], sample.bound[rows], at(sample.corrected, 0.95)[rows]
    if not len(wait):
        return None
    kept = float(np.mean(wait <= bound))
    equal = widened(ours, wait, kept)
    return {
        "jobs": len(wait),
        "coverage": kept,
        "mean_bound": float(bound.mean() / SECOND),
        "median_bound": float(np.median(bound) / SECOND),
        "our_mean_bound_at_equal_coverage": float(equal.mean() / SECOND),
        "our_median_bound_at_equal_coverage": float(np.median(equal) / SECOND),
    }


def widened(bound: Column, wait: Column, coverage: float) -> Column:
    """Bounds moved alike, on the scale of the correction, until as many waits as wanted are below."""
    from headway.forecast.correction import scale, unscale

    off = np.sort(scale(wait) - scale(bound))
    need = int(np.ceil(coverage * len(off) - 1e-9))
    return unscale(scale(bound) + off[max(need - 1, 0)] + 1e-9)


def not_sure(sample: Sample) -> Mask:
    """Jobs of which the draws did not all start at once: where there is something to forecast."""
    return np.asarray(sample.simulated[:, -1] > 0)
