"""Beyond the paper: on which logs and weeks it works, parameters chosen on other weeks, and who pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from headway.metrics.sample import Sample
from headway.papers.page import rows_of
from headway.papers.redirection.grid import (
    PAPER_ALPHA,
    PAPER_THETA,
    POINT,
    Found,
    at_point,
    best,
    halves,
    over_weeks,
)
from headway.papers.redirection.logs import Log
from headway.papers.redirection.numbers import TAU
from headway.papers.verdicts import mean_of, share_text
from headway.platform import Platform
from headway.policies.spec import make_spec
from headway.schedule import Schedule
from headway.simulate import simulate
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


def which_logs(runs: pl.DataFrame, logs: Sequence[Log]) -> list[list[str]]:
    """What each log gains at points chosen on other weeks, and what its weeks are like."""
    lines = []
    for own in sorted((Found.on(log, runs) for log in logs), key=lambda one: one.change("mean_bsld").value):
        log, rows, found = own.log, own.judged, kind(own.log)
        lines.append(
            {
                "log": log.cluster.title,
                "processors": f"{log.procs:,}",
                "jobs a week": f"{found.jobs:,.0f}",
                "mean BSLD of EASY": f"{np.median(rows['mean_bsld_without'].to_numpy()):.1f}",
                "jobs that fit the group": f"{100 * found.eligible:.0f} %",
                "their work": f"{100 * found.eligible_work:.0f} %",
                "newcomers while one runs": f"{found.newcomers:,.0f}",
                "theta, alpha of the other half": own.at.replace("theta ", "").replace("alpha ", ""),
                "change of mean BSLD (%)": own.change("mean_bsld").text(digits=0, sign=True),
                "of max BSLD (%)": own.change("max_bsld").text(digits=0, sign=True),
                "of mean response (%)": own.change("mean_response").text(digits=0, sign=True),
                "weeks better": share_text(float(np.mean(rows["mean_bsld_ratio"].to_numpy() < 1))),
            }
        )
    return rows_of(lines)


def side_by_side(log: Log, weeks: str, theta: int, alpha: float) -> Iterator[tuple[Schedule, Schedule]]:
    """The jobs of each of these weeks with redirection, and under EASY on as many processors."""
    spec = make_spec("redirection", theta=theta, alpha=alpha)
    larger = Platform.procs(log.procs + spec.policy.added_procs(log.procs))
    for week in apply_each(log.workload, weeks, "exact"):
        fitting = week.fit_to(log.procs)
        yield simulate(fitting, log.procs, spec), simulate(fitting, larger, "easy")


def ratios(log: Log, utilization: str) -> list[float]:
    """Mean bounded slowdown with / without redirection at the paper's point, week by week, all busy weeks."""
    found = []
    weeks = log.weeks_spec(count="none", utilization=utilization)
    for both in side_by_side(log, weeks, PAPER_THETA, PAPER_ALPHA):
        mine, theirs = (float(Sample(made, TAU).bounded_slowdown.mean()) for made in both)
        found.append(mine / theirs)
    return found


def which_weeks(logs: Sequence[Log]) -> list[list[str]]:
    """The first, the last and all of the busy weeks, by recorded and by submitted work."""
    rows = [["log", "utilization", "busy weeks", "taken", "average ratio"]]
    for log in logs:
        for utilization in ("recorded", "submitted"):
            if utilization == "recorded" and log.utilization != "recorded":
                continue
            found = ratios(log, utilization)
            choices = {
                f"the first {log.count}": found[: log.count],
                f"the last {log.count}": found[-log.count :],
            }
            for name, chosen in (*choices.items(), ("all", found)):
                if name == "all" or len(found) > log.count:
                    rows.append(
                        [log.cluster.title, f"{utilization} work", str(len(found)), name,
                         mean_of(chosen).text(digits=2)]
                    )  # fmt: skip
    return rows


def chosen_on_halves(runs: pl.DataFrame, logs: Sequence[Log]) -> list[list[str]]:
    """Theta and alpha chosen on every other week by the average ratio, judged on the weeks between."""
    rows = [
        ["log", "chosen on", "theta", "alpha", "average ratio there", "on the other half", "lowest there"]
    ]
    for log in logs:
        both = halves(Found.on(log, runs).runs)
        if len(both) < 2:
            continue
        for name, (inside, outside) in zip(("even weeks", "odd weeks"), both, strict=True):
            top = best(over_weeks(inside, POINT), "mean_bsld_ratio_mean")
            there = outside.filter(at_point(top))["mean_bsld_ratio"].to_numpy()
            ideal = best(over_weeks(outside, POINT), "mean_bsld_ratio_mean")
            rows.append(
                [log.cluster.title, name, str(top["theta"]), f"{top['alpha']:g}",
                 f"{top['mean_bsld_ratio_mean']:.2f}", mean_of(there).text(digits=2),
                 f"{ideal['mean_bsld_ratio_mean']:.2f} ({ideal['theta']}, {ideal['alpha']:g})"]
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
    slowdowns: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
    users: list[bool] = []
    for with_it, without in side_by_side(log, log.weeks_spec(), theta, alpha):
        assert with_it.group is not None
        mine, theirs = (Sample(made, TAU).bounded_slowdown for made in (with_it, without))
        slowdowns.append((with_it.group == 1, mine, theirs, with_it.end > without.end))
        _, user = np.unique(with_it.workload.user, return_inverse=True)
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
