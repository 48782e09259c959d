"""Beyond the paper: parameters chosen on other weeks than they are judged on, and who pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from headway.metrics.sample import Sample
from headway.papers.redirection.grid import best, over_weeks
from headway.papers.redirection.logs import Log
from headway.papers.redirection.numbers import TAU
from headway.papers.verdicts import share_text
from headway.platform import Platform
from headway.policies.spec import make_spec
from headway.simulate import simulate
from headway.workload.transform import apply_each


def halves(runs: pl.DataFrame, logs: Sequence[Log]) -> list[list[str]]:
    """Theta and alpha chosen on every other week by the median ratio, judged on the weeks between."""
    rows = [
        [
            "log",
            "chosen on",
            "theta",
            "alpha",
            "ratio there",
            "ratio on the other half",
            "best possible there",
        ]
    ]
    for log in logs:
        own = runs.filter(pl.col("workload") == log.name)
        parts = own["part"].unique(maintain_order=True).to_list()
        if len(parts) < 2:
            continue
        for name, chosen in (("even weeks", parts[::2]), ("odd weeks", parts[1::2])):
            inside = pl.col("part").is_in(chosen)
            here = over_weeks(own.filter(inside), ["theta", "alpha"])
            there = over_weeks(own.filter(~inside), ["theta", "alpha"])
            top = best(here)
            same = (pl.col("theta") == top["theta"]) & (pl.col("alpha") == top["alpha"])
            judged, ideal = there.filter(same).row(0, named=True), best(there)
            rows.append(
                [log.cluster.title, name, str(top["theta"]), f"{top['alpha']:g}",
                 f"{top['mean_bsld_ratio']:.3f}", f"{judged['mean_bsld_ratio']:.3f}",
                 f"{ideal['mean_bsld_ratio']:.3f} ({ideal['theta']}, {ideal['alpha']:g})"]
            )  # fmt: skip
    return rows


@dataclass(frozen=True)
class Cost:
    """What redirection costs and gives on the weeks of a log, all jobs of all weeks together."""

    redirected: int
    jobs: int
    redirected_with: float | None
    redirected_without: float | None
    others_with: float | None
    others_without: float | None
    redirected_worse: float | None
    """Share of the redirected jobs that end later than under EASY."""
    others_worse: float | None
    users: int
    """Users, each counted once for every week with jobs of theirs."""
    users_worse: float
    """Share of them whose mean bounded slowdown of that week is worse."""


def cost(log: Log, theta: int, alpha: float) -> Cost:
    """The same weeks with and without redirection, job by job; bounded slowdowns with tau = 60 s."""
    spec = make_spec("redirection", theta=theta, alpha=alpha)
    larger = Platform.procs(log.procs + spec.policy.added_procs(log.procs))
    slowdowns: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
    users: list[bool] = []
    for week in apply_each(log.workload, log.weeks_spec(), "exact"):
        fitting = week.fit_to(log.procs)
        with_it, without = simulate(fitting, log.procs, spec), simulate(fitting, larger, "easy")
        assert with_it.group is not None
        mine, theirs = (Sample(made, TAU).bounded_slowdown for made in (with_it, without))
        slowdowns.append((with_it.group == 1, mine, theirs, with_it.end > without.end))
        _, user = np.unique(fitting.user, return_inverse=True)
        users += (np.bincount(user, mine) > np.bincount(user, theirs) * (1 + 1e-9)).tolist()
    moved, mine, theirs, later = (np.concatenate(column) for column in zip(*slowdowns, strict=True))

    def mean(values: np.ndarray, where: np.ndarray) -> float | None:
        return float(values[where].mean()) if where.any() else None

    return Cost(
        int(moved.sum()), len(moved), mean(mine, moved), mean(theirs, moved), mean(mine, ~moved),
        mean(theirs, ~moved), mean(later, moved), mean(later, ~moved), len(users), float(np.mean(users)),
    )  # fmt: skip


def cost_table(costs: Sequence[tuple[Log, int, float, Cost]]) -> list[list[str]]:
    """Who pays and who gains."""
    rows = [["log", "theta", "alpha", "who", "how many", "mean BSLD with", "without", "worse off"]]
    for log, theta, alpha, found in costs:
        shared = [log.cluster.title, str(theta), f"{alpha:g}"]
        rows.append(
            [*shared, "redirected jobs", f"{found.redirected:,}", _two(found.redirected_with),
             _two(found.redirected_without), share_text(found.redirected_worse)]
        )  # fmt: skip
        rows.append(
            [*shared, "all other jobs", f"{found.jobs - found.redirected:,}", _two(found.others_with),
             _two(found.others_without), share_text(found.others_worse)]
        )  # fmt: skip
        rows.append(
            [*shared, "users, by week", f"{found.users:,}", "", "", f"{100 * found.users_worse:.0f} %"]
        )
    return rows


def _two(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
