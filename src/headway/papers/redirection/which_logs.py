"""For which logs redirection works, and what they have in common: the paper leaves it open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from headway.papers.redirection.grid import PAPER_ALPHA, best, over_weeks
from headway.papers.redirection.logs import Log
from headway.units import WEEK
from headway.workload.transform import apply_each


@dataclass(frozen=True)
class Kind:
    """What a log's busy weeks are like, over all of them."""

    jobs: float
    """A week."""
    eligible: float
    """Share of the jobs that fit into the redirection group at the paper's alpha."""
    eligible_work: float
    """Share of the work (processors x time) of such jobs."""
    newcomers: float
    """Jobs that arrive while an eligible job runs, a mean weighted by the work of the job."""


def kind(log: Log) -> Kind:
    """Look at the weeks of the campaign, with exact times."""
    parts = apply_each(log.workload, log.weeks_spec(), "exact")
    group = int(PAPER_ALPHA * log.procs)
    procs = np.concatenate([part.procs for part in parts])
    runtime = np.concatenate([part.runtime for part in parts])
    work = procs * runtime.astype(np.float64)
    small = procs <= group
    rate = len(procs) / (len(parts) * WEEK)
    during = float((work * runtime)[small].sum()) * rate / max(float(work[small].sum()), 1.0)
    return Kind(len(procs) / len(parts), float(small.mean()), float(work[small].sum() / work.sum()), during)


def table(runs: pl.DataFrame, logs: Sequence[Log]) -> list[list[str]]:
    """Each log's best point beside what its weeks are like, from the largest gain to the smallest."""
    head = [
        "log", "processors", "jobs a week", "mean BSLD of EASY", "jobs that fit the group", "their work",
        "newcomers while one runs", "best theta, alpha", "ratio of mean BSLD (average)", "(median)",
        "weeks better", "mean response",
    ]  # fmt: skip
    rows = []
    for log in logs:
        top = best(over_weeks(runs.filter(pl.col("workload") == log.name), ["theta", "alpha"]))
        found = kind(log)
        rows.append(
            (
                top["mean_bsld_ratio_mean"],
                [
                    log.cluster.title, f"{log.procs:,}", f"{found.jobs:,.0f}",
                    f"{top['mean_bsld_without']:.1f}", f"{100 * found.eligible:.0f} %",
                    f"{100 * found.eligible_work:.0f} %", f"{found.newcomers:,.0f}",
                    f"{top['theta']}, {top['alpha']:g}", f"{top['mean_bsld_ratio_mean']:.3f}",
                    f"{top['mean_bsld_ratio']:.3f}", f"{100 * top['weeks_better']:.0f} %",
                    f"{100 * (top['mean_response_ratio'] - 1):+.0f} %",
                ],
            )
        )  # fmt: skip
    return [head, *(row for _, row in sorted(rows, key=lambda one: one[0]))]
