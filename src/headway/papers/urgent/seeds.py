"""The same comparisons with other arrivals and other swap sizes: means over seeds, with their intervals.

A single draw of a hundred urgent jobs moves the mean response of regular jobs by percents either way, so that
no small difference means anything by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headway.campaign.intervals import quantile
from headway.papers.log import Log
from headway.papers.urgent.runs import Run, Runs

LEVEL = 0.95
BACKFILL, SUSPEND, KILL = "conservative(compress=scratch)", "ujfb", "ujfb(preempt=kill)"
NONE = Run(BACKFILL, count=0)
"""No urgent job at all: the same for every seed."""
COMPARED = (
    ("suspend against no urgent jobs", SUSPEND, None),
    ("kill against no urgent jobs", KILL, None),
    ("kill against suspend", KILL, SUSPEND),
    ("UJFB against Backfill", SUSPEND, BACKFILL),
)
"""What is compared: mean response of regular jobs under a policy, against that under another (or none)."""


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds in percent, half the width of its interval (None for one seed), least and largest."""

    mean: float
    half: float | None
    least: float
    largest: float

    @property
    def sign(self) -> int:
        """Of the mean, where the interval leaves no doubt; else 0."""
        if self.half is None or abs(self.mean) <= self.half:
            return 0
        return 1 if self.mean > 0 else -1

    def __str__(self) -> str:
        if self.half is None:
            return f"{self.mean:+.2f} % (one seed)"
        return f"{self.mean:+.2f} % ± {self.half:.2f} ({self.least:+.2f} to {self.largest:+.2f})"


def estimate(values: Sequence[float]) -> Estimate:
    """Student's interval of the mean.

    >>> str(estimate([1.0, 2.0, 3.0]))
    '+2.00 % ± 2.48 (+1.00 to +3.00)'
    """
    some = np.array(values)
    half = None
    if len(some) > 1:
        half = quantile(LEVEL, len(some) - 1) * float(some.std(ddof=1)) / float(np.sqrt(len(some)))
    return Estimate(float(some.mean()), half, float(some.min()), float(some.max()))


def response(runs: Runs, log: Log, policy: str | None, seed: int) -> float:
    """Mean response of regular jobs; without a policy that of a log without urgent jobs."""
    run = NONE if policy is None else Run(policy, seed=seed)
    return float(runs.get(log, run)["regular_mean_response"])


def compared(runs: Runs, log: Log, policy: str, other: str | None, seeds: int) -> Estimate:
    """By how many percent the regular jobs' mean response is longer, seed by seed."""
    pairs = [[response(runs, log, one, seed) for one in (policy, other)] for seed in range(1, seeds + 1)]
    return estimate([100 * (mine / theirs - 1) for mine, theirs in pairs])


def table(runs: Runs, logs: Sequence[Log], seeds: int) -> list[list[str]]:
    """Each comparison on each log, and the lateness of urgent jobs over the seeds."""
    rows = [["log", "mean response of regular jobs", f"mean ± {LEVEL:.0%} interval, %", "least", "largest"]]
    for log in logs:
        for title, policy, other in COMPARED:
            found = compared(runs, log, policy, other, seeds)
            half = "-" if found.half is None else f"{found.half:.2f}"
            rows.append(
                [log.title, title, f"{found.mean:+.2f} ± {half}", f"{found.least:+.2f}",
                 f"{found.largest:+.2f}"]
            )  # fmt: skip
        late = [runs.get(log, Run(SUSPEND, seed=seed))["urgent_lateness"] for seed in range(1, seeds + 1)]
        rows.append(
            [log.title, "(U_L of UJFB, no percentage)", f"{np.mean(late):.4f}", f"{min(late):.4f}",
             f"{max(late):.4f}"]
        )  # fmt: skip
    return rows
