"""The same comparisons with other arrivals and other swap sizes: means over seeds, with their intervals.

A single draw of a hundred urgent jobs moves the mean response of regular jobs by percents either way, so that
no small difference means anything by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headway.papers.log import Log
from headway.papers.urgent.runs import Run, Runs
from headway.papers.verdicts import Estimate, Floats, mean_of

BACKFILL, SUSPEND, KILL = "conservative(compress=scratch)", "ujfb", "ujfb(preempt=kill)"
RESPONSE = "regular_mean_response"
NONE = Run(BACKFILL, count=0)
"""No urgent job at all: the same for every seed."""
COMPARED = (
    ("suspend against no urgent jobs", SUSPEND, None),
    ("kill against no urgent jobs", KILL, None),
    ("kill against suspend", KILL, SUSPEND),
    ("UJFB against Backfill", SUSPEND, BACKFILL),
)
"""What is compared: mean response of regular jobs under a policy, against that under another (or none)."""


def changes(runs: Runs, log: Log, policy: str, other: str | None, seeds: int, name: str = RESPONSE) -> Floats:
    """By how many percent a number is larger, seed by seed; ``other`` None: without urgent jobs."""
    pairs = [
        [runs.get(log, NONE if one is None else Run(one, seed=seed))[name] for one in (policy, other)]
        for seed in range(1, seeds + 1)
    ]
    return np.array([100 * (mine / theirs - 1) for mine, theirs in pairs])


def compared(
    runs: Runs, log: Log, policy: str, other: str | None, seeds: int, name: str = RESPONSE
) -> Estimate:
    """The mean over the seeds, paired by seed."""
    return mean_of(changes(runs, log, policy, other, seeds, name))


def values(runs: Runs, log: Log, policy: str, name: str, seeds: int) -> Floats:
    """A number of a policy with each seed."""
    return np.array([runs.get(log, Run(policy, seed=seed))[name] for seed in range(1, seeds + 1)], np.float64)


def table(runs: Runs, logs: Sequence[Log], seeds: int) -> list[list[str]]:
    """Each comparison on each log, and the lateness of urgent jobs over the seeds."""
    rows = [["log", "mean response of regular jobs", "mean change (95 % interval)", "least", "largest"]]
    for log in logs:
        for title, policy, other in COMPARED:
            found = changes(runs, log, policy, other, seeds)
            rows.append(
                [log.title, title, mean_of(found).text(" %", 2, True), f"{found.min():+.2f}",
                 f"{found.max():+.2f}"]
            )  # fmt: skip
        late = values(runs, log, SUSPEND, "urgent_lateness", seeds)
        rows.append(
            [log.title, "(U_L of UJFB, no percentage)", mean_of(late).text(digits=4), f"{late.min():.4f}",
             f"{late.max():.4f}"]
        )  # fmt: skip
    return rows
