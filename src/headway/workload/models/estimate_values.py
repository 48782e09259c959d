"""Which estimates users choose, and how often: the histogram of Tsafrir's model.

D. Tsafrir, Y. Etsion and D. G. Feitelson, "Modeling user runtime estimates", Job Scheduling Strategies
for Parallel Processing (JSSPP), 2005. Users choose few, round values: twenty of them serve 89 % of the
jobs, and the longest one allowed is the most popular. The constants are those of the authors' published
program. One thing is simpler here: which of the other popular values has which popularity is drawn
evenly, where the program draws from the ranks seen in four logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from headway.arrays import Floats, Ints
from headway.errors import UsageError

Distinct = Literal["linear", "power"] | int

HEAD = 20
HEAD_PERCENT = 89.0
MINUTE, HOUR = 60, 3600

COMMON_VALUES = (
    *(m * MINUTE for m in (5, 10, 15, 20, 30)),
    *(h * HOUR for h in (1, 2, 3, 4, 5, 6, 8, 10, 12, 18)),
)
"""Seconds; estimates that were among the twenty most popular in every log studied."""

ROUND_STEPS = (*(h * HOUR for h in (200, 100, 50, 10, 5, 2, 1)), *(m * MINUTE for m in (20, 10, 5)))
"""Seconds; where common values do not make twenty, multiples of these are added, from the top."""

DISTINCT_BY_JOBS = ((0, 0), (20, 10), (200, 20), (1000, 35), (10_000, 90), (70_000, 340), (250_000, 565))
"""(jobs, distinct estimates) between which the linear model interpolates."""


@dataclass(frozen=True)
class Histogram:
    """Estimates (s, ascending) and how many jobs use each."""

    values: Ints
    jobs: Ints


def distinct_estimates(jobs: int, model: Distinct = "linear") -> int:
    """How many different estimates `jobs` jobs use, by the linear or the power model, or as given."""
    if isinstance(model, int):
        return max(model, 1)
    if model == "power":
        return max(1, round(float(0.653566 * jobs**0.547761)))
    if model != "linear":
        raise UsageError(f"tsafrir: distinct must be linear, power or a number, not {model!r}")
    points, values = zip(*DISTINCT_BY_JOBS, strict=True)
    return max(1, round(float(np.interp(jobs, points, values))))


def popular_values(longest: int, count: int = HEAD) -> list[int]:
    """The `count` most popular estimates (s): the longest first, the others ascending."""
    chosen = [longest, *(value for value in COMMON_VALUES if value < longest)]
    for step in ROUND_STEPS:
        for value in range(longest // step * step, 0, -step):
            if len(chosen) >= count:
                break
            if value not in chosen:
                chosen.append(value)
    return [longest, *sorted(chosen[1:count])]


def popular_shares(count: int) -> Floats:
    """Percent of the jobs for popularity ranks 1..count (at most 20); together HEAD_PERCENT."""
    shares = 14.0491 * np.exp(-0.177531 * np.arange(1, count + 1)) + 0.462513
    shares[0] = HEAD_PERCENT - shares[1:].sum()
    return np.asarray(shares, float)


def rare_values(longest: int, count: int, taken: set[int]) -> list[int]:
    """Up to `count` further estimates (s) below the longest, on minutes where these are still free.

    A value that falls on one already taken moves by 30, 20 or 10 s; where all are taken it is left out.
    """
    bend = 1.0 + 12.1039 * float(max(count + len(taken), 1)) ** -0.6026
    used, values = set(taken), []
    for rank in range(1, count + 1):
        x = rank / count
        minute = round((bend - 1.0) * x / (bend - x) * longest / MINUTE) * MINUTE
        for offset in (0, 30, -30, 20, -20, 10, -10):
            if 0 < minute + offset < longest and minute + offset not in used:
                used.add(minute + offset)
                values.append(minute + offset)
                break
    return values


def histogram(
    jobs: int,
    longest: int,
    rng: np.random.Generator,
    distinct: Distinct = "linear",
    popular: Mapping[int, float] | None = None,
) -> Histogram:
    """The estimates of `jobs` jobs on a system that allows `longest` seconds.

    popular: estimates known from the system (seconds -> percent of jobs), up to twenty; the model
    fills the rest.
    """
    known = dict(popular or {})
    if len(known) > HEAD or any(not 0 < v <= longest for v in known) or sum(known.values()) > 100:
        raise UsageError("tsafrir: popular takes up to 20 estimates up to the longest, 100 % in all")
    total = max(min(distinct_estimates(jobs, distinct), jobs), len(known), 1)
    shares = _head_shares(longest, min(HEAD, total), known, rng)
    rare = rare_values(longest, total - len(shares), set(shares)) if total > len(shares) else []
    tail = 795.6 * np.arange(HEAD + 1.0, HEAD + 1.0 + len(rare)) ** -2.267
    if len(rare):
        tail *= max(100.0 - sum(shares.values()), 0.0) / tail.sum()
    shares.update(zip(rare, rng.permutation(tail).tolist(), strict=True))
    values = sorted(shares)
    return Histogram(np.array(values, np.int64), whole_jobs(np.array([shares[v] for v in values]), jobs))


def _head_shares(
    longest: int, count: int, known: Mapping[int, float], rng: np.random.Generator
) -> dict[int, float]:
    """Percent of the jobs for each popular estimate: the known ones as told, the model for the others."""
    shares = dict(known)
    others = [value for value in popular_values(longest, count) if value not in known]
    others = others[: max(count - len(known), 0)]
    if not others:
        return shares
    ranks = popular_shares(len(others))
    ranks *= max(HEAD_PERCENT - sum(known.values()), 0.0) / ranks.sum()
    # The longest estimate is the most popular; the other ranks fall on the other values by chance.
    fixed = 1 if others[0] == longest else 0
    ranks[fixed:] = rng.permutation(ranks[fixed:])
    shares.update(zip(others, ranks.tolist(), strict=True))
    return shares


def whole_jobs(shares: Floats, jobs: int) -> Ints:
    """Jobs for each share, `jobs` in all: at least one each while they last, large shares adjust."""
    exact = shares * (jobs / shares.sum())
    counts: Ints = np.maximum(np.rint(exact), 1.0).astype(np.int64)
    order = np.argsort(-exact, kind="stable").tolist()
    surplus = int(counts.sum()) - jobs
    while surplus:
        step = 1 if surplus > 0 else -1
        least = 1 if counts.max() > 1 else 0
        for k in order:
            if surplus and (step < 0 or counts[k] > least):
                counts[k] -= step
                surplus -= step
    return counts
